/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_server.c
 *
 * What RFC 5531 says about each call, word by word: over TCP in one piece, in single bytes and in
 * fragments, and over UDP.
 */
#include "rpc_server_lab.h"

#include <errno.h>

enum { WORDS_MAX = 128, P = LAB_PROGRAM };

#define CALL(...) .call = { __VA_ARGS__ }, .call_words = COUNT(__VA_ARGS__)
#define REPLY(...) .reply = { __VA_ARGS__ }, .reply_words = COUNT(__VA_ARGS__)
#define COUNT(...) (sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)

/* offset of the count that grows by one */
#define GROWS(of) .count = offsetof(struct rpc_server_counts, of)
#define REFUSED(status) .count = offsetof(struct rpc_server_counts, refused) + 8 * (status)

#define NONE 0, 0
/* stamp 7, machine "ab", uid 1, gid 2, groups 3 and 4 */
#define SYS 1, 32, 7, 2, 0x61620000, 1, 2, 2, 3, 4

static const struct exchange {
    const char *what;
    uint32_t call[WORDS_MAX], call_words;
    uint32_t reply[WORDS_MAX], reply_words; /* none: closed over TCP, silence over UDP */
    size_t count;
    uint32_t cut; /* bytes of the call that are not sent */
    bool silent;  /* not answered, but not closed */
} exchanges[] = {
    { "NULL", CALL(9, 0, 2, P, 3, 0, NONE, NONE), REPLY(9, 1, 0, NONE, 0), GROWS(null_calls) },
    { "NULL of version 2", CALL(9, 0, 2, P, 2, 0, NONE, NONE), REPLY(9, 1, 0, NONE, 0),
      GROWS(null_calls) },
    { "NULL of version 5", CALL(9, 0, 2, P, 5, 0, NONE, NONE), REPLY(9, 1, 0, NONE, 0),
      GROWS(null_calls) },
    { "NULL with AUTH_SYS", CALL(9, 0, 2, P, 3, 0, SYS, NONE), REPLY(9, 1, 0, NONE, 0),
      GROWS(null_calls) },
    { "NULL with arguments", CALL(9, 0, 2, P, 3, 0, NONE, NONE, 5), REPLY(9, 1, 0, NONE, 0),
      GROWS(null_calls) },
    { "AUTH_NONE with a body", CALL(9, 0, 2, P, 3, 0, 0, 4, 5, NONE), REPLY(9, 1, 0, NONE, 0),
      GROWS(null_calls) },
    { "results", CALL(9, 0, 2, P, 3, LAB_ECHO, SYS, NONE, 5, 6, 7),
      REPLY(9, 1, 0, NONE, 0, 5, 6, 7), GROWS(replies) },
    { "XID 0", CALL(0, 0, 2, P, 3, LAB_ECHO, NONE, NONE), REPLY(0, 1, 0, NONE, 0), GROWS(replies) },
    /* accepted, refused */
    { "PROG_UNAVAIL", CALL(9, 0, 2, P + 1, 3, 0, NONE, NONE), REPLY(9, 1, 0, NONE, 1),
      REFUSED(RPC_PROG_UNAVAIL) },
    { "PROG_MISMATCH, below", CALL(9, 0, 2, P, 1, 0, NONE, NONE), REPLY(9, 1, 0, NONE, 2, 2, 5),
      REFUSED(RPC_PROG_MISMATCH) },
    { "PROG_MISMATCH, between", CALL(9, 0, 2, P, 4, 1, NONE, NONE), REPLY(9, 1, 0, NONE, 2, 2, 5),
      REFUSED(RPC_PROG_MISMATCH) },
    { "PROG_MISMATCH, above", CALL(9, 0, 2, P, 6, 99, NONE, NONE), REPLY(9, 1, 0, NONE, 2, 2, 5),
      REFUSED(RPC_PROG_MISMATCH) },
    { "PROC_UNAVAIL", CALL(9, 0, 2, P, 3, LAB_PROCEDURES, NONE, NONE), REPLY(9, 1, 0, NONE, 3),
      REFUSED(RPC_PROC_UNAVAIL) },
    { "PROC_UNAVAIL of the program", CALL(9, 0, 2, P, 3, LAB_UNKNOWN, NONE, NONE),
      REPLY(9, 1, 0, NONE, 3), REFUSED(RPC_PROC_UNAVAIL) },
    { "GARBAGE_ARGS", CALL(9, 0, 2, P, 3, LAB_GARBAGE, NONE, NONE), REPLY(9, 1, 0, NONE, 4),
      REFUSED(RPC_GARBAGE_ARGS) },
    { "GARBAGE_ARGS after results", CALL(9, 0, 2, P, 3, LAB_GIVE_UP, NONE, NONE),
      REPLY(9, 1, 0, NONE, 4), REFUSED(RPC_GARBAGE_ARGS) },
    { "SYSTEM_ERR", CALL(9, 0, 2, P, 3, LAB_SYSTEM, NONE, NONE), REPLY(9, 1, 0, NONE, 5),
      REFUSED(RPC_SYSTEM_ERR) },
    { "a result that is too long", CALL(9, 0, 2, P, 3, LAB_LONG, NONE, NONE, 1 << 21),
      REPLY(9, 1, 0, NONE, 5), GROWS(failed_replies) },
    /* denied */
    { "RPC version 1", CALL(9, 0, 1, P, 3, 0, NONE, NONE), REPLY(9, 1, 1, 0, 2, 2),
      REFUSED(RPC_MISMATCH) },
    { "RPC version 3 and no more", CALL(9, 0, 3), REPLY(9, 1, 1, 0, 2, 2), REFUSED(RPC_MISMATCH) },
    { "AUTH_SHORT", CALL(9, 0, 2, P, 3, 0, 2, 0, NONE), REPLY(9, 1, 1, 1, 2),
      REFUSED(RPC_AUTH_ERROR) },
    { "RPCSEC_GSS", CALL(9, 0, 2, P, 3, 0, 6, 20, 1, 1, 0, 1, 0, NONE), REPLY(9, 1, 1, 1, 2),
      REFUSED(RPC_AUTH_ERROR) },
    { "a flavor of its own", CALL(9, 0, 2, P, 3, 0, 390000, 0, NONE), REPLY(9, 1, 1, 1, 2),
      REFUSED(RPC_AUTH_ERROR) },
    { "AUTH_SYS without a body", CALL(9, 0, 2, P, 3, 0, 1, 0, NONE), REPLY(9, 1, 1, 1, 1),
      REFUSED(RPC_AUTH_ERROR) },
    { "AUTH_SYS with 17 groups",
      CALL(9, 0, 2, P, 3, 0, 1, 88, 7, 0, 1, 2, 17, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
           15, 16, 17, NONE),
      REPLY(9, 1, 1, 1, 1), REFUSED(RPC_AUTH_ERROR) },
    { "a verifier of AUTH_SYS", CALL(9, 0, 2, P, 3, 0, NONE, SYS), REPLY(9, 1, 1, 1, 3),
      REFUSED(RPC_AUTH_ERROR) },
    { "AUTH_ERROR before PROG_UNAVAIL", CALL(9, 0, 2, P + 1, 3, 0, 2, 0, NONE),
      REPLY(9, 1, 1, 1, 2), REFUSED(RPC_AUTH_ERROR) },
    { "AUTH_ERROR of the program", CALL(9, 0, 2, P, 3, LAB_WEAK, NONE, NONE), REPLY(9, 1, 1, 1, 5),
      REFUSED(RPC_AUTH_ERROR) },
    /* not a call */
    { "a reply", CALL(9, 1, 0, NONE, 0), GROWS(not_a_call) },
    { "a denial", CALL(9, 1, 1, 1, 1), GROWS(not_a_call) },
    { "a message type of its own", CALL(9, 2, 2, P, 3, 0, NONE, NONE), GROWS(not_rpc) },
    { "an empty message", .count = offsetof(struct rpc_server_counts, not_rpc) },
    { "an XID", CALL(9), GROWS(not_rpc) },
    { "no RPC version", CALL(9, 0), GROWS(not_rpc) },
    { "half an RPC version", CALL(9, 0, 0x03000000), .cut = 3, GROWS(not_rpc) },
    { "no verifier", CALL(9, 0, 2, P, 3, 0, NONE), GROWS(not_rpc) },
    { "half a verifier", CALL(9, 0, 2, P, 3, 0, NONE, NONE), .cut = 1, GROWS(not_rpc) },
    { "a credential of 404 bytes", CALL(9, 0, 2, P, 3, 0, 0, 404, [127] = 0), GROWS(not_rpc) },
    { "a credential that passes the end", CALL(9, 0, 2, P, 3, 0, 0, 8, 0), GROWS(not_rpc) },
    { "a credential of 4 GiB", CALL(9, 0, 2, P, 3, 0, 0, UINT32_MAX, NONE), GROWS(not_rpc) },
    { "HTTP", CALL(0x47455420, 0x2f204854, 0x54502f31, 0x2e310d0a), GROWS(not_rpc) },
    /* without an answer */
    { "silence", CALL(9, 0, 2, P, 3, LAB_SILENT, NONE, NONE), GROWS(unanswered), .silent = true },
    { "dropped", CALL(9, 0, 2, P, 3, LAB_DROP, NONE, NONE), GROWS(dropped) },
};

static uint64_t count_of(const struct lab *lab, const struct exchange *e)
{
    uint64_t count;

    memcpy(&count, (const char *)rpc_server_counts(lab->server) + e->count, sizeof(count));
    return count;
}

static void check_reply(const struct exchange *e, const uint32_t *words, size_t count)
{
    if (count != e->reply_words || memcmp(words, e->reply, 4 * count) != 0)
        fail_msg("%s: %zu words, %08x %08x %08x %08x %08x %08x", e->what, count, words[0], words[1],
                 words[2], words[3], words[4], words[5]);
}

enum way { WHOLE, SINGLE_BYTES, FRAGMENTS };

/* Both ends are in this thread. */
static void send_by_way(struct lab *lab, int fd, const uint8_t *bytes, uint32_t len, enum way way)
{
    uint8_t record[8 * WORDS_MAX];
    size_t size = 0;

    if (way == FRAGMENTS) {
        uint32_t first = len / 3;

        store_be32(record, first);
        memcpy(record + 4, bytes, first);
        store_be32(record + 4 + first, 0);
        store_be32(record + 8 + first, 0x80000000 | (len - first));
        memcpy(record + 12 + first, bytes + first, len - first);
        size = len + 12;
    } else {
        store_be32(record, 0x80000000 | len);
        memcpy(record + 4, bytes, len);
        size = len + 4;
    }
    if (way == WHOLE) {
        lab_write(fd, record, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        lab_write(fd, record + i, 1);
        lab_run(lab, 0);
    }
}

static void test_over_tcp(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(exchanges) / sizeof(*exchanges); i++)
        for (enum way way = WHOLE; way <= FRAGMENTS; way++) {
            const struct exchange *e = &exchanges[i];
            uint32_t words[WORDS_MAX] = { 0 };
            uint8_t bytes[4 * WORDS_MAX];
            uint32_t len = (uint32_t)lab_words(bytes, e->call, e->call_words) - e->cut;
            struct lab lab;
            int fd;

            lab_begin(&lab);
            fd = lab_connect(&lab);
            send_by_way(&lab, fd, bytes, len, way);
            lab_run(&lab, 0);
            check_reply(e, words, lab_receive(fd, words, WORDS_MAX));
            if (count_of(&lab, e) != 1)
                fail_msg("%s: counted %llu times", e->what, (unsigned long long)count_of(&lab, e));
            if (lab_is_closed(fd) != (!e->reply_words && !e->silent))
                fail_msg("%s: the connection is %s", e->what, e->reply_words ? "closed" : "open");
            close(fd);
            lab_end(&lab);
        }
}

static void test_over_udp(void **state)
{
    struct net_address at = lab_loopback(*(int *)*state), bound;
    struct lab lab;
    struct err err = { 0 };
    int fd;

    lab_begin(&lab);
    assert_int_equal(rpc_server_listen(lab.server, RPC_UDP, &at, &bound, &err), 0);
    fd = lab_socket(SOCK_DGRAM, &bound);
    for (size_t i = 0; i < sizeof(exchanges) / sizeof(*exchanges); i++) {
        const struct exchange *e = &exchanges[i];
        uint32_t words[WORDS_MAX] = { 0 };
        uint8_t bytes[4 * WORDS_MAX];
        uint32_t len = (uint32_t)lab_words(bytes, e->call, e->call_words) - e->cut;
        uint64_t before = count_of(&lab, e);
        ssize_t got;

        if (e->count == offsetof(struct rpc_server_counts, dropped))
            continue; /* a word of TCP */
        lab_write(fd, bytes, len);
        lab_run(&lab, 0);
        got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        for (ssize_t w = 0; w < got / 4; w++)
            words[w] = load_be32(bytes + 4 * w);
        check_reply(e, words, got < 0 ? 0 : (size_t)got / 4);
        assert_int_equal(count_of(&lab, e), before + 1);
    }
    close(fd);
    lab_end(&lab);
}

/* What a program sees of a call. */
static void test_call(void **state)
{
    static const uint32_t call[] = { 9, 0, 2, P, 3, LAB_ECHO, SYS, NONE, 5, 6 };
    struct net_address at = lab_loopback(AF_INET), bound, client;
    uint8_t bytes[sizeof(call)];
    struct lab lab;
    struct err err = { 0 };
    int tcp, udp;

    (void)state;
    lab_begin(&lab);
    assert_int_equal(rpc_server_listen_both(lab.server, &at, &bound, &err), 0);
    assert_true(net_address_port(&bound) != 0);
    tcp = lab_socket(SOCK_STREAM, &bound);
    udp = lab_socket(SOCK_DGRAM, &bound);
    for (int i = 0; i < 2; i++) {
        const struct rpc_call *seen = &lab.seen;
        int64_t before = loop_clock();
        int fd = i ? udp : tcp;

        lab_words(bytes, call, COUNT(9, 0, 2, P, 3, LAB_ECHO, SYS, NONE, 5, 6));
        if (fd == tcp)
            lab_write(fd, "\x80\0\0\x50", 4);
        lab_write(fd, bytes, sizeof(bytes));
        lab_run(&lab, 10 * MS);
        assert_int_equal(net_address_of_socket(fd, &client, &err), 0);
        assert_int_equal(seen->header.xid, 9);
        assert_int_equal(seen->header.credential.uid, 1);
        assert_int_equal(seen->header.credential.gids[1], 4);
        assert_int_equal(seen->body.len, 8);
        assert_int_equal(seen->message.len, sizeof(call));
        assert_int_equal(seen->transport, i ? RPC_UDP : RPC_TCP);
        assert_int_equal(seen->connection, i ? 0 : 1);
        assert_true(net_address_equal(&seen->ends.peer, &client));
        assert_true(net_address_equal(&seen->ends.local, &bound));
        assert_in_range(seen->arrived, before, loop_clock());
    }
    assert_int_equal(rpc_server_counts(lab.server)->calls, 2);
    assert_int_equal(rpc_server_counts(lab.server)->udp_calls, 1);
    assert_int_equal(rpc_server_counts(lab.server)->udp_replies, 1);
    close(tcp);
    close(udp);
    lab_end(&lab);
}

/* --- the tap */

struct tapped {
    uint32_t calls, replies;
    uint8_t call[256], reply[256];
    struct bytes last_call, last_reply;
    int64_t arrived, answered;
};

static void tap_call(void *ctx, const struct rpc_call *call)
{
    struct tapped *t = ctx;

    t->calls++;
    t->arrived = call->arrived;
    memcpy(t->call, call->message.data, call->message.len);
    t->last_call = (struct bytes){ t->call, call->message.len };
}

static void tap_reply(void *ctx, const struct rpc_call *call, struct bytes reply, int64_t now)
{
    struct tapped *t = ctx;

    t->replies++;
    t->answered = now;
    assert_int_equal(load_be32(reply.data), call->header.xid);
    memcpy(t->reply, reply.data, reply.len);
    t->last_reply = (struct bytes){ t->reply, reply.len };
}

static void test_tap(void **state)
{
    static const struct {
        uint32_t procedure, replies, reply_len;
    } cases[] = { { 0, 1, 24 },           { LAB_ECHO, 1, 32 },
                  { LAB_GARBAGE, 1, 24 }, { LAB_PROCEDURES, 1, 24 },
                  { LAB_WEAK, 1, 20 },    { LAB_SILENT, 0, 0 },
                  { LAB_TWICE, 2, 32 },   { LAB_DROP, 0, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tapped t = { 0 };
        struct lab lab;
        int fd;

        lab_begin_with(&lab, &RPC_SERVER_LIMITS, &(struct rpc_tap){ tap_call, tap_reply, &t });
        fd = lab_connect(&lab);
        lab_send(fd, 0x12345678, cases[i].procedure, 2);
        lab_run(&lab, 0);
        assert_int_equal(t.calls, 1);
        assert_int_equal(t.last_call.len, 48);
        assert_int_equal(load_be32(t.call), 0x12345678);
        assert_int_equal(t.replies, cases[i].replies);
        assert_int_equal(t.last_reply.len, cases[i].reply_len);
        if (t.replies)
            assert_in_range(t.answered, t.arrived, loop_clock());
        close(fd);
        lab_end(&lab);
    }
}

/* --- owners */

static void test_programs(void **state)
{
    static const struct {
        uint32_t program, low, high;
        int result;
    } cases[] = { { P, 3, 3, -ERR_USAGE }, { P, 3, 9, -ERR_USAGE }, { P, 1, 2, -ERR_USAGE },
                  { P, 5, 5, -ERR_USAGE }, { P, 4, 4, 0 },          { P + 1, 3, 3, 0 } };
    struct lab lab;
    struct err err = { 0 };

    (void)state;
    lab_begin(&lab);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct rpc_program program = {
            cases[i].program, cases[i].low, cases[i].high, 1, NULL, NULL
        };

        assert_int_equal(rpc_server_add(lab.server, &program, &err), cases[i].result);
    }
    for (uint32_t i = 4; i <= RPC_SERVER_PROGRAMS; i++) {
        struct rpc_program program = { P + i, 1, 1, 1, NULL, NULL };

        assert_int_equal(rpc_server_add(lab.server, &program, &err),
                         i < RPC_SERVER_PROGRAMS ? 0 : -ERR_USAGE);
    }
    lab_end(&lab);
}

/* --- connections */

static void see(void *ctx, uint64_t number, const struct datagram_ends *ends)
{
    struct net_address *peers = ctx;

    assert_in_range(number, 1, 3);
    assert_int_equal(peers[number].family, AF_UNSPEC); /* each once */
    peers[number] = ends->peer;
}

static void test_each(void **state)
{
    struct net_address at = lab_loopback(AF_INET6), bound, client, peers[4] = { 0 };
    struct lab lab;
    struct err err = { 0 };
    int fds[4];

    (void)state;
    lab_begin(&lab);
    assert_int_equal(rpc_server_listen_both(lab.server, &at, &bound, &err), 0);
    for (int i = 1; i <= 3; i++) {
        fds[i] = lab_socket(SOCK_STREAM, &bound);
        lab_run(&lab, 2 * MS);
    }
    close(fds[2]);
    lab_run(&lab, 2 * MS);
    rpc_server_each(lab.server, see, peers);
    for (int i = 1; i <= 3; i += 2) {
        assert_int_equal(net_address_of_socket(fds[i], &client, &err), 0);
        assert_true(net_address_equal(&peers[i], &client));
        close(fds[i]);
    }
    assert_int_equal(peers[2].family, AF_UNSPEC);
    lab_end(&lab);
}

/* Both transports at one port, or none. */
static void test_listen_both(void **state)
{
    struct net_address at = lab_loopback(AF_INET), bound, udp;
    struct datagram_counts counts;
    struct lab lab, other;
    struct err err = { 0 };
    uint8_t byte;
    int fd;

    (void)state;
    lab_begin(&lab);
    lab_begin(&other);
    assert_int_equal(rpc_server_listen(lab.server, RPC_TCP, &at, &bound, &err), 0);
    assert_int_equal(rpc_server_listen_both(other.server, &bound, NULL, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "(TCP)"));
    /* UDP's half is given back */
    assert_int_equal(rpc_server_listen(lab.server, RPC_UDP, &bound, &udp, &err), 0);
    assert_true(net_address_equal(&udp, &bound));
    assert_int_equal(rpc_server_listen(other.server, RPC_UDP, &bound, NULL, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "(UDP)"));
    fd = lab_socket(SOCK_DGRAM, &udp);
    lab_write(fd, "x", 1);
    lab_run(&lab, MS);
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
    rpc_server_datagram_counts(lab.server, &counts);
    assert_int_equal(counts.received, 1);
    assert_int_equal(counts.sent, 0);
    close(fd);
    lab_end(&lab);
    lab_end(&other);
}

/* A program's error ends the loop with its message. */
static void test_error(void **state)
{
    struct lab lab;
    struct err err = { 0 };
    int fd;

    (void)state;
    lab_begin(&lab);
    fd = lab_connect(&lab);
    lab_send(fd, 1, LAB_ERROR, 0);
    assert_int_equal(lab_run_err(&lab, MS, &err), -ERR_SYSTEM);
    assert_string_equal(err.text, "asked for");
    close(fd);
    lab_end(&lab);
}

/* 64 calls that came together: their replies leave in one write, in their order. */
static void test_batch(void **state)
{
    struct lab lab;
    uint8_t in[64 * 60];
    int pair[2];
    struct err err = { 0 };

    (void)state;
    lab_begin(&lab);
    /* packets keep the borders of writes; 64 calls are one read */
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(rpc_server_adopt(lab.server, pair[0], &err), 0);
    {
        uint8_t out[64 * 48];

        for (uint32_t i = 0; i < 64; i++) {
            uint32_t words[] = { 0x80000000 | 44, i, 0, 2, P, 3, LAB_ECHO, NONE, NONE, i };

            lab_words(out + 48 * i, words, 12);
        }
        lab_write(pair[1], out, sizeof(out));
    }
    lab_run(&lab, 0);
    assert_int_equal(recv(pair[1], in, sizeof(in), MSG_DONTWAIT), 64 * 32);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(load_be32(in + 32 * i), 0x80000000 | 28);
        assert_int_equal(load_be32(in + 32 * i + 4), i);
        assert_int_equal(load_be32(in + 32 * i + 28), i);
    }
    close(pair[1]);
    lab_end(&lab);
}

int main(void)
{
    static int v4 = AF_INET, v6 = AF_INET6;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over_tcp),
        { "test_over_udp, IPv4", test_over_udp, NULL, NULL, &v4 },
        { "test_over_udp, IPv6", test_over_udp, NULL, NULL, &v6 },
        cmocka_unit_test(test_call),
        cmocka_unit_test(test_tap),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_listen_both),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
