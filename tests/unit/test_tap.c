/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_tap.c
 *
 * live/tap/tap.h: entries of a real ring, in pieces of any size, overrun, and damaged ones.  Each
 * call is a GETATTR whose handle has the XID, so an operation says by itself if it is true.
 */
#include "flow/message.h"
#include "relay/relay_entry.h"
#include "tap/tap.h"
#include "wire/nfs3_numbers.h"
#include "wire/rpc_put.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GETATTR = 1, XIDS = 1 << 16, SIZE = RING_BLOCKS_MIN * RING_BLOCK };
enum { CLIENT = 1, SERVER = 2 }; /* whose address is IPv6 */

struct world {
    struct ring *ring;
    struct ring_reader *reader;
    struct tap *tap;
    struct tap_gap gap;
    uint64_t gaps, holes, hole_bytes, operations, unpaired, messages, paths;
    bool without_paths;                           /* what on_message returns for calls */
    uint64_t call_entry[XIDS], reply_entry[XIDS]; /* of whole operations */
    uint32_t call_flags[XIDS];
    struct record_flow flow; /* the latest one */
    uint64_t offset[8][2];   /* of connections, behind what was written */
};

static struct err err;

static int on_record(void *ctx, const struct record *record, struct err *e)
{
    struct world *w = ctx;
    const struct record_operation *op = &record->operation;

    (void)e;
    if (record->kind == RECORD_FLOW)
        w->flow = record->flow;
    if (record->kind == RECORD_PROBLEM && record->problem.problem == PROBLEM_HOLE) {
        w->holes++;
        w->hole_bytes += record->problem.length;
    }
    w->paths += record->kind == RECORD_PATH;
    if (record->kind != RECORD_OPERATION)
        return 0;
    w->operations++;
    if (op->pairing != PAIRED || (op->call.flags | op->reply.flags) & SIGHTING_PARTIAL) {
        w->unpaired++;
        return 0;
    }
    assert_true(w->messages >= 2 * (w->operations - w->unpaired)); /* they came before */
    assert_int_equal(op->procedure, GETATTR);
    assert_int_equal(op->arguments.len, 8);
    assert_int_equal(load_be32(op->arguments.data + 4), op->xid);
    assert_true(op->object);
    assert_int_equal(!op->path, w->without_paths);
    w->call_entry[op->xid] = op->call.frame;
    w->call_flags[op->xid] = op->call.flags;
    w->reply_entry[op->xid] = op->reply.frame;
    return 0;
}

static int on_gap(void *ctx, const struct tap_gap *gap, struct err *e)
{
    struct world *w = ctx;

    (void)e;
    w->gap = *gap;
    w->gaps++;
    return 0;
}

/* The call |xid|, or its reply, with a record mark. */
static struct buf message(uint32_t xid, bool reply)
{
    struct rpc_header h = { .direction = reply ? RPC_REPLY : RPC_CALL,
                            .xid = xid,
                            .rpc_version = 2,
                            .program = NFS3_PROGRAM,
                            .version = NFS3_VERSION,
                            .procedure = GETATTR,
                            .status = RPC_SUCCESS };
    uint8_t handle[4] = { (uint8_t)(xid >> 24), (uint8_t)(xid >> 16), (uint8_t)(xid >> 8),
                          (uint8_t)xid };
    struct buf b = { 0 };
    struct xdr_put p = xdr_put_to(&b, 4096);

    xdr_put_u32(&p, 0);
    rpc_put_header(&p, &h);
    if (reply)
        xdr_put_u32(&p, 70); /* NFS3ERR_STALE: nothing follows */
    else
        xdr_put_opaque(&p, (struct bytes){ handle, sizeof(handle) });
    assert_int_equal(xdr_put_end(&p, "a message", NULL), 0);
    b.data[0] = 0x80;
    b.data[3] = (uint8_t)(b.len - 4);
    return b;
}

/* The bytes of each message, with its mark before them. */
static int on_message(void *ctx, const struct engine_tapped *tapped, struct err *e)
{
    struct world *w = ctx;
    struct buf want;

    (void)e;
    if (tapped->event != TAP_MESSAGE || tapped->message->flags & SIGHTING_PARTIAL)
        return 0;
    want = message(load_be32(tapped->message->data), load_be32(tapped->message->data + 4));
    assert_int_equal(tapped->message->cap_len, want.len - 4);
    assert_memory_equal(tapped->message->data, want.data + 4, want.len - 4);
    buf_free(&want);
    w->messages++;
    return w->without_paths && !load_be32(tapped->message->data + 4);
}

static struct world *begin(void)
{
    struct world *w = calloc(1, sizeof(*w));
    const struct tap_host host = { on_record, on_gap, on_message, w };

    assert_non_null(w);
    w->ring = ring_new(SIZE, &err);
    assert_non_null(w->ring);
    w->reader = ring_reader_new(ring_fd(w->ring), &err);
    w->tap = tap_new(&host, &err);
    assert_true(w->reader && w->tap);
    return w;
}

static void read_all(struct world *w)
{
    struct ring_got got;

    while (ring_behind(w->reader)) {
        int result = ring_read(w->reader, &got, &err);

        assert_true(result >= 0);
        if (result)
            assert_int_equal(tap_entry(w->tap, &got, &err), 0);
    }
}

static void release(struct world *w)
{
    tap_free(w->tap);
    ring_reader_free(w->reader);
    ring_free(w->ring);
    free(w);
}

static uint64_t last_entry(const struct world *w)
{
    struct ring_counts counts;

    ring_count(w->ring, &counts);
    return counts.entries;
}

static void end(struct world *w)
{
    assert_int_equal(tap_end(w->tap, &err), 0);
    release(w);
}

/* --- what a relay writes */

static void put(struct world *w, uint16_t kind, uint64_t connection, uint64_t offset,
                struct bytes payload)
{
    const struct ring_entry e = {
        .connection = connection, .kind = kind, .offset = offset, .time = 1000
    };

    ring_put(w->ring, &e, payload);
}

static void set_end(struct relay_end *end, uint8_t last, uint16_t port, bool v6)
{
    *end = (struct relay_end){ .port = port };
    end->address[10] = end->address[11] = 0xff;
    end->address[15] = last;
    if (v6)
        end->address[0] = 0xfd;
}

static void open_as(struct world *w, uint64_t connection, uint16_t flags, unsigned v6)
{
    struct ring_entry e = {
        .connection = connection, .kind = RELAY_OPEN, .flags = flags, .time = 1000
    };
    struct relay_open open = { .to_server = w->offset[connection % 8][0],
                               .to_client = w->offset[connection % 8][1] };

    set_end(&open.client, 1, (uint16_t)(700 + connection), v6 & CLIENT);
    set_end(&open.listens, 2, 2050, v6 & CLIENT);
    set_end(&open.connects, 3, (uint16_t)(700 + connection), false);
    set_end(&open.server, 4, 3049, v6 & SERVER);
    ring_put_whole(w->ring, &e, (struct bytes){ (const uint8_t *)&open, sizeof(open) });
}

/* Bytes of a direction, in entries of at most |most| bytes. */
static void put_pieces(struct world *w, uint64_t connection, bool reply, struct bytes b,
                       uint32_t most)
{
    uint64_t *offset = &w->offset[connection % 8][reply];

    for (uint32_t at = 0; at < b.len; at += most) {
        uint32_t len = b.len - at < most ? b.len - at : most;

        put(w, reply ? RELAY_TO_CLIENT : RELAY_TO_SERVER, connection, *offset,
            (struct bytes){ b.data + at, len });
        *offset += len;
    }
}

/* An operation.  Sets the entries that its last bytes were in. */
static void operate(struct world *w, uint64_t connection, uint32_t xid, uint32_t most,
                    uint64_t entries[2])
{
    for (int reply = 0; reply < 2; reply++) {
        struct buf b = message(xid, reply);

        put_pieces(w, connection, reply, (struct bytes){ b.data, (uint32_t)b.len }, most);
        if (entries)
            entries[reply] = last_entry(w);
        buf_free(&b);
    }
}

/* --- tests */

static void test_pieces(void **state)
{
    (void)state;
    for (uint32_t most = 1; most < 200; most += most < 8 ? 1 : 61) {
        struct world *w = begin();
        uint64_t entries[20][2];

        open_as(w, 1, 0, 0);
        open_as(w, 2, 0, 0);
        for (uint32_t i = 0; i < 20; i++)
            operate(w, 1 + i % 2, 100 + i, most, entries[i]);
        read_all(w);
        /* both messages of each are there as soon as their last bytes are */
        assert_int_equal(w->operations, 20);
        assert_int_equal(w->unpaired, 0);
        assert_int_equal(w->messages, 40);
        for (uint32_t i = 0; i < 20; i++) {
            assert_int_equal(w->call_entry[100 + i], entries[i][0]);
            assert_int_equal(w->reply_entry[100 + i], entries[i][1]);
        }
        assert_false(tap_wants_announcement(w->tap));
        end(w);
    }
}

/* Operations that need no paths. */
static void test_without_paths(void **state)
{
    (void)state;
    for (int without = 0; without < 2; without++) {
        struct world *w = begin();

        w->without_paths = without;
        open_as(w, 1, 0, 0);
        for (uint32_t i = 0; i < 20; i++)
            operate(w, 1, 100 + i, 50, NULL);
        read_all(w);
        assert_int_equal(w->operations - w->unpaired, 20);
        assert_int_equal(w->paths, without ? 0 : 20); /* each has its own object */
        end(w);
    }
}

static void test_addresses(void **state)
{
    static const uint8_t server[4] = { 0, 0, 0, 4 }, mapped[12] = { [10] = 0xff, [11] = 0xff };
    struct world *w = begin();

    (void)state;
    open_as(w, 1, 0, 0);
    operate(w, 1, 1, 1000, NULL);
    read_all(w);
    assert_int_equal(w->flow.client.version, 4);
    assert_int_equal(w->flow.client_port, 701);
    assert_int_equal(w->flow.server_port, 3049);
    assert_memory_equal(w->flow.server.bytes, server, 4);
    open_as(w, 2, 0, CLIENT);
    operate(w, 2, 2, 1000, NULL);
    read_all(w);
    assert_int_equal(w->flow.client.version, 6);
    assert_int_equal(w->flow.client.bytes[0], 0xfd);
    assert_memory_equal(w->flow.server.bytes, mapped, 12);
    assert_memory_equal(w->flow.server.bytes + 12, server, 4);
    open_as(w, 3, 0, SERVER);
    operate(w, 3, 3, 1000, NULL);
    read_all(w);
    assert_int_equal(w->flow.client.version, 6);
    assert_memory_equal(w->flow.client.bytes, mapped, 12);
    assert_int_equal(w->flow.server.bytes[0], 0xfd);
    assert_memory_equal(w->flow.server.bytes + 12, server, 4);
    end(w);
}

/* A connection that ends, and another one between the same ports. */
static void test_again(void **state)
{
    struct world *w = begin();
    uint32_t first;

    (void)state;
    open_as(w, 1, 0, 0);
    operate(w, 1, 1, 1000, NULL);
    put(w, RELAY_TO_SERVER, 1, w->offset[1][0], (struct bytes){ (const uint8_t *)"\x80\0\0", 3 });
    put(w, RELAY_END_TO_SERVER, 1, w->offset[1][0] + 3, (struct bytes){ 0 });
    put(w, RELAY_CLOSED, 1, 0, (struct bytes){ 0 });
    read_all(w);
    first = w->flow.id;
    memset(w->offset, 0, sizeof(w->offset));
    open_as(w, 1, 0, 0);
    operate(w, 1, 2, 1000, NULL);
    read_all(w);
    assert_int_equal(w->operations, 2);
    assert_int_equal(w->unpaired, 0);
    assert_int_not_equal(w->flow.id, first);
    assert_int_equal(w->holes, 0);
    end(w);
}

/* The writer is a ring and more ahead. */
static void test_overrun(void **state)
{
    struct world *w = begin();
    uint64_t lost, entries[2];
    uint32_t xid = 1;

    (void)state;
    open_as(w, 1, 0, 0);
    operate(w, 1, xid++, 37, NULL);
    read_all(w);
    assert_int_equal(w->operations, 1);
    open_as(w, 2, 0, 0); /* its beginning is lost */
    for (uint64_t from = last_entry(w); last_entry(w) < from + 3 * SIZE / 128;)
        operate(w, 1 + xid % 2, xid, 37, NULL), xid++;
    read_all(w);
    assert_int_equal(w->gaps, 1);
    lost = tap_counts(w->tap)->lost_entries;
    assert_int_equal(w->gap.last - w->gap.first + 1, lost);
    assert_in_range(lost, 1, last_entry(w));
    assert_int_equal(w->holes, 2); /* both directions of the connection that is known */
    assert_int_equal(w->hole_bytes, tap_counts(w->tap)->missing_bytes);
    assert_true(tap_wants_announcement(w->tap));
    assert_false(tap_wants_announcement(w->tap));
    assert_in_range(tap_counts(w->tap)->unknown, 1, last_entry(w));
    open_as(w, 1, RELAY_ANNOUNCED, 0);
    open_as(w, 2, RELAY_ANNOUNCED, 0);
    for (int i = 0; i < 20; i++, xid++) {
        operate(w, 1 + i % 2, xid, 37, entries);
        read_all(w);
        /* the first ones of a connection may have to wait for what follows */
        if (i >= 10) {
            assert_int_equal(w->call_entry[xid], entries[0]);
            assert_int_equal(w->reply_entry[xid], entries[1]);
        }
    }
    assert_int_equal(tap_end(w->tap, &err), 0);
    for (uint32_t x = xid - 20; x < xid; x++)
        assert_int_not_equal(w->reply_entry[x], 0);
    assert_int_equal(tap_counts(w->tap)->damaged, 0);
    release(w);
}

/* Bytes that are missing in one direction, more than a message can have. */
static void test_far(void **state)
{
    static const uint64_t gaps[] = { 1, 50, 5000, UINT64_C(1) << 33, UINT64_C(1) << 62 };
    uint32_t xid = 1;
    struct world *w = begin();
    uint64_t sum = 0;

    (void)state;
    open_as(w, 1, 0, 0);
    for (unsigned i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
        w->offset[1][0] += gaps[i];
        sum += gaps[i];
        for (int k = 0; k < 20; k++)
            operate(w, 1, xid++, 1000, NULL);
        read_all(w);
        assert_int_equal(w->holes, i + 1);
        assert_int_equal(w->hole_bytes, sum);
        assert_int_not_equal(w->reply_entry[xid - 1], 0);
    }
    end(w);
}

/* Bytes are missing within a call: its record mark says where the next one begins. */
static void test_within(void **state)
{
    struct world *w = begin();
    struct buf b = message(1, false);
    uint64_t entries[2];

    (void)state;
    open_as(w, 1, 0, 0);
    put_pieces(w, 1, false, (struct bytes){ b.data, 30 }, 1000);
    w->offset[1][0] += 10;
    put_pieces(w, 1, false, (struct bytes){ b.data + 40, (uint32_t)b.len - 40 }, 1000);
    buf_free(&b);
    b = message(1, true);
    put_pieces(w, 1, true, (struct bytes){ b.data, (uint32_t)b.len }, 1000);
    buf_free(&b);
    operate(w, 1, 2, 1000, entries);
    read_all(w);
    assert_int_equal(w->operations, 2);
    assert_int_equal(w->unpaired, 1); /* not whole */
    assert_int_equal(w->hole_bytes, 10);
    assert_int_equal(w->call_entry[2], entries[0]);
    assert_int_equal(w->call_flags[2] & SIGHTING_RESYNC, 0);
    end(w);
}

/* A connection that was open before, with the rest of a call first. */
static void test_joined(void **state)
{
    struct world *w = begin();
    struct buf b = message(1, false);

    (void)state;
    w->offset[1][0] = 1000;
    w->offset[1][1] = 2000;
    open_as(w, 1, RELAY_ANNOUNCED, 0);
    put_pieces(w, 1, false, (struct bytes){ b.data + 30, (uint32_t)b.len - 30 }, 1000);
    buf_free(&b);
    for (uint32_t xid = 2; xid < 10; xid++)
        operate(w, 1, xid, 1000, NULL);
    read_all(w);
    assert_int_equal(tap_end(w->tap, &err), 0);
    assert_int_equal(w->operations - w->unpaired, 8);
    assert_int_not_equal(w->call_flags[2] & SIGHTING_RESYNC, 0);
    assert_int_equal(w->holes, 0);
    release(w);
}

/* On such a connection, the first call is known before its reply comes, in one piece or several,
 * alone or with others, but not if something is before it, or was before it and is lost. */
static void test_joined_call(void **state)
{
    (void)state;
    for (uint32_t what = 0; what < 5; what++) {
        struct world *w = begin();
        struct buf b = message(1, false);

        w->offset[1][0] = 1000;
        open_as(w, 1, RELAY_ANNOUNCED, 0);
        if (what == 2)
            put_pieces(w, 1, false, (struct bytes){ b.data + 30, (uint32_t)b.len - 30 }, 1000);
        if (what == 3) {
            struct buf second = message(2, false);

            assert_int_equal(buf_append(&b, second.data, second.len), 0);
            buf_free(&second);
        }
        if (what == 4) /* more than a message can have, so all begins anew */
            w->offset[1][0] += UINT64_C(1) << 33;
        put_pieces(w, 1, false, (struct bytes){ b.data, (uint32_t)b.len }, what == 1 ? 30 : 1000);
        buf_free(&b);
        read_all(w);
        assert_int_equal(w->messages, what == 3 ? 2 : what < 2);
        release(w);
    }
}

static void test_damaged(void **state)
{
    struct world *w = begin();

    (void)state;
    open_as(w, 1, 0, 0);
    operate(w, 1, 1, 1000, NULL);
    put(w, RELAY_TO_SERVER, 1, 0, (struct bytes){ (const uint8_t *)"x", 1 }); /* again */
    put(w, RELAY_TO_SERVER, 1, UINT64_MAX, (struct bytes){ (const uint8_t *)"x", 1 });
    put(w, RELAY_OPEN, 5, 0, (struct bytes){ (const uint8_t *)"x", 1 });
    put(w, 77, 1, 0, (struct bytes){ 0 });
    open_as(w, 1, 0, 0); /* twice, without a close */
    operate(w, 1, 2, 1000, NULL);
    read_all(w);
    assert_int_equal(tap_counts(w->tap)->damaged, 5);
    assert_int_equal(w->operations, 2);
    assert_int_equal(w->unpaired, 0);
    end(w);
}

static void test_datagrams(void **state)
{
    struct world *w = begin();

    (void)state;
    open_as(w, 1, RELAY_DATAGRAMS, 0);
    for (uint32_t xid = 1; xid < 4; xid++)
        for (int reply = 0; reply < 2; reply++) {
            struct buf b = message(xid, reply);

            if (xid == 2) /* lost datagrams are not a hole of a stream */
                w->offset[1][reply] += 500;
            put_pieces(w, 1, reply, (struct bytes){ b.data + 4, (uint32_t)b.len - 4 }, 1000);
            put_pieces(w, 1, reply, (struct bytes){ (const uint8_t *)"nonsense", 8 }, 1000);
            buf_free(&b);
        }
    read_all(w);
    assert_int_equal(w->operations, 3);
    assert_int_equal(w->unpaired, 0);
    assert_int_equal(w->holes, 0);
    assert_int_equal(tap_counts(w->tap)->missing_bytes, 1000);
    end(w);
}

static void test_many(void **state)
{
    struct world *w = begin();

    (void)state;
    open_as(w, 1, 0, 0);
    for (uint64_t i = 2; i <= TAP_CONNECTIONS + 10; i++) {
        put(w, RELAY_END_TO_SERVER, 1, 0, (struct bytes){ 0 }); /* it stays in use */
        open_as(w, i, 0, 0);
        read_all(w);
    }
    assert_int_equal(tap_counts(w->tap)->forgotten, 10);
    operate(w, 1, 1, 1000, NULL);
    read_all(w);
    assert_int_equal(w->operations, 1);
    assert_false(tap_wants_announcement(w->tap));
    put(w, RELAY_TO_SERVER, 2, 0, (struct bytes){ (const uint8_t *)"x", 1 });
    read_all(w);
    assert_true(tap_wants_announcement(w->tap));
    end(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),    cmocka_unit_test(test_without_paths),
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_again),
        cmocka_unit_test(test_overrun),   cmocka_unit_test(test_far),
        cmocka_unit_test(test_damaged),   cmocka_unit_test(test_within),
        cmocka_unit_test(test_joined),    cmocka_unit_test(test_datagrams),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_joined_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
