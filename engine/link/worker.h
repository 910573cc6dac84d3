/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/worker.h
 *
 * Passes frames, in order, to a consumer in another thread.  One thread reads packets and hands
 * them out, while the engine works on earlier ones.
 *
 * Memory: that of base/queue.h.
 * All functions are called from one thread; the consumer runs in another.
 */
#ifndef NFSDIGEST_LINK_WORKER_H
#define NFSDIGEST_LINK_WORKER_H

#include "base/err.h"
#include "link/frame.h"

struct worker;

/* Takes a frame.  After a negative return it is not called again, and the worker's functions return
 * that code. */
typedef int worker_consume(void *ctx, const struct frame *frame, struct err *err);

struct worker *worker_new(worker_consume *consume, void *ctx, struct err *err);

/* Copies the frame and queues it; waits while the queue is full. */
int worker_frame(struct worker *worker, const struct frame *frame, struct err *err);

/* Waits until the consumer has processed all frames.  It then does nothing until the next frame. */
int worker_drain(struct worker *worker, struct err *err);

/* Drops frames that were not consumed. */
void worker_free(struct worker *worker);

#endif
