/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/life.c
 *
 * Reads all operations that use an object in the order of their times, and prints those that change
 * it.  What an operation does follows from its procedure's row in engine/wire, from the attributes
 * that it sets, and from what the database says of the object's names.  For cmd_who.c.  The
 * contract is in life.h.
 */
#include "cli/life.h"
#include "base/escape.h"
#include "base/grow.h"
#include "base/json.h"
#include "cli/life_event.h"
#include "effect/effect.h"
#include "engine.h"
#include "store/filter.h"
#include "store/sql.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named { /* an operation that changed the object's names */
    int64_t operation;
    unsigned events; /* bits 1 << enum name_event */
};

struct life {
    int64_t object;
    bool json;
    struct named *named;
    uint32_t named_count, named_cap;
    struct event writes;        /* not printed yet */
    struct event worked, ended; /* the last operation that worked, and the last that took a name */
    struct event worked_before; /* when it was first stale: */
    struct event ended_before, stale;
    uint64_t operations, failed, stale_count;
};

static void print_writes(struct life *life)
{
    if (life->writes.count)
        event_print(&life->writes, life->object, life->json);
    event_free(&life->writes);
}

static int add_named(void *ctx, sqlite3_stmt *s, struct err *err)
{
    struct life *life = ctx;
    int64_t operation = sqlite3_column_int64(s, 0);
    unsigned bit = 1u << (sqlite3_column_int(s, 1) & 15);

    if (life->named_count && life->named[life->named_count - 1].operation == operation) {
        life->named[life->named_count - 1].events |= bit;
        return 0;
    }
    if (GROW(life->named, life->named_count, life->named_cap) < 0)
        return err_memory(err, "names");
    life->named[life->named_count++] = (struct named){ operation, bit };
    return 0;
}

static int read_named(struct life *life, sqlite3 *db, struct err *err)
{
    char sql[160];

    snprintf(sql, sizeof(sql),
             "SELECT operation, event FROM name_event WHERE object = %lld AND operation IS NOT NULL"
             " ORDER BY operation",
             (long long)life->object);
    return sql_each(db, sql, add_named, life, err);
}

static int by_operation(const void *key, const void *element)
{
    int64_t id = *(const int64_t *)key, other = ((const struct named *)element)->operation;

    return (id > other) - (id < other);
}

static unsigned names_changed(const struct life *life, int64_t operation)
{
    const struct named *found = life->named_count
                                    ? bsearch(&operation, life->named, life->named_count,
                                              sizeof(*life->named), by_operation)
                                    : NULL;

    return found ? found->events : 0;
}

/* "set size 0, mode 0644" */
static void say_set(const struct asked *asked, char text[96])
{
    const struct {
        unsigned bit;
        const char *format;
        unsigned long long value;
    } values[] = {
        { ASKED_SIZE, "size %llu", asked->size },
        { ASKED_MODE, "mode %04llo", asked->mode },
        { ASKED_UID, "owner %llu", asked->uid },
        { ASKED_GID, "group %llu", asked->gid },
        { ASKED_TIMES, "times", 0 },
    };
    size_t at = (size_t)snprintf(text, 96, "set"), set = at;

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        if (asked->bits & values[i].bit) {
            at += (size_t)snprintf(text + at, 96 - at, at == set ? " " : ", ");
            at += (size_t)snprintf(text + at, 96 - at, values[i].format, values[i].value);
        }
    if (at == set)
        snprintf(text + at, 96 - at, " attributes");
}

/* Fills |what| with what |e| did to the object; "": nothing that is shown. */
static void say_what(const struct life *life, const struct effect *e, char what[96])
{
    unsigned names = names_changed(life, e->id);
    bool own = e->object == life->object && !(e->roles & ROLE_PARENT);

    what[0] = '\0';
    switch (effect_action(e)) {
    case ACTION_MAKE:
        if (e->new_object == life->object || names & 1u << NAME_BOUND)
            snprintf(what, 96, "made");
        break;
    case ACTION_WRITE:
        if (own)
            snprintf(what, 96, "written");
        break;
    case ACTION_SET:
        if (own)
            say_set(&e->asked, what);
        break;
    case ACTION_SET_OTHER:
        if (own)
            snprintf(what, 96, "access list set");
        break;
    case ACTION_LINK:
        if (own || names & 1u << NAME_BOUND)
            snprintf(what, 96, "linked");
        break;
    case ACTION_RENAME:
        if (names & 1u << NAME_MOVED)
            snprintf(what, 96, "renamed");
        else if (names & 1u << NAME_REMOVED)
            snprintf(what, 96, "replaced by the rename of");
        else if (e->object == life->object || e->parent2 == life->object)
            snprintf(what, 96, "renamed in it");
        break;
    case ACTION_REMOVE:
        if (names & 1u << NAME_REMOVED)
            snprintf(what, 96, "removed");
        else if (e->object == life->object)
            snprintf(what, 96, "removed in it");
        break;
    default:
        break;
    }
}

static void decode(sqlite3_stmt *s, struct effect *e)
{
    memset(e, 0, sizeof(*e));
    e->id = sqlite3_column_int64(s, OP_ID);
    e->call_flags = (uint32_t)sqlite3_column_int64(s, OP_CALL_FLAGS);
    e->reply_flags = (uint32_t)sqlite3_column_int64(s, OP_REPLY_FLAGS);
    e->rpc_status = sql_column(s, OP_RPC_STATUS, STATUS_NONE);
    e->status = sql_column(s, OP_STATUS, STATUS_NONE);
    e->object = (uint32_t)sqlite3_column_int64(s, OP_OBJECT);
    e->parent2 = (uint32_t)sqlite3_column_int64(s, OP_OBJECT2);
    e->new_object = (uint32_t)sqlite3_column_int64(s, OP_NEW_OBJECT);
    e->arguments_body = sql_column_bytes(s, OP_ARGUMENTS);
    e->result_body = sql_column_bytes(s, OP_RESULT);
    e->arguments_length = (uint32_t)sqlite3_column_int64(s, OP_ARGUMENTS_LENGTH);
    e->result_length = (uint32_t)sqlite3_column_int64(s, OP_RESULT_LENGTH);
    if (!ops_is_null(s, OP_PROGRAM))
        e->procedure = procedure_find((uint32_t)sqlite3_column_int64(s, OP_PROGRAM),
                                      (uint32_t)sqlite3_column_int64(s, OP_VERSION),
                                      (uint32_t)sqlite3_column_int64(s, OP_PROCEDURE));
    effect_decode(e);
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Adds a WRITE to those before it, if it is of the same caller. */
static int add_write(struct life *life, sqlite3_stmt *s, struct err *err)
{
    struct event *w = &life->writes, one = { 0 };

    if (event_take(&one, s, "written", err) < 0) {
        event_free(&one);
        return -err->code;
    }
    if (w->count && same(w->client, one.client) && w->uid == one.uid &&
        same(w->machine, one.machine) && same(w->path, one.path) && w->source == one.source &&
        w->timed == one.timed) {
        w->count++;
        w->bytes += one.bytes;
        w->last_operation = one.operation;
        w->last_time = one.time;
        w->last_frame = one.last_frame;
        event_free(&one);
        return 0;
    }
    print_writes(life);
    *w = one;
    return 0;
}

/* The first of them; what was known then is kept. */
static int add_stale(struct life *life, sqlite3_stmt *s, struct err *err)
{
    if (life->stale_count++)
        return 0;
    life->worked_before = life->worked;
    life->ended_before = life->ended;
    memset(&life->worked, 0, sizeof(life->worked));
    memset(&life->ended, 0, sizeof(life->ended));
    return event_take(&life->stale, s, "stale", err);
}

/* A call that may have been executed: what it would do. */
static int add_unanswered(struct life *life, sqlite3_stmt *s, const struct effect *e,
                          struct err *err)
{
    char what[96];
    size_t len;
    int result;

    say_what(life, e, what);
    len = strlen(what);
    if (!len)
        return 0;
    snprintf(what + len, sizeof(what) - len, " (no answer seen)");
    print_writes(life);
    result = event_take(&life->writes, s, what, err);
    print_writes(life);
    return result;
}

static int add_row(struct life *life, sqlite3_stmt *s, struct err *err)
{
    struct effect e;
    const char *name;
    char what[96];
    int result = 0;

    decode(s, &e);
    life->operations++;
    if (!e.succeeded) {
        name = e.procedure && e.rpc_status == RPC_SUCCESS && e.status > 0
                   ? status_name(e.procedure, (uint32_t)e.status)
                   : NULL;
        life->failed += !ops_is_null(s, OP_RPC_STATUS);
        if (ops_is_null(s, OP_RPC_STATUS) && e.procedure)
            return add_unanswered(life, s, &e, err);
        return name && strcmp(name, "NFS3ERR_STALE") == 0 && e.object == life->object
                   ? add_stale(life, s, err)
                   : 0;
    }
    say_what(life, &e, what);
    if (e.object == life->object && !life->stale_count)
        result = event_take(&life->worked, s, e.procedure->name, err);
    if (result == 0 && action_takes_name(effect_action(&e)) && names_changed(life, e.id) &&
        !life->stale_count)
        result = event_take(&life->ended, s, what, err);
    if (result < 0 || !what[0])
        return result;
    if (effect_action(&e) == ACTION_WRITE)
        return add_write(life, s, err);
    print_writes(life);
    result = event_take(&life->writes, s, what, err);
    if (result == 0)
        life->writes.bytes = 0;
    print_writes(life);
    return result;
}

/* As a shell reads it: in quotes if it has other characters than those of plain names. */
static void print_word(const char *text)
{
    if (*text && !text[strcspn(text, " \t\n!\"#$&'()*;<>?[\\]^`{|}~")]) {
        escape_print(stdout, text);
        return;
    }
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, stdout);
    putchar('\'');
}

static void print_end(const struct life *life, const char *file)
{
    struct json j = { .out = stdout };
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    if (life->json) {
        json_object(&j, NULL);
        json_i64(&j, "object", life->object);
        json_u64(&j, "operations", life->operations);
        json_u64(&j, "failed", life->failed);
        json_u64(&j, "stale", life->stale_count);
        event_json(&j, "first_stale", &life->stale);
        event_json(&j, "last_worked", &life->worked_before);
        event_json(&j, "ended_by", &life->ended_before);
        json_object_end(&j);
        json_end(&j);
        return;
    }
    printf("  %s operation%s, %s failed: nfsdigest ops --object %lld ",
           count_text(life->operations, a), life->operations == 1 ? "" : "s",
           count_text(life->failed, b), (long long)life->object);
    print_word(file);
    putchar('\n');
    if (!life->stale_count)
        return;
    printf("  %s got NFS3ERR_STALE; the first one:\n  ", count_text(life->stale_count, a));
    event_text(&life->stale);
    if (life->worked_before.count) {
        puts("  the last one before it that worked:");
        fputs("  ", stdout);
        event_text(&life->worked_before);
    }
    if (life->ended_before.count) {
        puts("  what ended it:");
        fputs("  ", stdout);
        event_text(&life->ended_before);
    } else {
        puts("  what ended it is not in the trace: the server, or a client that was not captured");
    }
}

int life_print(sqlite3 *db, int64_t object, const char *file, struct err *err)
{
    struct life life = { .object = object, .json = !file };
    struct filter filter;
    sqlite3_stmt *stmt = NULL;
    int result;

    filter_init(&filter);
    filter.object = (uint64_t)object;
    filter.order = FILTER_BY_TIME;
    result = read_named(&life, db, err);
    if (result == 0)
        result = filter_prepare(db, &filter, ops_select, &stmt, err);
    while (result == 0 && (result = sql_row(stmt, err)) > 0)
        result = add_row(&life, stmt, err);
    result = stmt ? sql_end(stmt, result, err) : result;
    print_writes(&life);
    if (result == 0)
        print_end(&life, file);
    event_free(&life.worked);
    event_free(&life.ended);
    event_free(&life.worked_before);
    event_free(&life.ended_before);
    event_free(&life.stale);
    free(life.named);
    return result;
}
