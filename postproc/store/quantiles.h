/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/quantiles.h
 *
 * Exact percentiles of many groups of values by nearest rank: the smallest value that is not below
 * p percent of all.
 *
 *     quantiles_new; quantiles_put for each value; quantiles_find; quantiles_free
 *
 * A value belongs to one group, or to none, in each of several dimensions.  The values are put
 * aside, first in memory and then in a temporary file, and read a few times.
 *
 * Memory: 24 MiB of values, 16 MiB of cells to search with, and 4 bytes for each group.
 */
#ifndef NFSDIGEST_STORE_QUANTILES_H
#define NFSDIGEST_STORE_QUANTILES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { QUANTILES_DIMENSIONS = 4, QUANTILES = 3 };
#define QUANTILES_NO_GROUP UINT32_MAX

/* 50, 90, 99 */
extern const unsigned quantiles_percent[QUANTILES];

struct quantiles;

struct quantiles_wanted {
    unsigned dimension;
    uint32_t group;
    uint64_t count;      /* values put into this group, at least one; the caller counted them, */
    int64_t least, most; /* and has the smallest and the largest of them */
    int64_t value[QUANTILES]; /* the answer */
};

/* Returns NULL with |err| filled on failure. */
struct quantiles *quantiles_new(struct err *err);
void quantiles_free(struct quantiles *q);

/* Adds a value with its group in each dimension. */
int quantiles_put(struct quantiles *q, int64_t value, const uint32_t groups[QUANTILES_DIMENSIONS],
                  struct err *err);

/* Fills the answers.  Each group is in |wanted| once.  Nothing can be put after this. */
int quantiles_find(struct quantiles *q, struct quantiles_wanted *wanted, size_t count,
                   struct err *err);

#endif
