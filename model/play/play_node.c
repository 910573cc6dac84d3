/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/play_node.h"

#include <stdlib.h>

bool play_nodes_begin(struct play_nodes *n, uint32_t node, uint32_t number)
{
    if (node >= n->cap) {
        uint32_t cap = node < UINT32_MAX / 4 ? node + node / 2 + 64 : 0;
        struct play_node *grown = cap ? realloc(n->nodes, (size_t)cap * sizeof(*grown)) : NULL;

        if (!grown)
            return false;
        n->nodes = grown;
        n->cap = cap;
    }
    n->nodes[node] =
        (struct play_node){ .number = number, .changed = BEGINNING, .rights_changed = BEGINNING };
    return true;
}

void play_nodes_free(struct play_nodes *n)
{
    free(n->nodes);
    *n = (struct play_nodes){ 0 };
}
