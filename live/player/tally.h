/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/tally.h
 *
 * What a run has shown: counts, latencies, lateness, differences.  Fixed memory: it does not grow
 * with the trace.
 */
#ifndef NFSDIGEST_PLAYER_TALLY_H
#define NFSDIGEST_PLAYER_TALLY_H

#include "player/histogram.h"
#include "player/verdict.h"

enum {
    TALLY_PROCEDURES = 256 /* by rdump's number */,
    TALLY_EXAMPLES = 1000,
    TALLY_INTERVALS = 1024
};

/* One operation that is done.  Times are ns since the run's beginning; -1: does not apply. */
struct done {
    uint64_t number; /* in its dump */
    uint32_t dump;
    const struct step *step;
    const struct verdict *verdict;
    uint64_t because; /* VERDICT_SKIPPED: the operation that failed first */
    int64_t planned;  /* by the pace; of `asap`: when it was ready */
    int64_t ready;    /* its dependencies were done, and the horizon let it in */
    int64_t allowed;  /* the limit of outstanding calls let it go */
    int64_t sent, answered;
    uint32_t resent;
    bool warm_up;
};

/* Why operations were late, ns in all and how many: own: sent - max(planned, ready, allowed). */
enum tally_late { LATE_OWN, LATE_DEPENDENCY, LATE_WINDOW, LATE_OUTSTANDING, LATE_CAUSES };

struct tally_procedure {
    uint64_t done, class[VERDICT_CLASSES], bytes_read, bytes_written;
    struct histogram sent;    /* from sending to the answer */
    struct histogram planned; /* from the plan to the answer */
    struct histogram trace;   /* latency in the trace */
};

/* Operations of a part of the run; the length of parts doubles when there are too many. */
struct tally_interval {
    uint64_t done, errors, bytes,
        busy;                        /* |busy|: sum of latencies, ns; busy / length = concurrency */
    uint64_t trace_done, trace_busy; /* of the trace, at the planned times */
};

struct tally_example {
    struct done done;
    uint64_t source;
    int64_t time; /* in the trace */
    uint32_t client, server;
    uint8_t procedure;
    uint32_t expected, got;
    enum verdict_class class;
    char path[128], text[VERDICT_TEXT];
};

struct tally {
    uint64_t class[VERDICT_CLASSES];
    uint64_t warm_up, resent, lost_connections;
    struct tally_procedure *procedure[TALLY_PROCEDURES]; /* NULL: none */
    struct histogram late[LATE_CAUSES], late_all;
    struct tally_interval interval[TALLY_INTERVALS];
    int64_t interval_length; /* ns */
    uint32_t interval_count;
    struct tally_example *examples; /* the first TALLY_EXAMPLES operations that differ */
    uint32_t example_count;
    int64_t begun, ended; /* ns of the run, warm-up left out */
    int64_t planned_end;
    int64_t cpu_user, cpu_system; /* ns of the process, while playing */
    int64_t critical_path;        /* the longest chain of latencies along dependencies, ns */
    int64_t outages_ns;
    uint64_t outages;
};

struct tally *tally_new(struct err *err);
void tally_free(struct tally *tally);
int tally_add(struct tally *tally, const struct done *done, struct err *err);

#endif
