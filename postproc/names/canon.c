/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/canon.c
 *
 * Keeps a stream, sorts it and numbers its operations, for names.c.  The contract is in canon.h.
 */
#include "names/canon.h"
#include "names/flows.h"
#include "base/arena.h"
#include "base/grow.h"

#include <netinet/in.h>
#include <stdlib.h>

struct canon_record {
    struct record r;
    uint64_t at; /* number in the stream */
};

struct canon_records {
    struct canon_record *all;
    uint32_t count, cap;
    struct arena arena;
};

struct canon_records *canon_records_new(struct err *err)
{
    struct canon_records *c = calloc(1, sizeof(*c));

    if (!c)
        err_memory(err, "records");
    return c;
}

void canon_records_free(struct canon_records *c)
{
    if (!c)
        return;
    free(c->all);
    arena_free(&c->arena);
    free(c);
}

/* The byte strings of a record, at most 3.  Returns their number. */
static int strings_of(struct record *r, struct bytes *strings[3])
{
    struct bytes *all[RECORD_KIND_MAX][3] = {
        [RECORD_CREDENTIAL] = { &r->credential.gids, &r->credential.machine, &r->credential.body },
        [RECORD_OBJECT] = { &r->object.handle },
        [RECORD_PATH] = { &r->path.name },
        [RECORD_NAME] = { &r->name.name },
        [RECORD_OPERATION] = { &r->operation.arguments, &r->operation.result,
                               &r->operation.block_digests },
        [RECORD_PROBLEM] = { &r->problem.text },
        [RECORD_COUNTER] = { &r->counter.name },
        [RECORD_CONTENTS] = { &r->contents.data },
    };
    int count = 0;

    while (count < 3 && all[r->kind][count]) {
        strings[count] = all[r->kind][count];
        count++;
    }
    return count;
}

int canon_records_put(void *canon, const struct record *record, struct err *err)
{
    struct canon_records *c = canon;
    struct canon_record *x;
    struct bytes *strings[3];

    if (GROW(c->all, c->count, c->cap) < 0)
        return err_memory(err, "records");
    x = &c->all[c->count];
    *x = (struct canon_record){ *record, c->count };
    for (int i = strings_of(&x->r, strings); i-- > 0;) {
        strings[i]->data = arena_copy(&c->arena, strings[i]->data, strings[i]->len);
        if (!strings[i]->data)
            return err_memory(err, "records");
    }
    c->count++;
    return 0;
}

#define COMPARE(a, b)                                                                              \
    if ((a) != (b))                                                                                \
        return (a) < (b) ? -1 : 1;

/* Which message an operation is known by. */
static const struct sighting *first_of(const struct record_operation *op)
{
    return op->call.frame ? &op->call : &op->reply;
}

/* Which connection, side and kind an event is of. */
static int compare_events(const struct record_connection_event *a,
                          const struct record_connection_event *b)
{
    int order;

    COMPARE(a->flow, b->flow)
    order = memcmp(&a->client, &b->client, sizeof(a->client));
    if (!order)
        order = memcmp(&a->server, &b->server, sizeof(a->server));
    if (order)
        return order;
    COMPARE(a->client_port, b->client_port)
    COMPARE(a->server_port, b->server_port)
    COMPARE(a->event, b->event)
    COMPARE(a->direction, b->direction)
    return 0;
}

static int compare_counters(struct bytes a, struct bytes b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare(const void *left, const void *right)
{
    const struct canon_record *x = left, *y = right;
    const struct record *a = &x->r, *b = &y->r;
    int order = 0;

    /* the end is the last one */
    COMPARE(a->kind == RECORD_END, b->kind == RECORD_END)
    COMPARE(a->kind, b->kind)
    switch (a->kind) {
    case RECORD_FLOW:
        COMPARE(a->flow.id, b->flow.id)
        break;
    case RECORD_CREDENTIAL:
        COMPARE(a->credential.id, b->credential.id)
        break;
    case RECORD_OBJECT:
        COMPARE(a->object.id, b->object.id)
        break;
    case RECORD_PATH:
        COMPARE(a->path.id, b->path.id)
        break;
    case RECORD_OPERATION:
        COMPARE(first_of(&a->operation)->frame, first_of(&b->operation)->frame)
        COMPARE(a->operation.id, b->operation.id)
        break;
    case RECORD_REPEAT:
        COMPARE(a->repeat.sighting.frame, b->repeat.sighting.frame)
        COMPARE(a->repeat.operation, b->repeat.operation)
        break;
    case RECORD_PROBLEM:
        COMPARE(a->problem.frame, b->problem.frame)
        COMPARE(a->problem.problem, b->problem.problem)
        COMPARE(a->problem.flow, b->problem.flow)
        COMPARE(a->problem.direction, b->problem.direction)
        break;
    case RECORD_COUNTER:
        order = compare_counters(a->counter.name, b->counter.name);
        break;
    case RECORD_CONNECTION_EVENT:
        order = compare_events(&a->connection_event, &b->connection_event);
        break;
    default:
        break;
    }
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

struct renumbered {
    uint64_t from, to;
};

static int compare_renumbered(const void *left, const void *right)
{
    const struct renumbered *a = left, *b = right;

    return (a->from > b->from) - (a->from < b->from);
}

struct numbering {
    struct renumbered *all;
    uint32_t count;
};

static void renumber(const struct numbering *n, uint64_t *id)
{
    const struct renumbered key = { *id, 0 };
    const struct renumbered *x =
        n->count ? bsearch(&key, n->all, n->count, sizeof(key), compare_renumbered) : NULL;

    if (x)
        *id = x->to;
}

/* Numbers operations in their order, and all that refer to them. */
static int renumber_all(struct canon_records *c, struct err *err)
{
    struct numbering n = { calloc((size_t)c->count + 1, sizeof(struct renumbered)), 0 };

    if (!n.all)
        return err_memory(err, "records");
    for (uint32_t i = 0; i < c->count; i++)
        if (c->all[i].r.kind == RECORD_OPERATION) {
            n.all[n.count] = (struct renumbered){ c->all[i].r.operation.id, n.count + 1 };
            n.count++;
        }
    qsort(n.all, n.count, sizeof(*n.all), compare_renumbered);
    for (uint32_t i = 0; i < c->count; i++) {
        struct record *r = &c->all[i].r;

        if (r->kind == RECORD_OPERATION) {
            renumber(&n, &r->operation.id);
            renumber(&n, &r->operation.depends_on);
        } else if (r->kind == RECORD_NAME) {
            renumber(&n, &r->name.operation);
        } else if (r->kind == RECORD_REPEAT) {
            renumber(&n, &r->repeat.operation);
        } else if (r->kind == RECORD_CONTENTS) {
            renumber(&n, &r->contents.operation);
        }
    }
    free(n.all);
    return 0;
}

/* A connection, for a look-up by its ends and a frame. */
struct by_ends {
    struct outline_key ends;
    uint64_t frame;
    const struct record_flow *latest; /* of those with these ends that began up to |frame| */
};

static int compare_ends(const void *left, const void *right)
{
    const struct by_ends *a = left, *b = right;
    int order = memcmp(&a->ends, &b->ends, sizeof(a->ends));

    return order ? order : (a->frame > b->frame) - (a->frame < b->frame);
}

/* Connections come first in a sorted stream, in the order in which they began to carry messages:
 * of those with the same ends, the latest has the highest id. */
static uint32_t index_flows(const struct canon_records *c, struct by_ends *all)
{
    uint32_t count = 0;

    for (; count < c->count && c->all[count].r.kind == RECORD_FLOW; count++) {
        const struct record_flow *f = &c->all[count].r.flow;

        all[count] = (struct by_ends){ .frame = f->frame, .latest = f };
        flows_key(f, &all[count].ends);
    }
    qsort(all, count, sizeof(*all), compare_ends);
    for (uint32_t i = 1; i < count; i++)
        if (!memcmp(&all[i].ends, &all[i - 1].ends, sizeof(all[i].ends)) &&
            all[i - 1].latest->id > all[i].latest->id)
            all[i].latest = all[i - 1].latest;
    return count;
}

/* The latest connection that the event may be of, or NULL. */
static const struct record_flow *find_flow(const struct by_ends *all, uint32_t count,
                                           const struct record_connection_event *e)
{
    const struct record_flow like = { .transport = IPPROTO_TCP,
                                      .client = e->client,
                                      .server = e->server,
                                      .client_port = e->client_port,
                                      .server_port = e->server_port };
    struct by_ends key = { .frame = e->frame };
    uint32_t low = 0;

    flows_key(&like, &key.ends);
    while (low < count) { /* how many are not behind |key| */
        uint32_t middle = low + (count - low) / 2;

        if (compare_ends(&all[middle], &key) <= 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low && !memcmp(&all[low - 1].ends, &key.ends, sizeof(key.ends)) ? all[low - 1].latest
                                                                           : NULL;
}

/* An event of a connection that carried no message yet gets the connection that came to be. */
static int find_connections(struct canon_records *c, struct err *err)
{
    struct by_ends *all = calloc((size_t)c->count + 1, sizeof(*all));
    uint32_t count;

    if (!all)
        return err_memory(err, "connections");
    count = index_flows(c, all);
    for (uint32_t i = count; i < c->count; i++) {
        struct record_connection_event *e = &c->all[i].r.connection_event;
        const struct record_flow *found;

        if (c->all[i].r.kind != RECORD_CONNECTION_EVENT || e->flow ||
            !(found = find_flow(all, count, e)))
            continue;
        e->direction ^= found->client_port != e->client_port;
        e->flow = found->id;
        e->client = found->client;
        e->server = found->server;
        e->client_port = found->client_port;
        e->server_port = found->server_port;
    }
    free(all);
    return 0;
}

/* One event for each connection, side and kind: where one ends and the next begins depends on
 * borders.  So do numbers of attempts and times without a window. */
static void merge_events(struct canon_records *c)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        struct record_connection_event *is = &c->all[i].r.connection_event, *to;

        if (c->all[i].r.kind != RECORD_CONNECTION_EVENT) {
            c->all[left++] = c->all[i];
            continue;
        }
        if (is->event != EVENT_RESENT && is->event != EVENT_LATE)
            is->value = 0;
        to = left ? &c->all[left - 1].r.connection_event : NULL;
        if (!to || c->all[left - 1].r.kind != RECORD_CONNECTION_EVENT || compare_events(to, is)) {
            c->all[left++] = c->all[i];
            continue;
        }
        to->count += is->count;
        to->value += is->value;
        if (is->frame < to->frame) {
            to->frame = is->frame;
            to->time = is->time;
        }
        if (is->last_frame > to->last_frame) {
            to->last_frame = is->last_frame;
            to->last_time = is->last_time;
        }
    }
    c->count = left;
}

int canon_records_end(struct canon_records *c, const struct sink *sink, struct err *err)
{
    int rc;

    if (c->count)
        qsort(c->all, c->count, sizeof(*c->all), compare);
    rc = find_connections(c, err);
    if (rc < 0)
        return rc;
    if (c->count)
        qsort(c->all, c->count, sizeof(*c->all), compare);
    merge_events(c);
    rc = renumber_all(c, err);
    for (uint32_t i = 0; rc == 0 && i < c->count; i++)
        rc = sink->put(sink->ctx, &c->all[i].r, err);
    return rc;
}
