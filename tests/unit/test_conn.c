/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_conn.c
 *
 * Which connections and datagrams carry RPC, where connections begin and end, and how many there
 * may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn_case.h"

#include <time.h>

static const struct endpoint ODD = { 0x0a000009, 40001 }, ODD2 = { 0x0a000009, 40002 },
                             PORTMAPPER = { 0x0a000009, 111 };

static struct buf null_call(uint32_t xid)
{
    struct buf b = { 0 };

    put_call(&b, xid, NFS, 3, PROC_NULL);
    return b;
}

static struct buf null_reply(uint32_t xid)
{
    struct buf b = { 0 };

    put_reply(&b, xid, 0);
    return b;
}

static void call_on(struct tcp *t, uint32_t xid)
{
    struct buf b = null_call(xid);

    tcp_message(t, 0, &b);
    buf_free(&b);
}

static void reply_on(struct tcp *t, uint32_t xid)
{
    struct buf b = null_reply(xid);

    tcp_message(t, 1, &b);
    buf_free(&b);
}

static void udp(struct endpoint from, struct endpoint to, struct buf b)
{
    lab_udp(&lab, from, to, &b);
    buf_free(&b);
}

static void finish(uint64_t operations, uint64_t replies)
{
    const struct record *end;

    lab_end(&lab);
    end = lab_nth(&lab, RECORD_END, 0);
    assert_int_equal(end->end.operations, operations);
    assert_int_equal(end->end.replies, replies);
    assert_int_equal(lab.kinds[RECORD_OPERATION], operations);
}

/* A stream whose first segment is the middle of a message: only a known port tells that it is RPC.
 */
static void tail_then_call(struct endpoint server, uint32_t xid)
{
    struct tcp t = tcp_join(&lab, (struct endpoint){ C.ip, (uint16_t)(5000 + xid) }, server);

    tcp_send(&t, 0, "the rest of something", 21);
    tcp_lose(&t, 0, 3);
    call_on(&t, xid);
}

static void ports_are_learned_from_getport(void **state)
{
    struct buf b = { 0 };

    (void)state;
    udp(ODD, C, null_reply(9)); /* not RPC yet: nobody asked, and nobody knows the port */
    put_call(&b, 1, PORTMAP, 2, PORTMAP_GETPORT);
    put_u32(&b, 100005);
    put_u32(&b, 3);
    put_u32(&b, 17);
    put_u32(&b, 0);
    udp(C, PORTMAPPER, b);
    b = null_reply(1);
    put_u32(&b, ODD.port);
    udp(PORTMAPPER, C, b);
    udp(ODD, C, null_reply(10));
    finish(2, 2);
    assert_int_equal(lab_counter(&lab, "udp.foreign_datagrams"), 1);
}

static void ports_are_learned_from_dump(void **state)
{
    struct buf b = { 0 };

    (void)state;
    put_call(&b, 1, PORTMAP, 2, PORTMAP_DUMP);
    udp(C, PORTMAPPER, b);
    b = null_reply(1);
    for (uint32_t i = 0; i < 2; i++) {
        put_u32(&b, 1);
        put_u32(&b, i ? 100003 : 100021);
        put_u32(&b, 3);
        put_u32(&b, 6);
        put_u32(&b, i ? ODD.port : ODD2.port);
    }
    put_u32(&b, 0);
    udp(PORTMAPPER, C, b);
    udp(ODD, C, null_reply(10));
    udp(ODD2, C, null_reply(11));
    finish(3, 3);
    assert_int_equal(lab_counter(&lab, "udp.foreign_datagrams"), 0);
}

static void ports_are_learned_from_rpcbind(void **state)
{
    struct buf b = { 0 };

    (void)state;
    put_call(&b, 1, PORTMAP, 4, RPCBIND_GETADDR);
    put_u32(&b, 100021);
    put_u32(&b, 4);
    put_text(&b, "tcp");
    put_text(&b, "");
    put_text(&b, "");
    udp(C, PORTMAPPER, b);
    b = null_reply(1);
    put_text(&b, "10.0.0.9.156.65"); /* 156 * 256 + 65 = 40001 */
    udp(PORTMAPPER, C, b);
    udp(ODD, C, null_reply(10));
    udp(ODD2, C, null_reply(11));
    finish(2, 2);
    assert_int_equal(lab_counter(&lab, "udp.foreign_datagrams"), 1);
}

static void calls_are_known_by_their_content(void **state)
{
    struct tcp t;

    (void)state;
    t = tcp_open(&lab, C, ODD);
    call_on(&t, 1);
    reply_on(&t, 1);
    udp(C, ODD2, null_call(2)); /* its reply is waited for, and its port is known now */
    udp(ODD2, C, null_reply(2));
    udp(ODD2, C, null_reply(3));
    finish(3, 3);
    assert_int_equal(lab_operation(&lab, 1)->pairing, PAIRED);
    assert_int_equal(lab_operation(&lab, 2)->pairing, PAIRED);
    assert_int_equal(lab_operation(&lab, 3)->pairing, CALL_LOST);
}

static void known_ports_are_searched(void **state)
{
    static const uint16_t ports[] = { 40002 };
    struct engine_options options = { .ports = ports, .port_count = 1 };

    lab_close(&lab);
    lab_open(&lab, &options);
    (void)state;
    tail_then_call(S, 1);
    tail_then_call(ODD2, 2);
    finish(2, 0);
}

static void foreign_traffic_is_counted(void **state)
{
    struct endpoint web = { 0x0a000009, 80 };
    struct tcp t = tcp_open(&lab, C, web);
    struct buf b = { 0 };

    (void)state;
    tcp_send(&t, 0, "GET / HTTP/1.1\r\n\r\n", 18);
    tcp_send(&t, 1, "\x80\x00\x00\x40 200 OK", 11);
    put_text(&b, "a question of another kind");
    udp(C, (struct endpoint){ 0x0a000009, 53 }, b);
    b = (struct buf){ 0 };
    put_text(&b, "not for this port");
    udp(C, S, b);
    finish(0, 0);
    assert_int_equal(lab_counter(&lab, "tcp.foreign_segments"), 5);
    assert_int_equal(lab_counter(&lab, "udp.foreign_datagrams"), 1);
    assert_int_equal(lab_problems(&lab, PROBLEM_NOT_RPC), 1);
    assert_int_equal(lab.kinds[RECORD_FLOW], 0);
}

/* The direction comes from the messages, not from ports. */
static void clients_may_use_servers_ports(void **state)
{
    static const uint16_t ports[] = { 111, 639, 2049 };

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct tcp t = tcp_open(&lab, (struct endpoint){ 0x0a000001, ports[i] }, S);
        call_on(&t, i);
        reply_on(&t, i);
    }
    finish(3, 3);
    for (uint64_t i = 0; i < 3; i++) {
        const struct record_flow *f = &lab_nth(&lab, RECORD_FLOW, i)->flow;
        assert_int_equal(load_be32(f->client.bytes), C.ip);
        assert_int_equal(f->client_port, ports[i]);
        assert_int_equal(f->server_port, 2049);
        assert_int_equal(lab_operation(&lab, i + 1)->pairing, PAIRED);
    }
}

static void the_least_recently_used_goes(void **state)
{
    struct engine_options options = { .connections = 2 };
    struct buf b = null_call(1), stream = { 0 };
    struct tcp a, c, d;

    (void)state;
    lab_close(&lab);
    lab_open(&lab, &options);
    put_record(&stream, &b);
    a = tcp_open(&lab, (struct endpoint){ C.ip, 1 }, S);
    c = tcp_open(&lab, (struct endpoint){ C.ip, 2 }, S);
    call_on(&a, 10);
    call_on(&c, 11);
    tcp_send(&c, 0, stream.data, 48); /* a message begins */
    call_on(&a, 12);
    d = tcp_open(&lab, (struct endpoint){ C.ip, 3 }, S); /* c goes */
    call_on(&d, 13);
    call_on(&a, 14);
    call_on(&c, 15); /* d goes */
    finish(7, 0);
    assert_int_equal(lab_counter(&lab, "flow.evicted"), 2);
    assert_int_equal(lab_problems(&lab, PROBLEM_EVICTED), 2);
    assert_int_equal(lab.kinds[RECORD_FLOW], 4);
    for (uint64_t id = 1; id <= 7; id++)
        if (lab_operation(&lab, id)->xid == 1)
            assert_int_equal(lab_operation(&lab, id)->call.flags & SIGHTING_PARTIAL,
                             SIGHTING_PARTIAL);
    buf_free(&b);
    buf_free(&stream);
}

/* The same frame with and without a VLAN tag, as a capture on several interfaces has it. */
static void copies_on_a_vlan_are_copies(void **state)
{
    struct tcp t, copy;

    (void)state;
    lab.vlan = 7;
    t = tcp_open(&lab, C, S);
    for (uint32_t xid = 1; xid <= 5; xid++)
        for (int side = 0; side < 2; side++) {
            copy = t;
            lab.vlan = 7;
            side ? reply_on(&t, xid) : call_on(&t, xid);
            lab.vlan = 0;
            side ? reply_on(&copy, xid) : call_on(&copy, xid);
        }
    finish(5, 5);
    assert_int_equal(lab.kinds[RECORD_REPEAT], 0);
    assert_int_equal(lab.kinds[RECORD_PROBLEM], 0);
    assert_int_equal(lab_counter(&lab, "tcp.duplicates"), 10);
}

/* The three frames of the begin, in any order and twice, and data before them: nothing is lost, and
 * it is one connection. */
static void a_begin_out_of_order(void **state)
{
    enum { SYN, SYN_ACK, CALL, REPLY, FRAMES };
    static const int orders[][FRAMES + 2] = {
        { SYN, SYN_ACK, CALL, REPLY, -1 },           { SYN_ACK, SYN, CALL, REPLY, -1 },
        { SYN, SYN, SYN_ACK, SYN_ACK, CALL, REPLY }, { SYN_ACK, CALL, REPLY, -1 },
        { SYN, CALL, SYN_ACK, REPLY, -1 },           { CALL, SYN, SYN_ACK, REPLY, -1 },
        { SYN_ACK, CALL, SYN, REPLY, -1 },           { SYN, CALL, REPLY, SYN_ACK, -1 },
        { CALL, SYN_ACK, SYN, REPLY, -1 },           { SYN_ACK, SYN, SYN_ACK, CALL, REPLY, -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct tcp t, at;
        bool joined = orders[i][2] == REPLY && orders[i][3] == SYN_ACK; /* in its middle */
        lab_close(&lab);
        lab_open(&lab, NULL);
        t = tcp_join(&lab, C, S);
        for (int j = 0; j < FRAMES + 2 && orders[i][j] >= 0; j++) {
            at = t;
            switch (orders[i][j]) {
            case SYN:
                tcp_segment(&at, 0, t.next[0] - 1, TCP_SYN, NULL, 0);
                break;
            case SYN_ACK:
                tcp_segment(&at, 1, t.next[1] - 1, TCP_SYN | TCP_ACK, NULL, 0);
                break;
            case CALL:
                call_on(&at, 1);
                break;
            default:
                at.next[0] += 76;
                reply_on(&at, 1);
                break;
            }
        }
        lab_end(&lab);
        if (lab.kinds[RECORD_OPERATION] != 1 || lab_operation(&lab, 1)->pairing != PAIRED ||
            lab.kinds[RECORD_PROBLEM] || lab.kinds[RECORD_FLOW] != 1 ||
            lab_operation(&lab, 1)->reply.flags != (joined ? SIGHTING_RESYNC : 0))
            fail_msg("order %zu: %u operations, %u problems, %u flows, flags %x %x", i,
                     (unsigned)lab.kinds[RECORD_OPERATION], (unsigned)lab.kinds[RECORD_PROBLEM],
                     (unsigned)lab.kinds[RECORD_FLOW],
                     lab_operation(&lab, 1) ? lab_operation(&lab, 1)->call.flags : 0xff,
                     lab_operation(&lab, 1) ? lab_operation(&lab, 1)->reply.flags : 0xff);
    }
}

/* Bytes one by one behind a hole, in the midst of others: each packet must not walk along all. */
static void small_segments_behind_a_hole(void **state)
{
    enum { MANY = 60000 };
    struct tcp t = tcp_open(&lab, C, S);
    clock_t start = clock();

    (void)state;
    lab.discard = true;
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        uint32_t place = i < MANY ? 2 * i : 2 * (MANY - 1000 - i % 2000) + 1;
        lab.time -= 999999; /* the hole does not become too old */
        tcp_segment(&t, 0, t.next[0] + 10 + 2 * place, TCP_ACK, "x", 1);
        if ((double)(clock() - start) / CLOCKS_PER_SEC > 20)
            fail_msg("20 s for %u bytes", i);
    }
    lab_end(&lab);
}

/* A reset ends what is begun; what comes after it is a begin again. */
static void a_reset_ends_messages(void **state)
{
    struct buf b = null_call(1), stream = { 0 };
    struct tcp t = tcp_open(&lab, C, S);

    (void)state;
    put_record(&stream, &b);
    tcp_send(&t, 0, stream.data, 50);
    tcp_segment(&t, 1, t.next[1], TCP_RST, "reset", 5);
    t = tcp_open(&lab, C, S);
    call_on(&t, 2);
    reply_on(&t, 2);
    finish(2, 1);
    assert_int_equal(lab_operation(&lab, 1)->call.flags & SIGHTING_PARTIAL, SIGHTING_PARTIAL);
    assert_int_equal(lab_operation(&lab, 2)->pairing, PAIRED);
    assert_int_equal(lab_operation(&lab, 2)->call.flags, 0);
    assert_int_equal(lab.kinds[RECORD_FLOW], 2);
    buf_free(&b);
    buf_free(&stream);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_lab, close_lab)
    const struct CMUnitTest tests[] = {
        TEST(ports_are_learned_from_getport), TEST(ports_are_learned_from_dump),
        TEST(ports_are_learned_from_rpcbind), TEST(calls_are_known_by_their_content),
        TEST(known_ports_are_searched),       TEST(foreign_traffic_is_counted),
        TEST(clients_may_use_servers_ports),  TEST(the_least_recently_used_goes),
        TEST(copies_on_a_vlan_are_copies),    TEST(a_begin_out_of_order),
        TEST(small_segments_behind_a_hole),   TEST(a_reset_ends_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
