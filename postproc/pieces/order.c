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

#define ORDER_PLAIN(step) step(identity) step(lead_operation) step(lead_flow) step(retransmit_span)

static uint64_t version(void)
{
    uint64_t hash =
        UINT64_C(0x6e66736f72640001) ^ XXH3_64bits(NFSDIGEST_VERSION, strlen(NFSDIGEST_VERSION));

#define FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct order *)0)->field));
    ORDER_PLAIN(FIELD)
    return pack_layout(hash, "call", sizeof(struct order_call));
}

int order_turn(struct order *o, uint64_t later, struct err *err)
{
    uint8_t bytes[10];
    size_t len = 0;

    do {
        bytes[len] = (uint8_t)(later & 0x7f);
        later >>= 7;
        bytes[len++] |= later ? 0x80 : 0;
    } while (later);
    return buf_append(&o->turns, bytes, len) < 0 ? err_memory(err, "operations") : 0;
}

bool order_next(const struct order *o, size_t *at, uint64_t *later)
{
    *later = 0;
    for (unsigned shift = 0; shift < 64 && *at < o->turns.len; shift += 7) {
        uint8_t byte = o->turns.data[(*at)++];

        *later |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

int order_note(struct order *o, const struct order_call *call, struct err *err)
{
    if (GROW(o->calls, o->call_count, o->call_cap) < 0)
        return err_memory(err, "operations");
    o->calls[o->call_count++] = *call;
    return 0;
}

int order_write(const char *path, const struct order *o, struct err *err)
{
    struct buf out = { 0 };
    int bad = 0, rc;

#define SAVE(field) bad |= pack_value(&out, o->field);
    ORDER_PLAIN(SAVE)
    bad |= pack_bytes(&out, o->turns.data, (uint32_t)o->turns.len);
    bad |= pack_bytes(&out, o->calls, (uint32_t)(o->call_count * sizeof(*o->calls)));
    rc = bad ? err_memory(err, "operations") : packed_write(path, version(), &out, err);
    buf_free(&out);
    return rc;
}

static int parse(const char *path, struct unpack *in, struct order *o, struct err *err)
{
    struct bytes turns, calls;

#define RESTORE(field) unpack_value(in, o->field);
    ORDER_PLAIN(RESTORE)
    turns = unpack_bytes(in);
    calls = unpack_bytes(in);
    if (in->failed || in->left || calls.len % sizeof(*o->calls))
        return err_set(err, ERR_INPUT, "%s: damaged: make the piece again", path);
    if (buf_append(&o->turns, turns.data, turns.len) < 0 ||
        GROW_TO(o->calls, calls.len / sizeof(*o->calls), o->call_cap) < 0)
        return err_memory(err, "operations");
    o->call_count = (uint32_t)(calls.len / sizeof(*o->calls));
    if (calls.len)
        memcpy(o->calls, calls.data, calls.len);
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
