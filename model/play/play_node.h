/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/play_node.h
 *
 * State of a node of the tree (tree/hierarchy.h) while operations are played, besides the tree's
 * own state.  There is one play node for each node, with the same number.
 *
 * Memory: 24 bytes for each node.
 */
#ifndef NFSDIGEST_PLAY_PLAY_NODE_H
#define NFSDIGEST_PLAY_PLAY_NODE_H

#include "tree/hierarchy.h"

struct play_node {
    int64_t changed;        /* when its last change was done; BEGINNING: not changed yet */
    int64_t rights_changed; /* the same for its mode or owner */
    uint32_t number;        /* of the object (effect/played.h) */
    /* 1 << enum expect group: */
    uint8_t differs; /* attributes that no SETATTR can set right */
    uint8_t own;     /* attributes that the server chose by itself, not to be expected */
};

struct play_nodes {
    struct play_node *nodes;
    uint32_t cap;
};

/* Makes the state of |node|, as for a new node.  Returns false without memory. */
bool play_nodes_begin(struct play_nodes *nodes, uint32_t node, uint32_t number);
void play_nodes_free(struct play_nodes *nodes);

static inline struct play_node *play_node_at(const struct play_nodes *nodes, uint32_t node)
{
    return &nodes->nodes[node];
}

#endif
