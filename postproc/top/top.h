/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/top/top.h
 *
 * What goes on now, from the records of an engine or of a stream: operations by client, path,
 * procedure, uid and export, in the current interval and since the beginning.
 *
 *     top_new; records into top_sink; for each interval: top_waiting_begin, what waits into the
 *     sink, top_waiting_end; show; top_next
 *
 * All counts of a table together are those of the whole: what has no row of its own is in a row of
 * others.
 *
 * Memory: TOP_ROWS rows of 3.5 KiB for each of the five tables, and 2 MiB.  Flows, credentials,
 * objects and paths are kept until top_forget; top_names says how many there are.
 */
#ifndef NFSDIGEST_TOP_TOP_H
#define NFSDIGEST_TOP_TOP_H

#include "record/record.h"
#include "top/spread.h"

enum top_by { TOP_CLIENT, TOP_PATH, TOP_PROCEDURE, TOP_UID, TOP_EXPORT, TOP_TABLES };
enum { TOP_ROWS = 1000, TOP_LABEL = 232 };

extern const char *const top_by_names[TOP_TABLES]; /* "client", ... */

struct top_counts {
    uint64_t operations;    /* with a reply, or given up */
    uint64_t errors;        /* answered with another status than 0 */
    uint64_t unanswered;    /* given up */
    uint64_t read, written; /* bytes of contents */
    uint64_t resent;        /* calls that were sent again */
    uint64_t waiting;       /* for a reply, when the interval ended; not summed up */
    struct spread latency;
};

struct top_row {
    uint64_t key;
    char label[TOP_LABEL]; /* escaped (base/escape.h); the beginning of a path that is longer is
                              missing */
    struct top_counts now, last, all; /* of this interval, the one before, and all */
};

/* Filters.  An operation whose value is not known does not match. */
struct top_filter {
    struct address client, server; /* version 0: all */
    const char *path;              /* the beginning; NULL: all */
    const char *procedure;         /* name or number; NULL: all */
    uint64_t uid;                  /* UINT64_MAX: all */
};

/* An operation for people. */
struct top_operation {
    const struct record_operation *record;
    const char *client, *server, *path, *procedure, *status; /* path: "" if it is not known */
    char uid[16];                                            /* or "-" */
    int64_t time, latency;                                   /* TIME_NONE: not known */
    bool is_error;                                           /* or was not answered */
};

struct top_setup {
    struct top_filter filter;
    /* Called for each operation that is complete and matches; or NULL. */
    void (*each)(void *ctx, const struct top_operation *operation);
    void *ctx;
};

struct top;

struct top *top_new(const struct top_setup *setup, struct err *err);
void top_free(struct top *top);
struct sink top_sink(struct top *top);

/* Between these two, operations are those that still wait. */
void top_waiting_begin(struct top *top);
void top_waiting_end(struct top *top);
/* Ends the interval: its counts become 0, and full tables lose their least active rows to others.
 */
void top_next(struct top *top);

const struct top_counts *top_whole(const struct top *top, bool last);
const struct top_counts *top_others(const struct top *top, enum top_by by, bool last);
/* How many rows went to others since the beginning; more, if they came again. */
uint64_t top_lost(const struct top *top, enum top_by by);
int64_t top_first_time(const struct top *top), top_last_time(const struct top *top);
int64_t top_oldest(const struct top *top); /* time of the oldest call that waits, or TIME_NONE */

enum top_column {
    TOP_OPERATIONS,
    TOP_READ,
    TOP_WRITTEN,
    TOP_P50,
    TOP_P99,
    TOP_ERRORS,
    TOP_RESENT,
    TOP_WAITING,
    TOP_COLUMNS
};
extern const char *const top_column_names[TOP_COLUMNS]; /* "operations", ... */
/* Returns a column's number. */
uint64_t top_value(const struct top_counts *counts, enum top_column column);

/* Adds |from| to |to|. */
void top_counts_merge(struct top_counts *to, const struct top_counts *from);

/* The rows with the largest numbers, at most |most|; those that did nothing are left out.  Returns
 * how many. */
size_t top_sorted(const struct top *top, enum top_by by, enum top_column column, bool last,
                  const struct top_row **rows, size_t most);

/* Flows, credentials, objects and paths that are kept. */
uint64_t top_names(const struct top *top);
/* Forgets them, since their ids are those of an engine that ended. */
void top_forget(struct top *top);

#endif
