/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_pairing.c
 *
 * The rules of engine/flow/pair.h one by one, seen from outside: frames in, records out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <time.h>

static const struct endpoint C = { 0x0a000001, 900 }, C2 = { 0x0a000001, 901 },
                             S = { 0x0a000009, 2049 };

static void getattr_call(struct lab *lab, struct endpoint from, uint32_t xid, const char *handle)
{
    struct buf b = { 0 };

    put_call(&b, xid, NFS, 3, GETATTR);
    put_text(&b, handle);
    lab_udp(lab, from, S, &b);
    buf_free(&b);
}

static void getattr_reply(struct lab *lab, struct endpoint to, uint32_t xid, uint64_t fileid)
{
    struct buf b = { 0 };

    put_reply(&b, xid, 0);
    put_u32(&b, 0);
    put_attributes(&b, 1, fileid);
    lab_udp(lab, S, to, &b);
    buf_free(&b);
}

/* The end, and how many operations and repeats there must be. */
static void finish(struct lab *lab, uint64_t operations, uint64_t repeats)
{
    lab_end(lab);
    assert_int_equal(lab->kinds[RECORD_OPERATION], operations);
    assert_int_equal(lab->kinds[RECORD_REPEAT], repeats);
}

static void expect(const struct lab *lab, uint64_t id, enum pairing pairing, uint64_t call,
                   uint64_t reply)
{
    const struct record_operation *op = lab_operation(lab, id);

    assert_non_null(op);
    assert_int_equal(op->pairing, pairing);
    assert_int_equal(op->call.frame, call);
    assert_int_equal(op->reply.frame, reply);
}

static void expect_repeat(const struct lab *lab, uint64_t n, uint64_t operation,
                          enum repeat_kind kind, uint64_t frame, bool differs)
{
    const struct record *r = lab_nth(lab, RECORD_REPEAT, n);

    assert_non_null(r);
    assert_int_equal(r->repeat.operation, operation);
    assert_int_equal(r->repeat.repeat, kind);
    assert_int_equal(r->repeat.sighting.frame, frame);
    assert_int_equal(r->repeat.differs, differs);
}

static void a_reply_answers_its_call(void **state)
{
    struct lab lab;
    const struct record_operation *op;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 7, "file");
    getattr_reply(&lab, C, 7, 42);
    finish(&lab, 1, 0);
    expect(&lab, 1, PAIRED, 1, 2);
    op = lab_operation(&lab, 1);
    assert_int_equal(op->xid, 7);
    assert_int_equal(op->program, NFS);
    assert_int_equal(op->procedure, GETATTR);
    assert_int_equal(op->rpc_status, RPC_SUCCESS);
    assert_int_equal(op->status, 0);
    assert_int_equal(op->reply.time - op->call.time, 1000000);
    assert_int_equal(op->arguments_wire, 8);
    assert_int_equal(op->result_wire, 88);
    assert_int_equal(op->object, lab_object(&lab, S.ip, "file"));
    lab_close(&lab);
}

static void the_same_call_again_is_a_repeat(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 7, "file");
    getattr_call(&lab, C, 7, "file"); /* before the reply */
    getattr_reply(&lab, C, 7, 42);
    getattr_call(&lab, C, 7, "file"); /* after it */
    getattr_reply(&lab, C, 7, 42);
    finish(&lab, 1, 3);
    expect(&lab, 1, PAIRED, 1, 3);
    expect_repeat(&lab, 0, 1, REPEAT_CALL, 2, false);
    expect_repeat(&lab, 1, 1, REPEAT_CALL, 4, false);
    expect_repeat(&lab, 2, 1, REPEAT_REPLY, 5, false);
    lab_close(&lab);
}

static void a_further_reply_may_differ(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 7, "file");
    getattr_reply(&lab, C, 7, 42);
    getattr_reply(&lab, C, 7, 43);
    lab.time += 3 * LAB_SECOND;
    getattr_call(&lab, C, 8, "file");
    finish(&lab, 2, 1);
    expect(&lab, 1, PAIRED, 1, 2);
    expect_repeat(&lab, 0, 1, REPEAT_REPLY, 3, true);
    expect(&lab, 2, CAPTURE_ENDED, 4, 0);
    lab_close(&lab);
}

/* The handle's length passes the message's end; the result ends within its attributes. */
static void what_is_malformed_is_so_in_every_copy(void **state)
{
    struct lab lab;
    struct buf call = { 0 }, reply = { 0 };

    (void)state;
    put_call(&call, 7, NFS, 3, GETATTR);
    put_u32(&call, 60);
    put_u32(&call, 0);
    put_reply(&reply, 7, 0);
    put_u32(&reply, 0);
    put_u32(&reply, 1);
    lab_open(&lab, NULL);
    lab_udp(&lab, C, S, &call);
    lab_udp(&lab, C, S, &call);
    lab_udp(&lab, S, C, &reply);
    lab_udp(&lab, S, C, &reply);
    store_be32(reply.data + reply.len - 4, 2);
    lab_udp(&lab, S, C, &reply);
    finish(&lab, 1, 3);
    assert_int_equal(lab_operation(&lab, 1)->call.flags, SIGHTING_MALFORMED);
    assert_int_equal(lab_operation(&lab, 1)->reply.flags, SIGHTING_MALFORMED);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(lab_nth(&lab, RECORD_REPEAT, i)->repeat.sighting.flags,
                         SIGHTING_MALFORMED);
    buf_free(&call);
    buf_free(&reply);
    lab_close(&lab);
}

/* Presence is in the flags: 0 bytes at 0 are a range, too. */
static void ranges_and_cut_headers_are_in_the_flags(void **state)
{
    enum { BODY = 8 + 8 + 4, UDP_HEADERS = 14 + 20 + 8 };
    struct lab lab;
    struct buf read = { 0 };
    uint32_t header;

    (void)state;
    put_call(&read, 7, NFS, 3, READ);
    put_text(&read, "file");
    put_u64(&read, 0);
    put_u32(&read, 0);
    header = (uint32_t)read.len - BODY;
    lab_open(&lab, NULL);
    lab_udp(&lab, C, S, &read);
    getattr_call(&lab, C, 8, "file");
    for (uint32_t have = 24; have < read.len; have += 4) {
        store_be32(read.data, 100 + have);
        lab.cut = UDP_HEADERS + have;
        lab_udp(&lab, C, S, &read);
    }
    lab_end(&lab);
    assert_int_equal(lab_operation(&lab, 1)->call.flags, SIGHTING_OFFSET | SIGHTING_COUNT);
    assert_int_equal(lab_operation(&lab, 2)->call.flags, 0);
    for (uint32_t have = 24; have < read.len; have += 4) {
        const struct record_operation *op = lab_operation(&lab, 3 + (have - 24) / 4);
        uint32_t want = SIGHTING_PARTIAL | SIGHTING_CUT;

        assert_non_null(op);
        assert_int_equal(op->xid, 100 + have);
        want |= have < header ? SIGHTING_HEADER : 0;
        want |= have >= header + 16 ? SIGHTING_OFFSET : 0;
        assert_int_equal(op->call.flags, want);
        assert_int_equal(op->arguments_wire, have < header ? 0 : BODY);
    }
    buf_free(&read);
    lab_close(&lab);
}

static void another_call_may_have_the_same_xid(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 7, "one");
    getattr_reply(&lab, C, 7, 1);
    getattr_call(&lab, C, 7, "two"); /* another body */
    getattr_reply(&lab, C, 7, 2);
    getattr_call(&lab, C, 7, "two"); /* sent again */
    finish(&lab, 2, 1);
    expect(&lab, 1, PAIRED, 1, 2);
    expect(&lab, 2, PAIRED, 3, 4);
    expect_repeat(&lab, 0, 2, REPEAT_CALL, 5, false);
    lab_close(&lab);
}

static void repeats_end_with_the_retransmit_span(void **state)
{
    struct engine_options options = { .retransmit_span = 10 * LAB_SECOND };
    struct lab lab;

    (void)state;
    lab_open(&lab, &options);
    getattr_call(&lab, C, 7, "file");
    getattr_reply(&lab, C, 7, 42);
    lab.time += 9 * LAB_SECOND;
    getattr_call(&lab, C, 7, "file");
    lab.time += 9 * LAB_SECOND; /* since the last sighting */
    getattr_call(&lab, C, 7, "file");
    lab.time += 11 * LAB_SECOND;
    getattr_call(&lab, C, 7, "file");
    getattr_reply(&lab, C, 7, 42);
    finish(&lab, 2, 2);
    expect(&lab, 1, PAIRED, 1, 2);
    expect(&lab, 2, PAIRED, 5, 6);
    lab_close(&lab);
}

static void a_reply_may_be_captured_before_its_call(void **state)
{
    struct engine_options options = { .reorder_span = LAB_SECOND };
    struct lab lab;

    (void)state;
    lab_open(&lab, &options);
    getattr_call(&lab, C, 1, "file"); /* the flow's direction is known */
    getattr_reply(&lab, C, 1, 42);
    getattr_reply(&lab, C, 2, 42);
    getattr_call(&lab, C, 2, "file");
    getattr_reply(&lab, C, 3, 42);
    lab.time += 2 * LAB_SECOND;
    getattr_call(&lab, C, 4, "file"); /* notices that 3 is too old */
    getattr_call(&lab, C, 3, "file");
    finish(&lab, 5, 0);
    expect(&lab, 2, PAIRED, 4, 3);
    expect(&lab, 3, CAPTURE_ENDED, 6, 0);
    expect(&lab, 4, CALL_LOST, 0, 5);
    assert_int_equal(lab_operation(&lab, 4)->program, PROGRAM_UNKNOWN);
    expect(&lab, 5, CAPTURE_ENDED, 7, 0);
    lab_close(&lab);
}

static void a_reply_in_front_goes_to_the_call_it_fits(void **state)
{
    struct buf b = { 0 };
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 1, "file");
    getattr_reply(&lab, C, 1, 42);
    getattr_reply(&lab, C, 2, 42);
    put_call(&b, 2, NFS, 3, READDIRPLUS); /* same XID, but that is no result of READDIRPLUS */
    put_text(&b, "directory");
    put_u64(&b, 0);
    put_u64(&b, 0);
    put_u64(&b, UINT64_C(0x100000001000));
    lab_udp(&lab, C, S, &b);
    getattr_call(&lab, C, 2, "file");
    buf_free(&b);
    finish(&lab, 3, 0);
    expect(&lab, 2, CAPTURE_ENDED, 4, 0);
    expect(&lab, 3, PAIRED, 5, 3);
    lab_close(&lab);
}

static void calls_are_given_up_by_number_and_age(void **state)
{
    struct engine_options options = { .pending = 3, .retransmit_span = 100 * LAB_SECOND };
    struct lab lab;

    (void)state;
    lab_open(&lab, &options);
    for (uint32_t xid = 1; xid <= 4; xid++)
        getattr_call(&lab, C, xid, "file");
    getattr_reply(&lab, C, 1, 42); /* came too late for this window */
    getattr_reply(&lab, C, 2, 42);
    lab.time += 101 * LAB_SECOND;
    getattr_call(&lab, C, 5, "file");
    finish(&lab, 6, 0);
    expect(&lab, 1, OUT_OF_WINDOW, 1, 0);
    expect(&lab, 2, PAIRED, 2, 6);
    expect(&lab, 3, REPLY_LOST, 3, 0);
    expect(&lab, 4, REPLY_LOST, 4, 0);
    expect(&lab, 5, CAPTURE_ENDED, 7, 0);
    expect(&lab, 6, CALL_LOST, 0, 5);
    lab_close(&lab);
}

static void two_clients_share_an_address(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 1, "file"); /* both flows exist before the calls in question */
    getattr_call(&lab, C2, 2, "file");
    getattr_call(&lab, C, 7, "file");
    getattr_call(&lab, C2, 7, "file"); /* the same bytes, but no retransmission */
    getattr_reply(&lab, C2, 7, 42);
    getattr_reply(&lab, C, 7, 42);
    finish(&lab, 4, 0);
    expect(&lab, 3, PAIRED, 3, 6);
    expect(&lab, 4, PAIRED, 4, 5);
    assert_int_not_equal(lab_operation(&lab, 3)->flow, lab_operation(&lab, 4)->flow);
    lab_close(&lab);
}

static void a_new_connection_repeats_calls(void **state)
{
    struct buf call = { 0 }, reply = { 0 };
    struct tcp old, new;
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    put_call(&call, 7, NFS, 3, GETATTR);
    put_text(&call, "file");
    put_reply(&reply, 7, 0);
    put_u32(&reply, 0);
    put_attributes(&reply, 1, 42);
    old = tcp_open(&lab, C, S);
    tcp_message(&old, 0, &call);
    tcp_segment(&old, 0, old.next[0], TCP_RST, NULL, 0);
    new = tcp_open(&lab, C2, S);
    tcp_message(&new, 0, &call);
    tcp_message(&new, 1, &reply);
    finish(&lab, 1, 1);
    expect(&lab, 1, PAIRED, 4, 10);
    expect_repeat(&lab, 0, 1, REPEAT_CALL, 9, false);
    assert_int_equal(lab_operation(&lab, 1)->flow, 1);
    assert_int_equal(lab_nth(&lab, RECORD_REPEAT, 0)->repeat.flow, 2);
    buf_free(&call);
    buf_free(&reply);
    lab_close(&lab);
}

/* The same ports again: a new connection, and the client goes on with its calls. */
static void ports_are_used_again(void **state)
{
    struct buf call = { 0 }, reply = { 0 };
    struct tcp t;
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    put_call(&call, 7, NFS, 3, GETATTR);
    put_text(&call, "file");
    put_reply(&reply, 7, 0);
    put_u32(&reply, 0);
    put_attributes(&reply, 1, 42);
    t = tcp_open(&lab, C, S);
    tcp_message(&t, 0, &call);
    t = tcp_open(&lab, C, S);
    tcp_message(&t, 0, &call);
    tcp_message(&t, 1, &reply);
    finish(&lab, 1, 1);
    expect(&lab, 1, PAIRED, 4, 9);
    assert_int_equal(lab.kinds[RECORD_FLOW], 2);
    assert_int_equal(lab_problems(&lab, PROBLEM_HOLE), 0);
    buf_free(&call);
    buf_free(&reply);
    lab_close(&lab);
}

static void calls_go_both_ways(void **state)
{
    struct buf b = { 0 };
    struct tcp t;
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    put_call(&b, 7, NFS, 3, GETATTR);
    put_text(&b, "file");
    tcp_message(&t, 0, &b);
    b.len = 0;
    put_call(&b, 7, 100021, 4, PROC_NULL); /* the server asks, with the same XID */
    tcp_message(&t, 1, &b);
    b.len = 0;
    put_reply(&b, 7, 0);
    tcp_message(&t, 0, &b);
    put_u32(&b, 0);
    put_attributes(&b, 1, 42);
    tcp_message(&t, 1, &b);
    finish(&lab, 2, 0);
    expect(&lab, 1, PAIRED, 4, 7);
    expect(&lab, 2, PAIRED, 5, 6);
    assert_int_equal(lab_operation(&lab, 2)->program, 100021);
    buf_free(&b);
    lab_close(&lab);
}

/* A GETATTR under RPCSEC_GSS (RFC 2203 s5.3): every transmission has a sequence number of its own.
 */
static void put_gss_call(struct buf *b, uint32_t xid, uint32_t sequence, uint32_t service,
                         const char *handle)
{
    struct buf body = { 0 };
    char checksum[16];

    memset(checksum, (int)('A' + sequence), sizeof(checksum));
    put_u32(b, xid);
    put_u32(b, 0);
    put_u32(b, 2);
    put_u32(b, NFS);
    put_u32(b, 3);
    put_u32(b, GETATTR);
    put_u32(b, 6); /* RPCSEC_GSS: */
    put_u32(b, 28);
    put_u32(b, 1); /* version */
    put_u32(b, 0); /* data */
    put_u32(b, sequence);
    put_u32(b, service);
    put_text(b, "context!");
    put_u32(b, 6);
    put_opaque(b, checksum, sizeof(checksum));
    if (service == 1) {
        put_text(b, handle);
    } else if (service == 2) {
        put_u32(&body, sequence);
        put_text(&body, handle);
        put_opaque(b, body.data, (uint32_t)body.len);
        put_opaque(b, checksum, sizeof(checksum));
    } else {
        put_opaque(b, checksum, sizeof(checksum));
    }
    buf_free(&body);
}

static void gss_repeats(uint32_t service, bool in_clear)
{
    struct buf b = { 0 };
    struct lab lab;

    lab_open(&lab, NULL);
    for (uint32_t sequence = 1; sequence <= 3; sequence++) {
        b.len = 0;
        put_gss_call(&b, 7, sequence, service, "file");
        lab_udp(&lab, C, S, &b);
    }
    b.len = 0;
    put_gss_call(&b, 7, 4, service, "two.");
    lab_udp(&lab, C, S, &b);
    buf_free(&b);
    /* what cannot be read is the same by its XID and context */
    finish(&lab, in_clear ? 2 : 1, in_clear ? 2 : 3);
    expect_repeat(&lab, 0, 1, REPEAT_CALL, 2, false);
    expect_repeat(&lab, 1, 1, REPEAT_CALL, 3, false);
    assert_int_equal(lab_object(&lab, S.ip, "file") != 0, in_clear);
    lab_close(&lab);
}

static void gss_calls_repeat(void **state)
{
    (void)state;
    gss_repeats(1, true);
    gss_repeats(2, true);
    gss_repeats(3, false);
}

/* Cut captures: the bytes that are there must be the same, and the lengths of the rest. */
static void cut_calls_are_compared_by_what_is_there(void **state)
{
    static const uint8_t zeros[1000];
    static const struct {
        uint64_t offset;
        uint32_t len;
    } writes[] = { { 0, 1000 }, { 0, 1000 }, { 1000, 1000 }, { 1000, 900 } };
    struct buf b = { 0 };
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    lab.cut = 200;
    for (int i = 0; i < 4; i++) {
        b.len = 0;
        put_call(&b, 7, NFS, 3, WRITE);
        put_write(&b, "file", writes[i].offset, zeros, writes[i].len);
        lab_udp(&lab, C, S, &b);
    }
    buf_free(&b);
    finish(&lab, 3, 1);
    expect_repeat(&lab, 0, 1, REPEAT_CALL, 2, false);
    expect(&lab, 2, CAPTURE_ENDED, 3, 0);
    expect(&lab, 3, CAPTURE_ENDED, 4, 0);
    lab_close(&lab);
}

/* Replies without calls are held, but not without bound. */
static void held_replies_are_bounded(void **state)
{
    enum { MANY = 6000, BOUND = 4096 };
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    getattr_call(&lab, C, 1, "file");
    for (uint32_t xid = 2; xid < 2 + MANY; xid++) {
        lab.time -= 1000000; /* no time passes */
        getattr_reply(&lab, C, xid, 42);
    }
    assert_int_equal(lab.kinds[RECORD_OPERATION], MANY - BOUND);
    finish(&lab, MANY + 1, 0);
    for (uint64_t i = 0; i < MANY; i++) { /* the oldest go first */
        assert_int_equal(lab_nth(&lab, RECORD_OPERATION, i)->operation.pairing, CALL_LOST);
        assert_int_equal(lab_nth(&lab, RECORD_OPERATION, i)->operation.xid, 2 + i);
        i += 97;
    }
    lab_close(&lab);
}

/* A client that never changes its XID must not make each call dearer than the one before. */
static void one_xid_for_all_calls(void **state)
{
    enum { MANY = 200000 };
    clock_t start = clock();
    char handle[16];
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    lab.discard = true;
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(handle, sizeof(handle), "f%u", i);
        getattr_call(&lab, C, 7, handle);
        if ((double)(clock() - start) / CLOCKS_PER_SEC > 20)
            fail_msg("call %u after 20 s", i);
    }
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], MANY);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_answers_its_call),
        cmocka_unit_test(the_same_call_again_is_a_repeat),
        cmocka_unit_test(a_further_reply_may_differ),
        cmocka_unit_test(what_is_malformed_is_so_in_every_copy),
        cmocka_unit_test(ranges_and_cut_headers_are_in_the_flags),
        cmocka_unit_test(another_call_may_have_the_same_xid),
        cmocka_unit_test(repeats_end_with_the_retransmit_span),
        cmocka_unit_test(a_reply_may_be_captured_before_its_call),
        cmocka_unit_test(a_reply_in_front_goes_to_the_call_it_fits),
        cmocka_unit_test(calls_are_given_up_by_number_and_age),
        cmocka_unit_test(two_clients_share_an_address),
        cmocka_unit_test(a_new_connection_repeats_calls),
        cmocka_unit_test(ports_are_used_again),
        cmocka_unit_test(calls_go_both_ways),
        cmocka_unit_test(gss_calls_repeat),
        cmocka_unit_test(cut_calls_are_compared_by_what_is_there),
        cmocka_unit_test(held_replies_are_bounded),
        cmocka_unit_test(one_xid_for_all_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
