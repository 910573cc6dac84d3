/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/order.c
 *
 * Writes and reads NAME.order, for piece.c and for the room names.  The contract is in order.h.
 */
#include "pieces/order.h"
#include "pieces/packed.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/pack.h"

#include <stdlib.h>

enum { NUMBER_MAX = 10 }; /* bytes of a LEB128 number of 64 bits */

#define ORDER_PLAIN(step) step(identity) step(lead_operation) step(lead_flow) step(retransmit_span)

static uint64_t version(void)
{
    uint64_t hash =
        UINT64_C(0x6e66736f72640002) ^ XXH3_64bits(NFSDIGEST_VERSION, strlen(NFSDIGEST_VERSION));

#define FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct order *)0)->field));
    ORDER_PLAIN(FIELD)
    return pack_layout(hash, "call", sizeof(struct order_call));
}

/* Appends a number, 7 bits in a byte (LEB128). */
static int put_number(struct buf *out, uint64_t number)
{
    uint8_t bytes[NUMBER_MAX];
    size_t len = 0;

    do {
        bytes[len] = (uint8_t)(number & 0x7f);
        number >>= 7;
        bytes[len++] |= number ? 0x80 : 0;
    } while (number);
    return buf_append(out, bytes, len);
}

static bool get_number(struct bytes in, size_t *at, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && *at < in.len; shift += 7) {
        uint8_t byte = in.data[(*at)++];

        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

int order_turn(struct order *o, uint64_t later, struct err *err)
{
    if (o->turns.len > ORDER_TURNS_MAX - NUMBER_MAX)
        return err_set(err, ERR_USAGE,
                       "more operations than a piece can have: make pieces of fewer bytes");
    return put_number(&o->turns, later) < 0 ? err_memory(err, "operations") : 0;
}

bool order_next(const struct order *o, size_t *at, uint64_t *later)
{
    return get_number((struct bytes){ o->turns.data, (uint32_t)o->turns.len }, at, later);
}

int order_note(struct order *o, const struct order_call *call, struct err *err)
{
    if (GROW(o->calls, o->call_count, o->call_cap) < 0)
        return err_memory(err, "operations");
    o->calls[o->call_count++] = *call;
    return 0;
}

static int compare_calls(const void *a, const void *b)
{
    const struct order_call *x = a, *y = b;

    return (x->operation > y->operation) - (x->operation < y->operation);
}

/* Calls are stored as differences, by their ids: frames mostly grow with these. */
static int save_calls(struct order *o, struct buf *out)
{
    struct order_call last = { 0 };
    struct buf bytes = { 0 };
    int bad = 0;

    if (o->call_count)
        qsort(o->calls, o->call_count, sizeof(*o->calls), compare_calls);
    for (uint32_t i = 0; !bad && i < o->call_count; i++) {
        const struct order_call *x = &o->calls[i];
        int64_t frames = (int64_t)(x->frame - last.frame);

        if (x->operation == last.operation)
            continue;
        bad |= put_number(&bytes, x->operation - last.operation);
        bad |= put_number(&bytes, (uint64_t)frames << 1 ^ (uint64_t)(frames >> 63));
        bad |= pack_value(&bytes, x->xid);
        last = *x;
    }
    bad |= pack_bytes(out, bytes.data, (uint32_t)bytes.len);
    buf_free(&bytes);
    return bad;
}

/* Returns 0, -ERR_INPUT or -ERR_SYSTEM. */
static int restore_calls(struct order *o, struct bytes in)
{
    struct order_call x = { 0 };
    uint64_t ids, frames;

    for (size_t at = 0; at < in.len;) {
        if (!get_number(in, &at, &ids) || !get_number(in, &at, &frames) ||
            in.len - at < sizeof(x.xid) || !ids || x.operation + ids < ids)
            return -ERR_INPUT;
        memcpy(&x.xid, in.data + at, sizeof(x.xid));
        at += sizeof(x.xid);
        x.operation += ids;
        x.frame += frames >> 1 ^ -(frames & 1);
        if (order_note(o, &x, NULL) < 0)
            return -ERR_SYSTEM;
    }
    return 0;
}

const struct order_call *order_call_find(const struct order_call *calls, uint32_t count,
                                         uint64_t id)
{
    const struct order_call key = { .operation = id };

    return count ? bsearch(&key, calls, count, sizeof(key), compare_calls) : NULL;
}

int order_write(const char *path, struct order *o, struct err *err)
{
    struct buf out = { 0 };
    int bad = 0, rc;

#define SAVE(field) bad |= pack_value(&out, o->field);
    ORDER_PLAIN(SAVE)
    bad |= pack_bytes(&out, o->turns.data, (uint32_t)o->turns.len);
    bad |= save_calls(o, &out);
    rc = bad ? err_memory(err, "operations") : packed_write(path, version(), &out, err);
    buf_free(&out);
    return rc;
}

static int parse(const char *path, struct unpack *in, struct order *o, struct err *err)
{
    struct bytes turns, calls;
    int rc;

#define RESTORE(field) unpack_value(in, o->field);
    ORDER_PLAIN(RESTORE)
    turns = unpack_bytes(in);
    calls = unpack_bytes(in);
    rc = in->failed || in->left ? -ERR_INPUT : restore_calls(o, calls);
    if (rc == -ERR_INPUT)
        return err_set(err, ERR_INPUT, "%s: damaged: make the piece again", path);
    if (rc < 0 || buf_append(&o->turns, turns.data, turns.len) < 0)
        return err_memory(err, "operations");
    return 0;
}

int order_read(const char *path, struct order *o, struct err *err)
{
    const struct packed_kind kind = { version(), UINT64_C(1) << 32, "an order of operations",
                                      "make the piece again" };
    struct buf file = { 0 };
    struct unpack in;
    int rc = packed_read(path, &kind, &file, &in, err);

    *o = (struct order){ 0 };
    if (rc == 0)
        rc = parse(path, &in, o, err);
    buf_free(&file);
    if (rc < 0)
        order_free(o);
    return rc;
}

void order_free(struct order *o)
{
    buf_free(&o->turns);
    free(o->calls);
    *o = (struct order){ 0 };
}
