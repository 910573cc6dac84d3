/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/top/top.c
 *
 * Counts each operation in five tables and in the whole.  A call that was sent again is known by
 * the id of its operation alone: that was complete lately, or the call is kept until the operation
 * is seen, complete or waiting, at the latest at the end of the interval.  For "nfsdigest top". The
 * contract is in top.h.
 */
#include "base/digest.h"
#include "top/top_parts.h"
#include "wire/failure.h"

#include <stdio.h>
#include <stdlib.h>

const char *const top_by_names[TOP_TABLES] = { "client", "path", "procedure", "user", "export" };
const char *const top_column_names[TOP_COLUMNS] = { "operations", "read",   "written", "p50",
                                                    "p99",        "errors", "resent",  "waiting" };

struct top *top_new(const struct top_setup *setup, struct err *err)
{
    struct top *top = calloc(1, sizeof(*top));

    if (!top) {
        err_memory(err, "counts");
        return NULL;
    }
    top->setup = *setup;
    top->first = top->last = top->oldest = TIME_NONE;
    return top;
}

void top_free(struct top *top)
{
    if (!top)
        return;
    for (int i = 0; i < TOP_TABLES; i++)
        rows_free(&top->tables[i]);
    names_free(&top->names);
    top_exports_free(&top->exports);
    table_free(&top->again_index);
    free(top);
}

/* What an operation adds. */
struct amount {
    uint64_t operations, errors, unanswered, read, written, resent, waiting;
    int64_t latency; /* TIME_NONE: none */
};

static void add(struct top_counts *c, const struct amount *a)
{
    c->operations += a->operations;
    c->errors += a->errors;
    c->unanswered += a->unanswered;
    c->read += a->read;
    c->written += a->written;
    c->resent += a->resent;
    c->waiting += a->waiting;
    if (a->latency != TIME_NONE)
        spread_add(&c->latency, a->latency);
}

/* Adds it to a row, which is made, or to the others. */
static int add_to(struct top *top, enum top_by by, const struct record_operation *op,
                  const struct seen *s, const struct amount *a, struct err *err)
{
    struct top_table *t = &top->tables[by];
    struct top_row *row = rows_find(t, s->keys[by]);
    const char *label = s->labels[by];

    if (!row && t->count < TOP_ROWS) {
        if (!label)
            label = by == TOP_PATH ? names_path_text(&top->names, op->path, err)
                                   : top_export_text(&top->exports, &s->export, err);
        if (!label)
            return -err->code;
        row = rows_add(t, s->keys[by], *label ? label : "-");
    }
    add(row ? &row->now : &t->others_now, a);
    add(row ? &row->all : &t->others_all, a);
    return 0;
}

static struct again *find_again(struct top *top, uint64_t operation)
{
    uint64_t hash = XXH3_64bits(&operation, sizeof(operation));
    uint32_t at;

    for (uint32_t slot = table_first(&top->again_index, hash, &at); slot != TABLE_NONE;
         slot = table_next(&top->again_index, hash, &at))
        if (top->again[slot].operation == operation)
            return &top->again[slot];
    return NULL;
}

static uint32_t take_again(struct top *top, uint64_t operation)
{
    struct again *again = top->again_count ? find_again(top, operation) : NULL;
    uint32_t count = again ? again->count : 0;

    if (again)
        again->count = 0;
    return count;
}

/* Negative if the clocks of two captures differ. */
static int64_t latency_of(const struct record_operation *op)
{
    int64_t latency;

    if (!op->call.frame || !op->reply.frame || op->call.time == TIME_NONE ||
        op->reply.time == TIME_NONE ||
        __builtin_sub_overflow(op->reply.time, op->call.time, &latency))
        return TIME_NONE;
    return latency;
}

static int tell(struct top *top, const struct record_operation *op, struct seen *s, struct err *err)
{
    struct top_operation o = { .record = op,
                               .client = s->client,
                               .server = s->server,
                               .procedure = s->procedure,
                               .status = s->status,
                               .time = op->call.frame ? op->call.time : op->reply.time,
                               .latency = latency_of(op),
                               .is_error = failure_is(op->program, op->rpc_status, op->status) ||
                                           !op->reply.frame };

    o.path = names_path_text(&top->names, op->path, err);
    if (!o.path)
        return -err->code;
    top_status(op, s->status);
    snprintf(o.uid, sizeof(o.uid), "%s", s->uid);
    top->setup.each(top->setup.ctx, &o);
    return 0;
}

static void note_times(struct top *top, const struct record_operation *op)
{
    int64_t times[] = { op->call.frame ? op->call.time : TIME_NONE,
                        op->reply.frame ? op->reply.time : TIME_NONE };

    for (int i = 0; i < 2; i++) {
        if (times[i] == TIME_NONE)
            continue;
        if (top->first == TIME_NONE || times[i] < top->first)
            top->first = times[i];
        if (top->last == TIME_NONE || times[i] > top->last)
            top->last = times[i];
    }
    if (top->waiting && times[0] != TIME_NONE &&
        (top->oldest == TIME_NONE || times[0] < top->oldest))
        top->oldest = times[0];
}

static void remember(struct top *top, const struct record_operation *op, const struct seen *s,
                     bool matched)
{
    struct recent *recent = &top->recent[op->id % RECENT];

    if (top->waiting)
        return;
    recent->operation = op->id;
    recent->matched = matched;
    memcpy(recent->keys, s->keys, sizeof(recent->keys));
}

static int put_operation(struct top *top, const struct record_operation *op, struct err *err)
{
    struct amount a = { .latency = TIME_NONE };
    struct seen s;
    int result;

    top_look(top, op, &s);
    result = top_matches(top, op, err);
    if (result >= 0)
        remember(top, op, &s, result == 1);
    if (result <= 0)
        return result;
    note_times(top, op);
    a.resent = take_again(top, op->id);
    if (top->waiting) {
        a.waiting = op->call.frame && !op->reply.frame;
    } else {
        a.operations = 1;
        a.errors = failure_is(op->program, op->rpc_status, op->status);
        a.unanswered = op->call.frame && !op->reply.frame;
        a.latency = latency_of(op);
        if (op->reply.flags & SIGHTING_DATA)
            a.read = op->data_length;
        else if (op->call.flags & SIGHTING_DATA)
            a.written = op->data_length;
    }
    add(&top->now, &a);
    add(&top->all, &a);
    for (int by = 0; by < TOP_TABLES; by++)
        if (add_to(top, (enum top_by)by, op, &s, &a, err) < 0)
            return -err->code;
    return top->setup.each && !top->waiting ? tell(top, op, &s, err) : 0;
}

/* A call of an operation that was complete lately was sent again. */
static void count_recent(struct top *top, const struct recent *recent)
{
    const struct amount a = { .resent = 1, .latency = TIME_NONE };

    if (!recent->matched)
        return;
    add(&top->now, &a);
    add(&top->all, &a);
    for (int by = 0; by < TOP_TABLES; by++) {
        struct top_table *t = &top->tables[by];
        struct top_row *row = rows_find(t, recent->keys[by]);

        add(row ? &row->now : &t->others_now, &a);
        add(row ? &row->all : &t->others_all, &a);
    }
}

/* A call that was sent again long after its operation was complete: only the client is known. */
static void count_late(struct top *top, uint32_t flow_id, uint32_t count)
{
    const struct top_filter *f = &top->setup.filter;
    const struct top_flow *flow = names_get_flow(&top->names, flow_id);
    const struct amount a = { .resent = count, .latency = TIME_NONE };
    char client[ADDRESS_TEXT_MAX] = "-";

    if (!count || f->path || f->procedure || f->uid != UINT64_MAX ||
        (f->client.version && !(flow && address_equal(&flow->client, &f->client))) ||
        (f->server.version && !(flow && address_equal(&flow->server, &f->server))))
        return;
    if (flow)
        address_text(&flow->client, client);
    add(&top->now, &a);
    add(&top->all, &a);
    for (int by = 0; by < TOP_TABLES; by++) {
        struct top_table *t = &top->tables[by];
        struct top_row *row =
            by == TOP_CLIENT ? rows_find(t, XXH3_64bits(client, strlen(client))) : NULL;

        add(row ? &row->now : &t->others_now, &a);
        add(row ? &row->all : &t->others_all, &a);
    }
}

static int put_repeat(struct top *top, const struct record_repeat *repeat, struct err *err)
{
    const struct recent *recent = &top->recent[repeat->operation % RECENT];
    struct again *again;

    if (repeat->repeat != REPEAT_CALL)
        return 0;
    if (repeat->operation && recent->operation == repeat->operation) {
        count_recent(top, recent);
        return 0;
    }
    again = find_again(top, repeat->operation);
    if (!again && top->again_count == AGAIN_MAX) {
        count_late(top, repeat->flow, 1);
        return 0;
    }
    if (!again) {
        if (table_add(&top->again_index, XXH3_64bits(&repeat->operation, sizeof(repeat->operation)),
                      top->again_count) < 0)
            return err_memory(err, "counts");
        again = &top->again[top->again_count++];
        *again = (struct again){ .operation = repeat->operation };
    }
    again->flow = repeat->flow;
    again->count++;
    return 0;
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct top *top = ctx;

    switch (record->kind) {
    case RECORD_FLOW:
        return names_flow(&top->names, &record->flow, err);
    case RECORD_CREDENTIAL:
        return names_uid(&top->names, &record->credential, err);
    case RECORD_PATH:
        return names_path(&top->names, &record->path, err);
    case RECORD_OBJECT:
        return top_exports_object(&top->exports, &record->object, err);
    case RECORD_NAME:
        return top_exports_name(&top->exports, &record->name, err);
    case RECORD_OPERATION:
        return put_operation(top, &record->operation, err);
    case RECORD_REPEAT:
        return put_repeat(top, &record->repeat, err);
    default:
        return 0;
    }
}

struct sink top_sink(struct top *top)
{
    return (struct sink){ put, top };
}

void top_waiting_begin(struct top *top)
{
    top->waiting = true;
    top->oldest = TIME_NONE;
    top->now.waiting = top->all.waiting = 0;
    for (int by = 0; by < TOP_TABLES; by++) {
        struct top_table *t = &top->tables[by];

        t->others_now.waiting = t->others_all.waiting = 0;
        for (uint32_t i = 0; i < t->count; i++)
            t->rows[i].now.waiting = t->rows[i].all.waiting = 0;
    }
}

void top_waiting_end(struct top *top)
{
    top->waiting = false;
    for (uint32_t i = 0; i < top->again_count; i++)
        count_late(top, top->again[i].flow, top->again[i].count);
    top->again_count = 0;
    table_clear(&top->again_index);
}

void top_next(struct top *top)
{
    const struct top_counts none = { 0 };

    for (int by = 0; by < TOP_TABLES; by++) {
        struct top_table *t = &top->tables[by];

        rows_next(t);
        t->others_last = t->others_now;
        t->others_now = none;
        for (uint32_t i = 0; i < t->count; i++) {
            t->rows[i].last = t->rows[i].now;
            t->rows[i].now = none;
        }
    }
    top->last_counts = top->now;
    top->now = none;
}

void top_forget(struct top *top)
{
    top->again_count = 0;
    table_clear(&top->again_index);
    memset(top->recent, 0, sizeof(top->recent));
    names_free(&top->names);
    top_exports_free(&top->exports);
}

uint64_t top_names(const struct top *top)
{
    return top->names.flow_count + top->names.uid_count + top->names.path_count +
           top->exports.object_count;
}

const struct top_counts *top_whole(const struct top *top, bool last)
{
    return last ? &top->last_counts : &top->all;
}

const struct top_counts *top_others(const struct top *top, enum top_by by, bool last)
{
    return last ? &top->tables[by].others_last : &top->tables[by].others_all;
}

uint64_t top_lost(const struct top *top, enum top_by by)
{
    return top->tables[by].lost;
}

int64_t top_first_time(const struct top *top)
{
    return top->first;
}

int64_t top_last_time(const struct top *top)
{
    return top->last;
}

int64_t top_oldest(const struct top *top)
{
    return top->oldest;
}

const struct top_table *top_table(const struct top *top, enum top_by by)
{
    return &top->tables[by];
}
