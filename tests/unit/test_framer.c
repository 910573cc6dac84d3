/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_framer.c
 *
 * Record marks: fragments, long messages, holes in and over messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "framer_case.h"

#include <stdlib.h>

static void fragments_make_one_message(void **state)
{
    struct buf call = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    put_getattr(&call, 7);
    for (uint32_t piece = 1; piece <= call.len; piece++) {
        stream.len = 0;
        put_fragments(&stream, &call, piece);
        for (uint32_t segment = 1; segment <= stream.len; segment += 1 + segment / 8) {
            uint64_t last = 0;
            lab_open(&lab, NULL);
            t = tcp_open(&lab, C, S);
            for (uint32_t at = 0; at < stream.len; at += segment)
                tcp_send(&t, 0, stream.data + at,
                         stream.len - at < segment ? (uint32_t)stream.len - at : segment);
            last = lab.frame;
            send_call(&t, 8);
            lab_end(&lab);
            assert_int_equal(lab.kinds[RECORD_OPERATION], 2);
            assert_int_equal(lab.kinds[RECORD_PROBLEM], 0);
            assert_int_equal(with_xid(&lab, 7)->call.first_frame, 4);
            assert_int_equal(with_xid(&lab, 7)->call.frame, last);
            assert_int_equal(with_xid(&lab, 7)->call.wire_len, call.len);
            assert_int_equal(with_xid(&lab, 7)->call.flags, 0);
            lab_close(&lab);
        }
    }
    buf_free(&call);
    buf_free(&stream);
}

/* An empty last fragment is legal (RFC 5531 s11), and ends its record in its own frame. */
static void the_last_fragment_may_be_empty(void **state)
{
    struct buf call = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    put_getattr(&call, 7);
    put_u32(&stream, (uint32_t)call.len);
    put_raw(&stream, call.data, (uint32_t)call.len);
    put_u32(&stream, UINT32_C(1) << 31);
    tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 1);
    assert_int_equal(with_xid(&lab, 7)->call.flags, 0);
    assert_int_equal(with_xid(&lab, 7)->call.frame, 4);
    buf_free(&call);
    buf_free(&stream);
    lab_close(&lab);
}

/* The hole is inside a message: its mark says where the next one is. */
static void a_hole_in_a_message_costs_that_message_only(void **state)
{
    static uint8_t zeros[3000];
    struct buf b = { 0 }, stream = { 0 };
    const struct record_operation *op;
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    put_call(&b, 7, NFS, 3, WRITE);
    put_write(&b, "file", 0, zeros, sizeof(zeros));
    put_record(&stream, &b);
    tcp_send(&t, 0, stream.data, 1000);
    tcp_lose(&t, 0, 1000);
    tcp_send(&t, 0, stream.data + 2000, (uint32_t)stream.len - 2000);
    send_call(&t, 8);
    lab_end(&lab);
    op = with_xid(&lab, 7);
    assert_int_equal(op->call.wire_len, b.len);
    assert_int_equal(op->call.flags, SIGHTING_PARTIAL | SIGHTING_HOLE | SIGHTING_DATA |
                                         SIGHTING_OFFSET | SIGHTING_COUNT);
    assert_int_equal(op->data_length, sizeof(zeros));
    assert_int_equal(with_xid(&lab, 8)->call.flags, 0);
    assert_int_equal(lab_problems(&lab, PROBLEM_HOLE), 1);
    assert_int_equal(lab_nth(&lab, RECORD_PROBLEM, 0)->problem.length, 1000);
    assert_int_equal(lab.kinds[RECORD_PROBLEM], 1);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* The hole has a mark: the rest of the message is passed over, and the next mark found, wherever
 * it stands in a segment. */
static void a_hole_over_a_mark_is_searched_through(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    send_call(&t, 1);
    for (uint32_t xid = 2; xid < 6; xid++) {
        put_getattr(&b, xid);
        put_record(&stream, &b);
    }
    tcp_lose(&t, 0, 20); /* the begin of 2 */
    tcp_send(&t, 0, stream.data + 20, (uint32_t)stream.len - 20);
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 4);
    assert_null(with_xid(&lab, 2));
    assert_int_equal(with_xid(&lab, 3)->call.flags, SIGHTING_RESYNC);
    assert_int_equal(with_xid(&lab, 4)->call.flags, 0);
    assert_int_equal(lab_problems(&lab, PROBLEM_SKIPPED), 1);
    for (uint64_t i = 0; i < 2; i++)
        if (lab_nth(&lab, RECORD_PROBLEM, i)->problem.problem == PROBLEM_SKIPPED)
            assert_int_equal(lab_nth(&lab, RECORD_PROBLEM, i)->problem.length, b.len + 4 - 20);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* In a cut capture a reply's end is often not there, and neither is its call. */
static void a_cut_reply_is_believed(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    lab.cut = 14 + 20 + 20 + 140;
    t = tcp_open(&lab, C, S);
    send_call(&t, 100); /* which side answers is known then */
    for (uint32_t xid = 1; xid <= 12; xid++) {
        put_getattr_reply(&b, xid);
        put_record(&stream, &b);
    }
    assert_int_equal(stream.len, 12 * 116);
    tcp_send(&t, 1, stream.data, 3 * 116 + 4); /* it ends with the mark of 4 */
    tcp_send(&t, 1, stream.data + 3 * 116 + 4, 4 * 116 - 4);
    tcp_send(&t, 1, stream.data + 7 * 116, 5 * 116);
    lab_end(&lab);
    assert_non_null(with_xid(&lab, 1));
    assert_int_equal(with_xid(&lab, 2)->reply.flags & SIGHTING_CUT, SIGHTING_CUT); /* by its mark */
    assert_null(with_xid(&lab, 4));
    assert_int_equal(with_xid(&lab, 5)->reply.flags,
                     SIGHTING_RESYNC | SIGHTING_PARTIAL | SIGHTING_CUT | SIGHTING_OPAQUE);
    assert_non_null(with_xid(&lab, 8));
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* A mark that no header follows, or one that cannot be one, loses the framing and nothing else. */
static void an_impossible_mark_is_no_message(void **state)
{
    static const uint32_t marks[] = { 0xffffffff, 0x80400001, 0x80000007, 0x00000000, 0x80000100 };
    struct buf stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        lab_open(&lab, NULL);
        t = tcp_open(&lab, C, S);
        send_call(&t, 1);
        stream.len = 0;
        put_u32(&stream, marks[i]);
        for (int j = 0; j < 30; j++)
            put_u32(&stream, 0x01020304);
        tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
        send_call(&t, 2);
        send_call(&t, 3);
        lab_end(&lab);
        assert_int_equal(lab.kinds[RECORD_OPERATION], 3);
        assert_int_equal(with_xid(&lab, 2)->call.flags, SIGHTING_RESYNC);
        assert_int_equal(lab_problems(&lab, PROBLEM_SKIPPED), 1);
        assert_int_equal(lab_nth(&lab, RECORD_PROBLEM, 0)->problem.length, stream.len);
        lab_close(&lab);
    }
    buf_free(&stream);
}

/* The second mark of a record is impossible: what looked like its first fragment is searched too.
 */
static void a_broken_record_is_searched_again(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    put_u32(&b, 0x55555555); /* XID of something that is a call so far */
    put_u32(&b, 0);
    put_u32(&b, 2);
    put_u32(&stream, (uint32_t)b.len);
    put_raw(&stream, b.data, (uint32_t)b.len);
    put_u32(&stream, 0xffffff80); /* its last byte begins the mark of a real one */
    stream.len--;
    put_getattr(&b, 2);
    put_record(&stream, &b);
    tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
    send_call(&t, 3);
    lab_end(&lab);
    assert_non_null(with_xid(&lab, 2));
    assert_non_null(with_xid(&lab, 3));
    assert_int_equal(lab.kinds[RECORD_OPERATION], 2);
    assert_int_equal(lab_problems(&lab, PROBLEM_SKIPPED), 1);
    assert_int_equal(lab_nth(&lab, RECORD_PROBLEM, 0)->problem.length, 4 + 12 + 3);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* A connection joined in the middle of a message. */
static void a_connection_joined_late(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    static uint8_t zeros[5000];
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_join(&lab, C, S);
    put_call(&b, 1, NFS, 3, WRITE);
    put_write(&b, "file", 0, zeros, sizeof(zeros));
    put_record(&stream, &b);
    tcp_send(&t, 0, stream.data + 1200, (uint32_t)stream.len - 1200);
    send_call(&t, 2);
    send_reply(&t, 2);
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 1);
    assert_int_equal(with_xid(&lab, 2)->pairing, PAIRED);
    assert_int_equal(with_xid(&lab, 2)->call.flags, SIGHTING_RESYNC);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* Sequence numbers wrap around in the middle of a message. */
static void sequence_numbers_wrap(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_join(&lab, C, S);
    t.next[0] = UINT32_MAX - 100;
    for (uint32_t xid = 1; xid < 5; xid++) {
        put_getattr(&b, xid);
        put_record(&stream, &b);
    }
    for (uint32_t at = 0; at < stream.len; at += 48) {
        uint32_t n = stream.len - at < 48 ? (uint32_t)stream.len - at : 48;
        if (at == 96) { /* swapped with the next, over the wrap */
            tcp_segment(&t, 0, t.next[0] + 48, TCP_ACK, stream.data + at + 48, 48);
            tcp_segment(&t, 0, t.next[0], TCP_ACK, stream.data + at, 48);
            tcp_lose(&t, 0, 96);
            at += 48;
            continue;
        }
        tcp_send(&t, 0, stream.data + at, n);
    }
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 4);
    assert_int_equal(lab.kinds[RECORD_PROBLEM], 0);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* Keep-alives repeat the last byte, or a byte of no value, or none (RFC 1122 s4.2.3.6). */
static void keep_alives_are_no_data(void **state)
{
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    for (uint32_t xid = 1; xid < 20; xid++) {
        tcp_segment(&t, 0, t.next[0] - 1, TCP_ACK, "\x80", 1);
        tcp_segment(&t, 0, t.next[0] - 1, TCP_ACK, NULL, 0);
        send_call(&t, xid);
        tcp_segment(&t, 1, t.next[1] - 1, TCP_ACK, "", 1);
        send_reply(&t, xid);
    }
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 19);
    assert_int_equal(lab.kinds[RECORD_PROBLEM], 0);
    assert_int_equal(lab.kinds[RECORD_REPEAT], 0);
    lab_close(&lab);
}

/* Empty fragments may stand anywhere in a record. */
static void a_record_may_begin_with_empty_fragments(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    for (uint32_t xid = 1; xid < 8; xid++) {
        put_getattr(&b, xid);
        for (uint32_t i = 1; i < xid; i++)
            put_u32(&stream, 0);
        put_record(&stream, &b);
    }
    tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 7);
    assert_int_equal(lab.kinds[RECORD_PROBLEM], 0);
    for (uint32_t xid = 1; xid < 8; xid++)
        assert_int_equal(with_xid(&lab, xid)->call.flags, 0);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* A message that is longer than what is kept is partial, and what follows it is not lost. */
static void a_long_message_is_partial(void **state)
{
    static const uint32_t lengths[] = { 3 << 20, (4 << 20) - 200, 4 << 20, 9 << 20, 65 << 20 };
    struct buf b = { 0 }, stream = { 0 };
    uint8_t *data = calloc(65, 1 << 20);

    (void)state;
    assert_non_null(data);
    for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint32_t len = lengths[i / 2], hole = i % 2 ? 100000 : 0;
        const struct record_operation *op;
        struct lab lab;
        struct tcp t;
        lab_open(&lab, NULL);
        t = tcp_open(&lab, C, S);
        b.len = stream.len = 0;
        put_call(&b, 7, NFS, 3, WRITE);
        put_write(&b, "file", 0, data, len);
        put_record(&stream, &b);
        for (uint32_t at = 0, n; at < stream.len; at += n) {
            n = stream.len - at < 50000 ? (uint32_t)stream.len - at : 50000;
            if (at == hole && hole)
                tcp_lose(&t, 0, n);
            else
                tcp_send(&t, 0, stream.data + at, n);
        }
        tcp_segment(&t, 1, t.next[1], TCP_ACK, NULL, 0);
        send_reply(&t, 7);
        send_call(&t, 8);
        lab_end(&lab);
        op = with_xid(&lab, 7);
        assert_non_null(op);
        assert_int_equal(op->pairing, PAIRED);
        assert_int_equal(op->call.wire_len, b.len);
        assert_int_equal(op->data_length, len);
        assert_int_equal(op->call.flags & SIGHTING_PARTIAL,
                         hole || b.len > 4 << 20 ? SIGHTING_PARTIAL : 0);
        assert_int_equal(with_xid(&lab, 8)->call.flags, 0);
        assert_int_equal(lab.kinds[RECORD_OPERATION], 2);
        lab_close(&lab);
    }
    free(data);
    buf_free(&b);
    buf_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_make_one_message),
        cmocka_unit_test(the_last_fragment_may_be_empty),
        cmocka_unit_test(a_hole_in_a_message_costs_that_message_only),
        cmocka_unit_test(a_hole_over_a_mark_is_searched_through),
        cmocka_unit_test(a_cut_reply_is_believed),
        cmocka_unit_test(an_impossible_mark_is_no_message),
        cmocka_unit_test(a_broken_record_is_searched_again),
        cmocka_unit_test(a_connection_joined_late),
        cmocka_unit_test(sequence_numbers_wrap),
        cmocka_unit_test(keep_alives_are_no_data),
        cmocka_unit_test(a_record_may_begin_with_empty_fragments),
        cmocka_unit_test(a_long_message_is_partial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
