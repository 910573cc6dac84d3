/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/tally.h
 *
 * What a run has shown: counts, latencies, lateness, differences.
 *
 * Memory: it does not grow with the trace: 729 KiB, and 60 KiB for each procedure;
 * 80 bytes for each dump.
 */
#ifndef NFSDIGEST_PLAYER_TALLY_H
#define NFSDIGEST_PLAYER_TALLY_H

#include "measure/histogram.h"
#include "player/stalls.h"
#include "player/verdict.h"

enum {
    TALLY_PROCEDURES = 256 /* by rdump's number */,
    TALLY_EXAMPLES = 1000,
    TALLY_LEFT_OUT = TALLY_EXAMPLES / 10, /* examples of operations that were not sent */
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
    int64_t entered;  /* the horizon let it in: the feed gave it */
    int64_t ready;    /* its dependencies were done, and it had entered */
    int64_t allowed;  /* the limit of outstanding calls let it go */
    int64_t sent, answered;
    int64_t chain;    /* ns: the longest chain of latencies along dependencies that ends with this
                       * operation: its own latency and the longest chain of those it waited for;
                       * without the warm-up's */
    int64_t measured; /* when measuring began: behind the warm-up */
    uint32_t resent;
    bool warm_up;
};

/* Why operations were sent after their plan.  The parts of an operation add up to sent - planned:
 * LATE_WINDOW       until it entered
 * LATE_DEPENDENCY   from then until it was ready
 * LATE_OUTSTANDING  from then until it was allowed
 * LATE_OWN          from then until it was sent
 * each counted from the plan at the earliest, and only if it is above 0. */
enum tally_late { LATE_OWN, LATE_DEPENDENCY, LATE_WINDOW, LATE_OUTSTANDING, LATE_CAUSES };
/* "own", ... */
const char *tally_late_name(enum tally_late cause);

struct tally_procedure {
    uint64_t done; /* in |class|; the rest is about those that were answered and no warm-up */
    uint64_t class[VERDICT_CLASSES], bytes_read, bytes_written;
    struct histogram sent;    /* from sending to the answer */
    struct histogram planned; /* from the plan to the answer */
    struct histogram trace;   /* latency in the trace */
};

/* What an interval contributes to the time that operations were outstanding (tally_busy): an
 * operation that was so for a thousand intervals is noted in its first and its last one. */
struct tally_span {
    uint64_t begun; /* operations that became outstanding in it, less those that ended, */
    uint64_t times; /* and when these did, less when those did, all added up; both modulo 2^64 */
};

/* A part of the run; the length of parts doubles when there are too many. */
struct tally_interval {
    uint64_t done, errors, bytes; /* operations answered in it; those that differ; file contents */
    uint64_t trace_done;          /* the same of the trace, whose calls are at the planned times */
    struct tally_span busy, trace_busy;
};

/* The interval in which the last time of its kind was.  The next one is near it in most cases, so
 * that no division is needed. */
struct tally_place {
    int64_t end; /* of the interval; 0: not known */
    struct tally_interval *interval;
};

struct tally_example {
    uint64_t number, because; /* |because|: of VERDICT_SKIPPED */
    uint32_t dump;
    int64_t source;
    int64_t time; /* in the trace */
    uint32_t client, server;
    uint8_t procedure;
    uint32_t expected, got;
    enum verdict_class class;
    char what[128]; /* the object and the name, for people */
    char text[VERDICT_TEXT];
};

/* What a rule has allowed (verdict.h). */
struct tally_rule {
    uint64_t operations; /* that are as recorded under the rules: this one allowed a difference */
    uint64_t differ;     /* the same, but something else differs that no rule allows */
    /* The first of |operations| whose first difference this rule allowed; text[0] 0: none. */
    uint64_t number;
    uint32_t dump;
    uint8_t procedure;
    char text[VERDICT_TEXT];
};

struct tally {
    uint64_t class[VERDICT_CLASSES];         /* every operation once, warm-up too */
    uint64_t (*dump_class)[VERDICT_CLASSES]; /* the same for each dump */
    uint32_t dump_count;
    int64_t shift; /* tally_round: added to the times of operations, which count from |measured| */
    uint64_t warm_up; /* operations, without those that were not played */
    uint64_t resent;
    uint64_t refused; /* replies, of VERDICT_UNANSWERED, that were RPC errors or malformed; without
                       * the warm-up */
    uint64_t lost_connections;                           /* the player's own */
    struct tally_procedure *procedure[TALLY_PROCEDURES]; /* NULL: none */
    struct histogram late[LATE_CAUSES], late_all;
    struct stalls stalls; /* of LATE_DEPENDENCY: by the object that the operation is about */
    struct tally_interval interval[TALLY_INTERVALS];
    int64_t interval_length; /* ns */
    uint32_t interval_count;
    uint32_t joins;                                      /* how often the length has doubled */
    struct tally_place sent_at, answered_at, planned_at; /* in this tally: it is not to be copied */
    /* The first operations in another class than VERDICT_AS_RECORDED; of the skipped, unplayable
     * and not played ones only a tenth of the places. */
    struct tally_example *examples;
    uint32_t example_count;
    struct tally_rule *rules; /* by id - 1; NULL: there are no rules */
    uint32_t rule_count;
    uint64_t explained;    /* operations that are as recorded only under the rules */
    int64_t begun, ended;  /* ns of the run behind the warm-up: first sending and last answer */
    int64_t planned_end;   /* the latest plan */
    int64_t critical_path; /* the longest |chain| */
    /* The player's own, which it adds itself: */
    uint64_t writes, calls;       /* system calls that sent, and calls that they sent */
    int64_t cpu_user, cpu_system; /* ns of the process, while playing */
    int64_t outages_ns; /* from a lost connection, or the last answer, until a server has answered
                         * on all connections again */
    uint64_t outages;
    const char *ended_early; /* why, in words; NULL: it did not, or whoever stopped it knows */
    bool gave_up;            /* a server: it answered no more */
    bool unread; /* the dumps may have further operations, which are in no class (player.h) */
};

struct tally *tally_new(struct err *err);
void tally_free(struct tally *tally);
/* Before the first operation: there are so many rules.  320 bytes for each. */
int tally_rules(struct tally *tally, uint32_t count, struct err *err);
/* A further run is added up with those before it: its times follow theirs.  Before player_new. */
void tally_round(struct tally *tally);
/* The ns that operations were outstanding in each of the |interval_count| intervals, in all; by an
 * interval's length: concurrency.  |trace|: in the trace, whose calls are at the planned times. */
void tally_busy(const struct tally *tally, bool trace, uint64_t *ns);

/* -ERR_SYSTEM: no memory for a procedure or a dump that is new. */
int tally_add(struct tally *tally, const struct done *done, struct err *err);

/* The object and the name of the operation that waited longest, for people. */
void tally_stall_words(const struct stall *stall, char *to, size_t size);

/* --- of several players (tally_merge.c) */

/* Adds what another player of the same run has shown, whose times have the same begin.  Intervals
 * of |from| may be joined for that.  Examples are in the order of dumps and operations then. */
int tally_merge(struct tally *to, struct tally *from, struct err *err);
/* Appends the tally as bytes, at most some MiB. */
int tally_write(const struct tally *tally, struct buf *to, struct err *err);
/* Reads it again, into an empty tally.  -ERR_INPUT: it is none. */
int tally_read(struct tally *tally, struct bytes from, struct err *err);

/* For tally_merge.c. */
void tally_join(struct tally *tally); /* doubles the length of intervals */
bool tally_left_out(enum verdict_class class);

#endif
