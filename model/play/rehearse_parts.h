/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse_parts.h
 *
 * Shared by rehearse.c (which operation comes next) and rehearse_try.c (plays one operation).
 */
#ifndef NFSDIGEST_PLAY_REHEARSE_PARTS_H
#define NFSDIGEST_PLAY_REHEARSE_PARTS_H

#include "play/attempt.h"

/* Returns true if the operation changes the tree. */
bool rehearse_changes(struct rehearsal *r, struct spooled *op, struct err *err);
/* Returns true if the operation proves that something happened before it. */
bool rehearse_has_before(const struct spooled *op);
/* Plays the operations that must have happened before |op|. */
int rehearse_begin(struct rehearsal *r, struct spooled *op, struct err *err);
/* Tries to play an operation.  Returns 1 if it was played, 0 if it does not fit (yet), or a
 * negative code.  At the |last| try it is made to fit, or marked as unplayable. */
int rehearse_try(struct rehearsal *r, struct spooled *op, bool last, struct err *err);
/* Returns a credential for an operation that is made up: that of |before| if it certainly permits
 * the operation, else the owner's if that does, else that of uid 0. */
uint32_t rehearse_entitled(const struct attempt *t, const struct spooled *before);
/* Returns true if the operation concerns |node|. */
bool attempt_met(const struct attempt *t, uint32_t node);

#endif
