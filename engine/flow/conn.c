/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn.c
 *
 * The table of connections, and the sweep over connections with holes.  TCP segments are in
 * conn_tcp.c, UDP datagrams in conn_udp.c.  For engine.c.  The contract is in conn.h, what the
 * parts share in conn_parts.h.
 */
#include "flow/conn_parts.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/pack.h"
#include "record/record.h"

#include <netinet/in.h>
#include <stdlib.h>

enum { SWEEP_SEGMENTS = 64 };
static const int64_t SWEEP_SPAN = 10000000; /* ns */

/* Every packet asks for this: IPv4 gets by with three multiplications. */
static uint64_t key_hash(const struct key *key)
{
    uint64_t a = 0, b = 0;

    if (key->version == 6)
        return XXH3_64bits(key, sizeof(*key));
    memcpy(&a, key->address[0], 4);
    memcpy(&b, key->address[1], 4);
    a = (a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    b = ((uint64_t)key->port[0] << 32 | (uint64_t)key->port[1] << 8 | key->transport) *
        UINT64_C(0xd6e8feb86659fd93);
    a ^= b ^ a >> 32;
    a *= UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a << 32; /* tables look at the upper half */
}

int conns_init(struct conns *c, const struct message_host *host,
               const struct engine_options *options, struct err *err)
{
    uint32_t limit = options->connections ? options->connections : ENGINE_CONNECTIONS;

    memset(c, 0, sizeof(*c));
    c->host = *host;
    c->host.memory = &c->pool.framing;
    c->limit = limit;
    c->pool.past = options->middle ? &c->past : NULL;
    c->pool.window = options->stream_window ? options->stream_window : ENGINE_STREAM_WINDOW;
    c->pool.total = options->total_window ? options->total_window : ENGINE_TOTAL_WINDOW;
    c->pool.latest = TIME_NONE;
    c->swept = TIME_NONE + 1;
    c->newest = c->oldest = c->free_slot = TABLE_NONE;
    c->conns = calloc(limit, sizeof(struct conn *));
    c->free_next = malloc(limit * sizeof(*c->free_next));
    if (!c->conns || !c->free_next) {
        conns_free(c);
        return err_memory(err, "connections");
    }
    conns_learn_port(c, 111);   /* RFC 1833 s3.1 */
    conns_learn_port(c, 2049);  /* RFC 1813 s2.1 */
    conns_learn_port(c, 20048); /* IANA: mountd */
    for (uint32_t i = 0; i < options->port_count; i++)
        conns_learn_port(c, options->ports[i]);
    return 0;
}

static void conn_free(struct conn *x)
{
    if (x->flow.transport == IPPROTO_TCP) {
        stream_free(&x->stream[0]);
        stream_free(&x->stream[1]);
    }
    free(x->events);
    free(x);
}

void conns_free(struct conns *c)
{
    for (uint32_t i = 0; c->conns && i < c->count; i++)
        if (c->conns[i])
            conn_free(c->conns[i]);
    free(c->conns);
    free(c->free_next);
    free(c->holed);
    table_free(&c->by_key);
    xids_free(&c->past.asked);
    memset(c, 0, sizeof(*c));
}

void conns_learn_port(struct conns *c, uint16_t port)
{
    if (port)
        c->ports[port / 8] |= (uint8_t)(1 << port % 8);
}

bool conns_port_known(const struct conns *c, uint16_t port)
{
    bool known = c->ports[port / 8] >> port % 8 & 1;
    struct past *past = c->pool.past;

    if (!known && past && past->assumed)
        past->ports_asked[port / 8] |= (uint8_t)(1 << port % 8);
    return known;
}

static void unlink_slot(struct conns *c, uint32_t slot)
{
    struct conn *x = c->conns[slot];

    if (x->newer == TABLE_NONE)
        c->newest = x->older;
    else
        c->conns[x->newer]->older = x->older;
    if (x->older == TABLE_NONE)
        c->oldest = x->newer;
    else
        c->conns[x->older]->newer = x->newer;
}

static void link_newest(struct conns *c, uint32_t slot)
{
    struct conn *x = c->conns[slot];

    x->newer = TABLE_NONE;
    x->older = c->newest;
    if (c->newest == TABLE_NONE)
        c->oldest = slot;
    else
        c->conns[c->newest]->newer = slot;
    c->newest = slot;
}

static void holed_remove(struct conns *c, uint32_t at)
{
    c->conns[c->holed[at]]->holed = false;
    c->holed[at] = c->holed[--c->holed_count];
}

static int put_evicted(struct conns *c, const struct conn *x, const struct frame *frame,
                       struct err *err)
{
    const struct problem problem = { &x->flow, PROBLEM_EVICTED, 0, seen_in(frame), 0 };

    return c->host.problem(c->host.ctx, &problem, err);
}

/* What comes of it later is another connection to the pairing. */
static int end_evicted(struct conns *c, const struct conn *x, const struct frame *frame,
                       struct err *err)
{
    const struct seen seen = seen_in(frame);
    const struct flow_over over = {
        .flow = &x->flow, .frame = seen.frame, .time = seen.time, .kind = FLOW_END_EVICTED
    };

    return c->host.over(c->host.ctx, &over, err);
}

static int evict_oldest(struct conns *c, const struct frame *frame, struct err *err)
{
    uint32_t slot = c->oldest;
    struct conn *x = c->conns[slot];
    int rc = 0;

    if (x->flow.transport == IPPROTO_TCP && x->rpc)
        rc = conn_end(x, seen_in(frame), err);
    if (rc == 0 && x->flow.id)
        rc = put_evicted(c, x, frame, err);
    if (rc == 0 && x->flow.id && x->flow.transport == IPPROTO_TCP)
        rc = end_evicted(c, x, frame, err);
    for (uint32_t i = 0; x->holed && i < c->holed_count; i++)
        if (c->holed[i] == slot)
            holed_remove(c, i);
    unlink_slot(c, slot);
    table_remove(&c->by_key, x->hash, slot);
    conn_free(x);
    c->conns[slot] = NULL;
    c->free_next[slot] = c->free_slot;
    c->free_slot = slot;
    c->evicted++;
    return rc;
}

/* Puts a new connection into a free slot; the caller made sure that there is one. */
static struct conn *conn_place(struct conns *c, const struct flow *flow, const struct key *key,
                               uint64_t hash, uint32_t *slot)
{
    size_t streams = flow->transport == IPPROTO_TCP ? 2 : 0;
    struct conn *x = calloc(1, sizeof(*x) + streams * sizeof(x->stream[0]));

    if (!x)
        return NULL;
    x->flow = *flow;
    x->key = *key;
    x->hash = hash;
    for (uint8_t side = 0; side < streams; side++)
        stream_init(&x->stream[side], &c->host, &c->pool, &x->flow, side);
    for (uint8_t side = 0; side < streams; side++)
        x->stream[side].framer.peer = &x->stream[!side].framer;
    *slot = c->free_slot != TABLE_NONE ? c->free_slot : c->count;
    if (table_add(&c->by_key, hash, *slot) < 0) {
        free(x);
        return NULL;
    }
    if (*slot == c->count)
        c->count++;
    else
        c->free_slot = c->free_next[*slot];
    c->conns[*slot] = x;
    link_newest(c, *slot);
    return x;
}

/* Which side of a connection the source of a packet is. */
static uint8_t side_of(const struct ip_payload *p, const uint16_t port[2])
{
    int order;

    if (p->source.version == 4) { /* without a call: this is done for every packet */
        uint32_t from = load_be32(p->source.bytes), to = load_be32(p->destination.bytes);
        order = (from > to) - (from < to);
    } else {
        order = memcmp(p->source.bytes, p->destination.bytes, 16);
    }
    if (!order)
        order = port[0] < port[1] ? -1 : 1;
    return order < 0 ? 0 : 1;
}

static struct conn *new_conn(struct conns *c, const struct frame *frame, const struct ip_payload *p,
                             const struct key *key, struct conn_ports *ports)
{
    struct flow flow = { .transport = p->protocol,
                         .birth = frame->number,
                         .birth_time = frame->time };
    struct conn *x;

    if (c->pool.past) { /* unless a SYN follows */
        flow.unsure = true;
        flow.birth = p->protocol == IPPROTO_TCP ? 0 : flow.birth;
    }
    flow.address[ports->side] = p->source;
    flow.address[!ports->side] = p->destination;
    flow.port[ports->side] = ports->port[0];
    flow.port[!ports->side] = ports->port[1];
    x = conn_place(c, &flow, key, key_hash(key), &ports->slot);
    if (x && c->pool.past && c->count > c->pool.past->connections)
        c->pool.past->connections = c->count;
    if (x)
        x->rpc = conns_port_known(c, ports->port[0]) || conns_port_known(c, ports->port[1]);
    return x;
}

struct conn *conn_get(struct conns *c, const struct frame *frame, const struct ip_payload *p,
                      struct conn_ports *ports, struct err *err)
{
    struct key key = { .transport = p->protocol, .version = p->source.version };
    unsigned len = address_len(&p->source);
    uint8_t side = side_of(p, ports->port);
    struct conn *x;
    uint64_t hash;
    uint32_t at, slot;

    ports->side = side;
    memcpy(key.address[side], p->source.bytes, len);
    memcpy(key.address[!side], p->destination.bytes, len);
    key.port[side] = ports->port[0];
    key.port[!side] = ports->port[1];
    hash = key_hash(&key);
    for (slot = table_first(&c->by_key, hash, &at); slot != TABLE_NONE;
         slot = table_next(&c->by_key, hash, &at))
        if (!memcmp(&c->conns[slot]->key, &key, sizeof(key)))
            break;
    ports->slot = slot;
    if (slot != TABLE_NONE) {
        if (slot != c->newest) {
            unlink_slot(c, slot);
            link_newest(c, slot);
        }
        return c->conns[slot];
    }
    if (c->free_slot == TABLE_NONE && c->count == c->limit && evict_oldest(c, frame, err) < 0)
        return NULL;
    x = new_conn(c, frame, p, &key, ports);
    if (!x)
        err_memory(err, "connections");
    return x;
}

int conn_note_holed(struct conns *c, struct conn *x, uint32_t slot, struct err *err)
{
    if (GROW(c->holed, c->holed_count, c->holed_cap) < 0)
        return err_memory(err, "connections");
    c->holed[c->holed_count++] = slot;
    x->holed = true;
    return 0;
}

/* Says if it is time to look at all holes.  The grid of these moments is one of the capture's time,
 * not of the time at which this engine began: see past.h. */
static bool is_due(struct conns *c)
{
    if (++c->unswept < SWEEP_SEGMENTS && c->pool.latest < c->swept)
        return false;
    c->unswept = 0;
    if (c->pool.latest >= c->swept && c->pool.latest <= INT64_MAX - SWEEP_SPAN)
        c->swept = c->pool.latest - c->pool.latest % SWEEP_SPAN + SWEEP_SPAN; /* the next cell */
    return true;
}

/* Looks at all holes now and then: a connection may be silent while others go on. */
static int sweep(struct conns *c, const struct frame *frame, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < c->holed_count;) {
        struct conn *x = c->conns[c->holed[i]];
        for (int side = 0; rc == 0 && side < 2; side++)
            rc = stream_sweep(&x->stream[side], seen_in(frame), err);
        if (rc == 0)
            rc = conn_settle(x, seen_in(frame), err);
        if (rc == 0)
            rc = conn_put_fins(x, seen_in(frame), err);
        if (x->stream[0].queue || x->stream[1].queue)
            i++;
        else
            holed_remove(c, i);
    }
    return rc;
}

int conns_relieve(struct conns *c, const struct frame *frame, struct err *err)
{
    uint32_t slot = c->oldest;
    int rc = 0;

    for (; rc == 0 && slot != TABLE_NONE && c->pool.framing > c->pool.total / 4 * 3;
         slot = c->conns[slot]->newer) {
        struct conn *x = c->conns[slot];
        if (x->flow.transport != IPPROTO_TCP ||
            !(framer_trim(&x->stream[0].framer) + framer_trim(&x->stream[1].framer)))
            continue;
        rc = conn_end(x, seen_in(frame), err);
        framer_trim(&x->stream[0].framer);
        framer_trim(&x->stream[1].framer);
        c->evicted++;
        if (rc == 0 && x->flow.id)
            rc = put_evicted(c, x, frame, err);
    }
    return rc;
}

void conns_advance(struct conns *c, int64_t time)
{
    struct stream_pool *pool = &c->pool;
    uint64_t passed = pool->latest == TIME_NONE ? 0 : (uint64_t)time - (uint64_t)pool->latest;

    if (__builtin_add_overflow(pool->clock, passed, &pool->clock))
        pool->clock = INT64_MAX;
    pool->latest = time;
}

int conns_payload(struct conns *c, const struct frame *frame, const struct ip_payload *payload,
                  struct err *err)
{
    int rc;

    if (frame->time > c->pool.latest)
        conns_advance(c, frame->time);
    if (payload->protocol == IPPROTO_UDP) {
        rc = conn_udp(c, frame, payload, err);
    } else {
        rc = conn_tcp(c, frame, payload, err);
    }
    if (c->pool.past)
        past_holds(c->pool.past, c->pool.framing, c->pool.queued);
    if (rc == 0 && c->pool.framing > c->pool.total)
        rc = conns_relieve(c, frame, err);
    return rc == 0 && is_due(c) && c->holed_count ? sweep(c, frame, err) : rc;
}

int conns_end(struct conns *c, struct seen seen, struct err *err)
{
    int rc = 0;

    /* oldest first: the order of use, not of slots, is the same after a restore */
    for (uint32_t slot = c->oldest; rc == 0 && slot != TABLE_NONE; slot = c->conns[slot]->newer) {
        struct conn *x = c->conns[slot];
        if (x->flow.transport == IPPROTO_TCP)
            rc = conn_end(x, seen, err);
    }
    return rc;
}

/* Field by field: padding and host ids would make the same state other bytes. */
#define CONN_PLAIN(step)                                                                           \
    step(flow.address) step(flow.port) step(flow.transport) step(flow.server) step(flow.id)        \
        step(flow.birth) step(flow.birth_time) step(key) step(hash) step(rpc) step(holed)          \
            step(syn) step(isn) step(begin.side) step(begin.isn) step(begin.seen) step(over)       \
                step(acked) step(recent) step(flow.unsure) step(spoke) step(asked)
#define CONNS_PLAIN(step) step(pool.latest) step(pool.clock) step(swept) step(unswept) step(ports)

uint64_t conns_layout(uint64_t hash)
{
#define CONNS_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct conns *)0)->field));
    CONNS_PLAIN(CONNS_FIELD)
#define CONN_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct conn *)0)->field));
    CONN_PLAIN(CONN_FIELD)
    return stream_layout(hash);
}

int conns_save(const struct conns *c, struct buf *out)
{
    uint32_t count = 0;
    int bad = 0;

#define SAVE_ALL(field) bad |= pack_value(out, c->field);
    CONNS_PLAIN(SAVE_ALL)
    for (uint32_t slot = c->oldest; slot != TABLE_NONE; slot = c->conns[slot]->newer)
        count++;
    bad |= pack_value(out, count);
    for (uint32_t slot = c->oldest; !bad && slot != TABLE_NONE; slot = c->conns[slot]->newer) {
        const struct conn *x = c->conns[slot];
#define SAVE(field) bad |= pack_value(out, x->field);
        CONN_PLAIN(SAVE)
        if (x->flow.transport == IPPROTO_TCP)
            bad |= stream_save(&x->stream[0], out) | stream_save(&x->stream[1], out);
    }
    return bad ? -ERR_SYSTEM : 0;
}

int conns_restore(struct conns *c, struct unpack *in, struct err *err)
{
    uint32_t count, slot;

#define RESTORE_ALL(field) unpack_value(in, c->field);
    CONNS_PLAIN(RESTORE_ALL)
    unpack_value(in, count);
    while (!in->failed && count--) {
        struct conn plain = { 0 }, *x;
#define RESTORE(field) unpack_value(in, plain.field);
        CONN_PLAIN(RESTORE)
        if (in->failed || (c->count == c->limit && c->free_slot == TABLE_NONE) ||
            plain.flow.server > 1)
            break;
        if (!(x = conn_place(c, &plain.flow, &plain.key, plain.hash, &slot)))
            return err_memory(err, "connections");
        x->rpc = plain.rpc;
        memcpy(x->syn, plain.syn, sizeof(x->syn));
        memcpy(x->isn, plain.isn, sizeof(x->isn));
        x->begin = plain.begin;
        x->over = plain.over;
        x->spoke = plain.spoke;
        x->asked = plain.asked;
        memcpy(x->acked, plain.acked, sizeof(x->acked));
        memcpy(x->recent, plain.recent, sizeof(x->recent));
        if (x->flow.transport != IPPROTO_TCP)
            continue;
        if (stream_restore(&x->stream[0], in) < 0 || stream_restore(&x->stream[1], in) < 0)
            break;
        if (plain.holed && conn_note_holed(c, x, slot, err) < 0)
            return -ERR_SYSTEM;
    }
    return in->failed ? err_set(err, ERR_INPUT, "the state carried over is damaged") : 0;
}
