/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/recorder/recorder.c
 *
 * Gives the messages of a live program to an engine, and the engine's records to a file.  The
 * engine knows no counterparts: they wait here, by the number of their call's message, until the
 * record of the operation comes by.  For ftnfsd and nfsreplay; the contract is in recorder.h.
 */
#include "recorder/recorder.h"
#include "base/output.h"
#include "base/pool.h"
#include "base/table.h"
#include "engine.h"
#include "record/nfsr.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct recorder {
    struct output *file;
    struct nfsr_writer *writer;
    struct sink sink; /* the writer's */
    struct engine *engine;
    uint64_t number;
    struct table by_number;
    struct pool waiting; /* struct counterpart of calls whose operation has not come out yet */
    struct buf whole;
    struct err err; /* the first one */
};

/* --- counterparts */

static uint64_t hash_of(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

static void wait_for(struct recorder *r, const struct recorded *call)
{
    uint32_t id = pool_new(&r->waiting);

    if (!id || table_add(&r->by_number, hash_of(r->number), id) < 0)
        err_memory(&r->err, "counterparts");
    else
        *(struct counterpart *)pool_at(&r->waiting, id) =
            (struct counterpart){ call->counterpart, call->copy };
}

/* What waits for message |number| waits no longer.  Returns it; all zeros: nothing did. */
static struct counterpart take(struct recorder *r, uint64_t number)
{
    struct counterpart none = { 0 }, found;
    uint32_t at, id = number ? table_first(&r->by_number, hash_of(number), &at) : TABLE_NONE;

    if (id == TABLE_NONE) /* different numbers have different hashes */
        return none;
    found = *(struct counterpart *)pool_at(&r->waiting, id);
    table_remove(&r->by_number, hash_of(number), id);
    pool_give(&r->waiting, id);
    return found;
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct recorder *r = ctx;
    struct record with;

    if (record->kind == RECORD_REPEAT)
        take(r, record->repeat.sighting.frame);
    if (record->kind != RECORD_OPERATION)
        return r->sink.put(r->sink.ctx, record, err);
    with = *record;
    with.operation.counterpart = take(r, record->operation.call.frame);
    return r->sink.put(r->sink.ctx, &with, err);
}

/* --- the recorder */

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    engine_free(r->engine);
    nfsr_writer_free(r->writer);
    output_close(r->file);
    table_free(&r->by_number);
    pool_free(&r->waiting);
    buf_free(&r->whole);
    free(r);
}

struct recorder *recorder_new(const char *path, struct err *err)
{
    struct recorder *r = calloc(1, sizeof(*r));

    if (!r) {
        err_memory(err, "a recorder");
        return NULL;
    }
    if (!pool_init(&r->waiting, sizeof(struct counterpart))) {
        err_memory(err, "a recorder");
        recorder_free(r);
        return NULL;
    }
    r->file = output_open(path, err);
    r->writer = r->file ? nfsr_writer_new(output_write, r->file, err) : NULL;
    if (r->writer) {
        r->sink = nfsr_writer_sink(r->writer);
        r->engine = engine_new(NULL, &(struct sink){ put, r }, NULL, err);
    }
    if (!r->engine) {
        recorder_free(r);
        return NULL;
    }
    return r;
}

static void take_address(const struct net_address *from, struct address *to, uint16_t *port)
{
    *port = net_address_port(from);
    if (from->family == AF_INET) {
        to->version = 4;
        memcpy(to->bytes, &from->v4.sin_addr, 4);
    } else {
        to->version = 6;
        memcpy(to->bytes, &from->v6.sin6_addr, 16);
    }
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Both parts side by side, and the padding. */
static struct bytes join(struct recorder *r, const struct recorded *recorded)
{
    static const uint8_t zeros[3];

    r->whole.len = 0;
    if (buf_append(&r->whole, recorded->message.data, recorded->message.len) < 0 ||
        buf_append(&r->whole, recorded->tail.data, recorded->tail.len) < 0 ||
        buf_append(&r->whole, zeros, -recorded->tail.len & 3u) < 0) {
        err_memory(&r->err, "a message");
        return (struct bytes){ 0 };
    }
    return (struct bytes){ r->whole.data, (uint32_t)r->whole.len };
}

void recorder_put(struct recorder *r, const struct recorded *recorded)
{
    struct bytes message = recorded->message;
    struct whole_message m = { .transport = recorded->datagram ? IPPROTO_UDP : IPPROTO_TCP,
                               .number = r->number + 1,
                               .time = now() };

    if (r->err.code)
        return;
    r->number++;
    if (recorded->tail.len)
        message = join(r, recorded);
    if (!r->err.code && recorded->counterpart)
        wait_for(r, recorded);
    if (r->err.code)
        return;
    m.data = message.data;
    m.len = message.len;
    take_address(recorded->from, &m.source, &m.source_port);
    take_address(recorded->to, &m.destination, &m.destination_port);
    engine_message(r->engine, &m, &r->err);
}

int recorder_end(struct recorder *r, struct err *err)
{
    int result = 0;

    if (!r)
        return 0;
    if (!r->err.code)
        engine_end(r->engine, false, &r->err);
    if (!r->err.code)
        output_commit(r->file, &r->err);
    if (r->err.code)
        result = err_set(err, r->err.code, "%s", r->err.text);
    recorder_free(r);
    return result;
}
