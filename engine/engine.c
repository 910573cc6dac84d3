/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine.c
 *
 * The switchboard: frames go to the link layers, their payloads to connections, messages to the
 * pairing, and counters and the end record to the sink.  The contract is in engine.h.
 */
#include "engine.h"
#include "base/digest.h"
#include "base/pack.h"
#include "flow/canon.h"
#include "flow/conn.h"
#include "flow/conn_event.h"
#include "flow/pair.h"
#include "link/link.h"

#include <stdio.h>
#include <stdlib.h>

struct engine {
    struct sink sink;
    struct link *link;
    struct link *seen; /* counts what another decoder takes apart; NULL while nobody does */
    struct conns conns;
    struct objects objects;
    struct pair pair;
    uint64_t frames;     /* of this capture file */
    uint64_t last_frame; /* number */
    int64_t last_time, first_time, latest_time;
};

static int on_payload(void *ctx, const struct frame *frame, const struct ip_payload *payload,
                      struct err *err)
{
    struct engine *e = ctx;

    return conns_payload(&e->conns, frame, payload, err);
}

/* Another decoder delivers what is whole, and says nothing of the rest. */
static int on_payload_seen(void *ctx, const struct frame *frame, const struct ip_payload *payload,
                           struct err *err)
{
    return payload->hole ? on_payload(ctx, frame, payload, err) : 0;
}

static int on_message(void *ctx, const struct message *message, struct err *err)
{
    struct engine *e = ctx;

    return pair_message(&e->pair, message, err);
}

static unsigned on_knows(void *ctx, const struct question *question)
{
    struct engine *e = ctx;

    return pair_knows(&e->pair, question);
}

static int on_problem(void *ctx, const struct problem *problem, struct err *err)
{
    struct engine *e = ctx;

    return pair_problem(&e->pair, problem, err);
}

static void on_port(void *ctx, uint16_t port)
{
    struct engine *e = ctx;

    conns_learn_port(&e->conns, port);
}

static int on_over(void *ctx, const struct flow_over *over, struct err *err)
{
    struct engine *e = ctx;

    return pair_over(&e->pair, over, err);
}

static int on_event(void *ctx, const struct record_connection_event *event, struct err *err)
{
    struct engine *e = ctx;
    const struct record r = { .kind = RECORD_CONNECTION_EVENT, .connection_event = *event };

    return e->sink.put(e->sink.ctx, &r, err);
}

struct engine *engine_new(const struct engine_options *options, const struct sink *sink,
                          const struct engine_observer *observer, struct err *err)
{
    static const struct engine_options defaults;
    struct engine *e = calloc(1, sizeof(*e));
    struct message_host host = { on_message, on_knows, on_problem, on_over, on_event, e, NULL };
    struct pair_host pair = { .sink = sink, .observer = observer, .learn_port = on_port };

    if (!options)
        options = &defaults;
    wire_init();
    if (!e) {
        err_memory(err, "an engine");
        return NULL;
    }
    e->first_time = e->latest_time = e->last_time = TIME_NONE;
    e->sink = *sink;
    e->link = link_new(on_payload, e);
    pair.objects = &e->objects;
    pair.clock = &e->conns.pool.clock;
    pair.past = options->middle ? &e->conns.past : NULL;
    pair.ctx = e;
    if (!e->link || conns_init(&e->conns, &host, options, err) < 0 ||
        (options->small_objects ? objects_init_small : objects_init)(&e->objects, sink,
                                                                     options->same, err) < 0 ||
        pair_init(&e->pair, options, &pair, err) < 0) {
        if (!e->link)
            err_memory(err, "an engine");
        engine_free(e);
        return NULL;
    }
    return e;
}

void engine_set_tap(struct engine *e, engine_tap *tap, void *ctx)
{
    pair_set_tap(&e->pair, tap, ctx);
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    pair_free(&e->pair);
    objects_free(&e->objects);
    conns_free(&e->conns);
    link_free(e->link);
    link_free(e->seen);
    free(e);
}

static void note_frame(struct engine *e, const struct frame *frame)
{
    if (frame->time != TIME_NONE && (e->first_time == TIME_NONE || frame->time < e->first_time))
        e->first_time = frame->time;
    if (frame->time > e->latest_time)
        e->latest_time = frame->time;
    e->frames += 1 + (uint64_t)frame->skipped;
    e->last_frame = frame->number;
    e->last_time = frame->time;
}

int engine_frame(struct engine *e, const struct frame *frame, struct err *err)
{
    note_frame(e, frame);
    return link_frame(e->link, frame, err);
}

int engine_frame_seen(struct engine *e, const struct frame *frame, struct err *err)
{
    if (!e->seen && !(e->seen = link_new(on_payload_seen, e)))
        return err_memory(err, "an engine");
    note_frame(e, frame);
    return link_frame(e->seen, frame, err);
}

int engine_payload(struct engine *e, const struct frame *frame, const struct ip_payload *payload,
                   struct err *err)
{
    return link_payload(e->link, frame, payload, err);
}

int engine_message(struct engine *e, const struct whole_message *message, struct err *err)
{
    note_frame(e, &(struct frame){ .number = message->number, .time = message->time });
    return conns_message(&e->conns, message, err);
}

int engine_sent(struct engine *e, const struct sent *sent, struct err *err)
{
    note_frame(e, &(struct frame){ .number = sent->number, .time = sent->time });
    return conns_sent(&e->conns, sent, err);
}

void engine_unopened(const struct engine *e, struct unopened *unopened)
{
    *unopened = (struct unopened){ 0 };
    if (!e->seen)
        link_counters(e->link, unopened_add, unopened, NULL);
}

static int put_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    struct engine *e = ctx;
    struct record r = { .kind = RECORD_COUNTER,
                        .counter = { { (const uint8_t *)name, (uint32_t)strlen(name) }, value } };

    return value ? e->sink.put(e->sink.ctx, &r, err) : 0;
}

static int put_link_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    char text[128];

    /* no total: they become whole or incomplete later, in another file perhaps */
    if (strcmp(name, "ip_datagrams_waiting") == 0)
        return 0;
    snprintf(text, sizeof(text), "link.%s", name);
    return put_counter(ctx, text, value, err);
}

static int put_counters(struct engine *e, struct err *err)
{
    const struct conns *c = &e->conns;
    const struct pair *p = &e->pair;
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {
        { "tcp.segments", c->pool.segments },
        { "tcp.duplicates", c->pool.duplicates },
        { "tcp.reordered", c->pool.reordered },
        { "tcp.late", c->pool.late },
        { "tcp.holes", c->pool.holes },
        { "tcp.hole_bytes", c->pool.hole_bytes },
        { "tcp.restarts", c->pool.restarts },
        { "tcp.strays", c->pool.strays },
        { "tcp.foreign_segments", c->foreign_segments },
        { "udp.datagrams", c->datagrams },
        { "udp.foreign_datagrams", c->foreign_datagrams },
        { "flow.evicted", c->evicted },
        { "flow.headers_cut", c->headers_cut },
        { "rpc.calls", p->call_messages },
        { "rpc.replies", p->reply_messages },
        { "rpc.opaque_calls", p->opaque },
        { "rpc.partial", p->partial },
        { "rpc.malformed", p->malformed },
        { "rpc.copies", p->copies },
        { "rpc.other_address", p->other_address },
        { "tcp.copies", c->copies },
    };
    int rc = link_counters(e->seen ? e->seen : e->link, put_link_counter, e, err);

    for (size_t i = 0; rc == 0 && i < sizeof(counters) / sizeof(counters[0]); i++)
        rc = put_counter(e, counters[i].name, counters[i].value, err);
    return rc;
}

static int put_end(struct engine *e, bool input_cut, struct err *err)
{
    struct record r = { .kind = RECORD_END,
                        .end = { .frames = e->frames,
                                 .operations = e->pair.operations + e->pair.provisional,
                                 .calls = e->pair.call_messages,
                                 .replies = e->pair.reply_messages,
                                 .repeats = e->pair.repeats,
                                 .problems = e->pair.problems,
                                 .first_time = e->first_time,
                                 .last_time = e->latest_time,
                                 .input_cut = input_cut } };
    int rc = put_counters(e, err);

    return rc < 0 ? rc : e->sink.put(e->sink.ctx, &r, err);
}

int engine_end(struct engine *e, bool input_cut, struct err *err)
{
    int rc = link_end(e->seen ? e->seen : e->link, err);

    if (rc == 0)
        rc = conns_end(&e->conns, (struct seen){ e->last_frame, e->last_time }, err);
    if (rc == 0)
        rc = pair_end(&e->pair, err);
    return rc < 0 ? rc : put_end(e, input_cut, err);
}

/* The totals of one file, which the next one begins anew. */
static void forget_totals(struct engine *e)
{
    struct conns *c = &e->conns;
    struct pair *p = &e->pair;

    e->frames = 0;
    e->first_time = e->latest_time = TIME_NONE;
    link_counters_reset(e->seen ? e->seen : e->link);
    c->pool.segments = c->pool.duplicates = c->pool.reordered = c->pool.late = 0;
    c->pool.holes = c->pool.hole_bytes = c->pool.restarts = c->pool.strays = 0;
    c->foreign_segments = c->foreign_datagrams = c->datagrams = c->evicted = c->headers_cut = 0;
    c->copies = 0;
    p->operations = p->call_messages = p->reply_messages = p->repeats = p->problems = 0;
    p->opaque = p->partial = p->malformed = p->provisional = 0;
    p->copies = p->other_address = 0;
}

int engine_pause(struct engine *e, bool input_cut, struct err *err)
{
    int rc = pair_pause(&e->pair, err);

    if (rc == 0)
        rc = conns_event_pause(&e->conns, err);
    if (rc == 0)
        rc = put_end(e, input_cut, err);
    forget_totals(e);
    return rc;
}

struct engine_ids engine_ids(const struct engine *e)
{
    return (struct engine_ids){ e->pair.last_operation, e->pair.last_flow };
}

int engine_outline(const struct engine *e, struct outline *out, struct err *err)
{
    struct canon canon = { .frame = e->last_frame };
    int rc;

    out->from = OUTLINE_UNKNOWN;
    /* Answered calls, in whole chunks.  Those at the beginning of a lead-in are not counted on:
     * messages that began before it look other there, or are not found. */
    if (e->conns.pool.past && !e->conns.past.assumed) {
        uint64_t chunks = e->frames / 2 / OUTLINE_CHUNK;
        out->from = -(int64_t)(chunks < OUTLINE_CHUNKS ? chunks : OUTLINE_CHUNKS) * OUTLINE_CHUNK;
    }
    out->fragments = link_outline(e->seen ? e->seen : e->link, e->last_frame, e->latest_time);
    out->surprises = link_surprises(e->seen ? e->seen : e->link);
    rc = conns_outline(&e->conns, &canon, out);
    if (rc == 0)
        rc = pair_outline(&e->pair, &e->conns, &canon, out);
    buf_free(&canon.buf);
    return rc < 0 ? err_memory(err, "an outline") : 0;
}

/* The clock when no call from before now counts any more. */
static int64_t noted_till(const struct engine *e)
{
    int64_t till;

    return __builtin_add_overflow(e->conns.pool.clock, e->pair.retransmit_span, &till) ? INT64_MAX
                                                                                       : till;
}

int engine_border(struct engine *e, struct outline *out, struct err *err)
{
    struct past *past = &e->conns.past;
    int rc;

    xids_free(&past->asked);
    *past = (struct past){ .waiting = e->pair.calls.waiting.count,
                           .waiting_bytes = e->pair.calls.bytes,
                           .connections = e->conns.count,
                           .framing = e->conns.pool.framing };
    conns_border(&e->conns);
    rc = engine_outline(e, out, err);
    if (rc < 0)
        return rc;
    pair_forget(&e->pair, e->last_frame + (uint64_t)out->from);
    forget_totals(e);
    past->assumed = true;
    past->noted_till = noted_till(e);
    return 0;
}

void engine_continue(struct engine *e)
{
    e->conns.past.assumed = e->conns.pool.past != NULL;
    e->conns.past.noted_till = noted_till(e);
}

const struct past *engine_past(const struct engine *e)
{
    return &e->conns.past;
}

struct outline_limits engine_limits(const struct engine *e)
{
    return (struct outline_limits){ e->conns.limit,    e->pair.calls.limit,
                                    WAITING_BYTES_MAX, e->conns.pool.total,
                                    HELD_MAX,          0 };
}

/* Other fields in what is packed are another version. */
static uint64_t state_version(void)
{
    const uint64_t first = UINT64_C(0x6e667364000105); /* to be changed with anything else */

    return pair_layout(conns_layout(link_layout(first)));
}

int engine_save(const struct engine *e, struct buf *out, struct err *err)
{
    uint64_t version = state_version(), digest;
    size_t start = out->len;
    struct buf link = { 0 };
    int bad = pack_value(out, version);

    bad |= pack_value(out, e->last_frame) | pack_value(out, e->last_time);
    bad |= pair_save(&e->pair, out);
    bad |= conns_save(&e->conns, out);
    bad |= link_save(e->link, &link);
    bad |= pack_bytes(out, link.data, (uint32_t)link.len);
    buf_free(&link);
    if (!bad) {
        digest = XXH3_64bits(out->data + start, out->len - start);
        bad = pack_value(out, digest);
    }
    return bad ? err_memory(err, "the state to carry over") : 0;
}

int engine_restore(struct engine *e, const uint8_t *data, size_t len, struct err *err)
{
    struct unpack in = { data, len, false };
    struct bytes link;
    uint64_t version, digest;
    int rc;

    unpack_value(&in, version);
    if (version != state_version())
        return err_set(err, ERR_INPUT,
                       "the state carried over is of another build of this program");
    /* the values behind it are believed: none that are damaged may get that far */
    if (len >= sizeof(version) + sizeof(digest))
        memcpy(&digest, data + len - sizeof(digest), sizeof(digest));
    if (len < sizeof(version) + sizeof(digest) || digest != XXH3_64bits(data, len - sizeof(digest)))
        return err_set(err, ERR_INPUT, "the state carried over is damaged");
    in.left -= sizeof(digest);
    unpack_value(&in, e->last_frame);
    unpack_value(&in, e->last_time);
    rc = pair_restore(&e->pair, &in, err);
    if (rc == 0)
        rc = conns_restore(&e->conns, &in, err);
    link = unpack_bytes(&in);
    if (rc == 0 && (in.failed || !pair_clock_fits(&e->pair)))
        rc = err_set(err, ERR_INPUT, "the state carried over is damaged");
    return rc < 0 ? rc : link_restore(e->link, link.data, link.len, err);
}

/* Host ids are given in the order in which flows come to be known. */
static int learn_flow(struct engine *e, const struct record_flow *r, struct err *err)
{
    int order = memcmp(r->client.bytes, r->server.bytes, address_len(&r->client));
    bool client_first = order < 0 || (order == 0 && r->client_port < r->server_port);

    if (!host_id(&e->objects, client_first ? &r->client : &r->server) ||
        !host_id(&e->objects, client_first ? &r->server : &r->client))
        return err_memory(err, "hosts");
    return 0;
}

int engine_learn(struct engine *e, const struct record *record, struct err *err)
{
    if (record->kind == RECORD_CREDENTIAL)
        return credentials_learn(&e->pair.credentials, &record->credential, err);
    if (record->kind == RECORD_FLOW)
        return learn_flow(e, &record->flow, err);
    return objects_learn(&e->objects, record, err);
}

uint64_t engine_named(const struct engine *engine, uint64_t directory, struct bytes name)
{
    return directory && directory <= UINT32_MAX
               ? object_named(&engine->objects, (uint32_t)directory, name)
               : 0;
}

struct bytes engine_handle(const struct engine *engine, uint64_t object)
{
    const struct objects *o = &engine->objects;

    return object && object <= o->object_count ? object_handle(o, object_at(o, (uint32_t)object))
                                               : (struct bytes){ 0 };
}

const struct texts *engine_texts(const struct engine *engine)
{
    return &engine->objects.texts;
}
