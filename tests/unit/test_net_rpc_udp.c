/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_udp.c
 *
 * RPC calls over UDP: what is sent again, and when it is not any more.
 */
#include "net_client.h"

/* --- UDP */

static void test_udp(void **state)
{
    struct seen s;
    uint8_t record[64];
    uint32_t xid, len;
    uint16_t port;

    (void)state;
    prepare(&s, SOCK_DGRAM);
    s.setup.limits.resend[0] = 100 * MS;
    s.setup.limits.resend[1] = 200 * MS;
    s.setup.limits.timeout = 900 * MS;
    start(&s);
    call(&s, "a");
    call(&s, "bb");
    xid = server_receive(&s.server);
    port = s.server.peer_port;
    assert_int_equal(server_receive(&s.server), xid + 1);
    memcpy(record, s.server.record, s.server.len);
    len = s.server.len;
    server_answer(&s.server, xid, TEXT("a"));
    for (int i = 0; i < 3; i++) { /* after 100, 200, 200 ms: the same again */
        assert_int_equal(server_receive(&s.server), xid + 1);
        assert_int_equal(s.server.len, len);
        assert_int_equal(s.server.peer_port, port);
        assert_memory_equal(s.server.record, record, len);
    }
    server_send(&s.server, "garbage", 7);
    server_answer(&s.server, xid, TEXT("twice"));
    server_answer(&s.server, xid + 2, TEXT("unknown"));
    server_answer(&s.server, xid + 1, TEXT("b"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "a,b,");
    assert_int_equal(rpc_client_stats(s.client).resent, 3);
    assert_int_equal(rpc_client_stats(s.client).garbage, 1);
    assert_int_equal(rpc_client_stats(s.client).duplicate, 1);
    assert_int_equal(rpc_client_stats(s.client).unknown, 1);
    call(&s, "c");
    for (int i = 0; i < 200 && strlen(s.text) < 5; i++)
        server_run(&s.server, 20 * MS);
    assert_string_equal(s.text, "a,b,timeout,");
    /* after 100, 300, 500, 700 ms; later if the machine is busy */
    assert_in_range(rpc_client_stats(s.client).resent, 3 + 1, 3 + 4);
    finish(&s);
}

/* Nobody is there: the system says so, and the calls time out. */
static void test_udp_refused(void **state)
{
    struct seen s;

    (void)state;
    prepare(&s, SOCK_DGRAM);
    s.setup.limits.resend[0] = 10 * MS;
    s.setup.limits.timeout = 50 * MS;
    close(s.server.listening);
    s.server.listening = -1;
    start(&s);
    call(&s, "a");
    server_run(&s.server, 100 * MS);
    assert_string_equal(s.text, "timeout,");
    assert_true(rpc_client_stats(s.client).not_sent > 0);
    finish(&s);
}

/* Calls that end before they are sent; more of them in a round than may be outstanding. */
static void test_udp_queue(void **state)
{
    struct seen s;

    (void)state;
    prepare(&s, SOCK_DGRAM);
    s.setup.limits.calls = 2;
    start(&s);
    for (uint32_t i = 0; i < 5; i++) {
        struct xdr_put *put = rpc_client_begin(s.client, &target);
        uint32_t xid;

        assert_non_null(put);
        assert_int_equal(rpc_client_end(s.client, on_done, &s, &xid, &err), 0);
        assert_true(rpc_client_cancel(s.client, xid));
    }
    call(&s, "last");
    server_receive(&s.server);
    assert_memory_equal(s.server.record + 40, "last", 4);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_udp),
        cmocka_unit_test(test_udp_refused),
        cmocka_unit_test(test_udp_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
