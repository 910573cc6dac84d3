/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse_parts.h
 *
 * Shared by rehearse.c (which operation comes next) and rehearse_try.c (plays one operation).
 */
#ifndef NFSDIGEST_PLAY_REHEARSE_PARTS_H
#define NFSDIGEST_PLAY_REHEARSE_PARTS_H

#include "play/attempt.h"

/* Whether the operation leaves the tree other than it was. */
bool rehearse_changes(struct rehearsal *r, struct spooled *op, struct err *err);
/* Whether it proves that something happened before it. */
bool rehearse_has_before(const struct spooled *op);
/* What must have happened before the operation. */
int rehearse_begin(struct rehearsal *r, struct spooled *op, struct err *err);
/* Tries an operation: 1 it is played, 0 it does not fit (yet), or negative.  The |last| time it is
 * made fit, or marked. */
int rehearse_try(struct rehearsal *r, struct spooled *op, bool last, struct err *err);
/* The credential of an operation that is made up, which fits: that of |before| if he may do it for
 * sure, the owner's, or uid 0's. */
uint32_t rehearse_entitled(const struct attempt *t, const struct spooled *before);
/* Whether |node| is one of those that the operation meets. */
bool attempt_met(const struct attempt *t, uint32_t node);

#endif
