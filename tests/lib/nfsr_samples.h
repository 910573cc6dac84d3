/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/nfsr_samples.h
 *
 * Random records, their comparison, and streams in memory, for the tests of engine/record.
 * Members are listed by hand, not taken from the layout table: what the table forgets must show.
 */
#ifndef NFSDIGEST_TESTS_NFSR_SAMPLES_H
#define NFSDIGEST_TESTS_NFSR_SAMPLES_H

#include "record/nfsr.h"

#include <stdlib.h>

struct samples {
    uint64_t seed;
    uint8_t bytes[4096]; /* what the records' byte fields point into */
};

static inline uint64_t sample_u64(struct samples *s)
{
    s->seed ^= s->seed << 13;
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return s->seed;
}

static inline void samples_init(struct samples *s, uint64_t seed)
{
    s->seed = seed * 2654435761u + 88172645463325252u;
    for (size_t i = 0; i < sizeof(s->bytes); i++)
        s->bytes[i] = (uint8_t)(sample_u64(s) >> 32);
}

/* Zero, the borders of varint lengths, the largest numbers, and anything between. */
static inline uint64_t sample_value(struct samples *s)
{
    static const uint64_t edges[] = { 0,          1,          127,       128,        255,
                                      256,        16383,      16384,     65535,      0x7fffffff,
                                      0x80000000, UINT32_MAX, INT64_MAX, 1ull << 63, UINT64_MAX };
    uint64_t pick = sample_u64(s) >> 20;

    if (pick % 2)
        return edges[pick / 2 % (sizeof(edges) / sizeof(edges[0]))];
    return sample_u64(s) >> (pick / 2 % 64);
}

static inline struct bytes sample_bytes(struct samples *s)
{
    uint32_t len = (uint32_t)(sample_u64(s) >> 20) % 300;

    if (len % 5 == 0)
        return (struct bytes){ NULL, 0 };
    return (struct bytes){ s->bytes + (sample_u64(s) >> 20) % (sizeof(s->bytes) - 300), len };
}

static inline void sample_address(struct samples *s, struct address *out)
{
    static const uint8_t versions[] = { 0, 4, 6 };

    out->version = versions[(sample_u64(s) >> 20) % 3];
    for (unsigned i = 0; out->version && i < address_len(out); i++)
        out->bytes[i] = (uint8_t)(sample_u64(s) >> 20);
}

static inline void sample_sighting(struct samples *s, struct sighting *out)
{
    out->frame = sample_value(s);
    out->first_frame = sample_value(s);
    out->time = (int64_t)sample_value(s);
    out->wire_len = (uint32_t)sample_value(s);
    out->flags = (uint32_t)sample_value(s);
}

static inline void sample_operation(struct samples *s, struct record_operation *o)
{
    o->id = sample_value(s);
    o->flow = (uint32_t)sample_value(s);
    o->xid = (uint32_t)sample_value(s);
    o->program = (uint32_t)sample_value(s);
    o->version = (uint32_t)sample_value(s);
    o->procedure = (uint32_t)sample_value(s);
    o->pairing = (uint8_t)sample_value(s);
    sample_sighting(s, &o->call);
    sample_sighting(s, &o->reply);
    o->rpc_status = (int32_t)sample_value(s);
    o->status = (int64_t)sample_value(s);
    o->credential = (uint32_t)sample_value(s);
    o->object = sample_value(s);
    o->object2 = sample_value(s);
    o->new_object = sample_value(s);
    o->path = (uint32_t)sample_value(s);
    o->path2 = (uint32_t)sample_value(s);
    o->depends_on = sample_value(s);
    o->offset = sample_value(s);
    o->count = sample_value(s);
    o->arguments = sample_bytes(s);
    o->result = sample_bytes(s);
    o->arguments_wire = (uint32_t)sample_value(s);
    o->result_wire = (uint32_t)sample_value(s);
    o->data_length = sample_value(s);
    for (unsigned i = 0; sample_u64(s) >> 63 && i < sizeof(o->data_digest); i++)
        o->data_digest[i] = (uint8_t)(sample_u64(s) >> 20);
    o->counterpart.number = sample_value(s);
    o->counterpart.copy = (uint32_t)sample_value(s);
    o->counterpart.conditions = (uint32_t)sample_value(s);
    o->block_digests = sample_bytes(s);
}

/* A kind that may come before the end. */
static inline unsigned sample_kind(uint64_t any)
{
    unsigned kind = 1 + (unsigned)(any % (RECORD_KIND_MAX - 2));

    return kind < RECORD_END ? kind : kind + 1;
}

/* Fills |r| with a record of |kind|; padding stays zero. */
static inline void sample_record(struct samples *s, unsigned kind, struct record *r)
{
    memset(r, 0, sizeof(*r));
    r->kind = (uint8_t)kind;
    switch ((enum record_kind)kind) {
    case RECORD_FLOW:
        r->flow.id = (uint32_t)sample_value(s);
        r->flow.transport = (uint8_t)sample_value(s);
        sample_address(s, &r->flow.client);
        sample_address(s, &r->flow.server);
        r->flow.client_port = (uint16_t)sample_value(s);
        r->flow.server_port = (uint16_t)sample_value(s);
        r->flow.frame = sample_value(s);
        r->flow.time = (int64_t)sample_value(s);
        break;
    case RECORD_CREDENTIAL:
        r->credential.id = (uint32_t)sample_value(s);
        r->credential.flavor = (uint32_t)sample_value(s);
        r->credential.valid = sample_u64(s) >> 63;
        r->credential.uid = (uint32_t)sample_value(s);
        r->credential.gid = (uint32_t)sample_value(s);
        r->credential.stamp = (uint32_t)sample_value(s);
        r->credential.gids = sample_bytes(s);
        r->credential.machine = sample_bytes(s);
        r->credential.gss_service = (uint32_t)sample_value(s);
        r->credential.body = sample_bytes(s);
        break;
    case RECORD_OBJECT:
        r->object.id = sample_value(s);
        sample_address(s, &r->object.server);
        r->object.handle = sample_bytes(s);
        r->object.type = (uint8_t)sample_value(s);
        r->object.fsid = sample_value(s);
        r->object.fileid = sample_value(s);
        r->object.frame = sample_value(s);
        r->object.time = (int64_t)sample_value(s);
        break;
    case RECORD_PATH:
        r->path.id = (uint32_t)sample_value(s);
        r->path.parent = (uint32_t)sample_value(s);
        r->path.object = sample_value(s);
        r->path.name = sample_bytes(s);
        break;
    case RECORD_NAME:
        r->name.event = (uint8_t)sample_value(s);
        r->name.parent = sample_value(s);
        r->name.name = sample_bytes(s);
        r->name.object = sample_value(s);
        r->name.operation = sample_value(s);
        r->name.time = (int64_t)sample_value(s);
        break;
    case RECORD_OPERATION:
        sample_operation(s, &r->operation);
        break;
    case RECORD_REPEAT:
        r->repeat.operation = sample_value(s);
        r->repeat.repeat = (uint8_t)sample_value(s);
        r->repeat.differs = (uint8_t)sample_value(s);
        r->repeat.flow = (uint32_t)sample_value(s);
        sample_sighting(s, &r->repeat.sighting);
        break;
    case RECORD_PROBLEM:
        r->problem.problem = (uint8_t)sample_value(s);
        r->problem.frame = sample_value(s);
        r->problem.time = (int64_t)sample_value(s);
        r->problem.flow = (uint32_t)sample_value(s);
        r->problem.direction = (uint8_t)sample_value(s);
        r->problem.xid = (uint32_t)sample_value(s);
        r->problem.length = sample_value(s);
        r->problem.text = sample_bytes(s);
        break;
    case RECORD_COUNTER:
        r->counter.name = sample_bytes(s);
        r->counter.value = sample_value(s);
        break;
    case RECORD_END:
        r->end.frames = sample_value(s);
        r->end.operations = sample_value(s);
        r->end.calls = sample_value(s);
        r->end.replies = sample_value(s);
        r->end.repeats = sample_value(s);
        r->end.problems = sample_value(s);
        r->end.first_time = (int64_t)sample_value(s);
        r->end.last_time = (int64_t)sample_value(s);
        r->end.input_cut = sample_u64(s) >> 63;
        break;
    case RECORD_CONTENTS:
        r->contents.operation = sample_value(s);
        r->contents.is_reply = sample_u64(s) >> 63;
        r->contents.position = sample_value(s);
        r->contents.data = sample_bytes(s);
        break;
    case RECORD_CONNECTION_EVENT:
        r->connection_event.flow = (uint32_t)sample_value(s);
        sample_address(s, &r->connection_event.client);
        sample_address(s, &r->connection_event.server);
        r->connection_event.client_port = (uint16_t)sample_value(s);
        r->connection_event.server_port = (uint16_t)sample_value(s);
        r->connection_event.direction = (uint8_t)sample_value(s);
        r->connection_event.event = (uint8_t)sample_value(s);
        r->connection_event.frame = sample_value(s);
        r->connection_event.last_frame = sample_value(s);
        r->connection_event.time = (int64_t)sample_value(s);
        r->connection_event.last_time = (int64_t)sample_value(s);
        r->connection_event.count = sample_value(s);
        r->connection_event.value = sample_value(s);
        break;
    case RECORD_KIND_MAX:
        abort();
    }
}

/* Compares contents, then blanks pointers and padding, which may differ. */
static inline bool same_bytes(struct bytes *a, struct bytes *b)
{
    bool same = a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));

    memset(a, 0, sizeof(*a));
    memset(b, 0, sizeof(*b));
    return same;
}

static inline bool same_record(const struct record *x, const struct record *y)
{
    struct record a, b;
    bool same = true;

    memcpy(&a, x, sizeof(a));
    memcpy(&b, y, sizeof(b));
    switch ((enum record_kind)a.kind) {
    case RECORD_CREDENTIAL:
        same = same_bytes(&a.credential.gids, &b.credential.gids) &&
               same_bytes(&a.credential.machine, &b.credential.machine) &&
               same_bytes(&a.credential.body, &b.credential.body);
        break;
    case RECORD_OBJECT:
        same = same_bytes(&a.object.handle, &b.object.handle);
        break;
    case RECORD_PATH:
        same = same_bytes(&a.path.name, &b.path.name);
        break;
    case RECORD_NAME:
        same = same_bytes(&a.name.name, &b.name.name);
        break;
    case RECORD_OPERATION:
        same = same_bytes(&a.operation.arguments, &b.operation.arguments) &&
               same_bytes(&a.operation.result, &b.operation.result) &&
               same_bytes(&a.operation.block_digests, &b.operation.block_digests);
        break;
    case RECORD_PROBLEM:
        same = same_bytes(&a.problem.text, &b.problem.text);
        break;
    case RECORD_COUNTER:
        same = same_bytes(&a.counter.name, &b.counter.name);
        break;
    case RECORD_CONTENTS:
        same = same_bytes(&a.contents.data, &b.contents.data);
        break;
    case RECORD_FLOW:
    case RECORD_REPEAT:
    case RECORD_END:
    case RECORD_CONNECTION_EVENT:
    case RECORD_KIND_MAX:
        break;
    }
    return same && a.kind == b.kind &&
           !memcmp(&a.flow, &b.flow, sizeof(a) - ((char *)&a.flow - (char *)&a));
}

static inline int memory_write(void *ctx, const void *data, size_t len, struct err *err)
{
    return buf_append(ctx, data, len) < 0 ? err_set(err, ERR_SYSTEM, "no memory") : 0;
}

/* Gives at most |chunk| bytes at a time, as a pipe may. */
struct memory_source {
    const uint8_t *data;
    size_t len, at, chunk;
};

static inline ssize_t memory_read(void *ctx, void *data, size_t len, struct err *err)
{
    struct memory_source *m = ctx;

    (void)err;
    if (len > m->len - m->at)
        len = m->len - m->at;
    if (m->chunk && len > m->chunk)
        len = m->chunk;
    memcpy(data, m->data + m->at, len);
    m->at += len;
    return (ssize_t)len;
}

#endif
