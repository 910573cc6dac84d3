/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/ahead.h
 *
 * Items that a separate thread makes in advance and another thread takes, in order.  base/queue.h
 * is the reverse: there the separate thread takes the items.
 *
 * Memory: AHEAD_BATCHES of AHEAD_BYTES, and what one step makes beyond these.
 */
#ifndef NFSDIGEST_AUDIT_AHEAD_H
#define NFSDIGEST_AUDIT_AHEAD_H

#include "base/err.h"

#include <stddef.h>
#include <sys/uio.h>

enum { AHEAD_BATCHES = 6, AHEAD_BYTES = 512 << 10 };

struct ahead;

/* One step, in the separate thread; it may put items.  Returns 1: there may be more; 0: that was
 * all; or negative, which the taker gets after all items. */
typedef int ahead_step(void *ctx, struct err *err);

/* Begins at the first ahead_next. */
struct ahead *ahead_new(ahead_step *step, void *ctx, struct err *err);

/* From a step only: an item of |count| pieces, which are copied, standing for |weight| further
 * bytes. Returns 0 or -ERR_SYSTEM. */
int ahead_put(struct ahead *ahead, unsigned kind, const struct iovec *pieces, int count,
              size_t weight, struct err *err);

/* 1 and the next item, aligned to 8 bytes and valid until the next call; 0 at the end; or negative.
 */
int ahead_next(struct ahead *ahead, unsigned *kind, void **data, size_t *len, struct err *err);

/* Ends the thread soon.  ahead_next then gives what was made until then. */
void ahead_stop(struct ahead *ahead);

void ahead_free(struct ahead *ahead);

#endif
