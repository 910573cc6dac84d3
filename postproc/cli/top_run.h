/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/top_run.h
 *
 * Reads packets or records, and shows every interval what was counted, or operations as they come.
 *
 * Memory: that of an engine, of top.h, and at most TOP_NAMES_MAX flows, credentials, objects and
 * paths: when there are more in live traffic, the engine begins anew, and what waits is not
 * counted.
 */
#ifndef NFSDIGEST_CLI_TOP_RUN_H
#define NFSDIGEST_CLI_TOP_RUN_H

#include "cli/engine_args.h"
#include "top/top.h"

enum { TOP_NAMES_MAX = 1 << 21 };

struct top_options {
    const char *interface; /* or */
    const char *file;      /* "-" for standard input */
    const char *packet_filter;
    const char *metrics; /* [ADDRESS:]PORT, or NULL */
    bool follow, batch, json;
    enum top_by by;
    enum top_column sort;
    uint64_t limit, intervals; /* 0 intervals: no limit */
    int64_t every, slower;     /* ns; |slower| -1: tables */
    struct top_filter filter;
    struct engine_args engine;
};

/* Returns an exit code, or a negative code. */
int top_run(const struct top_options *options, struct err *err);

#endif
