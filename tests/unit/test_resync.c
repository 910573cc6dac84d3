/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_resync.c
 *
 * The search for the next record mark behind a hole, among contents that look like marks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "framer_case.h"

#include <time.h>

/* Contents that look like replies with their marks, in a READ whose begin was lost: only what a
 * call waits for, or what stands at a border, is believed. */
static void false_marks_in_contents_are_not_believed(void **state)
{
    struct buf inner = { 0 }, one = { 0 }, b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    t = open_answered(&lab);
    send_call(&t, 9);
    put_u32(&inner, 0x11111111);
    for (uint32_t xid = 1000; xid < 1020; xid++) {
        put_getattr_reply(&one, xid);
        put_record(&inner, &one);
        put_u32(&inner, 0x22222222); /* nothing follows at once */
    }
    put_read_reply(&b, 2, inner.data, (uint32_t)inner.len);
    put_record(&stream, &b);
    tcp_lose(&t, 1, 40);
    tcp_send(&t, 1, stream.data + 40, 700);
    tcp_send(&t, 1, stream.data + 740, (uint32_t)stream.len - 740);
    send_reply(&t, 9);
    lab_end(&lab);
    for (uint32_t xid = 1000; xid < 1020; xid++)
        assert_null(with_xid(&lab, xid));
    assert_int_equal(with_xid(&lab, 9)->pairing, PAIRED);
    assert_int_equal(with_xid(&lab, 9)->reply.flags, SIGHTING_RESYNC);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 2);
    buf_free(&inner);
    buf_free(&one);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* A reply that nobody waits for, in the middle of a segment, is believed when another mark stands
 * at its end: also when that comes later. */
static void a_doubtful_mark_waits_for_its_end(void **state)
{
    struct buf b = { 0 }, stream = { 0 };
    uint32_t second;
    struct lab lab;
    struct tcp t;

    (void)state;
    for (uint32_t cut = 0; cut < 30; cut++) {
        stream.len = 0;
        t = open_answered(&lab);
        put_u32(&stream, 0x33333333);
        put_getattr_reply(&b, 100);
        put_record(&stream, &b);
        second = (uint32_t)stream.len;
        put_getattr_reply(&b, 101);
        put_record(&stream, &b);
        tcp_lose(&t, 1, 50);
        tcp_send(&t, 1, stream.data, second - 7);
        tcp_send(&t, 1, stream.data + second - 7, 7 + cut);
        tcp_send(&t, 1, stream.data + second + cut, (uint32_t)stream.len - second - cut);
        lab_end(&lab);
        assert_int_equal(lab.kinds[RECORD_OPERATION], 3);
        assert_int_equal(with_xid(&lab, 100)->reply.flags & SIGHTING_RESYNC, SIGHTING_RESYNC);
        assert_int_equal(with_xid(&lab, 100)->reply.first_frame, 6);
        assert_int_equal(with_xid(&lab, 100)->reply.frame, 7);
        assert_non_null(with_xid(&lab, 101));
        lab_close(&lab);
    }
    buf_free(&b);
    buf_free(&stream);
}

/* A WRITE whose contents are |count| GETATTR calls with their marks, from the XID |first| on. */
static void put_write_of_calls(struct buf *b, uint32_t xid, uint32_t first, uint32_t count)
{
    struct buf inner = { 0 }, one = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        put_getattr(&one, first + i);
        put_record(&inner, &one);
    }
    b->len = 0;
    put_call(b, xid, NFS, 3, WRITE);
    put_write(b, "file", 0, inner.data, (uint32_t)inner.len);
    buf_free(&inner);
    buf_free(&one);
}

/* The begin of a WRITE is lost whose contents are calls, to its last byte: nothing but the missing
 * replies tells them from real ones. */
static void calls_in_contents_are_undecided(void **state)
{
    enum { COUNT = 83, FIRST = 0x7f000000 };
    struct buf b = { 0 }, stream = { 0 };
    uint64_t undecided = 0;
    const struct record *r;
    struct lab lab;
    struct tcp t;

    (void)state;
    t = open_answered(&lab);
    put_write_of_calls(&b, 2, FIRST, COUNT);
    put_record(&stream, &b);
    tcp_lose(&t, 0, 200);
    for (uint32_t at = 200; at < stream.len; at += 1448)
        tcp_send(&t, 0, stream.data + at,
                 stream.len - at < 1448 ? (uint32_t)stream.len - at : 1448);
    tcp_segment(&t, 1, t.next[1], TCP_ACK, NULL, 0);
    send_reply(&t, 2);
    send_call(&t, 3);
    send_reply(&t, 3);
    lab_end(&lab);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_null(with_xid(&lab, FIRST + i));
    assert_int_equal(with_xid(&lab, 2)->pairing, CALL_LOST);
    assert_int_equal(with_xid(&lab, 3)->pairing, PAIRED);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 3);
    for (uint64_t i = 0; (r = lab_nth(&lab, RECORD_PROBLEM, i)); i++)
        undecided += r->problem.problem == PROBLEM_UNDECIDED ? r->problem.length : 0;
    assert_in_range(undecided, stream.len - 400, stream.len - 200);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* The same with real calls: each has its reply, in any order. */
static void answered_calls_behind_a_hole_are_found(void **state)
{
    enum { COUNT = 20, FIRST = 0x7f000000, STEP = 0x01020304 };
    struct buf b = { 0 }, stream = { 0 };
    struct lab lab;
    struct tcp t;

    (void)state;
    t = open_answered(&lab);
    for (uint32_t i = 0; i < COUNT; i++) {
        put_getattr(&b, FIRST + i * STEP);
        put_record(&stream, &b);
    }
    tcp_lose(&t, 0, 100);
    tcp_send(&t, 0, "the end of something", 20);
    tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
    tcp_segment(&t, 1, t.next[1], TCP_ACK, NULL, 0);
    for (uint32_t i = 0; i < COUNT; i++)
        send_reply(&t, FIRST + i * 7 % COUNT * STEP);
    lab_end(&lab);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(with_xid(&lab, FIRST + i * STEP)->pairing, PAIRED);
    assert_int_equal(lab.kinds[RECORD_OPERATION], COUNT + 1);
    assert_int_equal(lab_problems(&lab, PROBLEM_UNDECIDED), 0);
    buf_free(&b);
    buf_free(&stream);
    lab_close(&lab);
}

/* Records of several fragments are found again, wherever the stream is joined. */
static void fragments_are_found_in_the_middle(void **state)
{
    enum { CALLS = 6 };
    struct buf b = { 0 }, stream = { 0 };
    uint32_t record;

    (void)state;
    for (uint32_t piece = 1; piece < 60; piece += 1 + piece / 8) {
        for (uint32_t first = 1; first < 70; first += 23) {
            struct lab lab;
            struct tcp t;
            lab_open(&lab, NULL);
            t = tcp_join(&lab, C, S);
            for (uint32_t xid = 1; xid <= CALLS; xid++) {
                stream.len = 0;
                put_getattr(&b, xid);
                put_fragments(&stream, &b, piece);
                record = xid == 1 ? first : 0;
                tcp_send(&t, 0, stream.data + record, (uint32_t)stream.len - record);
                stream.len = 0;
                put_getattr_reply(&b, xid);
                put_fragments(&stream, &b, piece);
                record = xid == 1 ? first : 0;
                tcp_send(&t, 1, stream.data + record, (uint32_t)stream.len - record);
            }
            lab_end(&lab);
            for (uint32_t xid = 2; xid <= CALLS; xid++) {
                assert_non_null(with_xid(&lab, xid));
                assert_int_equal(with_xid(&lab, xid)->pairing, PAIRED);
                assert_int_equal(with_xid(&lab, xid)->reply.flags & SIGHTING_PARTIAL, 0);
            }
            assert_int_equal(lab.kinds[RECORD_OPERATION], CALLS - 1);
            lab_close(&lab);
        }
    }
    buf_free(&b);
    buf_free(&stream);
}

/* Bytes made to look like many marks must not take longer than other bytes, by much. */
static void doubtful_marks_take_no_time(void **state)
{
    enum { WAIT = 256 << 10, ROUNDS = 4 };
    struct buf stream = { 0 };
    clock_t start = clock();
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    lab.discard = true;
    t = tcp_open(&lab, C, S);
    send_call(&t, 1);
    send_reply(&t, 1);
    tcp_lose(&t, 1, 10);
    tcp_send(&t, 1, "\0", 2);
    tcp_segment(&t, 0, t.next[0], TCP_ACK, NULL, 0); /* the client has what was lost */
    lab.time += LAB_SECOND;
    tcp_segment(&t, 0, t.next[0], TCP_ACK, NULL, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t piece = round % 2 ? 60000 : 2;
        stream.len = 0;
        put_u32(&stream, 0);
        /* no mark stands at a border, and they end one after another, in the midst of segments */
        for (uint32_t at = 0; at < WAIT - 20480; at += 28) {
            uint32_t len = WAIT - 20001 - at + at / 28 % 4096 * 2;
            put_u32(&stream, UINT32_C(1) << 31 | len);
            put_reply(&stream, 7 + at, 0);
        }
        for (uint32_t at = 0; at < stream.len; at += piece)
            tcp_send(&t, 1, stream.data + at,
                     stream.len - at < piece ? (uint32_t)stream.len - at : piece);
        for (uint32_t i = 0; i < 12000; i++) {
            tcp_send(&t, 1, "\0", 2);
            if ((double)(clock() - start) / CLOCKS_PER_SEC > 30)
                fail_msg("30 s for %u bytes", round * WAIT + i);
        }
    }
    lab_end(&lab);
    buf_free(&stream);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_marks_in_contents_are_not_believed),
        cmocka_unit_test(a_doubtful_mark_waits_for_its_end),
        cmocka_unit_test(calls_in_contents_are_undecided),
        cmocka_unit_test(answered_calls_behind_a_hole_are_found),
        cmocka_unit_test(fragments_are_found_in_the_middle),
        cmocka_unit_test(doubtful_marks_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
