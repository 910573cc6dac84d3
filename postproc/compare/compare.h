/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/compare.h
 *
 * Compares the answers of two servers to the same requests (Tan et al., "Comparison-based File
 * Server Verification").  The result is a database (schemas/compare.sql).  Every report is made
 * from it, and it can be compared again under other rules.
 *
 * There are two phases.  The first matches objects and aligns operations (request_sequences.c,
 * match.c, align.h) into the tables object and alignment.  The second walks the pairs in the order
 * of that table, and compares their replies under the rules (compare_pairs.h) into the other
 * tables.  compare_again repeats only the second phase.
 *
 * If the operations of a side name their counterparts, as those of a recorded replay do, the first
 * phase searches for nothing: counterparts.c and match_numbers.c.
 *
 * Memory: 700 to 900 bytes for each matched pair of objects; 32 for each range of its bytes that
 * may differ, at most EXTENTS_MAX (judge/judge.h); about 40 for each name that was changed; one
 * window of a sequence (align.h); two replies, of listings all parts; and SQLite's caches, at most
 * 16 MiB for each trace, 32 for temporary tables, 4 for the result and as much again to sort.
 * Everything else that grows with operations or discrepancies is on disk, in the result or in
 * temporary tables (in $SQLITE_TMPDIR, $TMPDIR or /var/tmp).
 */
#ifndef NFSDIGEST_COMPARE_COMPARE_H
#define NFSDIGEST_COMPARE_COMPARE_H

#include "align/codes.h"
#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* A trace, and the server in it. */
struct compare_input {
    const char *database; /* or what |find| of the options makes one of */
    const char *server;   /* an address as in the database; NULL: all servers */
};

struct compare_options {
    struct compare_input side[SIDES];
    struct compare_input noise; /* a second run of the reference; |database| NULL: none */
    const char *const *rules;   /* built-in names and files that follow "default" */
    uint32_t rule_count;
    const char *const *clients; /* "REF=SUT", addresses of clients */
    uint32_t client_count;
    /* Gives in *|file| the database with what |path| has, where that is none.  NULL: all are. */
    int (*find)(void *ctx, const char *path, const char **file, struct err *err);
    void *find_ctx;
    uint32_t copy; /* of a trace that was replayed in several copies: the one that is compared */
};

/* Compares, and puts the complete result at |out|, where it replaces an existing file.  If |out| is
 * NULL, the result is a private database.  *|result| is the result, open for reading; close it with
 * sqlite3_close.
 * Returns -ERR_USAGE if a rule file, a server or a client does not exist, and -ERR_INPUT if a file
 * is not a trace database or the sides have no operation in common. */
int compare_run(const struct compare_options *options, const char *out, sqlite3 **result,
                struct err *err);

/* Repeats the second phase for the result |in|, under the built-in default and |options->rules|.
 * Of the other options it uses |find| only.  |out| may be |in|.  Returns -ERR_INPUT if the trace
 * databases are missing or have changed, and -ERR_USAGE if the new rules differ in which requests
 * are equal. */
int compare_again(const char *in, const struct compare_options *options, const char *out,
                  sqlite3 **result, struct err *err);

/* Returns true if a file is a result, by its header. */
bool compare_is_result(const char *path);

/* Opens a result for reading.  Returns -ERR_INPUT if it is not a result, or of a later version. */
int compare_open(const char *path, sqlite3 **result, struct err *err);

#endif
