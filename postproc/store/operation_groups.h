/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/operation_groups.h
 *
 * Operations counted as a whole and by procedure, client, user, path, phase, export,
 * server, or status and procedure, with exact
 * percentiles of their latency by nearest rank (the smallest value that is not below p percent of
 * all).  All operations are read once.
 *
 * Memory: about 150 bytes for each procedure, client, user and path that has operations, 40 bytes
 * for each connection and each credential, and that of quantiles.h, phases.h and exports.h.
 */
#ifndef NFSDIGEST_STORE_OPERATION_GROUPS_H
#define NFSDIGEST_STORE_OPERATION_GROUPS_H

#include "store/filter.h"

enum group_by {
    BY_PROCEDURE,
    BY_CLIENT,
    BY_USER,
    BY_PATH,
    BY_PHASE,
    BY_EXPORT,
    BY_SERVER,
    BY_STATUS, /* other than OK, each procedure apart */
    BY_MAX
};

enum group_sort {
    SORT_OPERATIONS, /* phases: in their order */
    SORT_ERRORS,
    SORT_RESENT,
    SORT_READ,
    SORT_WRITTEN,
    SORT_P50,
    SORT_P90,
    SORT_P99,
    SORT_LONGEST,
    SORT_MAX
};

/* Those that a summary has if nobody chooses one. */
enum { GROUPS_USUAL = 1u << BY_PROCEDURE | 1u << BY_CLIENT | 1u << BY_USER | 1u << BY_PATH };

extern const char *const group_names[BY_MAX];        /* "procedure", ... */
extern const char *const group_sort_names[SORT_MAX]; /* "operations", ... */

struct group {
    char *label;    /* "NFS READ", an address, "uid 1001", a path, "NFS3ERR_STALE" */
    char *detail;   /* of a status: the procedure; else NULL */
    int64_t key[3]; /* of a user: uid, or -1 and the flavor of AUTH_ (RFC 5531 s8.2), or -2; of a
                     * phase or export: its number in phases.h or exports.h, or -1 for
                     * operations in none; of a status: see below */
    uint64_t operations, errors, answered, read, written;
    uint64_t resent;            /* calls of its operations that were sent again, each time */
    int64_t p50, p90, p99, max; /* ns; meaningful if answered > 0 */
    uint64_t times;             /* of a phase: how often it was marked, and for how long */
    int64_t lasted;             /* altogether, in ns */
};

/* True for the operations in no phase or export: |label| says so for people. */
static inline bool group_is_none(const struct group *group, enum group_by by)
{
    return (by == BY_PHASE || by == BY_EXPORT) && group->key[0] < 0;
}

/* The key of a status: key[0] is program and version, key[1] the procedure, or -1 if the call was
 * not captured, key[2] the status of RPC and that of the procedure. */
static inline int64_t group_key_of(uint32_t high, uint32_t low)
{
    return (int64_t)((uint64_t)high << 32 | low);
}
static inline uint32_t group_key_high(int64_t key)
{
    return (uint32_t)((uint64_t)key >> 32);
}
static inline uint32_t group_key_low(int64_t key)
{
    return (uint32_t)(uint64_t)key;
}

struct groups {
    struct group *groups; /* as |sort| says */
    int count;
    uint64_t left_out; /* further groups */
};

enum { GROUPS_PAIRINGS = 5 };
struct groups_totals {
    uint64_t operations, calls, replies, partial_calls, partial_replies;
    uint64_t pairing[GROUPS_PAIRINGS]; /* by enum pairing */
    bool timed;                        /* some have a time: */
    int64_t first_time, last_time;     /* of calls and replies, ns since the epoch */
};

struct groups_request {
    const struct filter *filter; /* NULL: all operations */
    unsigned tables;             /* bits 1 << enum group_by: which groups are read; at most
                                  * QUANTILES_DIMENSIONS (quantiles.h) */
    enum group_sort sort;        /* the most first */
    uint64_t top;                /* how many of each */
};

struct operation_groups {
    struct groups_totals totals;
    struct groups by[BY_MAX];
};

int groups_read(sqlite3 *db, const struct groups_request *request, struct operation_groups *groups,
                struct err *err);
void groups_free(struct operation_groups *groups);

#endif
