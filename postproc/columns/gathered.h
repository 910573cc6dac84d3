/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/gathered.h
 *
 * Objects and counters of a trace until its end, since later records change them.
 *
 * Memory: 100 bytes and the handle of each object; 60 bytes and the name of each counter.
 */
#ifndef NFSDIGEST_COLUMNS_GATHERED_H
#define NFSDIGEST_COLUMNS_GATHERED_H

#include "base/table.h"
#include "record/record.h"

struct gathered_counter {
    struct record_counter counter;
    int64_t source;
};

struct gathered {
    struct record_object *objects; /* by id - 1; handles are offsets into |bytes| */
    uint32_t object_count, object_cap;
    struct gathered_counter *counters; /* in the order of their first records */
    uint32_t counter_count, counter_cap;
    struct table by_name;
    struct buf bytes; /* handles and names */
    uint32_t next;    /* to be given */
};

/* Returns true for the kinds of records that are gathered. */
bool gathered_takes(const struct record *record);

/* Adds what a record says.  Its ids were checked.  |source|: of a counter. */
int gathered_put(struct gathered *gathered, const struct record *record, int64_t source,
                 struct err *err);

/* Gives the next object, or counter with its source.  Returns false if there are no more. */
bool gathered_next(struct gathered *gathered, struct record *record, int64_t *source);

void gathered_free(struct gathered *gathered);

#endif
