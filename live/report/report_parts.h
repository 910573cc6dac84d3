/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_parts.h
 *
 * What report_text.c, report_runs.c and the files of the page (report_html_parts.h) share.
 */
#ifndef NFSDIGEST_REPORT_REPORT_PARTS_H
#define NFSDIGEST_REPORT_REPORT_PARTS_H

#include "base/values.h"
#include "report/report.h"

/* "DUMP played on TARGET, PACE" */
void report_title(const struct report *report, FILE *to);
/* Lines about the rules and the options, if there are any. */
void report_conditions(const struct report *report, const char *indent, FILE *to);
/* Of rdump's number; returns |room|. */
const char *report_procedure_name(unsigned number, char room[24]);
/* duration_text of a computed time. */
const char *report_time(double ns, char room[VALUE_TEXT_MAX]);
/* The time that operations were outstanding, in all, by the duration. */
double report_concurrency(const struct report *report);
/* The same of the plan, if each operation took as long as in the trace: what fidelity is measured
 * by. */
double report_planned_rate(const struct report *report);
double report_planned_concurrency(const struct report *report);
/* What its operations waited at most, ns. */
int64_t report_stall_most(const struct report_stall *stall);
/* How many operations ended so. */
uint64_t report_in_class(const struct report *report, enum verdict_class class);
/* The heading of the examples; if they are not all, where there are more. */
const char *report_examples_words(const struct report *report);
/* In %; 0 of nothing. */
double report_share(uint64_t part, uint64_t all);

/* --- several runs: report_runs.c */

enum {
    REPORT_FIGURES = 8 + 2 * TALLY_PROCEDURES,
    REPORT_RUNS = 256 /* further ones are left out */
};

/* A figure of a run; of a procedure if |procedure| is not NULL. */
struct report_figure {
    const char *name, *procedure;
    double (*of)(const struct report *report, const char *procedure); /* NAN: the run has none */
    bool is_time, is_share;                                           /* in ns; in % */
};

/* Runs with the same dump, target, pace, rules and options. */
struct report_group {
    uint32_t first, members; /* |first|: the first of these */
};

struct report_middle {
    double median, spread; /* NAN: there is none */
};

/* Each returns how many it filled in. */
uint32_t report_groups(const struct report *const *reports, uint32_t count,
                       struct report_group groups[REPORT_RUNS]);
uint32_t report_figures(const struct report *const *reports, uint32_t count,
                        struct report_figure figures[REPORT_FIGURES]);
/* What a page says of differences between the groups; "": there is only one. */
const char *report_groups_words(const struct report_group *groups, uint32_t group_count);
/* Of the runs in the group of reports[first]. */
struct report_middle report_middle(const struct report *const *reports, uint32_t count,
                                   uint32_t first, const struct report_figure *figure);
/* A value of a figure; "-" for NAN. */
const char *report_amount(double value, bool is_time, char room[VALUE_TEXT_MAX]);
/* "+3.1 %", or "+0.25" of a share, if the groups' medians differ by more than the spread of either;
 * else "". */
const char *report_difference(const struct report_figure *figure, struct report_middle first,
                              struct report_middle other, char room[VALUE_TEXT_MAX]);

#endif
