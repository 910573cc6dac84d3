/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/life_event.c
 *
 * Copies an event out of its row, because others come before it is printed, and prints it.  The
 * contract is in life_event.h.
 */
#include "cli/life_event.h"
#include "base/escape.h"
#include "engine.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void event_free(struct event *e)
{
    free(e->client);
    free(e->machine);
    free(e->path);
    free(e->path2);
    memset(e, 0, sizeof(*e));
}

static char *copy_of(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;

    *failed |= text && !copy;
    return copy;
}

/* Sets |e| to the row. */
int event_take(struct event *e, sqlite3_stmt *s, const char *what, struct err *err)
{
    int when = ops_is_null(s, OP_CALL_TIME) ? OP_REPLY_TIME : OP_CALL_TIME;
    bool failed = false;

    event_free(e);
    snprintf(e->what, sizeof(e->what), "%s", what);
    e->operation = e->last_operation = sqlite3_column_int64(s, OP_ID);
    e->uid = sql_column(s, OP_UID, -1);
    e->timed = !ops_is_null(s, when);
    e->time = e->last_time = sqlite3_column_int64(s, when);
    e->call_frame = sql_column(s, OP_CALL_FRAME, -1);
    e->last_frame = sql_column(s, OP_REPLY_FRAME, -1);
    e->source = sql_column(s, ops_is_null(s, OP_CALL_SOURCE) ? OP_REPLY_SOURCE : OP_CALL_SOURCE, 0);
    e->count = 1;
    e->bytes = (uint64_t)sqlite3_column_int64(s, OP_DATA_LENGTH);
    e->client = copy_of(ops_value(s, OP_CLIENT), &failed);
    e->machine = copy_of(ops_value(s, OP_MACHINE), &failed);
    e->path = copy_of(ops_value(s, OP_PATH), &failed);
    e->path2 = copy_of(ops_value(s, OP_PATH2), &failed);
    e->procedure = NULL;
    if (!ops_is_null(s, OP_PROGRAM)) {
        const struct procedure *p = procedure_find((uint32_t)sqlite3_column_int64(s, OP_PROGRAM),
                                                   (uint32_t)sqlite3_column_int64(s, OP_VERSION),
                                                   (uint32_t)sqlite3_column_int64(s, OP_PROCEDURE));

        e->procedure = p ? p->name : NULL;
    }
    return failed ? err_memory(err, "an event") : 0;
}

void event_text(const struct event *e)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    printf("  %s", e->timed ? time_text(e->time, a) : "-");
    if (e->count > 1 && e->timed)
        printf(" to %s", time_text(e->last_time, a));
    printf(" %s", e->client);
    if (e->uid >= 0)
        printf(" uid %lld", (long long)e->uid);
    if (e->machine) {
        fputs(" machine ", stdout);
        escape_print(stdout, e->machine);
    }
    printf(": %s", e->what);
    if (e->procedure && strcmp(e->what, "stale") == 0)
        printf(" at %s", e->procedure);
    if (e->count > 1)
        printf(" %s times", count_text(e->count, a));
    if (e->bytes)
        printf(", %s", size_text(e->bytes, b));
    putchar(' ');
    escape_print(stdout, e->path ? e->path : "-");
    if (e->path2) {
        fputs(" to ", stdout);
        escape_print(stdout, e->path2);
    }
    fputs(" [", stdout);
    if (e->call_frame >= 0)
        printf("%lld", (long long)e->call_frame);
    putchar('-');
    if (e->last_frame >= 0)
        printf("%lld", (long long)e->last_frame);
    putchar(']');
    if (e->source > 1)
        printf(" source %lld", (long long)e->source);
    putchar('\n');
}

static void json_unless(struct json *j, const char *key, int64_t value, int64_t none)
{
    if (value == none)
        json_null(j, key);
    else
        json_i64(j, key, value);
}

/* The members of an event. */
static void json_members(struct json *j, const struct event *e)
{
    json_text(j, "what", e->what);
    json_i64(j, "operation", e->operation);
    json_i64(j, "last_operation", e->last_operation);
    json_u64(j, "count", e->count);
    json_unless(j, "time", e->timed ? e->time : INT64_MIN, INT64_MIN);
    json_unless(j, "last_time", e->timed ? e->last_time : INT64_MIN, INT64_MIN);
    json_text(j, "client", e->client);
    json_unless(j, "uid", e->uid, -1);
    json_text(j, "machine", e->machine);
    json_text(j, "procedure_name", e->procedure);
    json_text(j, "path", e->path);
    json_text(j, "path2", e->path2);
    json_u64(j, "bytes", e->bytes);
    json_i64(j, "source", e->source);
    json_unless(j, "call_frame", e->call_frame, -1);
    json_unless(j, "reply_frame", e->last_frame, -1);
}

void event_print(const struct event *e, int64_t object, bool json)
{
    struct json j = { .out = stdout };

    if (!json) {
        event_text(e);
        return;
    }
    json_object(&j, NULL);
    json_i64(&j, "object", object);
    json_members(&j, e);
    json_object_end(&j);
    json_end(&j);
}

void event_json(struct json *j, const char *key, const struct event *e)
{
    if (!e->count) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_members(j, e);
    json_object_end(j);
}
