/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/ahead.h
 *
 * Items that a separate thread makes in advance and another thread takes, in order.  base/queue.h
 * is the reverse: there the separate thread takes the items.
 *
 * Memory: AHEAD_BATCHES of AHEAD_BYTES, and the items of one step above these.
 */
#ifndef NFSDIGEST_AUDIT_AHEAD_H
#define NFSDIGEST_AUDIT_AHEAD_H

#include "base/err.h"

#include <stddef.h>
#include <sys/uio.h>

enum { AHEAD_BATCHES = 6, AHEAD_BYTES = 512 << 10 };

struct ahead;

/* Makes the next items, in the separate thread.  Returns 1 if there may be more, 0 if that was all,
 * or a negative code, which the taker gets after all items. */
typedef int ahead_step(void *ctx, struct err *err);

/* The thread begins with the first ahead_next. */
struct ahead *ahead_new(ahead_step *step, void *ctx, struct err *err);

/* Adds an item made of |count| pieces, which are copied.  |weight| is the number of further bytes
 * that the item needs elsewhere.  Called only from a step.  Returns 0 or -ERR_SYSTEM. */
int ahead_put(struct ahead *ahead, unsigned kind, const struct iovec *pieces, int count,
              size_t weight, struct err *err);

/* Returns 1 and the next item, which is aligned to 8 bytes and valid until the next call.  Returns
 * 0 at the end, or a negative code. */
int ahead_next(struct ahead *ahead, unsigned *kind, void **data, size_t *len, struct err *err);

/* Ends the thread soon.  ahead_next still gives the items that were made before that. */
void ahead_stop(struct ahead *ahead);

void ahead_free(struct ahead *ahead);

#endif
