/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/compare_parts.h
 *
 * Shared by the files of postproc/compare: one comparison, and its codes.
 *
 * One connection has the result as "main", and the trace databases attached as "ref" and "sut".
 */
#ifndef NFSDIGEST_COMPARE_COMPARE_PARTS_H
#define NFSDIGEST_COMPARE_COMPARE_PARTS_H

#include "record/compare_file.h"
#include "compare/compare.h"
#include "compare/db.h"
#include "rules/place.h"
#include "align/codes.h"
#include "align/matched.h"
#include "align/overlap.h"
#include "judge/difference.h"
#include "judge/steps.h"

struct compare_side {
    char *server;       /* or NULL */
    const char *schema; /* "ref", "sut" */
    int64_t operations, first_time, last_time;
    bool has_clock;
    int64_t clock_offset, clock_error, granularity; /* the finest */
    struct steps steps;
};

struct compare {
    sqlite3 *db;
    const struct rules *rules;
    struct places_set places;
    struct compare_side side[SIDES];
    int first; /* the side that matching and aligning begin with, whichever is the reference */
    uint64_t pairs;
    bool by_number;       /* operations of a side name their counterparts: counterparts.c */
    bool numbered[SIDES]; /* of this side */
    uint32_t copy;        /* of the trace, that is compared */
};

/* result.c: the database of a result. */
struct result_file;
int result_create(struct result_file **file, const char *out, sqlite3 **db, struct err *err);
int result_index(sqlite3 *db, struct err *err); /* makes the indexes */
/* Finishes the result: a file is closed and gets its name. */
int result_commit(struct result_file *file, struct err *err);
/* Returns the open connection, which the caller then owns. */
sqlite3 *result_take(struct result_file *file);
const char *result_path(const struct result_file *file); /* NULL: private */
/* Ends the work on a result and removes it if it was not committed.  NULL is allowed. */
void result_abandon(struct result_file *file);
/* Makes a file in $TMPDIR for a temporary result, and writes its name to |path|. */
int result_temporary(char *path, size_t size, struct err *err);
void result_remove(const char *path);
int result_fill_codes(sqlite3 *db, struct err *err);
const char *result_code_name(const char *domain, int value);

/* sides.c: checks and attaches the databases, fills tables side and source. */
/* Also decides which side is |first|.  The choice does not depend on which side is called the
 * reference. */
int sides_attach(struct compare *c, const struct compare_options *o,
                 const struct compare_input input[SIDES], struct err *err);
int sides_put(struct compare *c, const struct compare_input input[SIDES], struct err *err);
/* Returns -ERR_INPUT if the databases are not those of table side. */
int sides_check(struct compare *c, struct err *err);
/* Fills table client: by --client-map, then by equal addresses, then in the order of the first
 * calls. */
int clients_match(struct compare *c, const struct compare_options *options, struct err *err);

/* steps_table.c: writes and reads table granularity of |db|. */
int steps_write(const struct steps *steps, sqlite3 *db, int side, struct err *err);
int steps_read(struct steps *steps, sqlite3 *db, int side, struct err *err);

/* callers.c: fills temp.caller1 and caller2, which number the caller of each credential (RFC 5531
 * s8: flavor, uid, gid).  Both sides use the same numbers.  If the rules ignore callers, the tables
 * are empty. */
int callers_match(struct compare *c, struct err *err);

/* request_sequences.c: makes one pass over each side.  It fills temp.sequence1 and sequence2 (the
 * requests of each object and client in their order), part1 and part2 (which listing an operation
 * continues), overlap1 and overlap2, and the clocks. */
int request_sequences_read(struct compare *c, struct err *err);

/* pairs_live.c: finds out if the sides are a log of a shadow. */
int compare_is_log(struct compare *c, bool *is, struct err *err);

/* counterparts.c: operations of a recorded replay name their counterparts.  Finds out if a side has
 * any. */
int counterparts_find(struct compare *c, struct err *err);
/* Fills temp.number1 and number2 if a side has any: the operations that can be paired, with their
 * numbers.  Equal numbers belong together.  Nothing else decides. */
int counterparts_number(struct compare *c, struct err *err);

/* matched_table.c: makes room for the objects of both databases.  Call matched_free also after an
 * error. */
int matched_open(struct objects *o, sqlite3 *db, struct err *err);
/* Reads tables object and other_handle of the result. */
int matched_load(struct objects *o, sqlite3 *db, struct err *err);

/* match.c: matches objects and aligns operations, for tables object and alignment. */
int match_run(struct compare *c, struct err *err);
/* match_table.c: fills table alignment. */
int match_put(struct compare *c, struct err *err);

/* compare_pairs.c: the second phase. */
int pairs_compare(struct compare *c, struct err *err);

/* noise.c: fills the noise columns of table group. */
/* Compares ref with |options->noise|.  Puts the result at |path|; the caller owns that file. */
int noise_measure(struct compare *c, const struct compare_options *options, const char *path,
                  struct err *err);
/* Uses the noise that was measured for the result that is attached as "old". */
int noise_keep(struct compare *c, struct err *err);
/* Writes a group's difference in words that are the same in either direction. */
void noise_neutral(const char *difference, char text[COMPARE_TEXT_MAX]);

#endif
