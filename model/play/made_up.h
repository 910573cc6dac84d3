/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/made_up.h
 *
 * Makes operations that were not captured, for a rehearsal.  Their arguments are XDR as a client
 * sends them.  Handles are filled in later with numbers of objects.  The caller frees each
 * operation with free().
 */
#ifndef NFSDIGEST_PLAY_MADE_UP_H
#define NFSDIGEST_PLAY_MADE_UP_H

#include "play/rehearse.h"

/* Makes the operation of |inference|, which |before| proves.  NULL with |err| empty: it cannot be
 * carried out. */
struct spooled *made_up_inference(struct rehearsal *r, const struct inference *inference,
                                  const struct spooled *before, struct err *err);
/* Makes an operation that makes the object of |op|, if only the name of its arguments was captured.
 * NULL with |err| empty: |op| made nothing, or what it made is unknown. */
struct spooled *made_up_partial(struct rehearsal *r, const struct spooled *op, struct err *err);
/* Makes a SETATTR of |groups| (bits by groups of expect.h) to the values in |to|. */
struct spooled *made_up_setattr(struct rehearsal *r, uint32_t node, uint32_t groups,
                                const struct attributes *to, struct err *err);
/* Makes a REMOVE or RMDIR of an entry. */
struct spooled *made_up_removal(struct rehearsal *r, uint32_t entry, struct err *err);

#endif
