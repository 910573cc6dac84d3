/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/ingest_job.h
 *
 * Shared by cmd_ingest.c and cmd_ingest_follow.c.
 */
#ifndef NFSDIGEST_CLI_INGEST_JOB_H
#define NFSDIGEST_CLI_INGEST_JOB_H

#include "ingest/ingest.h"

struct ingest_job {
    const char *database;
    const struct engine_options *options;
    int count;
    char **paths;
    bool quiet, json;
};

/* Prints what became of a file.  |result|: of ingest_file or ingest_live, with its message in
 * |err|. */
void ingest_tell(const struct ingest_job *job, struct store *store, const char *path, int result,
                 const struct err *err);

struct follow_args {
    bool follows;
    int64_t idle;        /* ns; 0: for ever */
    const char *metrics; /* [ADDRESS:]PORT, or NULL */
};

/* "ingest --follow": returns its exit code, or the negative code of an error. */
int ingest_follow(const struct ingest_job *job, const struct follow_args *args, struct err *err);

#endif
