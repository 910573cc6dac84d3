/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/operation_pack.c
 *
 * An operation of the tap, which has 272 bytes and copies of both bodies, in about 30: requests
 * that wait keep it like this.  Written are the members that are not as expected, as the difference
 * to that: first which ones, then their differences, as numbers of 7 bits a byte, the lowest ones
 * first.  A body that is not the beginning of the expected one follows whole.
 */
#include "shadow/shadow_parts.h"

struct member {
    size_t offset;
    uint8_t size; /* 1, 4, 8 */
};

#define MEMBER(NAME)                                                                               \
    { offsetof(struct record_operation, NAME), sizeof(((struct record_operation *)NULL)->NAME) }
#define DIGEST(AT) { offsetof(struct record_operation, data_digest) + (AT), 8 }

/* The usual ones come first. */
static const struct member members[] = {
    MEMBER(id),
    MEMBER(reply.time),
    MEMBER(credential),
    MEMBER(object),
    MEMBER(path),
    MEMBER(offset),
    MEMBER(count),
    MEMBER(new_object),
    MEMBER(depends_on),
    MEMBER(call.flags),
    MEMBER(reply.flags),
    MEMBER(status),
    MEMBER(arguments.len),
    MEMBER(result.len),
    MEMBER(data_length),
    DIGEST(0),
    DIGEST(8),
    MEMBER(object2),
    MEMBER(path2),
    MEMBER(rpc_status),
    MEMBER(pairing),
    MEMBER(call.first_frame),
    MEMBER(reply.first_frame),
    MEMBER(arguments_wire),
    MEMBER(result_wire),
    MEMBER(call.frame),
    MEMBER(call.time),
    MEMBER(call.wire_len),
    MEMBER(reply.frame),
    MEMBER(reply.wire_len),
    MEMBER(flow),
    MEMBER(xid),
    MEMBER(program),
    MEMBER(version),
    MEMBER(procedure),
    MEMBER(counterpart.number),
    MEMBER(counterpart.copy),
    MEMBER(counterpart.conditions),
};

enum {
    MEMBERS = sizeof(members) / sizeof(members[0]),
    OWN_ARGUMENTS = MEMBERS, /* bits: the bodies are not as expected */
    OWN_RESULT,
    NUMBER_MAX = 10, /* bytes */
};

_Static_assert(OWN_RESULT < 64, "one bit each");

static uint64_t load(const struct record_operation *op, const struct member *m)
{
    const uint8_t *at = (const uint8_t *)op + m->offset;
    uint32_t four;
    uint64_t eight;

    if (m->size == 1)
        return *at;
    memcpy(&eight, at, m->size == 8 ? 8 : 0);
    memcpy(&four, at, 4);
    return m->size == 8 ? eight : four;
}

static void store(struct record_operation *op, const struct member *m, uint64_t value)
{
    uint8_t *at = (uint8_t *)op + m->offset;
    uint32_t four = (uint32_t)value;

    if (m->size == 1)
        *at = (uint8_t)value;
    else
        memcpy(at, m->size == 8 ? (const void *)&value : (const void *)&four, m->size);
}

/* Small numbers for small differences, up and down. */
static uint64_t difference(uint64_t from, uint64_t to)
{
    uint64_t d = to - from;

    return d << 1 ^ (0 - (d >> 63));
}

static uint64_t apply(uint64_t from, uint64_t d)
{
    return from + (d >> 1 ^ (0 - (d & 1)));
}

static int put_number(struct buf *to, uint64_t value)
{
    uint8_t bytes[NUMBER_MAX];
    size_t len = 0;

    do
        bytes[len++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    while (value >>= 7);
    return buf_append(to, bytes, len);
}

static uint64_t get_number(struct bytes *from)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;

    for (unsigned shift = 0; byte & 0x80 && from->len && shift < 64; shift += 7) {
        byte = *from->data++;
        from->len--;
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return value;
}

static bool begins(struct bytes whole, struct bytes with)
{
    return with.len <= whole.len && (!with.len || memcmp(whole.data, with.data, with.len) == 0);
}

static struct bytes take(struct bytes *from, uint32_t len)
{
    struct bytes taken = { from->data, len < from->len ? len : from->len };

    from->data += taken.len;
    from->len -= taken.len;
    return taken;
}

int operation_pack(const struct record_operation *op, const struct record_operation *expect,
                   struct buf *to, struct err *err)
{
    bool own_arguments = !begins(expect->arguments, op->arguments);
    bool own_result = !begins(expect->result, op->result);
    uint64_t bits = (uint64_t)own_arguments << OWN_ARGUMENTS | (uint64_t)own_result << OWN_RESULT;
    int result;

    for (int i = 0; i < MEMBERS; i++)
        if (load(op, &members[i]) != load(expect, &members[i]))
            bits |= UINT64_C(1) << i;
    result = put_number(to, bits);
    for (int i = 0; i < MEMBERS && result == 0; i++)
        if (bits & UINT64_C(1) << i)
            result = put_number(to, difference(load(expect, &members[i]), load(op, &members[i])));
    if (result == 0 && own_arguments)
        result = buf_append(to, op->arguments.data, op->arguments.len);
    if (result == 0 && own_result)
        result = buf_append(to, op->result.data, op->result.len);
    return result < 0 ? err_memory(err, "requests") : 0;
}

struct record_operation operation_unpack(struct bytes packed, const struct record_operation *expect)
{
    struct record_operation op = *expect;
    uint64_t bits = get_number(&packed);

    for (int i = 0; i < MEMBERS; i++)
        if (bits & UINT64_C(1) << i)
            store(&op, &members[i], apply(load(expect, &members[i]), get_number(&packed)));
    if (bits & UINT64_C(1) << OWN_ARGUMENTS)
        op.arguments = take(&packed, op.arguments.len);
    if (bits & UINT64_C(1) << OWN_RESULT)
        op.result = take(&packed, op.result.len);
    return op;
}
