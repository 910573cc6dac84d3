/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/play_node.h"
#include "base/grow.h"

#include <stdlib.h>

bool play_nodes_begin(struct play_nodes *n, uint32_t node, uint32_t number)
{
    if (GROW(n->nodes, node, n->cap) < 0)
        return false;
    n->nodes[node] =
        (struct play_node){ .number = number, .changed = BEGINNING, .rights_changed = BEGINNING };
    return true;
}

void play_nodes_free(struct play_nodes *n)
{
    free(n->nodes);
    *n = (struct play_nodes){ 0 };
}
