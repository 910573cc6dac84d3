/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_datagram.c */
#include "net/datagram.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

struct lab {
    struct loop *loop;
    struct datagram_socket *socket;
    struct timer timer;
    uint32_t count, hold_after;
    uint64_t bytes;
    struct datagram_ends ends; /* of the last one */
    bool echo, free_it;
};

static int on_received(void *ctx, struct bytes data, const struct datagram_ends *ends,
                       struct err *err)
{
    struct lab *lab = ctx;

    (void)err;
    lab->count++;
    lab->bytes += data.len;
    lab->ends = *ends;
    if (lab->echo)
        datagram_send(lab->socket, ends, data);
    if (lab->count == lab->hold_after)
        datagram_hold(lab->socket);
    if (lab->free_it) {
        datagram_free(lab->socket);
        lab->socket = NULL;
    }
    return 0;
}

/* Returns a client's socket that is connected to it. */
static int begin(struct lab *lab, struct datagram_limits limits, const char *where)
{
    struct err err = { 0 };
    struct net_address at;
    int fd;

    memset(lab, 0, sizeof(*lab));
    lab->loop = loop_new(&err);
    assert_int_equal(net_address_parse(where, true, &at, &err), 0);
    lab->socket =
        datagram_open(lab->loop, &at, &limits, &(struct datagram_host){ on_received, lab }, &err);
    if (!lab->socket)
        fail_msg("%s", err.text);
    at = *datagram_address(lab->socket);
    fd = socket(at.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(fd, &at.any, net_address_size(&at)), 0);
    return fd;
}

static void end(struct lab *lab, int fd)
{
    close(fd);
    datagram_free(lab->socket);
    loop_free(lab->loop);
}

static int on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void run(struct lab *lab)
{
    struct err err = { 0 };

    lab->timer = (struct timer){ .due = on_stop, .ctx = lab->loop };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(loop_set(lab->loop, &lab->timer, loop_clock(), &err), 0);
        if (loop_run(lab->loop, &err) < 0)
            fail_msg("%s", err.text);
        loop_unset(lab->loop, &lab->timer);
    }
}

/* What comes is what was sent, of every length, and so is the answer. */
static void test_lengths(void **state)
{
    static const size_t lengths[] = { 0, 1, 1472, 1473, 9000, 65000, DATAGRAM_MAX };
    static uint8_t out[1 << 16], in[1 << 17];
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, *state);

    lab.echo = true;
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = (uint8_t)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        assert_int_equal(send(fd, out, lengths[i], 0), (ssize_t)lengths[i]);
        run(&lab);
        assert_int_equal(lab.count, i + 1);
        assert_int_equal(recv(fd, in, sizeof(in), 0), (ssize_t)lengths[i]);
        assert_memory_equal(in, out, lengths[i]);
    }
    assert_int_equal(datagram_counts(lab.socket)->received, lab.count);
    assert_int_equal(datagram_counts(lab.socket)->sent, lab.count);
    end(&lab, fd);
}

static void test_too_long(void **state)
{
    static const uint8_t out[201];
    struct lab lab;
    int fd = begin(&lab, (struct datagram_limits){ 200, 1 << 20 }, "127.0.0.1:0");

    (void)state;
    assert_int_equal(send(fd, out, 201, 0), 201);
    assert_int_equal(send(fd, out, 200, 0), 200);
    run(&lab);
    assert_int_equal(lab.count, 1);
    assert_int_equal(lab.bytes, 200);
    assert_int_equal(datagram_counts(lab.socket)->too_long, 1);
    end(&lab, fd);
}

/* A socket of every address answers from the one that was asked: the client, which is connected to
 * that, would not see another. */
static void test_asked_address(void **state)
{
    static const char *const asked[][2] = { { "0.0.0.0:0", "127.0.0.1:0" },
                                            { "0.0.0.0:0", "127.0.0.2:0" },
                                            { "0.0.0.0:0", "127.99.3.200:0" },
                                            { "[::]:0", "[::1]:0" } };

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        struct lab lab;
        struct net_address to;
        struct err err;
        char in[8];
        int fd, other = begin(&lab, DATAGRAM_LIMITS, asked[i][0]);

        lab.echo = true;
        assert_int_equal(net_address_parse(asked[i][1], false, &to, &err), 0);
        net_address_set_port(&to, net_address_port(datagram_address(lab.socket)));
        fd = socket(to.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_int_equal(connect(fd, &to.any, net_address_size(&to)), 0);
        assert_int_equal(send(fd, "hello", 5, 0), 5);
        run(&lab);
        assert_true(net_address_equal(&lab.ends.local, &to));
        assert_int_equal(recv(fd, in, sizeof(in), 0), 5);
        close(fd);
        end(&lab, other);
    }
}

/* More than one batch, and what is held in the middle of one. */
static void test_batches(void **state)
{
    enum { SENT = 3 * DATAGRAM_BATCH + 5 };
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, "127.0.0.1:0");
    char in[8];

    (void)state;
    lab.echo = true;
    lab.hold_after = DATAGRAM_BATCH + 3;
    for (int i = 0; i < SENT; i++)
        assert_int_equal(send(fd, "hello", 5, 0), 5);
    run(&lab);
    assert_int_equal(lab.count, lab.hold_after);
    run(&lab);
    assert_int_equal(lab.count, lab.hold_after);
    datagram_resume(lab.socket);
    run(&lab);
    assert_int_equal(lab.count, SENT);
    for (int i = 0; i < SENT; i++)
        assert_int_equal(recv(fd, in, sizeof(in), 0), 5);
    end(&lab, fd);
}

/* The queue is bounded; what does not fit is counted. */
static void test_queue(void **state)
{
    enum { MOST = 10, LEN = 1000 };
    static const uint8_t data[DATAGRAM_MAX + 1];
    struct lab lab;
    int fd = begin(&lab, (struct datagram_limits){ 2000, MOST * (LEN + DATAGRAM_ENDS_SIZE) },
                   "127.0.0.1:0");

    (void)state;
    assert_int_equal(send(fd, "x", 1, 0), 1);
    run(&lab);
    for (int i = 0; i < MOST + 5; i++)
        assert_true(datagram_send(lab.socket, &lab.ends, (struct bytes){ data, LEN }) ==
                    (i < MOST));
    assert_int_equal(datagram_counts(lab.socket)->dropped, 5);
    run(&lab);
    assert_int_equal(datagram_counts(lab.socket)->sent, MOST);
    assert_true(datagram_send(lab.socket, &lab.ends, (struct bytes){ data, LEN }));
    assert_false(datagram_send(lab.socket, &lab.ends, (struct bytes){ data, DATAGRAM_MAX + 1 }));
    end(&lab, fd);
}

/* One that cannot be sent does not stop the others. */
static void test_failed(void **state)
{
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, "127.0.0.1:0");
    struct datagram_ends bad;
    char in[8];

    (void)state;
    assert_int_equal(send(fd, "x", 1, 0), 1);
    run(&lab);
    bad = lab.ends;
    net_address_set_port(&bad.peer, 0); /* EINVAL */
    datagram_send(lab.socket, &lab.ends, (struct bytes){ (const uint8_t *)"one", 3 });
    datagram_send(lab.socket, &bad, (struct bytes){ (const uint8_t *)"bad", 3 });
    datagram_send(lab.socket, &lab.ends, (struct bytes){ (const uint8_t *)"three", 5 });
    run(&lab);
    assert_int_equal(recv(fd, in, sizeof(in), 0), 3);
    assert_int_equal(recv(fd, in, sizeof(in), 0), 5);
    assert_int_equal(datagram_counts(lab.socket)->failed, 1);
    assert_int_equal(datagram_counts(lab.socket)->sent, 2);
    end(&lab, fd);
}

static void test_freed_while_delivering(void **state)
{
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, "127.0.0.1:0");

    (void)state;
    lab.echo = lab.free_it = true;
    assert_int_equal(send(fd, "x", 1, 0), 1);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    run(&lab);
    assert_int_equal(lab.count, 1);
    end(&lab, fd);
}

static void test_taken_port(void **state)
{
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, "127.0.0.1:0");
    struct err err = { 0 };

    (void)state;
    assert_null(datagram_open(lab.loop, datagram_address(lab.socket), &DATAGRAM_LIMITS,
                              &(struct datagram_host){ on_received, &lab }, &err));
    assert_non_null(strstr(err.text, "cannot listen at 127.0.0.1:"));
    end(&lab, fd);
}

static int kept(int fd)
{
    int size = 0;
    socklen_t len = sizeof(size);

    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len), 0);
    return size;
}

/* More may wait in the kernel than usually, as much as it allows: Linux doubles the number. */
static void test_waiting(void **state)
{
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, "127.0.0.1:0"), asked = DATAGRAM_WAITING;
    int usual = kept(fd), most;

    (void)state;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &asked, sizeof(asked));
    most = kept(fd);
    assert_true(most > usual);
    assert_true(kept(lab.socket->watch.fd) >= most);
    end(&lab, fd);
}

/* What the kernel has no room for is counted. */
static void test_lost(void **state)
{
    enum { SENT = 50 };
    static const uint8_t data[1000];
    struct lab lab;
    int fd = begin(&lab, DATAGRAM_LIMITS, "127.0.0.1:0"), little = 1;

    (void)state;
    setsockopt(lab.socket->watch.fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
    for (int i = 0; i < SENT; i++)
        assert_int_equal(send(fd, data, sizeof(data), 0), sizeof(data));
    run(&lab);
    assert_in_range(lab.count, 1, SENT - 1);
    assert_int_equal(datagram_counts(lab.socket)->lost, SENT - lab.count);
    end(&lab, fd);
}

int main(void)
{
    static char v4[] = "127.0.0.1:0", v6[] = "[::1]:0";
    const struct CMUnitTest tests[] = {
        { "test_lengths, IPv4", test_lengths, NULL, NULL, v4 },
        { "test_lengths, IPv6", test_lengths, NULL, NULL, v6 },
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_asked_address),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_freed_while_delivering),
        cmocka_unit_test(test_taken_port),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
