/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/sut.c
 *
 * The SUT's half of a pair as a record: its call and reply go through an engine.  The engine keeps
 * no objects; the few that logged operations are about are numbered here, so that memory grows with
 * the log and not with the tree.
 */
#include "teelog/teelog_parts.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct tee_handle {
    uint32_t spare;       /* the pool's */
    XXH128_hash_t digest; /* of the handle */
};

/* --- messages */

static int keep(struct teelog *log, const struct record_operation *operation, struct err *err)
{
    free(log->sut.last);
    log->sut.last = tee_operation_keep(operation);
    return log->sut.last ? 0 : err_memory(err, "an operation");
}

/* Flows and credentials are written as they come: there are few. */
static int take_record(void *ctx, const struct record *record, struct err *err)
{
    struct teelog *log = ctx;

    if (record->kind == RECORD_FLOW || record->kind == RECORD_CREDENTIAL)
        tee_stream_put(log, SUT, record);
    if (record->kind != RECORD_OPERATION || record->operation.call.frame + 1 != log->sut.number ||
        record->operation.pairing != PAIRED)
        return 0; /* also what the engine gave up of earlier calls */
    return keep(log, &record->operation, err);
}

static int take_message(void *ctx, const struct engine_message *message, struct err *err)
{
    struct teelog *log = ctx;
    struct record_operation call;

    if (!log->sut.wants_call || message->is_reply || message->repeat)
        return 0;
    call = *message->operation;
    call.pairing = REPLY_LOST;
    call.reply = (struct sighting){ .time = TIME_NONE };
    call.rpc_status = STATUS_NONE;
    call.status = STATUS_NONE;
    return keep(log, &call, err);
}

static void take_address(const struct net_address *from, struct address *to, uint16_t *port)
{
    if (from->family == AF_INET6) {
        *port = net_address_port(from);
        to->version = 6;
        memcpy(to->bytes, &from->v6.sin6_addr, 16);
        return;
    }
    to->version = 4;
    *port = 0;
    if (from->family == AF_INET) {
        *port = net_address_port(from);
        memcpy(to->bytes, &from->v4.sin_addr, 4);
    }
}

static int put(struct teelog *log, const struct tee_sut *sut, bool is_reply, struct bytes message,
               struct err *err)
{
    struct whole_message m = { .transport = sut->udp ? IPPROTO_UDP : IPPROTO_TCP,
                               .number = ++log->sut.number,
                               .time = is_reply ? sut->arrived : sut->called,
                               .data = message.data,
                               .len = message.len };

    take_address(is_reply ? sut->server : sut->own, &m.source, &m.source_port);
    take_address(is_reply ? sut->own : sut->server, &m.destination, &m.destination_port);
    log->sut.server = is_reply ? m.source : m.destination;
    if (m.source.version != m.destination.version) { /* |own| is not known */
        struct address *own = is_reply ? &m.destination : &m.source;

        *own = (struct address){ .version = is_reply ? m.source.version : m.destination.version };
    }
    return engine_message(log->sut.engine, &m, err);
}

int tee_sut_read(struct teelog *log, const struct tee_sut *sut, struct err *err)
{
    static const uint8_t zeros[3];
    struct tee_sut_records *r = &log->sut;
    struct bytes call = sut->call;

    free(r->last);
    r->last = NULL;
    if (r->same.used) /* its memory stays as large as the longest listing needed */
        table_clear(&r->same);
    if (sut->tail.len) {
        r->whole.len = 0;
        if (buf_append(&r->whole, sut->call.data, sut->call.len) < 0 ||
            buf_append(&r->whole, sut->tail.data, sut->tail.len) < 0 ||
            buf_append(&r->whole, zeros, -sut->tail.len & 3u) < 0)
            return err_memory(err, "a message");
        call = (struct bytes){ r->whole.data, (uint32_t)r->whole.len };
    }
    if (!call.len)
        return 0;
    r->wants_call = !sut->reply.len;
    if (put(log, sut, false, call, err) < 0)
        return -err->code;
    return sut->reply.len ? put(log, sut, true, sut->reply, err) : 0;
}

/* --- objects */

static int object_id(struct teelog *log, struct bytes handle, const struct record_operation *op,
                     uint64_t *id, struct err *err)
{
    struct tee_sut_records *r = &log->sut;
    struct record record = { .kind = RECORD_OBJECT };
    XXH128_hash_t digest = XXH3_128bits(handle.data, handle.len);
    uint32_t at, found;
    struct tee_handle *new;

    for (found = table_first(&r->by_handle, digest.low64, &at); found != TABLE_NONE;
         found = table_next(&r->by_handle, digest.low64, &at)) {
        new = pool_at(&r->handles, found);
        if (XXH128_isEqual(new->digest, digest)) {
            *id = found;
            return 0;
        }
    }
    found = pool_new(&r->handles);
    if (!found || table_add(&r->by_handle, digest.low64, found) < 0)
        return err_memory(err, "objects of the log");
    new = pool_at(&r->handles, found);
    new->digest = digest;
    record.object = (struct record_object){ .id = found,
                                            .server = log->sut.server,
                                            .handle = handle,
                                            .frame = op->call.frame,
                                            .time = op->call.time };
    tee_stream_put(log, SUT, &record);
    *id = found;
    return 0;
}

/* --- entries of listings, by whose names readers of the log find their objects */

struct listed {
    struct teelog *log;
    const struct record_operation *op;
    struct err *err;
};

static uint64_t hash_name(struct bytes name)
{
    return XXH3_64bits(name.data, name.len);
}

static bool is_same(const struct teelog *log, int side, struct bytes handle)
{
    const struct teelog_host *host = &log->host;

    return handle.len && host->object_of && host->object_of(host->ctx, side, handle);
}

enum { NOT_SAME, SAME }; /* slots of log->sut.same */

static int take_same(void *ctx, const struct effect_entry *entry)
{
    const struct listed *l = ctx;
    const uint64_t hash = hash_name(entry->name);
    uint32_t at;

    if (!entry->handle.len || table_first(&l->log->sut.same, hash, &at) != TABLE_NONE)
        return 0; /* once, however often a listing has the name */
    return table_add(&l->log->sut.same, hash,
                     is_same(l->log, REF, entry->handle) ? SAME : NOT_SAME) < 0
               ? err_memory(l->err, "a listing")
               : 0;
}

/* The judge goes by the reference's handle, and by the SUT's if that one says nothing: the SUT may
 * have given another object's, also one that is the same when the reference's is not. */
static bool is_entry_same(const struct listed *l, const struct effect_entry *entry)
{
    uint32_t at, slot = table_first(&l->log->sut.same, hash_name(entry->name), &at);

    return slot == TABLE_NONE ? is_same(l->log, SUT, entry->handle) : slot == SAME;
}

int tee_sut_note_same(struct teelog *log, const struct record_operation *ref, struct err *err)
{
    struct effect e = effect_of_record(ref);

    if (!e.procedure || e.procedure->action != ACTION_LIST || !ref->reply.frame)
        return 0;
    e.id = 1;
    effect_decode(&e);
    return effect_entries(&e, take_same, &(struct listed){ log, ref, err });
}

static int take_entry(void *ctx, const struct effect_entry *entry)
{
    const struct listed *l = ctx;
    struct record r = { .kind = RECORD_NAME };

    if (!entry->handle.len || bytes_are_dots(entry->name) || !is_entry_same(l, entry) ||
        tee_is_changing(l->log, entry->name))
        return 0; /* not the same on both sides */
    r.name = (struct record_name){ .event = NAME_SEEN,
                                   .parent = l->op->object,
                                   .name = entry->name,
                                   .operation = tee_stream_next(l->log, SUT),
                                   .time = l->op->reply.time };
    if (object_id(l->log, entry->handle, l->op, &r.name.object, l->err) < 0)
        return -l->err->code;
    tee_stream_put(l->log, SUT, &r);
    return 0;
}

/* ctx: a struct listed.  1: not the same. */
static int look_at_dots(void *ctx, const struct effect_entry *entry)
{
    const struct listed *l = ctx;

    return entry->handle.len && bytes_are_dots(entry->name) && l->log->host.object_of &&
           !is_entry_same(l, entry);
}

bool tee_sut_dots_are_open(struct teelog *log, const struct record_operation *op)
{
    struct effect e = effect_of_record(op);
    struct err unseen;

    if (!e.procedure || e.procedure->action != ACTION_LIST || !op->reply.frame)
        return false;
    e.id = 1;
    effect_decode(&e);
    return effect_entries(&e, look_at_dots, &(struct listed){ log, op, &unseen }) != 0;
}

int tee_sut_objects(struct teelog *log, struct record_operation *op, struct err *err)
{
    struct effect call = effect_of_record(op), reply;

    if (!call.procedure)
        return 0;
    call.id = 1;
    reply = call;
    effect_decode(&call);
    if (op->reply.frame && op->rpc_status == 0)
        effect_decode_reply(&reply);
    op->offset = call.offset;
    op->count = call.count;
    op->call.flags |= (call.roles & ROLE_RANGE_START ? SIGHTING_OFFSET : 0) |
                      (call.roles & ROLE_RANGE_LENGTH ? SIGHTING_COUNT : 0);
    if ((call.handle.len && object_id(log, call.handle, op, &op->object, err) < 0) ||
        (call.handle2.len && object_id(log, call.handle2, op, &op->object2, err) < 0) ||
        (reply.new_handle.len && object_id(log, reply.new_handle, op, &op->new_object, err) < 0))
        return -err->code;
    if (call.procedure->action == ACTION_LIST && op->object)
        return effect_entries(&call, take_entry, &(struct listed){ log, op, err });
    return 0;
}

/* --- owners */

int tee_sut_open(struct teelog *log, struct err *err)
{
    static const struct engine_options options = { .messages_only = true };
    const struct sink sink = { take_record, log };
    const struct engine_observer observer = { take_message, log };

    if (!pool_init(&log->sut.handles, sizeof(struct tee_handle)))
        return err_memory(err, "objects of the log");
    log->sut.engine = engine_new(&options, &sink, &observer, err);
    return log->sut.engine ? 0 : -err->code;
}

void tee_sut_free(struct teelog *log)
{
    engine_free(log->sut.engine);
    pool_free(&log->sut.handles);
    table_free(&log->sut.by_handle);
    table_free(&log->sut.same);
    buf_free(&log->sut.whole);
    free(log->sut.last);
}
