/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_pair_again.c
 *
 * What is the same again, and what only looks like it: copies of datagrams, retransmissions, second
 * runs with the same XIDs, replies that came before their calls or from another address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"
#include "wire/rpc.h"

#define MS INT64_C(1000000)

static const struct endpoint C = { 0x0a000001, 900 }, C2 = { 0x0a000001, 901 },
                             S = { 0x0a000009, 2049 }, S2 = { 0x0a00000a, 2049 },
                             OTHER_PORT = { 0x0a00000a, 2050 };

/* A GETATTR and its results. */
static struct buf call_of(uint32_t xid, const char *handle)
{
    struct buf b = { 0 };

    put_call(&b, xid, NFS, 3, GETATTR);
    put_text(&b, handle);
    return b;
}

static struct buf reply_of(uint32_t xid, uint64_t fileid)
{
    struct buf b = { 0 };

    put_reply(&b, xid, 0);
    put_u32(&b, 0);
    put_attributes(&b, 1, fileid);
    return b;
}

static struct buf error_of(uint32_t xid)
{
    struct buf b = { 0 };

    put_reply(&b, xid, RPC_GARBAGE_ARGS);
    return b;
}

/* One datagram |after| ns behind the frame before, with this IP identification; 0: none. */
static void datagram(struct lab *lab, int64_t after, uint16_t ip_id, struct endpoint from,
                     struct endpoint to, struct buf b)
{
    lab->time += after - MS;
    lab->ip_id = ip_id;
    lab_udp(lab, from, to, &b);
    buf_free(&b);
}

static void call(struct lab *lab, int64_t after, uint16_t ip_id, uint32_t xid)
{
    datagram(lab, after, ip_id, C, S, call_of(xid, "file"));
}

static void reply(struct lab *lab, int64_t after, uint16_t ip_id, uint32_t xid)
{
    datagram(lab, after, ip_id, S, C, reply_of(xid, 42));
}

/* A reply, and its copy. */
static void reply_copied(struct lab *lab, uint16_t ip_id)
{
    reply(lab, MS, ip_id, 7);
    reply(lab, MS / 1000, ip_id, 7);
}

static void expect(const struct lab *lab, uint64_t id, enum pairing pairing, uint64_t call_frame,
                   uint64_t reply_frame)
{
    const struct record_operation *op = lab_operation(lab, id);

    assert_non_null(op);
    assert_int_equal(op->pairing, pairing);
    assert_int_equal(op->call.frame, call_frame);
    assert_int_equal(op->reply.frame, reply_frame);
}

/* The repeats in the order of their coming, as "kind frame" pairs, ended by 0. */
static void finish(struct lab *lab, uint64_t operations, const uint64_t *repeats)
{
    uint64_t n = 0;

    lab_end(lab);
    assert_int_equal(lab->kinds[RECORD_OPERATION], operations);
    for (; repeats && repeats[2 * n]; n++) {
        const struct record *r = lab_nth(lab, RECORD_REPEAT, n);
        assert_non_null(r);
        assert_int_equal(r->repeat.repeat, repeats[2 * n]);
        assert_int_equal(r->repeat.sighting.frame, repeats[2 * n + 1]);
    }
    assert_int_equal(lab->kinds[RECORD_REPEAT], n);
}

static void the_same_datagram_is_a_copy(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    call(&lab, MS, 10, 7);
    call(&lab, MS / 1000, 10, 7);
    call(&lab, MS / 1000, 10, 7); /* a third interface */
    reply(&lab, MS, 90, 7);
    reply(&lab, 0, 90, 7);
    call(&lab, 300 * MS, 10, 7); /* captured far away */
    call(&lab, 400 * MS, 11, 7); /* sent again */
    call(&lab, MS / 1000, 11, 7);
    reply_copied(&lab, 91);       /* answered again */
    call(&lab, MS / 10, 12, 7);   /* at once, but not the same datagram */
    call(&lab, 1100 * MS, 12, 7); /* the same identification, but too late for a copy */
    finish(&lab, 1,
           (uint64_t[]){
               COPY_CALL, 2, COPY_CALL,    3, COPY_REPLY, 5,  COPY_CALL,   6,  REPEAT_CALL, 7,
               COPY_CALL, 8, REPEAT_REPLY, 9, COPY_REPLY, 10, REPEAT_CALL, 11, REPEAT_CALL, 12,
               0 });
    lab_close(&lab);
}

/* Where datagrams have no identification. */
static void time_tells_copies_too(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    call(&lab, MS, 0, 7);
    call(&lab, 3 * MS, 0, 7);
    reply(&lab, MS, 0, 7);
    reply(&lab, 3 * MS, 0, 7);
    call(&lab, 100 * MS, 0, 7);
    call(&lab, MS / 1000, 0, 7);
    reply(&lab, MS, 0, 7);
    call(&lab, -5 * MS, 0, 7); /* clocks of two interfaces */
    finish(&lab, 1,
           (uint64_t[]){ COPY_CALL, 2, COPY_REPLY, 4, REPEAT_CALL, 5, COPY_CALL, 6, REPEAT_REPLY, 7,
                         COPY_CALL, 8, 0 });
    lab_close(&lab);
}

/* Linux asks again at once when a server could not read the arguments. */
static void a_refused_client_asks_again(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    for (uint16_t id = 0; id <= 20; id += 20) {
        call(&lab, MS, id, 7 + id);
        datagram(&lab, MS / 10, id, S, C, error_of(7 + id));
        call(&lab, MS / 10, id ? (uint16_t)(id + 1) : 0, 7 + id);
    }
    finish(&lab, 2, (uint64_t[]){ REPEAT_CALL, 3, REPEAT_CALL, 6, 0 });
    lab_close(&lab);
}

/* Tags do not make another datagram. */
static void copies_have_other_tags(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        lab.vlan = i & 1 ? 100 : 0;
        i < 2 ? call(&lab, MS / 100, 10, 7) : reply(&lab, MS / 100, 20, 7);
    }
    finish(&lab, 1, (uint64_t[]){ COPY_CALL, 2, COPY_REPLY, 4, 0 });
    lab_close(&lab);
}

static void replies_without_a_call_have_copies(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    call(&lab, MS, 1, 1);
    reply_copied(&lab, 20);
    reply_copied(&lab, 21); /* another operation, for all that is known */
    lab.time += 3 * LAB_SECOND;
    call(&lab, MS, 2, 2);
    finish(&lab, 4, (uint64_t[]){ COPY_REPLY, 3, COPY_REPLY, 5, 0 });
    expect(&lab, 3, CALL_LOST, 0, 2);
    assert_int_equal(lab_nth(&lab, RECORD_REPEAT, 0)->repeat.operation, 3);
    assert_int_equal(lab_nth(&lab, RECORD_REPEAT, 1)->repeat.operation, 4);
    lab_close(&lab);
}

/* Both copies of a reply before its call, as two queues of a capture give it. */
static void copies_before_the_call_are_copies(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    call(&lab, MS, 1, 1);
    reply_copied(&lab, 20);
    call(&lab, MS / 10, 3, 7);
    call(&lab, MS / 1000, 3, 7);
    finish(&lab, 2, (uint64_t[]){ COPY_REPLY, 3, COPY_CALL, 5, 0 });
    expect(&lab, 2, PAIRED, 4, 2);
    lab_close(&lab);
}

/* The first call was not captured, and this is not its reply's fault. */
static void a_reply_waits_for_no_retransmission(void **state)
{
    static const struct {
        int64_t before;
        bool paired;
    } cases[] = { { MS / 1000, true }, { 5 * MS, true },    { 49 * MS, true },
                  { 100 * MS, false }, { 700 * MS, false }, { 1900 * MS, false } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab lab;

        lab_open(&lab, NULL);
        call(&lab, MS, 1, 1);
        reply(&lab, MS, 2, 1);
        reply(&lab, MS, 3, 7);
        call(&lab, cases[i].before, 4, 7);
        reply(&lab, MS, 5, 7);
        if (cases[i].paired) {
            finish(&lab, 2, (uint64_t[]){ REPEAT_REPLY, 5, 0 });
            expect(&lab, 2, PAIRED, 4, 3);
            lab_close(&lab);
            continue;
        }
        lab.time += 3 * LAB_SECOND;
        call(&lab, MS, 6, 8);
        finish(&lab, 4, NULL);
        expect(&lab, 2, PAIRED, 4, 5);
        expect(&lab, 4, CALL_LOST, 0, 3);
        lab_close(&lab);
    }
}

static void replies_come_from_another_address(void **state)
{
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    call(&lab, MS, 1, 7);
    datagram(&lab, MS, 2, S2, C, reply_of(7, 42));
    datagram(&lab, MS, 2, S2, C, reply_of(7, 42));
    call(&lab, 700 * MS, 3, 7);
    datagram(&lab, MS, 4, S2, C, reply_of(7, 42));
    datagram(&lab, MS, 5, S2, C, reply_of(8, 42)); /* before its call */
    call(&lab, MS, 6, 8);
    lab.time += 3 * LAB_SECOND;
    call(&lab, MS, 7, 9);
    finish(&lab, 3, (uint64_t[]){ COPY_REPLY, 3, REPEAT_CALL, 4, REPEAT_REPLY, 5, 0 });
    expect(&lab, 1, PAIRED, 1, 2);
    assert_true(lab_operation(&lab, 1)->reply.flags & SIGHTING_ADDRESS);
    assert_false(lab_operation(&lab, 1)->call.flags & SIGHTING_ADDRESS);
    assert_int_equal(lab_operation(&lab, 1)->status, 0);
    expect(&lab, 2, PAIRED, 7, 6);
    assert_true(lab_operation(&lab, 2)->reply.flags & SIGHTING_ADDRESS);
    lab_close(&lab);
}

/* What looks like it and is not. */
static void strangers_answer_nothing(void **state)
{
    struct buf readdir = { 0 };
    struct lab lab;

    (void)state;
    lab_open(&lab, NULL);
    call(&lab, MS, 1, 7);
    datagram(&lab, MS, 2, S2, C2, reply_of(7, 42));        /* to another port */
    datagram(&lab, MS, 3, S2, C, reply_of(8, 42));         /* another XID */
    datagram(&lab, MS, 4, OTHER_PORT, C, reply_of(7, 42)); /* from another port */
    lab.time += 3 * LAB_SECOND;
    call(&lab, MS, 5, 1);
    finish(&lab, 4, NULL);
    expect(&lab, 1, CAPTURE_ENDED, 1, 0);
    lab_close(&lab);

    lab_open(&lab, NULL); /* two calls could be meant */
    call(&lab, MS, 1, 7);
    datagram(&lab, MS, 2, C, (struct endpoint){ 0x0a00000b, 2049 }, call_of(7, "file"));
    datagram(&lab, MS, 3, S2, C, reply_of(7, 42));
    lab.time += 3 * LAB_SECOND;
    call(&lab, MS, 5, 1);
    finish(&lab, 4, NULL);
    expect(&lab, 4, CALL_LOST, 0, 3);
    lab_close(&lab);

    lab_open(&lab, NULL); /* that is no result of READDIRPLUS */
    put_call(&readdir, 7, NFS, 3, READDIRPLUS);
    put_text(&readdir, "directory");
    put_u64(&readdir, 0);
    put_u64(&readdir, 0);
    put_u64(&readdir, UINT64_C(0x100000001000));
    datagram(&lab, MS, 1, C, S, readdir);
    datagram(&lab, MS, 3, S2, C, reply_of(7, 42));
    lab.time += 3 * LAB_SECOND;
    call(&lab, MS, 5, 1);
    finish(&lab, 3, NULL);
    expect(&lab, 3, CALL_LOST, 0, 2);
    lab_close(&lab);
}

enum ending { BY_FIN, BY_RST, BY_SYN, UNSEEN, UNSEEN_LONG };

/* Sends what |t|'s |side| says, which acknowledges all that it had. */
static void say(struct tcp *t, int side, struct buf b)
{
    tcp_message(t, side, &b);
    buf_free(&b);
}

/* A connection with one call, and a second one with the same call again.  How many operations. */
static uint64_t second_run(enum ending ending, bool answered, bool acked, struct endpoint from)
{
    struct lab lab;
    struct tcp t;
    uint64_t operations;

    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    say(&t, 0, call_of(7, "file"));
    if (answered)
        say(&t, 1, reply_of(7, 42));
    if (acked)
        tcp_segment(&t, 0, t.next[0], TCP_ACK, NULL, 0);
    if (ending == BY_FIN || ending == BY_RST)
        tcp_segment(&t, 1, t.next[1], ending == BY_FIN ? TCP_FIN | TCP_ACK : TCP_RST, NULL, 0);
    lab.time += (ending == UNSEEN_LONG ? 10 : 1) * LAB_SECOND;
    t = ending == UNSEEN ? tcp_join(&lab, from, S) : tcp_open(&lab, from, S);
    say(&t, 0, call_of(7, "file"));
    say(&t, 1, reply_of(7, 42));
    lab_end(&lab);
    operations = lab.kinds[RECORD_OPERATION];
    assert_int_equal(lab.kinds[RECORD_REPEAT] + 2 * operations,
                     answered || operations == 2 ? 4 : 3);
    lab_close(&lab);
    return operations;
}

static void a_second_run_is_no_retransmission(void **state)
{
    (void)state;
    assert_int_equal(second_run(BY_FIN, true, true, C2), 2);
    assert_int_equal(second_run(BY_FIN, true, true, C), 2);
    assert_int_equal(second_run(BY_RST, true, true, C2), 2);
    assert_int_equal(second_run(BY_RST, true, true, C), 2);
    assert_int_equal(second_run(BY_SYN, true, true, C), 2);
    /* the client never had the answer, or there was none */
    assert_int_equal(second_run(BY_FIN, true, false, C2), 1);
    assert_int_equal(second_run(BY_RST, true, false, C), 1);
    assert_int_equal(second_run(BY_SYN, true, false, C), 1);
    assert_int_equal(second_run(BY_FIN, false, false, C2), 1);
    assert_int_equal(second_run(BY_RST, false, true, C), 1);
    assert_int_equal(second_run(BY_SYN, false, false, C), 1);
    /* nothing says that the first connection has ended: these are two clients */
    assert_int_equal(second_run(UNSEEN, true, true, C2), 2);
    assert_int_equal(second_run(UNSEEN, true, false, C2), 2);
    assert_int_equal(second_run(UNSEEN, false, false, C2), 2);
    assert_int_equal(second_run(UNSEEN_LONG, true, true, C2), 2);
    /* but this one has waited for long */
    assert_int_equal(second_run(UNSEEN_LONG, false, false, C2), 1);
}

static void put_marked(struct buf *b, struct buf message)
{
    put_record(b, &message);
    buf_free(&message);
}

static void calls_of_one_frame_have_an_order(void **state)
{
    struct buf b = { 0 }, reply = reply_of(7, 42);
    struct lab lab;
    struct tcp t;

    (void)state;
    lab_open(&lab, NULL);
    t = tcp_open(&lab, C, S);
    put_marked(&b, call_of(7, "one"));
    put_marked(&b, call_of(7, "two"));
    put_marked(&b, call_of(7, "three"));
    tcp_send(&t, 0, b.data, b.len); /* frame 4 */
    tcp_message(&t, 1, &reply);
    tcp_message(&t, 1, &reply);
    lab_end(&lab);
    assert_int_equal(lab.kinds[RECORD_OPERATION], 3);
    assert_int_equal(lab_operation(&lab, 3)->reply.frame, 5);
    assert_int_equal(lab_operation(&lab, 2)->reply.frame, 6);
    assert_int_equal(lab_operation(&lab, 1)->pairing, CAPTURE_ENDED);
    buf_free(&reply);
    buf_free(&b);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_one_frame_have_an_order),
        cmocka_unit_test(the_same_datagram_is_a_copy),
        cmocka_unit_test(time_tells_copies_too),
        cmocka_unit_test(a_refused_client_asks_again),
        cmocka_unit_test(copies_have_other_tags),
        cmocka_unit_test(replies_without_a_call_have_copies),
        cmocka_unit_test(copies_before_the_call_are_copies),
        cmocka_unit_test(a_reply_waits_for_no_retransmission),
        cmocka_unit_test(replies_come_from_another_address),
        cmocka_unit_test(strangers_answer_nothing),
        cmocka_unit_test(a_second_run_is_no_retransmission),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
