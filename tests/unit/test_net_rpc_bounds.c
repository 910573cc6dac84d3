/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_bounds.c
 *
 * The bounds of the RPC server: calls in progress, records, output and connections.
 */
#include "rpc_server_lab.h"

/* How many calls of |sent| the server reads while nothing is answered; then all of them while they
 * are answered one by one. */
static void check_held(const struct rpc_server_limits *limits, uint32_t clients, uint32_t sent,
                       uint32_t held_at)
{
    struct lab lab;
    int fds[4];
    uint32_t got = 0, words[64];

    assert_in_range(clients, 1, 4);
    lab_begin_with(&lab, limits, NULL);
    for (uint32_t c = 0; c < clients; c++)
        fds[c] = lab_connect(&lab);
    for (uint32_t i = 0; i < sent; i++)
        lab_send(fds[i % clients], i, LAB_KEEP, 2);
    for (int i = 0; i < 3; i++) {
        lab_run(&lab, 0);
        assert_int_equal(lab.kept_count, held_at);
    }
    for (uint32_t i = 0; i < sent; i++) {
        if (i >= lab.kept_count)
            fail_msg("call %u was not read after those before it were freed", i);
        assert_in_range(lab.kept_count - i, 1, held_at);
        assert_int_equal(rpc_reply_status(lab.kept[i], RPC_SUCCESS, NULL, NULL), 0);
        rpc_call_free(lab.kept[i]);
        for (int round = 0; round < 3; round++)
            lab_run(&lab, 0);
    }
    for (uint32_t c = 0; c < clients; c++)
        while (lab_receive(fds[c], words, 64))
            got++;
    assert_int_equal(got, sent);
    for (uint32_t c = 0; c < clients; c++) {
        lab_send(fds[c], 7, LAB_ECHO, 1);
        lab_run(&lab, 0);
        lab_expect(fds[c], 7, 1);
        close(fds[c]);
    }
    lab_end(&lab);
}

static void test_calls_in_progress(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;

    (void)state;
    for (uint32_t most = 1; most <= 20; most++) {
        limits.connection_calls = most;
        check_held(&limits, 1, 60, most);
    }
    limits = RPC_SERVER_LIMITS;
    for (uint32_t most = 1; most <= 20; most++) {
        limits.calls = most;
        check_held(&limits, 1 + most % 4, 60, most);
    }
    limits = RPC_SERVER_LIMITS;
    limits.call_bytes = 10 * (sizeof(struct rpc_call) + 48);
    check_held(&limits, 3, 60, 10);
    limits.call_bytes++;
    check_held(&limits, 3, 60, 11);
}

/* A full server does not read connections that come later, nor datagrams. */
static void test_full(void **state)
{
    struct net_address at = lab_loopback(AF_INET), bound;
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    const uint32_t words[] = { 9, 0, 2, LAB_PROGRAM, 3, 0, 0, 0, 0, 0 };
    uint8_t bytes[sizeof(words)];
    struct lab lab;
    struct err err;
    int first, second, udp;

    (void)state;
    limits.calls = 2;
    lab_begin_with(&lab, &limits, NULL);
    assert_int_equal(rpc_server_listen(lab.server, RPC_UDP, &at, &bound, &err), 0);
    udp = lab_socket(SOCK_DGRAM, &bound);
    first = lab_connect(&lab);
    lab_send(first, 1, LAB_KEEP, 0);
    lab_send(first, 2, LAB_KEEP, 0);
    lab_run(&lab, 0);
    assert_int_equal(rpc_server_counts(lab.server)->holds, 1);
    second = lab_connect(&lab);
    lab_send(second, 3, LAB_ECHO, 1);
    lab_words(bytes, words, 10);
    lab_write(udp, bytes, sizeof(bytes));
    lab_run(&lab, MS);
    lab_expect_nothing(second);
    lab_expect_nothing(udp);
    close(first); /* its calls still count */
    lab_run(&lab, MS);
    lab_expect_nothing(second);
    rpc_call_free(lab.kept[0]);
    lab_run(&lab, 0);
    lab_run(&lab, 0);
    lab_expect(second, 3, 1);
    assert_int_equal(recv(udp, bytes, sizeof(bytes), MSG_DONTWAIT), 24);
    close(second);
    close(udp);
    lab_end(&lab);
}

static void test_records(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct lab lab;
    uint8_t mark[4];
    int fd;

    (void)state;
    limits.record_max = 48;
    lab_begin_with(&lab, &limits, NULL);
    fd = lab_connect(&lab);
    lab_send(fd, 1, LAB_ECHO, 2);
    lab_run(&lab, 0);
    lab_expect(fd, 1, 2);
    store_be32(mark, 0x80000000 | 49); /* refused before it has come */
    lab_write(fd, mark, 4);
    lab_run(&lab, 0);
    assert_true(lab_is_closed(fd));
    assert_int_equal(rpc_server_counts(lab.server)->too_long, 1);
    close(fd);
    fd = lab_connect(&lab);
    lab_write(fd, mark, 3);
    lab_run(&lab, 0);
    close(fd);
    lab_run(&lab, 0);
    assert_int_equal(rpc_server_counts(lab.server)->cut, 1);
    lab_end(&lab);
}

/* The longest reply, and one of a byte more. */
static void test_reply_size(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct net_address at = lab_loopback(AF_INET), bound;
    uint8_t bytes[1 << 17];
    uint32_t words[64];
    struct lab lab;
    struct err err;
    int fd, udp;

    (void)state;
    limits.reply_max = 24 + 40;
    lab_begin_with(&lab, &limits, NULL);
    fd = lab_connect(&lab);
    lab_send(fd, 40, LAB_LONG, 1);
    lab_send(fd, 41, LAB_LONG, 1);
    lab_run(&lab, 0);
    assert_int_equal(lab_receive(fd, words, 64), 16);
    assert_int_equal(lab_receive(fd, words, 64), 6);
    assert_int_equal(words[5], RPC_SYSTEM_ERR);
    close(fd);
    lab_end(&lab);

    lab_begin(&lab);
    assert_int_equal(rpc_server_listen(lab.server, RPC_UDP, &at, &bound, &err), 0);
    udp = lab_socket(SOCK_DGRAM, &bound);
    for (uint32_t more = 0; more < 2; more++) {
        lab_words(
            bytes,
            (uint32_t[]){ 9, 0, 2, LAB_PROGRAM, 3, LAB_LONG, 0, 0, 0, 0, DATAGRAM_MAX - 24 + more },
            11);
        lab_write(udp, bytes, 44);
        lab_run(&lab, 0);
        assert_int_equal(recv(udp, bytes, sizeof(bytes), MSG_DONTWAIT), more ? 24 : DATAGRAM_MAX);
        assert_int_equal(load_be32(bytes + 20), more ? RPC_SYSTEM_ERR : RPC_SUCCESS);
    }
    close(udp);
    lab_end(&lab);
}

/* A client that sends calls and reads no reply costs no more than its bound. */
static void test_flood(void **state)
{
    enum { STOP = 1 << 16, RESULT = 1 << 12 };
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct lab lab;
    uint8_t bytes[48];
    uint64_t sent = 0, got = 0, answered;
    static uint8_t in[1 << 16];
    int fd;

    (void)state;
    limits.output_stop = STOP;
    lab_begin_with(&lab, &limits, NULL);
    fd = lab_connect(&lab);
    lab_words(
        bytes,
        (uint32_t[]){ 0x80000000 | 44, 9, 0, 2, LAB_PROGRAM, 3, LAB_LONG, 0, 0, 0, 0, RESULT }, 12);
    for (int quiet = 0; quiet < 20;) { /* until neither moves */
        uint64_t before = rpc_server_counts(lab.server)->replies;

        while (send(fd, bytes, 48, MSG_NOSIGNAL) == 48)
            sent++;
        lab_run(&lab, 0);
        quiet = rpc_server_counts(lab.server)->replies == before ? quiet + 1 : 0;
    }
    answered = rpc_server_counts(lab.server)->replies;
    assert_true(answered < sent);
    /* what the kernel holds, the bound, and one reply */
    assert_in_range(answered * (RESULT + 28), STOP, STOP + (1 << 20));
    for (int quiet = 0; quiet < 20; quiet++) { /* it wakes up */
        ssize_t n;

        while ((n = recv(fd, in, sizeof(in), MSG_DONTWAIT)) > 0) {
            got += (uint64_t)n;
            quiet = 0;
        }
        lab_run(&lab, 0);
    }
    assert_int_equal(got, sent * (RESULT + 28));
    assert_int_equal(rpc_server_counts(lab.server)->calls, sent);
    close(fd);
    lab_end(&lab);
}

static void test_connections(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct net_address at = lab_loopback(AF_INET), bound;
    struct lab lab;
    struct err err;
    int fds[4];

    (void)state;
    limits.listen.connections = 3;
    lab_begin_with(&lab, &limits, NULL);
    assert_int_equal(rpc_server_listen(lab.server, RPC_TCP, &at, &bound, &err), 0);
    for (int i = 0; i < 4; i++)
        fds[i] = lab_socket(SOCK_STREAM, &bound);
    lab_run(&lab, 5 * MS);
    for (int i = 0; i < 4; i++)
        assert_true(lab_is_closed(fds[i]) == (i == 3));
    assert_int_equal(rpc_server_listen_counts(lab.server)->refused_all, 1);
    close(fds[0]);
    close(fds[3]);
    lab_run(&lab, 5 * MS);
    fds[0] = lab_socket(SOCK_STREAM, &bound); /* in the place of the one that went */
    lab_send(fds[0], 1, LAB_ECHO, 1);
    lab_run(&lab, 5 * MS);
    lab_expect(fds[0], 1, 1);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    lab_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_in_progress),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_reply_size),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
