/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_rdump_make.h
 *
 * "nfsdigest rdump DATABASE -o FILE": dumps of a trace or of parts of it.
 */
#ifndef NFSDIGEST_CLI_CMD_RDUMP_MAKE_H
#define NFSDIGEST_CLI_CMD_RDUMP_MAKE_H

#include "base/err.h"
#include "effect/effect.h"

struct rdump_make_args {
    const char *client, *uid, *gid, *under, *split_by, *granularity, *time_scale;
    int64_t from, to, delay; /* ns; if not given, |from| is INT64_MIN and |to| INT64_MAX */
    uint64_t copies, seed;
    const char *output;
    bool json, with_results;
};

/* Returns true if there is an option that says how to make a dump. */
bool rdump_make_wanted(const struct rdump_make_args *args);

int rdump_make_run(const char *database, const struct rdump_make_args *args, struct err *err);

#endif
