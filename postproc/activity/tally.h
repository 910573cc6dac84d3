/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/tally.h
 *
 * Counts by key, of a limited number of different keys, and the few largest of many numbers.
 */
#ifndef NFSDIGEST_ACTIVITY_TALLY_H
#define NFSDIGEST_ACTIVITY_TALLY_H

#include "activity/activity.h"
#include "base/table.h"

struct tally_entry {
    int64_t key[ACTIVITY_KEY];
    char *label; /* NULL, or owned by the tally */
    struct activity_count n;
};

struct tally {
    struct table table;
    struct tally_entry *entries;
    uint32_t count, cap;
    uint64_t beyond; /* look-ups that found the tally full */
};

enum { TALLY_BEYOND = -1, TALLY_NO_MEMORY = -2 };

/* Returns the place of the entry with |key|, which is made if it is not there, or one of the
 * codes.  At most ACTIVITY_GROUPS entries. */
int64_t tally_get(struct tally *t, const int64_t key[ACTIVITY_KEY]);
void tally_free(struct tally *t);

/* Counts of couples of places: ACTIVITY_COUPLES at most.  Later ones are not counted. */
struct couple {
    uint32_t a, b;
    uint64_t operations;
};

struct couples {
    struct table table;
    struct couple *couples;
    uint32_t count, cap;
};

/* Returns 0, or -1: no memory. */
int couples_count(struct couples *p, uint32_t a, uint32_t b);
void couples_free(struct couples *p);

/* The |most| largest values, of those that are equal the ones with the smallest ids. */
struct top_entry {
    int64_t value, id;
};

enum { TOP_MAX = 256 };
struct top {
    struct top_entry entries[TOP_MAX];
    uint32_t count, most;
};

void top_offer(struct top *top, int64_t value, int64_t id);
void top_sort(struct top *top); /* the largest first; ends the use of top_offer */

#endif
