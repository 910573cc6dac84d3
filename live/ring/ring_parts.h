/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring_parts.h
 *
 * Shared by the writer and the reader of rings: where things lie, and the order of memory.
 */
#ifndef NFSDIGEST_RING_RING_PARTS_H
#define NFSDIGEST_RING_RING_PARTS_H

#include "ring/ring.h"

#include <fcntl.h>
#include <stdatomic.h>

_Static_assert(sizeof(struct ring_head) <= RING_HEAD_SIZE, "the head fits into its page");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "positions are shared between processes");

/* What readers ask for.  F_SEAL_FUTURE_WRITE: only the writer's own mapping can be written. */
enum { RING_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL };

/* In a reader, whose payload buffer it is, |head| is mapped read-only. */
struct ring_reader {
    const struct ring_head *head;
    const uint8_t *blocks;
    uint64_t size, identity;   /* the head's, checked once */
    uint64_t position, number; /* of the next entry; |number| 0: any */
    bool overrun;              /* entries are lost before |position| */
    uint8_t *payload;
};

/* Sets up a reader on memory of |size| bytes behind a head.  Tests do without a memfd by it. */
int ring_reader_begin(struct ring_reader *reader, const struct ring_head *head, uint64_t size,
                      struct err *err);

#endif
