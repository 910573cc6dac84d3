/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/totals.h
 *
 * Sums of the counters of pieces, and the numbers of what was put.
 */
#ifndef NFSDIGEST_NAMES_TOTALS_H
#define NFSDIGEST_NAMES_TOTALS_H

#include "record/record.h"

enum { TOTALS_COUNTERS = 256, TOTALS_NAME = 64 };

struct totals_counter {
    char name[TOTALS_NAME];
    uint64_t value;
};

struct totals {
    struct record_end end;
    struct totals_counter counters[TOTALS_COUNTERS]; /* in the order in which they came */
    uint32_t counter_count;
};

void totals_begin(struct totals *t);
/* Counts a record that was put. */
void totals_put(struct totals *t, const struct record *record);
/* Adds a counter or the end of a piece. */
int totals_add(struct totals *t, const struct record *record, struct err *err);
/* Puts the counters and the end. */
int totals_end(const struct totals *t, bool counters, const struct sink *sink, struct err *err);

#endif
