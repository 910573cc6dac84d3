/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/top_view.h
 *
 * How "nfsdigest top" shows what was counted: tables as text, on a terminal or in lines, and JSON.
 */
#ifndef NFSDIGEST_CLI_TOP_VIEW_H
#define NFSDIGEST_CLI_TOP_VIEW_H

#include "capture/sniff.h"
#include "show/screen.h"
#include "top/top.h"

struct top_view {
    const struct top *top;
    enum top_by by;
    enum top_column sort;
    bool all;         /* since the beginning, not only this interval */
    bool ended;       /* nothing more comes */
    uint64_t limit;   /* rows */
    const char *name; /* of the input */

    /* of the interval: */
    int64_t time;                       /* of the clock, or of the last packet in a file */
    double now, begun;                  /* seconds of it, and since the beginning; 0: not known */
    const struct sniff_counts *packets; /* NULL: no interface */
    uint64_t forgotten;                 /* how often names were forgotten */
    bool knows_waiting;
};

/* Prints a table as lines. */
void top_print(const struct top_view *view);
/* Draws it on the whole of a terminal. */
void top_draw(const struct top_view *view, struct screen *screen, bool paused);
/* Prints an object with all tables as a line. */
void top_json(const struct top_view *view);
/* Prints an operation as a line, or as a JSON object. */
void top_slow(const struct top_operation *operation);
void top_slow_json(const struct top_operation *operation);

#endif
