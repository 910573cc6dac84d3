/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/concurrency_queue.h
 *
 * One simulation of concurrency.h with a limit of outstanding requests.  The begin of an operation
 * then depends on which other operations are ready, so events are simulated one by one.
 */
#ifndef NFSDIGEST_DEPEND_CONCURRENCY_QUEUE_H
#define NFSDIGEST_DEPEND_CONCURRENCY_QUEUE_H

#include "depend/concurrency.h"

struct limited;

/* NULL: no memory. */
struct limited *limited_new(uint32_t window, uint32_t outstanding);
void limited_free(struct limited *q);

/* Adds the next operation.  Returns 0, or -ERR_SYSTEM without memory. */
int limited_next(struct limited *q, int64_t latency, const struct concurrency_edges *edges);

int64_t limited_makespan(struct limited *q); /* finishes the simulation; ns */

#endif
