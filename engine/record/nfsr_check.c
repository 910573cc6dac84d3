/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr_check.c
 *
 * Checks the records of a stream against each other.  For "nfsdigest check".  The contract is in
 * nfsr_check.h.
 */
#include "base/blocks.h"
#include "record/nfsr_check.h"
#include "base/digest.h"
#include "record/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { OPERATION_SLACK = 1 << 26 }; /* how far an operation's id may be ahead of its number */

struct check {
    struct nfsr_summary *out;
    uint64_t number; /* of the record */
    uint8_t kind;
    uint32_t flows, credentials, paths; /* ids are given in a row, so the last one says all */
    uint64_t objects;
    struct buf object_keys; /* uint64_t by id - 1: digest of server and handle */
    struct buf operations;  /* bits by id: seen */
    uint64_t last_operation, last_referred;
    uint64_t calls, replies, last_frame;
    int64_t first_time, last_time;
    bool part; /* ids of operations are those of a larger trace */
    bool out_of_memory;
};

__attribute__((format(printf, 2, 3))) static void finding(struct check *c, const char *format, ...)
{
    char where[64];
    va_list args;

    snprintf(where, sizeof(where), "record %" PRIu64 " (%s)", c->number,
             nfsr_format.kinds[c->kind].name);
    va_start(args, format);
    c->out_of_memory |= finding_add(&c->out->text, &c->out->findings, where, format, args) < 0;
    va_end(args);
}

static void known(struct check *c, const char *what, uint64_t id, uint64_t last)
{
    if (id > last)
        finding(c, "refers to %s %" PRIu64 ", which did not come before", what, id);
}

/* A new id of a kind whose ids are given in a row. */
static void next_id(struct check *c, const char *what, uint64_t id, uint32_t *last)
{
    if (id != (uint64_t)*last + 1)
        finding(c, "%s has id %" PRIu64 ", not %" PRIu64, what, id, (uint64_t)*last + 1);
    if (id > *last)
        *last = (uint32_t)id;
}

/* Operations are referred to while they wait, so that can only be judged at the end. */
static void refer_to_operation(struct check *c, uint64_t id)
{
    if (id > c->last_referred)
        c->last_referred = id;
}

static void note_time(struct check *c, int64_t time)
{
    if (time == TIME_NONE)
        return;
    if (c->first_time == TIME_NONE || time < c->first_time)
        c->first_time = time;
    if (time > c->last_time)
        c->last_time = time;
}

static void note_frame(struct check *c, uint64_t frame)
{
    if (frame > c->last_frame)
        c->last_frame = frame;
}

static void check_sighting(struct check *c, const char *what, const struct sighting *s)
{
    note_frame(c, s->frame);
    note_time(c, s->time);
    if (s->frame ? !s->first_frame || s->first_frame > s->frame
                 : s->first_frame || s->time != TIME_NONE)
        finding(c, "%s: first frame %" PRIu64 ", last frame %" PRIu64, what, s->first_frame,
                s->frame);
}

static void check_flow(struct check *c, const struct record_flow *f)
{
    next_id(c, "flow", f->id, &c->flows);
    note_frame(c, f->frame);
    note_time(c, f->time);
    if (f->transport != 6 && f->transport != 17)
        finding(c, "transport %u", f->transport);
    if (!f->client.version || f->client.version != f->server.version)
        finding(c, "client and server of IP versions %u and %u", f->client.version,
                f->server.version);
}

static void check_object(struct check *c, const struct record_object *o)
{
    uint64_t key = XXH3_64bits_withSeed(
        o->handle.data, o->handle.len,
        XXH3_64bits(o->server.bytes, o->server.version ? address_len(&o->server) : 0));
    uint64_t *keys;

    note_frame(c, o->frame);
    note_time(c, o->time);
    if (o->type > OBJECT_FIFO)
        finding(c, "type %u", o->type);
    if (o->id == c->objects + 1) {
        c->objects++;
        c->out_of_memory |= buf_append(&c->object_keys, &key, sizeof(key)) < 0;
    } else if (!o->id || o->id > c->objects) {
        finding(c, "object has id %" PRIu64 ", not %" PRIu64, o->id, c->objects + 1);
    } else if (!c->out_of_memory) {
        keys = (uint64_t *)(void *)c->object_keys.data;
        if (keys[o->id - 1] != key)
            finding(c, "object %" PRIu64 " has another server or handle than before", o->id);
    }
}

static void check_path(struct check *c, const struct record_path *p)
{
    known(c, "path", p->parent, c->paths);
    known(c, "object", p->object, c->objects);
    next_id(c, "path", p->id, &c->paths);
    if (p->parent && p->object)
        finding(c, "both below path %u and at object %" PRIu64, p->parent, p->object);
}

static void check_name(struct check *c, const struct record_name *n)
{
    known(c, "object", n->parent, c->objects);
    known(c, "object", n->object, c->objects);
    refer_to_operation(c, n->operation);
    note_time(c, n->time);
    if (!n->event || n->event > NAME_GONE)
        finding(c, "event %u", n->event);
    else if (!n->object && n->event != NAME_REMOVED)
        finding(c, "refers to no object");
}

/* Marks an operation as seen; false: it was before. */
static bool mark_operation(struct check *c, uint64_t id)
{
    size_t byte = id / 8, old = c->operations.len;
    uint8_t bit = (uint8_t)(1 << id % 8);
    bool fresh;

    if (byte >= old) {
        if (buf_reserve(&c->operations, byte + 1 - old) < 0) {
            c->out_of_memory = true;
            return true;
        }
        memset(c->operations.data + old, 0, byte + 1 - old);
        c->operations.len = byte + 1;
    }
    fresh = !(c->operations.data[byte] & bit);
    c->operations.data[byte] |= bit;
    return fresh;
}

static void check_operation(struct check *c, const struct record_operation *o)
{
    bool call = o->call.frame, reply = o->reply.frame;

    if (!o->id || (!c->part && o->id > c->number + OPERATION_SLACK)) {
        finding(c, "impossible id %" PRIu64, o->id);
    } else {
        if (!c->part && !mark_operation(c, o->id))
            finding(c, "operation %" PRIu64 " came before", o->id);
        if (o->id > c->last_operation)
            c->last_operation = o->id;
    }
    known(c, "flow", o->flow, c->flows);
    known(c, "credential", o->credential, c->credentials);
    known(c, "object", o->object, c->objects);
    known(c, "object", o->object2, c->objects);
    known(c, "object", o->new_object, c->objects);
    known(c, "path", o->path, c->paths);
    known(c, "path", o->path2, c->paths);
    if (o->depends_on && o->depends_on >= o->id)
        finding(c, "operation %" PRIu64 " depends on the later %" PRIu64, o->id, o->depends_on);
    check_sighting(c, "call", &o->call);
    check_sighting(c, "reply", &o->reply);
    c->calls += call;
    c->replies += reply;
    if (!o->flow)
        finding(c, "has no flow");
    if (o->pairing > CAPTURE_ENDED)
        finding(c, "pairing %u", o->pairing);
    else if (call != (o->pairing != CALL_LOST) ||
             reply != (o->pairing == PAIRED || o->pairing == CALL_LOST))
        finding(c, "pairing %u with%s a call and with%s a reply", o->pairing, call ? "" : "out",
                reply ? "" : "out");
    if (o->counterpart.copy && !o->counterpart.number)
        finding(c, "copy %u of no counterpart", o->counterpart.copy);
    if (o->counterpart.conditions && !o->counterpart.number)
        finding(c, "conditions %u of no counterpart", o->counterpart.conditions);
    if (o->block_digests.len &&
        (o->data_length > UINT32_MAX ||
         o->block_digests.len !=
             BLOCK_DIGEST_LEN * block_count(o->offset, (uint32_t)o->data_length)))
        finding(c, "%u bytes of block_digests for %" PRIu64 " bytes", o->block_digests.len,
                o->data_length);
    if (o->arguments.len > o->arguments_wire || o->result.len > o->result_wire)
        finding(c, "%u of %u bytes of arguments, %u of %u bytes of result", o->arguments.len,
                o->arguments_wire, o->result.len, o->result_wire);
}

static void check_repeat(struct check *c, const struct record_repeat *r)
{
    refer_to_operation(c, r->operation);
    known(c, "flow", r->flow, c->flows);
    check_sighting(c, "message", &r->sighting);
    c->calls += r->repeat == REPEAT_CALL || r->repeat == COPY_CALL;
    c->replies += repeat_is_reply(r->repeat);
    if (r->repeat < REPEAT_CALL || r->repeat > COPY_REPLY)
        finding(c, "kind %u of repeat", r->repeat);
    if (!r->operation || !r->sighting.frame)
        finding(c, "operation %" PRIu64 " in frame %" PRIu64, r->operation, r->sighting.frame);
}

static void check_problem(struct check *c, const struct record_problem *p)
{
    known(c, "flow", p->flow, c->flows);
    note_frame(c, p->frame);
    note_time(c, p->time);
    if (!p->problem || p->problem > PROBLEM_UNDECIDED)
        finding(c, "kind %u of problem", p->problem);
    if (p->direction > 1)
        finding(c, "direction %u", p->direction);
}

static void check_contents(struct check *c, const struct record_contents *x)
{
    const uint64_t byte = x->operation / 8;

    if (byte >= c->operations.len || !(c->operations.data[byte] & 1 << x->operation % 8))
        finding(c, "refers to operation %" PRIu64 ", which did not come before", x->operation);
    if (!x->data.len)
        finding(c, "has no bytes");
}

static void check_connection_event(struct check *c, const struct record_connection_event *e)
{
    known(c, "flow", e->flow, c->flows);
    note_frame(c, e->frame);
    note_frame(c, e->last_frame);
    note_time(c, e->time);
    note_time(c, e->last_time);
    if (!e->event || e->event > EVENT_KEEP_ALIVE)
        finding(c, "kind %u of event", e->event);
    if (e->direction > 1)
        finding(c, "direction %u", e->direction);
    if (!e->client.version || e->client.version != e->server.version)
        finding(c, "IP versions %u and %u", e->client.version, e->server.version);
    if (!e->count || e->last_frame < e->frame)
        finding(c, "%" PRIu64 " segments in frames %" PRIu64 " to %" PRIu64, e->count, e->frame,
                e->last_frame);
}

static void total(struct check *c, const char *what, uint64_t said, uint64_t seen)
{
    if (said != seen)
        finding(c, "says %" PRIu64 " %s, there were %" PRIu64, said, what, seen);
}

static void check_end(struct check *c, const struct record_end *e)
{
    const uint64_t *records = c->out->records;

    c->out->end = *e;
    total(c, "operations", e->operations, records[RECORD_OPERATION]);
    total(c, "repeats", e->repeats, records[RECORD_REPEAT]);
    total(c, "problems", e->problems, records[RECORD_PROBLEM]);
    total(c, "calls", e->calls, c->calls);
    total(c, "replies", e->replies, c->replies);
    if (!c->part && c->last_operation > records[RECORD_OPERATION])
        finding(c, "operation %" PRIu64 " was there, but only %" PRIu64 " in all",
                c->last_operation, records[RECORD_OPERATION]);
    if (c->last_referred > c->last_operation)
        finding(c, "operation %" PRIu64 " was referred to, but never came", c->last_referred);
    if (c->last_frame > e->frames)
        finding(c, "frame %" PRIu64 " was referred to, of %" PRIu64, c->last_frame, e->frames);
    if (c->first_time != TIME_NONE &&
        (e->first_time == TIME_NONE || c->first_time < e->first_time ||
         c->last_time > e->last_time))
        finding(c,
                "times from %" PRId64 " to %" PRId64 " in records of a capture from %" PRId64
                " to %" PRId64,
                c->first_time, c->last_time, e->first_time, e->last_time);
}

static int check_record(void *ctx, const struct record *r, struct err *err)
{
    struct check *c = ctx;

    c->number++;
    c->kind = r->kind;
    c->out->records[r->kind]++;
    switch ((enum record_kind)r->kind) {
    case RECORD_FLOW:
        check_flow(c, &r->flow);
        break;
    case RECORD_CREDENTIAL:
        next_id(c, "credential", r->credential.id, &c->credentials);
        if (r->credential.gids.len % 4)
            finding(c, "%u bytes of gids", r->credential.gids.len);
        break;
    case RECORD_OBJECT:
        check_object(c, &r->object);
        break;
    case RECORD_PATH:
        check_path(c, &r->path);
        break;
    case RECORD_NAME:
        check_name(c, &r->name);
        break;
    case RECORD_OPERATION:
        check_operation(c, &r->operation);
        break;
    case RECORD_REPEAT:
        check_repeat(c, &r->repeat);
        break;
    case RECORD_PROBLEM:
        check_problem(c, &r->problem);
        break;
    case RECORD_COUNTER:
        if (!r->counter.name.len)
            finding(c, "has no name");
        c->part |= r->counter.name.len == strlen(NFSR_PART) &&
                   !memcmp(r->counter.name.data, NFSR_PART, strlen(NFSR_PART));
        break;
    case RECORD_END:
        check_end(c, &r->end);
        break;
    case RECORD_CONTENTS:
        check_contents(c, &r->contents);
        break;
    case RECORD_CONNECTION_EVENT:
        check_connection_event(c, &r->connection_event);
        break;
    case RECORD_KIND_MAX:
        break;
    }
    return c->out_of_memory
               ? err_set(err, ERR_SYSTEM, "out of memory to check record %" PRIu64, c->number)
               : 0;
}

int nfsr_check(nfsr_read *read, void *ctx, const char *name, struct nfsr_summary *out,
               struct err *err)
{
    struct check c = { .out = out, .first_time = TIME_NONE, .last_time = TIME_NONE };
    struct sink sink = { check_record, &c };
    int result;

    memset(out, 0, sizeof(*out));
    result = nfsr_read_stream(read, ctx, name, &sink, err);
    buf_free(&c.object_keys);
    buf_free(&c.operations);
    return result;
}

void nfsr_summary_free(struct nfsr_summary *summary)
{
    buf_free(&summary->text);
}
