/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_client.c
 *
 * RPC calls against a server that does what each test says: answers in any order, late, twice or
 * never; bounds; what owners may do while they are told.
 */
#include "net_client.h"

#include <sys/ioctl.h>

/* --- calls and answers */

static void test_answers(void **state)
{
    struct seen s;
    uint32_t xid[4];
    int ready = 0;

    (void)state;
    prepare(&s, SOCK_STREAM);
    start(&s);
    call(&s, "aaaa");
    server_accept(&s.server);
    xid[0] = server_read(&s.server);
    /* all of a round at once: they are there together */
    call(&s, "bbbb");
    call(&s, "cccc");
    call(&s, "dddd");
    server_run(&s.server, 0);
    assert_int_equal(ioctl(s.server.fd, FIONREAD, &ready), 0);
    assert_int_equal(ready, 3 * (4 + 40 + 4));
    for (int i = 1; i < 4; i++) {
        xid[i] = server_read(&s.server);
        assert_int_equal(xid[i], xid[0] + (uint32_t)i);
        assert_memory_equal(s.server.record + 12, "\0\x01\x86\xa3\0\0\0\3\0\0\0\1", 12);
        assert_int_equal(s.server.record[40], 'a' + i);
    }
    server_reply(&s.server, xid[2], TEXT("two"));
    server_reply(&s.server, xid[0], TEXT("zero"));
    server_reply(&s.server, xid[3], TEXT("three"));
    server_reply(&s.server, xid[0] - 1, TEXT("before"));
    server_reply(&s.server, xid[3] + 1, TEXT("after"));
    server_reply(&s.server, xid[2], TEXT("twice"));
    server_reply(&s.server, xid[1], TEXT("one"));
    server_run(&s.server, 20 * MS);
    assert_string_equal(s.text, "two,zero,three,one,");
    assert_string_equal(s.events, "c;");
    assert_int_equal(rpc_client_stats(s.client).unknown, 2);
    assert_int_equal(rpc_client_stats(s.client).duplicate, 1);
    assert_int_equal(rpc_client_stats(s.client).outstanding, 0);
    assert_int_equal(rpc_client_stats(s.client).port, s.server.peer_port);
    finish(&s);
}

/* Two clients do not begin with the same XID, and one that was 2^32 - 1 is followed by 0. */
static void test_first_xid(void **state)
{
    uint32_t first[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct seen s;

        prepare(&s, SOCK_STREAM);
        start(&s);
        call(&s, "");
        server_accept(&s.server);
        first[i] = server_read(&s.server);
        finish(&s);
    }
    assert_true(first[0] != first[1] || first[1] != first[2]);
}

/* A state of RPC that is no success has no results. */
static void test_refused_call(void **state)
{
    struct seen s;
    uint8_t reply[36] = { 0x80, 0, 0, 32 };

    (void)state;
    prepare(&s, SOCK_STREAM);
    start(&s);
    call(&s, "a");
    server_accept(&s.server);
    store_be32(reply + 4, server_read(&s.server));
    reply[11] = 1; /* REPLY */
    reply[27] = 2; /* PROG_MISMATCH */
    reply[31] = 2;
    reply[35] = 4;
    server_write(&s.server, reply, sizeof(reply));
    server_run(&s.server, 20 * MS);
    assert_string_equal(s.text, ",");
    finish(&s);
}

/* XIDs whose place is taken by a call that waits are left out, and none comes twice. */
static void test_places(void **state)
{
    struct seen s;
    uint32_t waiting, last;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.calls = 2; /* 4 places */
    start(&s);
    call(&s, "a");
    server_accept(&s.server);
    last = waiting = server_read(&s.server);
    for (int i = 0; i < 40; i++) {
        uint32_t xid;

        call(&s, "b");
        xid = server_read(&s.server);
        assert_in_range(xid - last, 1, 2);
        assert_int_not_equal((xid - waiting) % 4, 0);
        last = xid;
        server_reply(&s.server, xid, TEXT(""));
        server_run(&s.server, 2 * MS);
        s.text[0] = '\0';
    }
    server_reply(&s.server, waiting, TEXT("first"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "first,");
    finish(&s);
}

static void test_room(void **state)
{
    struct seen s;
    uint32_t xid;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.calls = 2;
    start(&s);
    call(&s, "a");
    call(&s, "b");
    assert_false(rpc_client_has_room(s.client));
    assert_int_equal(rpc_client_call(s.client, &target, TEXT("c"), on_done, &s, &err),
                     RPC_CLIENT_FULL);
    server_accept(&s.server);
    xid = server_read(&s.server);
    server_run(&s.server, 5 * MS);
    assert_int_equal(s.rooms, 0);
    server_reply(&s.server, xid, TEXT("a"));
    server_reply(&s.server, xid + 1, TEXT("b"));
    server_run(&s.server, 5 * MS);
    assert_int_equal(s.rooms, 1);
    assert_true(rpc_client_has_room(s.client));
    finish(&s);

    /* by bytes */
    prepare(&s, SOCK_STREAM);
    s.setup.limits.call_bytes = 60;
    start(&s);
    call(&s, "0123456789abcdef"); /* 56 bytes */
    assert_true(rpc_client_has_room(s.client));
    call(&s, "0123456789abcdef");
    assert_null(rpc_client_begin(s.client, &target));
    server_accept(&s.server);
    server_reply(&s.server, server_read(&s.server), TEXT("a"));
    server_run(&s.server, 5 * MS);
    assert_int_equal(s.rooms, 1);
    finish(&s);
}

/* A call that cannot be written is none, and its place is free again. */
static void test_bad_calls(void **state)
{
    struct rpc_auth bad = { .flavor = RPC_AUTH_NONE, .body = { (const uint8_t *)"", 401 } };
    static const uint8_t body[401];
    struct rpc_target with_bad = target;
    struct xdr_put *put;
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.calls = 1;
    s.setup.limits.call_max = 50;
    start(&s);
    bad.body.data = body;
    with_bad.credential = &bad;
    assert_non_null(rpc_client_begin(s.client, &with_bad));
    assert_int_equal(rpc_client_end(s.client, on_done, &s, NULL, &err), -ERR_USAGE);
    put = rpc_client_begin(s.client, &target);
    assert_non_null(put);
    xdr_put_zeros(put, 11);
    assert_int_equal(rpc_client_end(s.client, on_done, &s, NULL, &err), -ERR_USAGE);
    assert_string_equal(err.text, "an RPC call: longer than it may be");
    assert_non_null(rpc_client_begin(s.client, &target));
    assert_null(rpc_client_begin(s.client, &target));
    rpc_client_abandon(s.client);
    call(&s, "good");
    assert_int_equal(rpc_client_stats(s.client).calls, 1);
    finish(&s);
    assert_string_equal(s.text, "cancelled,");
}

/* --- ends of calls */

static void test_timeout(void **state)
{
    const int64_t timeout = 100 * MS;
    int64_t begun, second;
    struct seen s;
    uint32_t xid;
    int ready;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.timeout = timeout;
    start(&s);
    begun = loop_clock();
    call(&s, "a");
    server_accept(&s.server);
    xid = server_read(&s.server);
    server_run(&s.server, 40 * MS);
    second = loop_clock();
    call(&s, "b");
    for (int i = 0; i < 100 && !*s.text; i++)
        server_run(&s.server, 10 * MS);
    assert_true(loop_clock() - begun >= timeout);
    if (loop_clock() - second < timeout) /* else the machine was busy */
        assert_string_equal(s.text, "timeout,");
    for (int i = 0; i < 100 && strlen(s.text) < 16; i++)
        server_run(&s.server, 10 * MS);
    assert_true(loop_clock() - second >= timeout);
    assert_string_equal(s.text, "timeout,timeout,");
    assert_int_equal(server_read(&s.server), xid + 1);
    assert_int_equal(ioctl(s.server.fd, FIONREAD, &ready), 0);
    assert_int_equal(ready, 0); /* nothing is sent again */
    server_reply(&s.server, xid, TEXT("late"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "timeout,timeout,");
    assert_int_equal(rpc_client_stats(s.client).late, 1);
    assert_int_equal(rpc_client_stats(s.client).timed_out, 2);
    call(&s, "c");
    server_reply(&s.server, server_read(&s.server), TEXT("c"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "timeout,timeout,c,");
    assert_string_equal(s.events, "c;");
    finish(&s);
}

static void test_cancel(void **state)
{
    struct xdr_put *put;
    struct seen s;
    uint32_t xid;

    (void)state;
    prepare(&s, SOCK_STREAM);
    start(&s);
    put = rpc_client_begin(s.client, &target);
    xdr_put_u32(put, 1);
    assert_int_equal(rpc_client_end(s.client, on_done, &s, &xid, &err), 0);
    assert_true(rpc_client_cancel(s.client, xid));
    assert_false(rpc_client_cancel(s.client, xid));
    assert_false(rpc_client_cancel(s.client, xid + 1));
    assert_string_equal(s.text, "cancelled,");
    call(&s, "b");
    finish(&s);
    assert_string_equal(s.text, "cancelled,cancelled,");
}

static void test_freed_while_answering(void **state)
{
    struct seen s;
    uint32_t xid;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.free_at_once = true;
    start(&s);
    call(&s, "a");
    call(&s, "b");
    server_accept(&s.server);
    xid = server_read(&s.server);
    server_reply(&s.server, xid, TEXT("a"));
    server_reply(&s.server, xid + 1, TEXT("b"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "a,cancelled,");
    finish(&s);
}

static void test_called_while_answering(void **state)
{
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.call_again = true;
    s.setup.limits.calls = 1;
    start(&s);
    call(&s, "a");
    server_accept(&s.server);
    server_reply(&s.server, server_read(&s.server), TEXT("a"));
    server_reply(&s.server, server_read(&s.server), TEXT("b"));
    assert_memory_equal(s.server.record + 40, "more", 4);
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "a,b,");
    finish(&s);
}

static void test_setup(void **state)
{
    struct rpc_client_setup setup = { .limits = rpc_client_defaults };
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    assert_null(rpc_client_new(s.server.loop, &setup, NULL, &err));
    assert_string_equal(err.text, "the server's address is neither IPv4 nor IPv6");
    setup.server = s.server.address;
    setup.from.local.family = AF_INET6;
    assert_null(rpc_client_new(s.server.loop, &setup, NULL, &err));
    assert_string_equal(err.text, "the server's address and our own are of two families");
    setup.from.local.family = 0;
    setup.limits.calls = 0;
    assert_null(rpc_client_new(s.server.loop, &setup, NULL, &err));
    assert_int_equal(err.code, ERR_USAGE);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_first_xid),
        cmocka_unit_test(test_refused_call),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_freed_while_answering),
        cmocka_unit_test(test_called_while_answering),
        cmocka_unit_test(test_setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
