/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/life_event.h
 *
 * What happened to an object once: an operation, or WRITEs that follow each other.  For life.c.
 */
#ifndef NFSDIGEST_CLI_LIFE_EVENT_H
#define NFSDIGEST_CLI_LIFE_EVENT_H

#include "base/json.h"
#include "cli/ops_row.h"

/* Zeros: no event. */
struct event {
    char what[96];                                   /* "made" */
    int64_t operation, last_operation, uid;          /* uid -1: unknown */
    int64_t time, last_time, call_frame, last_frame; /* frames -1: not captured */
    int64_t source;                                  /* of the call, or of the reply */
    uint64_t count, bytes;                           /* operations; contents */
    char *client, *machine, *path, *path2;           /* or NULL */
    const char *procedure;
    bool timed;
};

/* Sets |e| to the operation of a row of ops_select. */
int event_take(struct event *e, sqlite3_stmt *s, const char *what, struct err *err);
void event_free(struct event *e);

/* These print on standard output: a line, and either a line or a JSON object. */
void event_text(const struct event *e);
void event_print(const struct event *e, int64_t object, bool json);
/* Adds it as a member; null if there is no event. */
void event_json(struct json *j, const char *key, const struct event *e);

#endif
