/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report.h
 *
 * The report of a run of a replay: made of its tally, written as JSON (schemas/replay.schema.json),
 * text and HTML, and read again, alone or beside other runs.
 *
 * A run that was played: report_new, report_data (while the script has its tree), report_dump,
 * report_fill, report_save, report_free.  One that was kept: report_new, report_load, report_text,
 * report_runs or report_html, report_free.
 *
 * Times are ns.  Memory: 430 KiB for each report.
 */
#ifndef NFSDIGEST_REPORT_REPORT_H
#define NFSDIGEST_REPORT_REPORT_H

#include "player/script.h"
#include "player/tally.h"

#include <stdio.h>

struct report_times {
    uint64_t count;
    int64_t sum, mean, p50, p90, p99, p999, most;
};

/* A part of the tree before the first operation. */
struct report_set {
    uint64_t files, directories, others, bytes; /* bytes of files */
};

struct report_run {
    char dump[256], target[256], pace[64]; /* |pace|: in words */
    char rules[256];                       /* names of the rules in force, beside "default"; "" */
    char options[384];                     /* further ones of the run, as its maker says; "" */
    char note[256];      /* why the run ended before its end, which its maker says; "" */
    uint64_t operations; /* in all classes */
    uint64_t explained;  /* as recorded only under the rules; part of that class */
    uint64_t refused;    /* answers that were RPC errors or could not be read (tally.h) */
    uint64_t warm_up, resent, lost_connections, outages, calls, writes;
    int64_t duration;      /* from the first sending to the last answer; warm-up left out */
    int64_t planned;       /* from then until the latest plan */
    int64_t critical_path; /* tally.h */
    int64_t outages_ns, cpu_user, cpu_system;
    int64_t interval_length;
    uint64_t bytes_read, bytes_written;
    struct report_set initial, accessed; /* |accessed|: what an operation uses */
};

struct report_class {
    char name[24]; /* verdict_class_name */
    uint64_t operations;
};

struct report_late {
    char cause[24]; /* tally_late_name; "all": from the plan to the sending */
    struct report_times times;
};

struct report_stall { /* struct stall (player/stalls.h) */
    uint64_t dump, object, operations;
    int64_t waited, missed, longest;
    uint64_t number; /* of |longest| */
    char procedure[24], what[128];
};

struct report_procedure {
    char name[24];
    uint64_t operations, differ; /* |differ|: verdict_differs */
    uint64_t bytes_read, bytes_written;
    struct report_times trace, sent, planned; /* latency: of the trace; from sending; from plan */
};

struct report_interval { /* tally.h */
    uint64_t done, errors, bytes, busy, trace_done, trace_busy;
};

struct report_example {
    uint64_t dump, number, because;
    int64_t source, time;
    char procedure[24], class[24], what[128], text[VERDICT_TEXT];
};

struct report_rule {                        /* tally_rule; those that allowed something */
    char file[96], rule[160], reason[256];  /* |rule|: as in the file; |reason|: rules_reason */
    char procedure[24], text[VERDICT_TEXT]; /* of the first; "": there is none */
    uint64_t line, operations, differ, dump, number;
};

/* A dump or a copy. */
struct report_dump {
    char name[256];                     /* its file; of several the directory, and the file */
    int64_t delay;                      /* ns that it began later than the run */
    uint64_t operations;                /* in all classes */
    uint64_t in_class[VERDICT_CLASSES]; /* by enum verdict_class */
};

enum {
    REPORT_EXAMPLES = 20,
    REPORT_STALLS_MAX = 20,
    REPORT_RULE_ROWS = 100,
    REPORT_DUMPS_MAX = 256,
    REPORT_SECTIONS = 9
};

struct report {
    struct report_run run;
    struct report_class classes[VERDICT_CLASSES];
    struct report_late late[LATE_CAUSES + 1];      /* the last one: all */
    struct report_stall stalls[REPORT_STALLS_MAX]; /* the longest first */
    struct report_procedure procedures[TALLY_PROCEDURES];
    struct report_interval intervals[TALLY_INTERVALS];
    struct report_example examples[REPORT_EXAMPLES];
    struct report_rule rules[REPORT_RULE_ROWS]; /* if there are more, the last row is their sum */
    struct report_dump dumps[REPORT_DUMPS_MAX];
    uint32_t counts[REPORT_SECTIONS]; /* of these, in their order */
};

enum report_section {
    REPORT_RUN,
    REPORT_CLASSES,
    REPORT_LATE,
    REPORT_STALLS,
    REPORT_PROCEDURES,
    REPORT_INTERVALS,
    REPORT_FIRST_EXAMPLES,
    REPORT_RULES,
    REPORT_DUMPS
};

struct report_times report_times_of(const struct histogram *h);
struct report *report_new(struct err *err);
void report_free(struct report *report);

/* Fills in |initial| and |accessed|, with what |server| of the dump has.  Several servers and dumps
 * are added up. */
void report_data(struct report *report, const struct script *script, uint32_t server);
/* Names the next dump, in the order of the tally's. */
void report_dump(struct report *report, const char *name, int64_t delay);
/* Fills in all but these, |options| and |note|.  Texts are cut to their room. */
void report_fill(struct report *report, const char *dump, const char *target, const char *pace,
                 const struct tally *tally);
/* Fills in |run.rules|, and which rules allowed something.  Call it after report_fill. */
void report_rules(struct report *report, const struct rules *rules, const struct tally *tally);
/* Makes |folder| and writes report.json, mismatches.jsonl (the examples of the tally), and
 * latencies/PROCEDURE.{sent,planned,trace}.hgrm, late.CAUSE.hgrm (HdrHistogram's text, in us),
 * in this order.  Returns -ERR_SYSTEM at the first one that cannot be written; those that are there
 * are whole. */
int report_save(const struct report *report, const struct tally *tally, const char *folder,
                struct err *err);

/* --- report_json.c */

/* Returns 0, or -ERR_SYSTEM if |to| cannot be written. */
int report_json(const struct report *report, FILE *to, struct err *err);
/* Reads what report_json wrote, line by line: JSON that another program has formatted anew is
 * refused.  -ERR_INPUT: it is not such a report, or cannot be opened; -ERR_SYSTEM: reading failed.
 */
int report_load(struct report *report, const char *path, struct err *err);
/* The same from an open file.  |name| is for messages. */
int report_read(struct report *report, FILE *from, const char *name, struct err *err);

/* --- report_text.c, report_rules.c, report_runs.c: for people */

/* |amount| / |ns| in 1/s; 0 without time. */
double report_rate(double amount, int64_t ns);
/* Operations whose times are known: those that were answered, without the warm-up. */
uint64_t report_timed(const struct report *report);
void report_text(const struct report *report, FILE *to);
/* The part about rules: nothing if they allowed nothing. */
void report_rules_text(const struct report *report, FILE *to);
/* Two or more runs: medians and spread of the main figures.  Runs with the same dump, target,
 * pace, rules and options are a group.  Between two groups, a difference is marked if it is larger
 * than the spread of either. */
void report_runs(const struct report *const *reports, uint32_t count, FILE *to);

/* --- report_html.c */

enum { REPORT_HTML_RUNS = 16 };

/* Writes one HTML page to |path| ("-": standard output): the run; or of several, what report_runs
 * shows, then the first REPORT_HTML_RUNS runs.  The page needs no other file and has no script.  It
 * appears when it is complete.  Memory: a plot of 100 KiB, and show/page.h's. */
int report_html(const struct report *const *reports, uint32_t count, const char *path,
                struct err *err);

#endif
