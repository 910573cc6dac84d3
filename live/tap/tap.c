/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tap/tap.c
 *
 * Keeps the connections of a ring, and hands their bytes to an engine.  The bytes of a connection
 * have offsets, so it is known how many are missing behind a gap.  For nfstee tap; the contract is
 * in tap.h.
 */
#include "tap/tap.h"
#include "base/pool.h"
#include "base/table.h"
#include "engine.h"
#include "relay/relay_entry.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { TO_SERVER, TO_CLIENT };

struct end {
    struct address address;
    uint16_t port;
};

struct joint {
    uint32_t spare; /* the pool's, while this is free */
    uint32_t newer, older;
    bool datagrams;
    uint64_t number;
    struct end client, server;
    uint64_t next[2]; /* offsets behind what was seen */
};

struct tap {
    struct tap_host host;
    struct engine *engine;
    struct pool joints;
    struct table by_number;
    uint32_t newest, oldest, count; /* joints, by use; 0: none */
    bool wants;
    struct tap_counts counts;
};

/* --- connections */

static uint64_t hash_of(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

static struct joint *joint_at(const struct tap *t, uint32_t id)
{
    return pool_at(&t->joints, id);
}

static void unlink_joint(struct tap *t, const struct joint *j)
{
    *(j->newer ? &joint_at(t, j->newer)->older : &t->newest) = j->older;
    *(j->older ? &joint_at(t, j->older)->newer : &t->oldest) = j->newer;
}

static void link_newest(struct tap *t, struct joint *j, uint32_t id)
{
    j->newer = 0;
    j->older = t->newest;
    *(t->newest ? &joint_at(t, t->newest)->newer : &t->oldest) = id;
    t->newest = id;
}

static uint32_t find(const struct tap *t, uint64_t number)
{
    uint32_t at, id = table_first(&t->by_number, hash_of(number), &at);

    return id == TABLE_NONE ? 0 : id; /* different numbers have different hashes */
}

static void forget(struct tap *t, uint32_t id)
{
    struct joint *j = joint_at(t, id);

    unlink_joint(t, j);
    table_remove(&t->by_number, hash_of(j->number), id);
    pool_give(&t->joints, id);
    t->count--;
}

static struct joint *add(struct tap *t, uint64_t number, struct err *err)
{
    struct joint *j;
    uint32_t id;

    if (t->count == TAP_CONNECTIONS) {
        forget(t, t->oldest);
        t->counts.forgotten++;
    }
    id = pool_new(&t->joints);
    if (!id || table_add(&t->by_number, hash_of(number), id) < 0) {
        if (id)
            pool_give(&t->joints, id);
        err_memory(err, "connections of the tap");
        return NULL;
    }
    j = joint_at(t, id);
    j->number = number;
    link_newest(t, j, id);
    t->count++;
    t->counts.connections++;
    return j;
}

/* --- to the engine */

static bool is_v4(const struct relay_end *end)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    return memcmp(end->address, mapped, sizeof(mapped)) == 0;
}

static struct end end_of(const struct relay_end *from, bool v4)
{
    struct end to = { .address = { .version = v4 ? 4 : 6 }, .port = from->port };

    if (v4)
        memcpy(to.address.bytes, from->address + 12, 4);
    else
        memcpy(to.address.bytes, from->address, 16);
    return to;
}

/* What an entry says of |j|, without bytes. */
static struct sent sent_by(const struct joint *j, int direction, const struct ring_entry *e,
                           enum sent_event event)
{
    const struct end *from = direction == TO_SERVER ? &j->client : &j->server;
    const struct end *to = direction == TO_SERVER ? &j->server : &j->client;

    return (struct sent){ .event = event,
                          .source = from->address,
                          .source_port = from->port,
                          .destination = to->address,
                          .destination_port = to->port,
                          .transport = j->datagrams ? IPPROTO_UDP : IPPROTO_TCP,
                          .number = e->number,
                          .time = e->time };
}

/* Bytes of a direction that begin at |offset|; none, if only the place is known. */
static int pass(struct tap *t, struct joint *j, int direction, const struct ring_entry *e,
                uint64_t offset, struct bytes bytes, struct err *err)
{
    struct sent sent = sent_by(j, direction, e, SENT_BYTES);
    uint64_t missing = offset - j->next[direction];

    if (offset < j->next[direction] || offset > UINT64_MAX - bytes.len) {
        t->counts.damaged++;
        return 0;
    }
    t->counts.missing_bytes += missing;
    j->next[direction] = offset + bytes.len;
    if (j->datagrams ? !bytes.len : !bytes.len && !missing)
        return 0;
    sent.missing = j->datagrams ? 0 : missing;
    sent.data = bytes.data;
    sent.len = bytes.len;
    return engine_sent(t->engine, &sent, err);
}

/* --- entries */

/* An announcement of a connection that is known can tell of bytes that nobody has seen. */
static int catch_up(struct tap *t, struct joint *j, const struct ring_entry *e,
                    const struct relay_open *open, struct err *err)
{
    int rc = pass(t, j, TO_SERVER, e, open->to_server, (struct bytes){ 0 }, err);

    return rc < 0 ? rc : pass(t, j, TO_CLIENT, e, open->to_client, (struct bytes){ 0 }, err);
}

static int on_open(struct tap *t, const struct ring_got *got, struct err *err)
{
    const struct ring_entry *e = &got->entry;
    struct relay_open open;
    struct joint *j;
    struct sent sent;
    uint32_t id = find(t, e->connection);
    bool v4;

    if (got->payload.len != sizeof(open) || (id && !(e->flags & RELAY_ANNOUNCED))) {
        t->counts.damaged++;
        return 0;
    }
    memcpy(&open, got->payload.data, sizeof(open));
    if (id)
        return catch_up(t, joint_at(t, id), e, &open, err);
    j = add(t, e->connection, err);
    if (!j)
        return -err->code;
    v4 = is_v4(&open.client) && is_v4(&open.server);
    j->client = end_of(&open.client, v4);
    j->server = end_of(&open.server, v4);
    j->datagrams = e->flags & RELAY_DATAGRAMS;
    j->next[TO_SERVER] = open.to_server;
    j->next[TO_CLIENT] = open.to_client;
    sent = sent_by(j, TO_SERVER, e, open.to_server || open.to_client ? SENT_JOIN : SENT_BEGIN);
    return engine_sent(t->engine, &sent, err);
}

static int on_closed(struct tap *t, uint32_t id, const struct ring_entry *e, struct err *err)
{
    struct joint *j = joint_at(t, id);
    int direction = e->flags == RELAY_WHY_SERVER ? TO_CLIENT : TO_SERVER;
    struct sent sent =
        sent_by(j, direction, e, e->flags == RELAY_WHY_ENDED ? SENT_CLOSED : SENT_RESET);
    int rc = engine_sent(t->engine, &sent, err);

    forget(t, id);
    return rc;
}

static int on_known(struct tap *t, uint32_t id, const struct ring_got *got, struct err *err)
{
    struct joint *j = joint_at(t, id);
    const struct ring_entry *e = &got->entry;

    if (id != t->newest) {
        unlink_joint(t, j);
        link_newest(t, j, id);
    }
    switch (e->kind) {
    case RELAY_TO_SERVER:
    case RELAY_END_TO_SERVER:
        return pass(t, j, TO_SERVER, e, e->offset, got->payload, err);
    case RELAY_TO_CLIENT:
    case RELAY_END_TO_CLIENT:
        return pass(t, j, TO_CLIENT, e, e->offset, got->payload, err);
    case RELAY_CLOSED:
        return on_closed(t, id, e, err);
    }
    return 0;
}

static int on_gap(struct tap *t, const struct ring_got *got, struct err *err)
{
    const struct tap_gap gap = { got->entry.number - got->lost, got->entry.number - 1 };

    t->counts.gaps++;
    t->counts.lost_entries += got->lost;
    t->wants = true;
    return t->host.gap ? t->host.gap(t->host.ctx, &gap, err) : 0;
}

static int on_mark(struct tap *t, const struct ring_got *got, struct err *err)
{
    if (got->payload.len == RELAY_MARK_SIZE)
        return t->host.mark ? t->host.mark(t->host.ctx, got->payload.data, err) : 0;
    t->counts.damaged++;
    return 0;
}

int tap_entry(struct tap *t, const struct ring_got *got, struct err *err)
{
    const struct ring_entry *e = &got->entry;
    uint32_t id;
    int rc = got->lost ? on_gap(t, got, err) : 0;

    t->counts.entries++;
    t->counts.bytes += got->payload.len;
    if (rc < 0)
        return rc;
    if (e->kind == RELAY_OPEN)
        return on_open(t, got, err);
    if (e->kind == RELAY_MARK)
        return on_mark(t, got, err);
    if (e->kind < RELAY_OPEN || e->kind > RELAY_CLOSED) {
        t->counts.damaged++;
        return 0;
    }
    id = find(t, e->connection);
    if (id)
        return on_known(t, id, got, err);
    t->counts.unknown++;
    t->wants |= e->kind != RELAY_CLOSED;
    return 0;
}

bool tap_wants_announcement(struct tap *t)
{
    bool wants = t->wants;

    t->wants = false;
    return wants;
}

/* --- owners */

struct tap *tap_new(const struct tap_host *host, struct err *err)
{
    const struct sink sink = { host->put, host->ctx };
    const struct engine_options options = { .small_objects = true };
    struct tap *t = calloc(1, sizeof(*t));

    if (!t || !pool_init(&t->joints, sizeof(struct joint))) {
        free(t);
        err_memory(err, "a tap");
        return NULL;
    }
    t->host = *host;
    t->engine = engine_new(&options, &sink, NULL, err);
    if (!t->engine) {
        tap_free(t);
        return NULL;
    }
    if (host->message)
        engine_set_tap(t->engine, host->message, host->ctx);
    return t;
}

void tap_free(struct tap *t)
{
    if (!t)
        return;
    engine_free(t->engine);
    table_free(&t->by_number);
    pool_free(&t->joints);
    free(t);
}

uint64_t tap_named(const struct tap *t, uint64_t directory, struct bytes name)
{
    return engine_named(t->engine, directory, name);
}

struct bytes tap_handle(const struct tap *t, uint64_t object)
{
    return engine_handle(t->engine, object);
}

const struct texts *tap_texts(const struct tap *t)
{
    return engine_texts(t->engine);
}

int tap_end(struct tap *t, struct err *err)
{
    return engine_end(t->engine, false, err);
}

const struct tap_counts *tap_counts(const struct tap *t)
{
    return &t->counts;
}
