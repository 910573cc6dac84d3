/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/cleanup.h
 *
 * A list of unfinished things (files with temporary names, open transactions) and how to undo them
 * if a signal ends the process.  The function that makes such a thing enters it, and drops it when
 * it is complete or gone.  The program's thread for signals calls cleanup_all, and then ends the
 * process.  A process without such a thread (tshark) only keeps the list.
 *
 * Ownership: entries belong to their maker, and must live until they are dropped.
 */
#ifndef NFSDIGEST_BASE_CLEANUP_H
#define NFSDIGEST_BASE_CLEANUP_H

#include <stdbool.h>

struct cleanup {
    void (*undo)(void *ctx); /* called in another thread, with the list held */
    void *ctx;
    struct cleanup *next;
    bool entered;
};

/* Between these two calls nothing is undone.  So making a thing and entering it is one step, and so
 * is finishing it and dropping it.  The calls may be nested.  After cleanup_all was called,
 * cleanup_hold does not return. */
void cleanup_hold(void);
void cleanup_release(void);

void cleanup_enter(struct cleanup *cleanup, void (*undo)(void *ctx), void *ctx);
void cleanup_drop(struct cleanup *cleanup); /* also if it was never entered */

/* For |undo|: removes the file whose path |ctx| is. */
void cleanup_unlink(void *ctx);

/* Undoes everything, the latest first, and holds the list for good. */
void cleanup_all(void);

#endif
