/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_conn_event.c
 *
 * What happens to connections apart from messages: each event with its frames, and what is merged.
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

static void windowed(struct tcp *t, int side, uint16_t window)
{
    uint32_t len = frame_tcp(lab.packet, 0, t->end[side], t->end[!side], t->next[side],
                             t->next[!side], TCP_ACK, NULL, 0);

    lab.packet[14 + 20 + 14] = (uint8_t)(window >> 8);
    lab.packet[14 + 20 + 15] = (uint8_t)window;
    lab_frame(&lab, lab.packet, len);
}

struct want {
    uint32_t flow;
    uint8_t direction, event;
    uint64_t frame, last_frame, count, value;
};

static void expect(const struct want *want, size_t count)
{
    lab_end(&lab);
    for (size_t i = 0; i < count; i++) {
        const struct record *r = lab_nth(&lab, RECORD_CONNECTION_EVENT, i);
        const struct record_connection_event *e = r ? &r->connection_event : NULL;

        if (!e || e->flow != want[i].flow || e->direction != want[i].direction ||
            e->event != want[i].event || e->frame != want[i].frame ||
            e->last_frame != want[i].last_frame || e->count != want[i].count ||
            e->value != want[i].value)
            fail_msg("event %zu: flow %u, direction %u, kind %u, frames %u to %u, %u, %u", i,
                     e ? e->flow : 0, e ? e->direction : 9, e ? e->event : 0,
                     e ? (unsigned)e->frame : 0, e ? (unsigned)e->last_frame : 0,
                     e ? (unsigned)e->count : 0, e ? (unsigned)e->value : 0);
        assert_int_equal(e->client_port, 900);
        assert_int_equal(e->server_port, 2049);
        assert_int_equal(e->client.bytes[3], 1);
        assert_int_equal(e->server.bytes[3], 9);
        assert_int_equal(e->last_time - e->time < 0, 0);
    }
    assert_int_equal(lab.kinds[RECORD_CONNECTION_EVENT], count);
}
#define EXPECT(...)                                                                                \
    expect((const struct want[]){ __VA_ARGS__ },                                                   \
           sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

static void a_connection_begins_and_ends(void **state)
{
    struct tcp t = tcp_open(&lab, C, S); /* frames 1 to 3 */

    (void)state;
    message_on(&t, 0, 1);
    message_on(&t, 1, 1);
    tcp_segment(&t, 0, t.next[0], TCP_FIN | TCP_ACK, NULL, 0); /* 6 */
    tcp_segment(&t, 0, t.next[0], TCP_FIN | TCP_ACK, NULL, 0);
    tcp_segment(&t, 1, t.next[1], TCP_FIN | TCP_ACK, NULL, 0);
    tcp_segment(&t, 1, t.next[1] + 1, TCP_RST, NULL, 0);
    EXPECT({ 1, 0, EVENT_SYN, 1, 1, 1, 1 }, { 1, 1, EVENT_SYN_ACK, 2, 2, 1, 0 },
           { 1, 0, EVENT_FIN, 6, 7, 2, 0 }, { 1, 1, EVENT_FIN, 8, 8, 1, 0 },
           { 1, 1, EVENT_RST, 9, 9, 1, 0 });
}

/* The server goes: nobody answers, then its host refuses, then it is there again. */
static void a_server_comes_back(void **state)
{
    struct tcp t = tcp_open(&lab, C, S), again;
    uint32_t isn = 77000000;

    (void)state;
    message_on(&t, 0, 1);
    message_on(&t, 1, 1);
    message_on(&t, 0, 2); /* 6 */
    tcp_segment(&t, 1, t.next[1], TCP_RST, NULL, 0);
    again = tcp_join(&lab, C, S);
    for (int i = 0; i < 3; i++) { /* 8, 9; 10, 11; 12, 13 */
        again.next[0] = isn + 1;
        tcp_segment(&again, 0, isn, TCP_SYN, NULL, 0);
        tcp_segment(&again, 1, 0, TCP_RST | TCP_ACK, NULL, 0);
        isn += 64000;
        lab.time += 3 * LAB_SECOND;
    }
    tcp_segment(&again, 0, isn, TCP_SYN, NULL, 0);
    tcp_segment(&again, 0, isn, TCP_SYN, NULL, 0);
    again.next[0] = isn + 1;
    again.next[1] = 500;
    tcp_segment(&again, 1, 500, TCP_SYN | TCP_ACK, NULL, 0); /* 16 */
    again.next[1]++;
    message_on(&again, 0, 2);
    message_on(&again, 1, 2);
    EXPECT({ 1, 0, EVENT_SYN, 1, 1, 1, 1 }, { 1, 1, EVENT_SYN_ACK, 2, 2, 1, 0 },
           { 1, 1, EVENT_RST, 7, 7, 1, 0 }, { 1, 0, EVENT_SYN, 8, 15, 5, 4 },
           { 1, 1, EVENT_REFUSED, 9, 13, 3, 0 }, { 2, 1, EVENT_SYN_ACK, 16, 16, 1, 0 });
}

static void nobody_answers(void **state)
{
    struct tcp t = tcp_join(&lab, C, S);

    (void)state;
    for (int i = 0; i < 4; i++) {
        tcp_segment(&t, 0, 42, TCP_SYN, NULL, 0);
        lab.time += LAB_SECOND << i;
    }
    EXPECT({ 0, 0, EVENT_SYN, 1, 4, 4, 1 });
    assert_int_equal(lab.kinds[RECORD_FLOW], 0);
}

static void closed_windows(void **state)
{
    struct tcp t = tcp_join(&lab, C, S);

    (void)state;
    message_on(&t, 0, 1);
    message_on(&t, 1, 1);
    windowed(&t, 1, 0); /* 3 */
    lab.time += 60 * LAB_SECOND;
    tcp_segment(&t, 0, t.next[0] - 1, TCP_ACK, NULL, 0); /* a probe */
    windowed(&t, 1, 0);
    windowed(&t, 1, 100); /* 6: 60.003 s later */
    windowed(&t, 1, 0);   /* 7 */
    windowed(&t, 1, 100);
    lab.time += 2 * LAB_SECOND;
    windowed(&t, 1, 0); /* 9 */
    windowed(&t, 1, 0);
    EXPECT({ 1, 1, EVENT_ZERO_WINDOW, 3, 7, 3, UINT64_C(60004000000) },
           { 1, 0, EVENT_KEEP_ALIVE, 4, 4, 1, 0 }, { 1, 1, EVENT_ZERO_WINDOW, 9, 10, 2, 0 });
}

/* As another datagram than the first one: not a copy of it. */
static void again(struct tcp *t, uint32_t seq, const uint8_t *data, uint32_t len)
{
    uint32_t frame_len =
        frame_tcp(lab.packet, 0, t->end[0], t->end[1], seq, t->next[1], TCP_ACK, data, len);

    lab.packet[14 + 4] = 0x77;
    lab.packet[14 + 5] = (uint8_t)lab.frame;
    lab_frame(&lab, lab.packet, frame_len);
}

static void bytes_come_again_and_late(void **state)
{
    struct tcp t = tcp_join(&lab, C, S);
    uint32_t start = t.next[0], len;
    uint8_t bytes[200];

    (void)state;
    message_on(&t, 0, 1);
    len = t.next[0] - start;
    memcpy(bytes, lab.packet + 14 + 20 + 20, len);
    again(&t, start, bytes, len); /* 2 */
    lab.time += 100 * LAB_SECOND;
    again(&t, start, bytes, len); /* 3: the same again */
    again(&t, start + 40, bytes + 40, 4);
    lab.time += 2 * LAB_SECOND;
    again(&t, start + 40, bytes + 40, 4); /* 5: as the last one */
    lab.time += 2 * LAB_SECOND;
    again(&t, start, bytes, 10); /* 6: another one, long after */
    again(&t, t.next[0] + 100, bytes, 40);
    again(&t, t.next[0], bytes, 40); /* 8 */
    again(&t, t.next[0] + 20, bytes, 60);
    EXPECT({ 1, 0, EVENT_RESENT, 2, 5, 4, 2 * len + 4 + 4 },
           { 1, 0, EVENT_RESENT, 6, 9, 2, 10 + 20 }, { 1, 0, EVENT_LATE, 8, 8, 1, 40 });
}

/* The number of open events is bounded; none is lost. */
static void many_events(void **state)
{
    struct tcp t = tcp_join(&lab, C, S);

    (void)state;
    message_on(&t, 0, 1);
    for (int i = 0; i < 100; i++) {
        windowed(&t, 1, 0);
        windowed(&t, 1, 1);
        lab.time += 2 * LAB_SECOND;
    }
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_CONNECTION_EVENT], 100);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(lab_nth(&lab, RECORD_CONNECTION_EVENT, i)->connection_event.frame,
                         2 + 2 * i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_connection_begins_and_ends, open_lab, close_lab),
        cmocka_unit_test_setup_teardown(a_server_comes_back, open_lab, close_lab),
        cmocka_unit_test_setup_teardown(nobody_answers, open_lab, close_lab),
        cmocka_unit_test_setup_teardown(closed_windows, open_lab, close_lab),
        cmocka_unit_test_setup_teardown(bytes_come_again_and_late, open_lab, close_lab),
        cmocka_unit_test_setup_teardown(many_events, open_lab, close_lab),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
