/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/rdump_make.h
 *
 * A replay dump of a trace database.
 */
#ifndef NFSDIGEST_PLAN_RDUMP_MAKE_H
#define NFSDIGEST_PLAN_RDUMP_MAKE_H

#include "plan/plan.h"

struct rdump_make_options { /* all zeros: everything, unchanged, with fine dependencies */
    const struct effect_filter *filter;
    bool has_from;
    int64_t from; /* ns since the epoch: the tree is that of this time */
    enum granularity granularity;
    bool with_results;     /* also write the values that digests cover */
    double time_scale;     /* times and latencies are divided by it; 0: unchanged */
    uint32_t copies;       /* of the tree and the operations, side by side; 0: 1 */
    int64_t delay;         /* ns: each further copy begins later, by at most this, */
    uint64_t seed;         /* chosen at random with this seed */
    const char *selection; /* for the trace record, or NULL */
};

/* Writes |path| ("-": standard output).  The file has a temporary name until it is complete.
 * |counts| is set even if this fails. */
int rdump_make(sqlite3 *db, const struct rdump_make_options *options, const char *path,
               struct plan_counts *counts, struct err *err);

#endif
