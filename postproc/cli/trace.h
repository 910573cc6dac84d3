/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/trace.h
 *
 * Opens what a command is given as a trace: a trace database, or a record stream or a capture,
 * which is read into a temporary database first (in $TMPDIR or /tmp; trace_open's is private, in
 * $SQLITE_TMPDIR, $TMPDIR or /var/tmp, and has no name).  If standard error is a terminal, a
 * message says so.  Captures are read with the engine's defaults.
 *
 *     trace_open, trace_close                  for commands that need one connection
 *     trace_files_find, trace_files_remove     for those that need the name of a database
 *
 * A stream or capture that is damaged or cut is read as far as possible, as by ingest.
 * trace_close and trace_files_remove then return that error, if there is no other one.
 */
#ifndef NFSDIGEST_CLI_TRACE_H
#define NFSDIGEST_CLI_TRACE_H

#include "base/cleanup.h"
#include "store/store.h"

#include <limits.h>
#include <stdbool.h>

struct trace {
    struct store *store;
    struct err cut; /* why a stream or a capture ended too early; |code| 0: it did not */
};

/* |path| may also be "-" or a pipe, but no database comes through it.  |stores|: the command adds
 * tables, so it has to be a database, and finished.  Returns -ERR_INPUT if it is none of the three.
 */
int trace_open(struct trace *trace, const char *path, bool stores, struct err *err);

/* The same for commands that do not store: adds |shift| to the frame numbers of an .nfsr stream.
 * If it is not 0, anything else is refused. */
int trace_open_shifted(struct trace *trace, const char *path, int64_t shift, struct err *err);

/* Says so if the database is unfinished (store_is_unfinished); trace_open and trace_files_find do
 * this. */
void trace_say_unfinished(const struct store *store);

/* Returns |result|, or the error of a cut input if |result| is not negative. */
int trace_close(struct trace *trace, int result, struct err *err);

enum { TRACE_FILES = 3 };

/* At most TRACE_FILES temporary databases.  All zeros: none yet.  It must stay where it is. */
struct trace_files {
    struct trace_file {
        char *path; /* what was asked for */
        char file[PATH_MAX];
        struct cleanup cleanup;
    } files[TRACE_FILES];
    uint32_t count;
    const char *said[TRACE_FILES]; /* databases that were looked at; paths of the command line */
    struct err cut;                /* of the first that was cut */
};

/* Gives in *|file| the name of a database with what |path| has: |path| itself, or a temporary one,
 * which is made once for each |path|.  Pipes are refused except "-", because who asks may have read
 * from them. */
int trace_files_find(struct trace_files *files, const char *path, const char **file,
                     struct err *err);

/* Removes the temporary ones; a signal does so, too.  Returns as trace_close. */
int trace_files_remove(struct trace_files *files, int result, struct err *err);

/* Makes an empty file in $TMPDIR or /tmp, for something that nobody wants to keep. */
int trace_temporary(char *path, size_t size, struct err *err);

#endif
