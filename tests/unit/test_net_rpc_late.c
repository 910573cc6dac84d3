/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_late.c
 *
 * Calls that their program keeps: answered late, in another order, twice or never, dropped, and
 * after their connection has gone; and replies that are sent again.
 */
#include "rpc_server_lab.h"

/* A call of LAB_KEEP with AUTH_SYS, machine "client", uid 1, and two words of arguments. */
static void send_kept(int fd, uint32_t xid)
{
    const uint32_t words[] = {
        0x80000000 | 84, xid,        0, 2, LAB_PROGRAM, 3, LAB_KEEP, 1, 36, 7,   6,
        0x636c6965,      0x6e740000, 1, 2, 2,           3, 4,        0, 0,  xid, xid
    };
    uint8_t bytes[sizeof(words)];

    lab_write(fd, bytes, lab_words(bytes, words, sizeof(words) / 4));
}

static void answer(struct rpc_call *call)
{
    struct err err = { 0 };

    xdr_put_bytes(rpc_reply_begin(call), call->body.data, call->body.len);
    if (rpc_reply_end(call, NULL, &err) < 0)
        fail_msg("%s", err.text);
}

static void test_late(void **state)
{
    struct lab lab;
    int fd;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    for (uint32_t xid = 1; xid <= 3; xid++)
        send_kept(fd, xid);
    lab_run(&lab, 0);
    assert_int_equal(lab.kept_count, 3);
    lab_expect_nothing(fd);
    lab_send(fd, 4, LAB_ECHO, 1); /* the connection goes on, over the same buffers */
    lab_run(&lab, 0);
    lab_expect(fd, 4, 1);
    for (uint32_t i = 3; i-- > 0;) { /* the last one first */
        struct rpc_call *call = lab.kept[i];

        assert_int_equal(call->header.xid, i + 1);
        assert_int_equal(call->header.credential.uid, 1);
        assert_int_equal(call->header.credential.gids[1], 4);
        assert_int_equal(call->header.credential.machine.len, 6);
        assert_memory_equal(call->header.credential.machine.data, "client", 6);
        assert_int_equal(call->body.len, 8);
        assert_int_equal(call->message.len, 84);
        assert_int_equal(call->connection, 1);
        assert_true(rpc_call_reachable(call));
        answer(call);
        rpc_call_free(call);
        lab_run(&lab, 0);
        lab_expect(fd, i + 1, 2);
    }
    assert_int_equal(rpc_server_counts(lab.server)->detached, 3);
    assert_int_equal(rpc_server_counts(lab.server)->unanswered, 0);
    close(fd);
    lab_end(&lab);
}

/* Answered as often as its owner likes; a refusal, too. */
static void test_twice(void **state)
{
    struct lab lab;
    struct err err;
    uint32_t words[8];
    int fd;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    lab_send(fd, 8, LAB_TWICE, 1);
    send_kept(fd, 9);
    lab_run(&lab, 0);
    lab_expect(fd, 8, 1);
    lab_expect(fd, 8, 1);
    answer(lab.kept[0]);
    answer(lab.kept[0]);
    assert_int_equal(rpc_reply_status(lab.kept[0], RPC_SYSTEM_ERR, NULL, &err), 0);
    rpc_call_free(lab.kept[0]);
    lab_run(&lab, 0);
    lab_expect(fd, 9, 2);
    lab_expect(fd, 9, 2);
    assert_int_equal(lab_receive(fd, words, 8), 6);
    assert_int_equal(words[5], RPC_SYSTEM_ERR);
    assert_int_equal(rpc_server_counts(lab.server)->replies, 5);
    close(fd);
    lab_end(&lab);
}

/* The server frees what is never answered: the sanitizers see whether it does. */
static void test_never(void **state)
{
    struct lab lab;
    int fd, gone;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    gone = lab_connect(&lab);
    send_kept(fd, 1);
    send_kept(fd, 2);
    send_kept(gone, 3);
    send_kept(gone, 4);
    lab_run(&lab, 0);
    close(gone);
    lab_run(&lab, 0);
    rpc_call_free(lab.kept[0]);
    rpc_call_free(lab.kept[3]);
    rpc_call_free(NULL);
    lab_run(&lab, 0);
    lab_expect_nothing(fd);
    lab_end(&lab);
    assert_true(lab_is_closed(fd));
    close(fd);
}

static void test_gone(void **state)
{
    struct lab lab;
    struct bytes sent;
    struct err err;
    int fd, other;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    other = lab_connect(&lab);
    send_kept(fd, 1);
    send_kept(fd, 2);
    send_kept(other, 3);
    lab_run(&lab, 0);
    close(fd);
    lab_run(&lab, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(rpc_call_reachable(lab.kept[i]) == (i == 2));
        xdr_put_u32(rpc_reply_begin(lab.kept[i]), 5);
        assert_int_equal(rpc_reply_end(lab.kept[i], &sent, &err), 0);
        assert_int_equal(sent.len, 28); /* for the owner's cache, also if nobody gets it */
        assert_int_equal(load_be32(sent.data), i + 1);
    }
    assert_int_equal(rpc_server_counts(lab.server)->late, 2);
    assert_int_equal(rpc_server_counts(lab.server)->replies, 1);
    rpc_call_drop(lab.kept[0]);
    rpc_call_free(lab.kept[0]);
    rpc_call_drop(lab.kept[2]);
    rpc_call_free(lab.kept[2]);
    assert_int_equal(rpc_server_counts(lab.server)->dropped, 1);
    lab_run(&lab, 0);
    assert_true(lab_is_closed(other));
    close(other);
    lab_end(&lab);
}

/* A program that drops its own connection by another call of it. */
static int drop_other(void *ctx, struct rpc_call *call, struct err *err)
{
    struct rpc_call **kept = ctx;

    if (!*kept) {
        *kept = rpc_call_detach(call);
        return 0;
    }
    rpc_call_drop(*kept);
    assert_false(rpc_call_reachable(call));
    assert_false(rpc_call_reachable(*kept));
    assert_int_equal(rpc_reply_status(call, RPC_SUCCESS, NULL, err), 0);
    assert_non_null(rpc_call_detach(call));
    return 0;
}

static void test_dropped_by_another(void **state)
{
    struct lab lab;
    struct rpc_call *kept = NULL;
    struct rpc_program program = { LAB_PROGRAM, 1, 1, 9, drop_other, &kept };
    const uint32_t words[] = { 0x80000000 | 40, 1, 0, 2, LAB_PROGRAM, 1, 1, 0, 0, 0, 0 };
    uint8_t bytes[3 * sizeof(words)];
    struct err err;
    int fd;

    (void)state;
    lab_begin(&lab);
    assert_int_equal(rpc_server_add(lab.server, &program, &err), 0);
    fd = lab_connect(&lab);
    for (int i = 0; i < 3; i++) /* the third one is never seen */
        lab_words(bytes + (size_t)i * sizeof(words), words, sizeof(words) / 4);
    lab_write(fd, bytes, sizeof(bytes));
    lab_run(&lab, 0);
    assert_true(lab_is_closed(fd));
    assert_int_equal(rpc_server_counts(lab.server)->calls, 2);
    assert_int_equal(rpc_server_counts(lab.server)->late, 1);
    close(fd);
    lab_end(&lab);
}

static void test_late_over_udp(void **state)
{
    const uint32_t words[] = { 9, 0, 2, LAB_PROGRAM, 3, LAB_KEEP, 0, 0, 0, 0, 7 };
    struct net_address at = lab_loopback(AF_INET), bound;
    uint8_t bytes[sizeof(words)];
    struct lab lab;
    struct err err;
    int fd;

    (void)state;
    lab_begin(&lab);
    assert_int_equal(rpc_server_listen(lab.server, RPC_UDP, &at, &bound, &err), 0);
    fd = lab_socket(SOCK_DGRAM, &bound);
    lab_words(bytes, words, 11);
    lab_write(fd, bytes, sizeof(bytes));
    lab_run(&lab, 0);
    assert_int_equal(lab.kept_count, 1);
    lab_expect_nothing(fd);
    rpc_call_drop(lab.kept[0]); /* nothing over UDP */
    assert_true(rpc_call_reachable(lab.kept[0]));
    for (int i = 0; i < 2; i++) {
        answer(lab.kept[0]);
        lab_run(&lab, 0);
        assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 28);
        assert_int_equal(load_be32(bytes), 9);
        assert_int_equal(load_be32(bytes + 24), 7);
    }
    rpc_call_free(lab.kept[0]);
    close(fd);
    lab_end(&lab);
}

/* A duplicate request cache: the bytes of an earlier reply, for the same XID only. */
static void test_again(void **state)
{
    struct lab lab;
    struct err err = { 0 };
    int fd;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    lab_send(fd, 9, LAB_ECHO, 3);
    lab_run(&lab, 0);
    lab_expect(fd, 9, 3);
    lab_send(fd, 9, LAB_AGAIN, 0);
    lab_run(&lab, 0);
    lab_expect(fd, 9, 3);
    assert_int_equal(rpc_server_counts(lab.server)->replies, 2);
    lab_send(fd, 10, LAB_AGAIN, 0);
    assert_int_equal(lab_run_err(&lab, 0, &err), -ERR_USAGE);
    assert_string_equal(err.text, "RPC: the stored reply is not one to XID 0x0000000a");
    close(fd);
    lab_end(&lab);
}

/* What the server itself says, too: faults ask for it.  Mismatches name the call's own version. */
static void test_refusals_of_programs(void **state)
{
    static const struct {
        enum rpc_status status;
        uint32_t words[8], count; /* the reply */
    } all[] = {
        { RPC_PROG_UNAVAIL, { 9, 1, 0, 0, 0, 1 }, 6 },
        { RPC_PROG_MISMATCH, { 9, 1, 0, 0, 0, 2, 3, 3 }, 8 },
        { RPC_MISMATCH, { 9, 1, 1, 0, 2, 2 }, 6 },
        { RPC_AUTH_ERROR, { 9, 1, 1, 1, RPC_AUTH_TOOWEAK }, 5 },
    };
    uint32_t words[16];
    struct lab lab;
    struct err err;
    int fd;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    lab_send(fd, 9, LAB_KEEP, 0);
    lab_run(&lab, 0);
    assert_int_equal(rpc_reply_status(lab.kept[0], (enum rpc_status)99, NULL, &err), -ERR_USAGE);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        assert_int_equal(rpc_reply_status(lab.kept[0], all[i].status, NULL, NULL), 0);
        lab_run(&lab, 0);
        assert_int_equal(lab_receive(fd, words, 16), all[i].count);
        assert_memory_equal(words, all[i].words, 4 * all[i].count);
    }
    close(fd);
    lab_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_dropped_by_another),
        cmocka_unit_test(test_late_over_udp),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_refusals_of_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
