/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/starve.h
 *
 * Who keeps whom waiting: calls that are outstanding at the same service, which is one port of a
 * server, share its time.  Everything follows from the times of calls and replies in the trace.
 *
 * - A group is a client, a connection or an export (store/exports.h) of one service.
 * - Share: at each moment at which calls are outstanding, each call has the same part of the
 *   service's time.  A group's share is the sum of its parts.
 * - Service time of a call: the median latency of calls of the same procedure and size (to a factor
 *   of 4) that were alone at the service from call to reply; if there were less than
 *   STARVE_ALONE_MIN of them, the latency that one in ten stays below.  What is above it is called
 *   queueing.  A trace does not show more: a call that waits for a disk is in service.
 * - Behind whom a call queued: in proportion to the other calls that were outstanding meanwhile.
 *
 * Memory: 2.3 KB for each group, 4 KB for each procedure and size of a service, 200 bytes for each
 * outstanding call, and with intervals STARVE_TOP cells for each of at most STARVE_INTERVALS_MAX.
 */
#ifndef NFSDIGEST_CLI_STARVE_H
#define NFSDIGEST_CLI_STARVE_H

#include "cli/traffic.h"
#include "record/record.h"

enum {
    STARVE_TOP = 16, /* groups that are told apart as those that others queue behind */
    STARVE_BUCKETS =
        12, /* by the calls of others at the time of a call: 0, 1, 2 to 3, 4 to 7, ... */
    STARVE_ALONE_MIN = 5,
    STARVE_LATENCIES = 512, /* places of a histogram of latencies, 1/8 of an octave each */
    STARVE_INTERVALS_MAX = 100000,
};

#define STARVE_SILENCE INT64_C(2000000000) /* ns: it may be an outage, as for nfsdigest outage */

struct starve_bucket {
    uint64_t calls;
    double latency; /* sum, ns */
};

enum starve_by { STARVE_CLIENT, STARVE_CONNECTION, STARVE_EXPORT };

struct starve_group {
    uint32_t service;
    char client[ADDRESS_TEXT_MAX]; /* "": it is an export */
    int port;                      /* of the client; 0: all of them */
    char *label;                   /* of an export; owned */
    uint32_t number;               /* of an export */
    int top;                       /* its place among the first STARVE_TOP, or -1 */
    uint64_t calls, bytes;         /* answered; of contents */
    uint64_t most,
        most_bytes; /* outstanding at a time; bytes that READs ask for and WRITEs bring */
    double busy;    /* ns: sum of latencies */
    double active;  /* ns in which at least one call was outstanding */
    double share;   /* ns of the service */
    double queued;  /* ns: sum of what is above the service time */
    double behind[STARVE_TOP]; /* ns: the part of |queued| behind each of the first groups */
    struct starve_bucket by_others[STARVE_BUCKETS];
    uint32_t latencies[STARVE_LATENCIES];
    /* the state of the sweep: */
    uint64_t now, now_bytes; /* outstanding */
    double clock;            /* of the service, when |now| changed last */
    int64_t since;           /* time of that */
};

struct starve_service {
    char server[ADDRESS_TEXT_MAX];
    int port;
    uint64_t calls;
    uint64_t most;       /* outstanding at a time */
    double busy, active; /* as of a group */
    uint32_t groups;     /* with calls */
    /* the state of the sweep: */
    uint64_t now;
    int64_t since;
    double clock;    /* ns of which each outstanding call had */
    int64_t replied; /* time of the last reply */
    uint32_t
        alone; /* the only outstanding call, if it was so from its beginning; else UINT32_MAX */
};

/* A finding: |victim| queues behind |by|, which has more than its part. */
struct starve_finding {
    uint32_t victim, by; /* groups */
};

struct starve_cell {       /* of a group in an interval */
    double busy;           /* ns: sum of outstanding calls over time */
    uint64_t calls, bytes; /* answered in it */
    double latency;        /* sum, ns */
};

struct starve_request {
    struct traffic traffic;
    enum starve_by by;
    int64_t every; /* ns, or INT64_MIN */
    uint64_t top;  /* groups to show */
};

struct starve {
    struct starve_service *services;
    uint32_t service_count, service_cap;
    struct starve_group *groups;
    uint32_t group_count, group_cap;
    uint32_t *order;            /* groups, those with the greatest share of a service first */
    uint32_t first[STARVE_TOP]; /* groups */
    uint32_t first_count;
    struct starve_finding *findings;
    uint32_t finding_count, finding_cap;
    uint64_t unanswered; /* calls without a reply: in no figure */
    int64_t silence;     /* ns: the longest time in which calls waited for a service's next reply */
    int64_t silence_since;
    uint32_t silent; /* the service */
    int64_t begin;   /* ns: of the first interval */
    uint32_t intervals;
    struct starve_cell *cells; /* [interval][top] */
};

/* Free |starve| also after a failure. */
int starve_read(sqlite3 *db, const struct starve_request *request, struct starve *starve,
                struct err *err);
void starve_free(struct starve *starve);

/* starve_latency.c: histograms of latencies, and the service times that follow. */
struct starve_times;
struct starve_times *starve_times_new(uint32_t services, struct err *err);
void starve_times_free(struct starve_times *times);
struct starve_kind { /* of a call */
    uint32_t service;
    uint32_t program, procedure;
    uint64_t size; /* of contents; 0: none */
};
int starve_times_note(struct starve_times *times, const struct starve_kind *kind, int64_t latency,
                      bool alone, struct err *err);
int64_t starve_times_service(const struct starve_times *times, const struct starve_kind *kind);
void starve_latency_note(uint32_t latencies[STARVE_LATENCIES], int64_t latency);
int64_t starve_latency_at(const uint32_t latencies[STARVE_LATENCIES], unsigned percent);

int starve_text(const struct starve_request *request, const struct starve *starve, struct err *err);
int starve_json(const char *name, const struct starve_request *request, const struct starve *starve,
                struct err *err);

#endif
