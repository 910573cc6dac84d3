/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_view.h
 *
 * How far a shadow is, on a terminal: a few lines that are written anew twice a second, on standard
 * error.  Nothing where this is not a terminal.
 */
#ifndef NFSDIGEST_TEE_SHADOW_VIEW_H
#define NFSDIGEST_TEE_SHADOW_VIEW_H

#include "net/loop.h"
#include "shadow/shadow.h"

struct shadow_view {
    struct loop *loop;
    struct shadow *shadow;
    struct timer timer;
    struct histogram before[SIDES]; /* latencies when it was drawn last */
    uint32_t lines;                 /* on the screen */
};

/* |view| must be all zeros, and outlive the loop's run.  Both pointers stay the caller's. */
int shadow_view_begin(struct shadow_view *view, struct loop *loop, struct shadow *shadow,
                      struct err *err);
/* Takes the lines off the screen, before other text is written. */
void shadow_view_clear(struct shadow_view *view);
/* Draws it a last time, and leaves it on the screen. */
void shadow_view_end(struct shadow_view *view);

#endif
