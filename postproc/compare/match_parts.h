/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match_parts.h
 *
 * Shared by the files that match objects (match.c says how).
 */
#ifndef NFSDIGEST_COMPARE_MATCH_PARTS_H
#define NFSDIGEST_COMPARE_MATCH_PARTS_H

#include "align/align.h"
#include "align/time_offsets.h"
#include "compare/compare_parts.h"
#include "compare/renewals.h"

/* The first side (struct compare) and the other one; the first need not be the reference. */
enum { ONE, OTHER };

/* The requests of a client on an object, in their order. */
struct sequence {
    sqlite3_stmt *stmt;
    struct align_element element;
    int64_t client, name;
    bool has_row;
};

struct match {
    struct compare *c;
    struct objects objects;
    struct renewals renewals;
    struct sequence sequence[2]; /* ONE, OTHER */
    sqlite3_stmt *names[2], *put, *object;
    uint32_t row;             /* of the pair of objects whose sequences are aligned; 0: none */
    enum align_reason reason; /* of requests that one side does not have */
    int64_t client, name;
    struct align_windows *windows;
    struct time_offsets *offsets;
    uint32_t aligned, named; /* pairs of objects that are done */
    uint64_t pairs;
};

/* Returns the side of ONE or OTHER, and the reverse. */
static inline int match_side(const struct match *m, int which)
{
    return m->c->first == REF ? which : !which;
}

/* Two objects that are the same file. */
struct alike {
    uint32_t object[2]; /* of ONE and OTHER */
    enum match_how how;
    const char *path_sql; /* finds its path in the reference; or NULL */
    int64_t by[2];        /* parameter 1 of |path_sql|, for ONE and OTHER */
};

/* Matches them and puts them into table object. */
int match_objects(struct match *m, const struct alike *alike, struct err *err);
/* Paths are those in the reference. */
extern const char match_path_of_operation[];

/* Reads the next request of a sequence. */
int match_advance(struct sequence *sequence, struct err *err);
/* Puts a pair of m->client on the objects m->row into temp.pair, and matches what it found or made;
 * with NULL a request that one side does not have, because of m->reason. */
int match_put_requests(struct match *m, const struct align_element *a,
                       const struct align_element *b, struct err *err);
/* Matches the names below all objects that are matched. */
int match_all_names(struct match *m, struct err *err);

/* match_numbers.c: pairs the operations with equal numbers (counterparts_number). */
int match_numbers(struct match *m, struct err *err);

/* Matches everything that follows from the pairs matched so far. */
int match_follow(struct match *m, struct err *err);

/* match_orphans.c: matches each object that is left with the first free object of the other side
 * that has the same first request.  But a handle that one of the servers always refused is none of
 * its own: a client made it up, and so it is the same on the other side. */
int match_orphans(struct match *m, struct err *err);

#endif
