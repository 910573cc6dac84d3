/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/activity.h
 *
 * What happened in a trace: over time, by procedure, client, user and path, by status, and by the
 * number of operations under way.  For the page of a trace.
 *
 * All operations are read once, in the order of their calls.  Counts and percentiles (nearest rank)
 * are exact.  An operation counts at the time of its call or, if that was not captured, of its
 * reply.
 *
 * Memory does not grow with the number of operations.  There are up to ACTIVITY_GROUPS procedures,
 * clients, users and statuses with 190 bytes each, four times ACTIVITY_COUPLES couples of such
 * groups with 60 bytes each, ACTIVITY_PATHS paths with 70 bytes each, and ACTIVITY_UNDER_WAY_MAX
 * operations under way with 8 bytes each.  Beyond these bounds, operations are counted as those of
 * others (|beyond|).  Latencies are put aside twice, as in quantiles.h: 2 x 40 MiB, and 48 bytes of
 * temporary files for each.
 */
#ifndef NFSDIGEST_ACTIVITY_ACTIVITY_H
#define NFSDIGEST_ACTIVITY_ACTIVITY_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ACTIVITY_SPANS = 200,     /* of time, at most */
    ACTIVITY_HEAT_ROWS = 128, /* ranges of latencies; see activity_heat_row */
    ACTIVITY_LEVELS = 48,     /* ranges of operations under way; see activity_level_from */
    ACTIVITY_PROBLEMS = 16,   /* kinds of problems: code 'problem' */
    ACTIVITY_PAIRINGS = 5,    /* code 'pairing' */
    ACTIVITY_KEY = 5,         /* numbers of a group's key */
    ACTIVITY_SHOWN = 25,      /* groups of a list */
    ACTIVITY_SHOWN_STATUSES = 40,
    ACTIVITY_SHOWN_PARTS = 8, /* of a group */
    ACTIVITY_NODES = 250,     /* of the tree of paths */
    ACTIVITY_SLOWEST = 50,
    ACTIVITY_GROUPS = 1 << 16, /* bounds: see above */
    ACTIVITY_COUPLES = 1 << 16,
    ACTIVITY_PATHS = 1 << 19,
    ACTIVITY_UNDER_WAY_MAX = 1 << 20,
};

struct activity_latency {
    uint64_t answered;                 /* operations with a latency: */
    int64_t least, p50, p90, p99, max; /* ns; meaningful if answered > 0 */
};

struct activity_count {
    uint64_t operations, errors;    /* errors: see wire/failure.h */
    uint64_t unanswered;            /* without a reply */
    uint64_t resent, replied_again; /* calls sent again, further replies, at their own times */
    uint64_t read, written;         /* bytes of contents of READ and WRITE */
    struct activity_latency latency;
};

/* A span of time. */
struct activity_span {
    struct activity_count n;
    uint64_t busy; /* ns: the sum of the times in which operations with a latency were under way */
    uint64_t peak; /* the most operations that were under way at a call, with that one */
    uint64_t problems[ACTIVITY_PROBLEMS], hole_bytes;
};

struct activity_part {
    char *label;
    uint64_t operations;
};

struct activity_parts {
    struct activity_part parts[ACTIVITY_SHOWN_PARTS]; /* most operations first */
    uint32_t count;
};

struct activity_group {
    int64_t key[ACTIVITY_KEY];
    char *label;
    struct activity_count n;
    struct activity_parts procedures; /* of clients, users and paths */
    struct activity_parts clients;    /* of paths */
    uint64_t *over_time;              /* of paths: operations in each span */
};

struct activity_list {
    struct activity_group *groups; /* most operations first */
    uint32_t count;
    uint64_t left_out; /* groups that are not shown, */
    uint64_t unshown;  /* and their operations */
    uint64_t beyond;   /* operations of groups that were not told apart */
};

enum activity_by {                     /* keys */
                   ACTIVITY_PROCEDURE, /* program, version, number */
                   ACTIVITY_CLIENT,
                   ACTIVITY_USER, /* flavor (-1: not captured), uid (-1: none) */
                   ACTIVITY_PATH,
                   ACTIVITY_STATUS, /* program, version, number, RPC status, status; errors only */
                   ACTIVITY_BY_MAX,
};

/* A directory or file in the tree of paths, with everything below it. */
struct activity_node {
    char *label;
    uint32_t depth, children; /* |children|: of them those that are shown: after it, one deeper */
    uint64_t operations;      /* on it and below */
    uint64_t own;             /* on it */
    uint64_t unshown;         /* below, on paths that are not shown */
};

struct activity_slow {
    int64_t operation, latency;
};

struct activity {
    struct activity_count n;
    uint64_t calls, replies, partial_calls, partial_replies, pairing[ACTIVITY_PAIRINGS];
    uint64_t pathless, untimed;    /* operations without a path, without a time */
    bool timed;                    /* some have a time: */
    int64_t first_time, last_time; /* of calls and replies */

    struct activity_span *spans; /* from |start|, each |every| ns long */
    uint32_t span_count;
    int64_t start, every;                 /* ns since the epoch, ns */
    uint64_t (*heat)[ACTIVITY_HEAT_ROWS]; /* for each span: operations by latency */

    struct activity_latency levels[ACTIVITY_LEVELS];
    uint64_t peak;      /* the most operations that were under way at a call */
    bool peak_is_least; /* more than ACTIVITY_UNDER_WAY_MAX were: levels are too small */

    struct activity_list by[ACTIVITY_BY_MAX];
    struct activity_node *nodes; /* a parent stands before its children */
    uint32_t node_count;
    uint64_t paths; /* number of paths in the trace */

    struct activity_slow slowest[ACTIVITY_SLOWEST]; /* the longest latency first */
    uint32_t slowest_count;
};

/* Reads the trace.  Returns 0 or a negative code; then |to| needs no activity_free. */
int activity_read(sqlite3 *db, struct activity *to, struct err *err);
void activity_free(struct activity *activity);

/* The row of a latency in the heat map: row 2k has those from 2^k to below 2^(k+1/2) ns, row 2k+1
 * those up to below 2^(k+1).  Row 0 also has those below 1 ns. */
unsigned activity_heat_row(int64_t latency);
/* The smallest latency of a row, rounded up; of row 0: 0; INT64_MAX
 * beyond the last row. */
int64_t activity_heat_from(unsigned row);

/* The smallest number of operations under way of a level: 1, 2, 3, 4, 5, 7, 9, 13, 17, ...  The
 * level ends before the first number of the next one. */
uint64_t activity_level_from(unsigned level);
unsigned activity_level(uint64_t under_way); /* at least 1 */

#endif
