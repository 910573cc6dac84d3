/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_conn_strays.c
 *
 * Segments that do not continue their connection: strays leave it alone, and another connection
 * between the same ports is one, whatever of its begin was captured.  tests/gen/cases_strays.py has
 * the same with the pairing of all messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn_case.h"

static void message_on(struct tcp *t, int side, uint32_t xid)
{
    struct buf b = { 0 };

    if (side)
        put_reply(&b, xid, 0);
    else
        put_call(&b, xid, NFS, 3, PROC_NULL);
    tcp_message(t, side, &b);
    buf_free(&b);
}

static void pairs_on(struct tcp *t, uint32_t first, uint32_t count)
{
    for (uint32_t xid = first; xid < first + count; xid++) {
        message_on(t, 0, xid);
        message_on(t, 1, xid);
    }
}

static void expect(uint64_t operations, uint64_t flows, const char *what, uint32_t number)
{
    uint64_t paired = 0;

    lab_end(&lab);
    for (uint64_t id = 1; lab_operation(&lab, id); id++)
        paired += lab_operation(&lab, id)->pairing == PAIRED;
    if (lab.kinds[RECORD_OPERATION] != operations || paired != operations ||
        lab.kinds[RECORD_FLOW] != flows || lab.kinds[RECORD_REPEAT])
        fail_msg("%s, %x: %u operations, %u paired, %u flows, %u repeats", what, number,
                 (unsigned)lab.kinds[RECORD_OPERATION], (unsigned)paired,
                 (unsigned)lab.kinds[RECORD_FLOW], (unsigned)lab.kinds[RECORD_REPEAT]);
    lab_close(&lab);
    lab_open(&lab, NULL);
}

static const uint32_t OFFSETS[] = {
    0, 1, 1000, UINT32_C(-1), UINT32_C(-700), 32u << 20, -(32u << 20), 1u << 30, 1u << 31, 3u << 30
};
enum { OFFSET_COUNT = sizeof(OFFSETS) / sizeof(OFFSETS[0]) };

/* A message is under way in both directions when the stray comes. */
static void strays_leave_a_connection_alone(void **state)
{
    static const unsigned flags[] = { TCP_RST, TCP_RST | TCP_ACK, TCP_SYN, TCP_SYN | TCP_ACK };

    (void)state;
    for (unsigned f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
        for (unsigned o = 0; o < OFFSET_COUNT; o++)
            for (int side = 0; side < 2; side++) {
                struct tcp t = tcp_open(&lab, C, S);
                struct buf call = { 0 }, stream = { 0 };
                pairs_on(&t, 1, 3);
                put_call(&call, 10, NFS, 3, PROC_NULL);
                put_record(&stream, &call);
                tcp_send(&t, 0, stream.data, 30);
                tcp_segment(&t, side, t.next[side] + OFFSETS[o], flags[f], NULL, 0);
                tcp_send(&t, 0, stream.data + 30, (uint32_t)stream.len - 30);
                message_on(&t, 1, 10);
                pairs_on(&t, 11, 3);
                expect(7, 1, f < 2 ? "RST" : "SYN", OFFSETS[o]);
                buf_free(&call);
                buf_free(&stream);
            }
}

/* Not even when its bytes are a call's. */
static void far_segments_are_strays(void **state)
{
    (void)state;
    for (unsigned o = 5; o < OFFSET_COUNT; o++)
        for (int side = 0; side < 2; side++) {
            struct tcp t = tcp_open(&lab, C, S), far;
            pairs_on(&t, 1, 3);
            far = t;
            far.next[side] += OFFSETS[o];
            message_on(&far, side, 99);
            pairs_on(&t, 10, 3);
            assert_int_equal(lab.kinds[RECORD_FLOW], 1);
            expect(6, 1, "segment", OFFSETS[o]);
        }
}

static void strays_are_counted(void **state)
{
    struct tcp t = tcp_open(&lab, C, S), far;

    (void)state;
    pairs_on(&t, 1, 1);
    far = t;
    far.next[0] += 1u << 30;
    message_on(&far, 0, 99);
    tcp_segment(&t, 1, t.next[1] + (1u << 30), TCP_RST, NULL, 0);
    pairs_on(&t, 2, 1);
    tcp_segment(&t, 0, 12345, TCP_SYN, NULL, 0);
    pairs_on(&t, 3, 1);
    lab_end(&lab);
    assert_int_equal(lab_counter(&lab, "tcp.strays"), 3);
}

/* The begin of the other connection: which of its frames were captured. */
static void another_connection_is_one(void **state)
{
    enum { SYN = 1, ANSWER = 2, ACK = 4, ALL = 8 };

    (void)state;
    for (unsigned seen = 0; seen < ALL; seen++)
        for (unsigned o = 4; o < OFFSET_COUNT; o++)
            for (int ended = 0; ended < 3; ended++) {
                struct tcp t = tcp_open(&lab, C, S), u;
                pairs_on(&t, 1, 5);
                if (ended)
                    tcp_segment(&t, 0, t.next[0], (ended == 1 ? TCP_FIN : TCP_RST) | TCP_ACK, NULL,
                                0);
                lab.time += LAB_SECOND;
                u = t;
                u.next[0] += OFFSETS[o];
                u.next[1] += OFFSETS[o];
                if (seen & SYN)
                    tcp_segment(&u, 0, u.next[0] - 1, TCP_SYN, NULL, 0);
                if (seen & ANSWER)
                    tcp_segment(&u, 1, u.next[1] - 1, TCP_SYN | TCP_ACK, NULL, 0);
                if (seen & ACK)
                    tcp_segment(&u, 0, u.next[0], TCP_ACK, NULL, 0);
                pairs_on(&u, 21, 5);
                expect(10, 2, ended ? "ended" : "open", OFFSETS[o] | seen);
            }
}

/* Copies that come late are no other connection. */
static void late_copies_are_copies(void **state)
{
    (void)state;
    for (uint32_t lag = 1; lag <= 20; lag++) {
        struct tcp t = tcp_open(&lab, C, S), copies[40];
        uint32_t n = 0;
        for (; n < 40; n++) {
            copies[n] = t;
            pairs_on(&t, 1 + n, 1);
            if (n >= lag)
                pairs_on(&copies[n - lag], 1 + n - lag, 1);
        }
        for (n -= lag; n < 40; n++)
            pairs_on(&copies[n], 1 + n, 1);
        expect(40, 1, "copies", lag);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_lab, close_lab)
    const struct CMUnitTest tests[] = {
        TEST(strays_leave_a_connection_alone),
        TEST(far_segments_are_strays),
        TEST(strays_are_counted),
        TEST(another_connection_is_one),
        TEST(late_copies_are_copies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
