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

/* Of the two sides the first one (struct compare) and the other, whatever they are called. */
enum { ONE, OTHER };

/* The requests of a client on an object, as they come. */
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
    uint32_t row; /* of the pair of objects whose sequences are aligned; 0: none */
    int64_t client, name;
    struct align_windows *windows;
    struct time_offsets *offsets;
    uint32_t aligned, named; /* pairs of objects that were seen to */
    uint64_t pairs;
};

/* The side that one of the two is, and back. */
static inline int match_side(const struct match *m, int which)
{
    return m->c->first == REF ? which : !which;
}

/* Two objects that are the same one. */
struct alike {
    uint32_t object[2]; /* of ONE and OTHER */
    enum match_how how;
    const char *path_sql; /* gives the path that it has in the reference; or NULL */
    int64_t by[2];        /* parameter 1 of |path_sql|, for ONE and OTHER */
};

/* Matches them and puts them into table object. */
int match_objects(struct match *m, const struct alike *alike, struct err *err);
/* Paths are those that the reference has. */
extern const char match_path_of_operation[];

/* Everything that follows from what was matched so far. */
int match_follow(struct match *m, struct err *err);

/* match_orphans.c: each object that is left with the first one of the other side that has the same
 * first request and is free. */
int match_orphans(struct match *m, struct err *err);

#endif
