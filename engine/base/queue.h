/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/queue.h
 *
 * Passes items, in order, to a consumer in another thread: one thread makes items while the other
 * works on earlier ones.  An item is a number of bytes, which are copied when it is put.
 *
 * Memory: QUEUE_BATCHES of QUEUE_BATCH_BYTES, or of one item if that is larger.
 * All functions are called from one thread; the consumer runs in another.
 */
#ifndef NFSDIGEST_BASE_QUEUE_H
#define NFSDIGEST_BASE_QUEUE_H

#include "base/bytes.h"
#include "base/err.h"

#include <sys/uio.h>

enum { QUEUE_BATCHES = 8, QUEUE_BATCH_BYTES = 256 << 10 };

struct queue;

/* Takes an item.  |data| is aligned to 8 bytes, and may be changed.  After a negative return it is
 * not called again, and the queue's functions return that code. */
typedef int queue_consume(void *ctx, void *data, size_t len, struct err *err);

struct queue *queue_new(queue_consume *consume, void *ctx, struct err *err);

/* Queues one item, made of |count| pieces; waits while the queue is full. */
int queue_put(struct queue *queue, const struct iovec *pieces, int count, struct err *err);

/* Lets the consumer begin with the queued items at once, without waiting for a full batch.  Does
 * not wait for the consumer. */
void queue_submit(struct queue *queue);

/* Waits until the consumer has processed all items.  It then does nothing until the next item. */
int queue_drain(struct queue *queue, struct err *err);

/* Drops items that were not consumed. */
void queue_free(struct queue *queue);

#endif
