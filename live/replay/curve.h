/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/curve.h
 *
 * Latency against throughput: what the runs of nfsreplay curve have shown, as a table, JSON and
 * plots.
 *
 *     curve_open, for each run curve_add and curve_print_row, curve_save, curve_close
 *
 * Times are ns, rates operations a second.  Memory: 400 bytes for each run, and 250 for each of its
 * procedures.
 */
#ifndef NFSDIGEST_REPLAY_CURVE_H
#define NFSDIGEST_REPLAY_CURVE_H

#include "replay/options.h"
#include "report/report.h"

enum { CURVE_RUN_TEXT = 24 };

struct curve_point {
    uint32_t target;          /* index in the options */
    char run[CURVE_RUN_TEXT]; /* the run's folder, in that of the curve */
    double wanted;            /* the planned rate; 0: as fast as possible */
    double reached;           /* answered, by the duration; warm-up left out */
    uint64_t operations;      /* of all classes, warm-up too */
    uint64_t answered;        /* without warm-up: those that are measured */
    uint64_t differ;          /* did not end as in the trace, or were left when the run ended before
                               * --duration */
    int64_t duration;         /* from the first sending to the last answer; warm-up left out */
    struct report_times sent, planned;   /* latency of all procedures */
    struct report_procedure *procedures; /* owned */
    uint32_t procedure_count;
};

struct curve {
    const struct replay_options *options; /* must outlive the curve */
    struct curve_point *points;           /* in the order of curve_add */
    uint32_t count, room;
};

/* Call curve_close also after an error. */
int curve_open(struct curve *curve, const struct replay_options *options, struct err *err);
void curve_close(struct curve *curve);

/* The name of the folder of run |number| on a target; number 0 is the one as fast as possible. */
const char *curve_run_name(uint32_t target, uint32_t number, char text[CURVE_RUN_TEXT]);

/* Adds run |number| of target |target|.  Returns it; NULL: no memory, or too many. */
struct curve_point *curve_add(struct curve *curve, uint32_t target, uint32_t number,
                              const struct report *report, const struct tally *tally,
                              struct err *err);

/* The table of a target: its head, then a row for each run. */
void curve_print_head(const struct curve *curve, uint32_t target, FILE *to);
void curve_print_row(const struct curve_point *point, FILE *to);

/* Writes curve.json, curve.svg (a line for each target) and procedures-N.svg (a line for each of
 * the most frequent procedures on target N) into the folder of the options. */
int curve_save(const struct curve *curve, struct err *err);
/* Prints what curve.json has. */
int curve_print_json(const struct curve *curve, FILE *to, struct err *err);

/* curve_plot.c: the plots, for curve_save. */
int curve_plots(const struct curve *curve, struct err *err);

#endif
