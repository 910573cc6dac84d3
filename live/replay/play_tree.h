/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/play_tree.h
 *
 * What playing one dump of a session needs to know of its trees: they are found on all of its
 * targets, with the handles of their objects.
 *
 * Memory: objects.h, and 100 bytes for each host of the dump.
 */
#ifndef NFSDIGEST_REPLAY_PLAY_TREE_H
#define NFSDIGEST_REPLAY_PLAY_TREE_H

#include "player/player.h"
#include "replay/session.h"

struct play_tree {
    struct session *session;
    struct session_dump *dump;
    const struct target **targets; /* by host number */
    struct bytes *stale;           /* by host number: a handle of something that was removed */
    uint8_t (*stale_handles)[OBJECT_HANDLE_MAX];
    struct objects *objects;
    bool fills; /* the files have the contents that READs are checked against */
    bool links; /* directories have the link counts of the trace */
    uint64_t link_counts, link_counts_differ;
};

/* Finds the tree on all targets of the dump; looks at markers and sizes.  -ERR_INPUT in words: the
 * tree is not there, was played on, or was not finished; root is mapped to another user, though the
 * trace has it.  Call play_tree_free also after an error. */
int play_tree_find(struct play_tree *tree, struct session *session, struct session_dump *dump,
                   struct err *err);
/* Writes into the markers that the dump was played, if it changes something. */
int play_tree_note(struct play_tree *tree, struct err *err);
void play_tree_free(struct play_tree *tree);

#endif
