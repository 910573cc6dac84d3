/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/digest/concurrency_queue.h
 *
 * One simulation of concurrency.h with a limit of outstanding requests: when an operation begins
 * then depends on what else is ready, so it is played event by event.
 */
#ifndef NFSDIGEST_DIGEST_CONCURRENCY_QUEUE_H
#define NFSDIGEST_DIGEST_CONCURRENCY_QUEUE_H

#include "digest/concurrency.h"

struct queue;

/* NULL: no memory. */
struct queue *queue_new(uint32_t window, uint32_t outstanding);
void queue_free(struct queue *q);

/* 0 or -ERR_SYSTEM: no memory. */
int queue_next(struct queue *q, int64_t latency, const struct concurrency_edges *edges);

int64_t queue_makespan(struct queue *q); /* ns; plays what is left */

#endif
