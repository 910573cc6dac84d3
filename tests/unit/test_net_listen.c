/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_listen.c
 *
 * Listeners on loopback, whose 127.0.0.0/8 gives as many client addresses as wanted.
 */
#include "net/listen.c"

#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
enum { CLIENTS = 600 };

struct lab {
    struct loop *loop;
    struct listeners *all;
    struct timer timer;
    struct net_address at;
    int fds[CLIENTS]; /* accepted */
    struct net_address peers[CLIENTS];
    uint32_t count;
};

static int on_accepted(void *ctx, int fd, const struct net_address *peer, struct err *err)
{
    struct lab *lab = ctx;
    int nodelay = 0;
    socklen_t len = sizeof(nodelay);

    (void)err;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &len), 0);
    assert_true(nodelay && (fcntl(fd, F_GETFL) & O_NONBLOCK) && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    lab->fds[lab->count] = fd;
    lab->peers[lab->count++] = *peer;
    return 0;
}

static void begin(struct lab *lab, struct listen_limits limits, const char *where)
{
    struct err err = { 0 };
    struct listen_host host = { on_accepted, lab };

    memset(lab, 0, sizeof(*lab));
    lab->loop = loop_new(&err);
    lab->all = listeners_new(lab->loop, &limits, &host, &err);
    assert_non_null(lab->all);
    assert_int_equal(net_address_parse(where, true, &lab->at, &err), 0);
    if (listeners_add(lab->all, &lab->at, &lab->at, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_not_equal(net_address_port(&lab->at), 0);
}

static void end(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->count; i++)
        close(lab->fds[i]);
    listeners_free(lab->all);
    loop_free(lab->loop);
}

static int on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void run(struct lab *lab, int64_t ns)
{
    struct err err = { 0 };

    lab->timer = (struct timer){ .due = on_stop, .ctx = lab->loop };
    assert_int_equal(loop_set(lab->loop, &lab->timer, loop_clock() + ns, &err), 0);
    if (loop_run(lab->loop, &err) < 0)
        fail_msg("%s", err.text);
    loop_unset(lab->loop, &lab->timer);
}

/* From 127.0.0.|last|, or ::1. */
static int connect_from(struct lab *lab, unsigned last)
{
    int fd = socket(lab->at.family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (lab->at.family == AF_INET) {
        struct net_address from = { .v4 = { .sin_family = AF_INET,
                                            .sin_addr.s_addr = htonl(0x7f000000 | last) } };

        assert_int_equal(bind(fd, &from.any, net_address_size(&from)), 0);
    }
    assert_int_equal(connect(fd, &lab->at.any, net_address_size(&lab->at)), 0);
    return fd;
}

static bool is_closed(int fd)
{
    uint8_t byte;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);

    return got == 0 || (got < 0 && errno != EAGAIN);
}

static void test_accept(void **state)
{
    struct lab lab;
    struct net_address client;
    struct err err;
    int fd;

    begin(&lab, LISTEN_LIMITS, *state);
    fd = connect_from(&lab, 1);
    run(&lab, 5 * MS);
    assert_int_equal(lab.count, 1);
    assert_int_equal(net_address_of_socket(fd, &client, &err), 0);
    assert_true(net_address_equal(&client, &lab.peers[0]));
    assert_int_equal(listeners_counts(lab.all)->accepted, 1);
    assert_int_equal(listeners_connections(lab.all), 1);
    listeners_left(lab.all, &lab.peers[0]);
    listeners_left(lab.all, &lab.peers[0]); /* one that is not there changes nothing */
    assert_int_equal(listeners_connections(lab.all), 0);
    close(fd);
    end(&lab);
}

static void test_bound_of_address(void **state)
{
    struct lab lab;
    int fds[8];

    (void)state;
    begin(&lab, (struct listen_limits){ 100, 3, MS }, "127.0.0.1:0");
    for (unsigned i = 0; i < 8; i++)
        fds[i] = connect_from(&lab, i < 5 ? 1 : 2);
    run(&lab, 5 * MS);
    assert_int_equal(lab.count, 6);
    assert_int_equal(listeners_counts(lab.all)->refused_address, 2);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(is_closed(fds[i]) == (i == 3 || i == 4));
        close(fds[i]);
    }
    listeners_left(lab.all, &lab.peers[0]);
    fds[0] = connect_from(&lab, 1);
    fds[1] = connect_from(&lab, 1);
    run(&lab, 5 * MS);
    assert_int_equal(lab.count, 7);
    assert_int_equal(listeners_counts(lab.all)->refused_address, 3);
    close(fds[0]);
    close(fds[1]);
    end(&lab);
}

static void test_bound_of_all(void **state)
{
    struct lab lab;
    int fds[5];

    (void)state;
    begin(&lab, (struct listen_limits){ 4, 3, MS }, "127.0.0.1:0");
    for (unsigned i = 0; i < 5; i++)
        fds[i] = connect_from(&lab, i + 1);
    run(&lab, 5 * MS);
    assert_int_equal(lab.count, 4);
    assert_int_equal(listeners_counts(lab.all)->refused_all, 1);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(is_closed(fds[i]) == (i == 4));
        close(fds[i]);
    }
    end(&lab);
}

/* Many addresses that come and go: each is counted for itself, and none is left. */
static void test_many_addresses(void **state)
{
    static int fds[CLIENTS];
    struct lab lab;

    (void)state;
    begin(&lab, (struct listen_limits){ CLIENTS, 2, MS }, "127.0.0.1:0");
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = connect_from(&lab, 1 + i / 2);
        if (i % 50 == 49)
            run(&lab, MS);
    }
    run(&lab, 5 * MS);
    assert_int_equal(lab.count, CLIENTS);
    for (unsigned i = 0; i < CLIENTS; i++) {
        uint32_t slot = find(lab.all, hash_of(lab.all, &lab.peers[i]), &lab.peers[i]);

        assert_int_equal(((struct client *)pool_at(&lab.all->clients, slot))->connections,
                         2 - i % 2);
        listeners_left(lab.all, &lab.peers[i]);
        close(fds[i]);
    }
    assert_int_equal(listeners_connections(lab.all), 0);
    assert_int_equal(lab.all->by_address.used, 0);
    for (unsigned i = 0; i < POOL_CHUNK; i++) { /* memory is used again */
        assert_ptr_equal(admit(lab.all, &lab.peers[i % CLIENTS]), &lab.all->counts.accepted);
        listeners_left(lab.all, &lab.peers[i % CLIENTS]);
    }
    assert_int_equal(lab.all->clients.chunk_count, 1);
    end(&lab);
}

/* Without file descriptors: it rests, burns no processor, and goes on. */
static void test_no_descriptors(void **state)
{
    struct lab lab;
    struct rlimit limit, low;
    struct timespec cpu[2];
    int fd;

    (void)state;
    begin(&lab, (struct listen_limits){ 100, 100, 20 * MS }, "127.0.0.1:0");
    fd = connect_from(&lab, 1);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t)fd + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu[0]);
    run(&lab, 200 * MS);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu[1]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(lab.count, 0);
    assert_in_range(listeners_counts(lab.all)->pauses, 1, 11);
    assert_in_range((cpu[1].tv_sec - cpu[0].tv_sec) * 1000000000 + cpu[1].tv_nsec - cpu[0].tv_nsec,
                    0, 50 * MS);
    for (int i = 0; i < 100 && !lab.count; i++)
        run(&lab, 5 * MS);
    assert_int_equal(lab.count, 1);
    close(fd);
    end(&lab);
}

/* Both kinds of IP at one port, a port that is taken, and too many sockets. */
static void test_add(void **state)
{
    struct lab lab;
    struct net_address v6;
    struct err err = { 0 };

    (void)state;
    begin(&lab, LISTEN_LIMITS, "0.0.0.0:0");
    assert_int_equal(net_address_parse("[::]:0", true, &v6, &err), 0);
    net_address_set_port(&v6, net_address_port(&lab.at));
    assert_int_equal(listeners_add(lab.all, &v6, NULL, &err), 0);
    assert_int_equal(listeners_add(lab.all, &v6, NULL, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "cannot listen at [::]:"));
    net_address_set_port(&v6, 0);
    for (int i = 2; i < LISTEN_SOCKETS; i++)
        assert_int_equal(listeners_add(lab.all, &v6, NULL, &err), 0);
    assert_int_equal(listeners_add(lab.all, &v6, NULL, &err), -ERR_USAGE);
    end(&lab);
}

int main(void)
{
    static char v4[] = "127.0.0.1:0", v6[] = "[::1]:0";
    const struct CMUnitTest tests[] = {
        { "test_accept, IPv4", test_accept, NULL, NULL, v4 },
        { "test_accept, IPv6", test_accept, NULL, NULL, v6 },
        cmocka_unit_test(test_bound_of_address),
        cmocka_unit_test(test_bound_of_all),
        cmocka_unit_test(test_many_addresses),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_add),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
