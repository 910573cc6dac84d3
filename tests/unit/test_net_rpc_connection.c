/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_connection.c
 *
 * Connections of an RPC client that end in all ways: the same port, bytes and XIDs afterwards;
 * nonsense; nobody there; ports that others have, or that need a right.
 */
#include "net_client.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* --- connections */

enum ending { CLOSED, RESET, CUT };

/* After the connection's end the calls that wait come again: from the same port, with the same
 * bytes and XIDs, in their order; those that have their answers do not. */
static void check_reconnect(enum ending ending, struct source_port from)
{
    struct seen s;
    uint8_t records[3][64];
    uint32_t xid;
    uint16_t port;

    prepare(&s, SOCK_STREAM);
    s.setup.from = from;
    start(&s);
    call(&s, "aaaa");
    call(&s, "bbbb");
    call(&s, "cccc");
    server_accept(&s.server);
    port = s.server.peer_port;
    xid = server_read(&s.server);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(server_read(&s.server), xid + (uint32_t)i);
        memcpy(records[i], s.server.record, 44);
    }
    server_reply(&s.server, xid, TEXT("a"));
    server_run(&s.server, 5 * MS);
    for (int round = 0; round < 2; round++) { /* the second time without an answer before */
        struct linger linger = { 1, 0 };

        if (ending == RESET)
            setsockopt(s.server.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
        if (ending == CUT)
            server_write(&s.server,
                         "\x80\0\0\x40"
                         "abc",
                         7);
        close(s.server.fd);
        s.server.fd = -1;
        server_accept(&s.server);
        assert_int_equal(s.server.peer_port, port);
        for (int i = 1; i < 3; i++) {
            assert_int_equal(server_read(&s.server), xid + (uint32_t)i);
            assert_int_equal(s.server.len, 44);
            assert_memory_equal(s.server.record, records[i], 44);
        }
    }
    server_reply(&s.server, xid + 2, TEXT("c"));
    server_reply(&s.server, xid + 1, TEXT("b"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "a,c,b,");
    assert_int_equal(rpc_client_stats(s.client).resent, 4);
    assert_int_equal(rpc_client_stats(s.client).connects, 3);
    assert_string_equal(
        s.events, ending == CLOSED  ? "c;l:the server closed the connection;c;"
                                      "l:the server closed the connection;c;"
                  : ending == RESET ? "c;l:Connection reset by peer;c;l:Connection reset by peer;c;"
                                    : "c;l:the server closed the connection within a reply;c;"
                                      "l:the server closed the connection within a reply;c;");
    finish(&s);
}

static void test_reconnect(void **state)
{
    struct source_port any = { 0 }, own = { .local = server_own_address() };

    (void)state;
    check_reconnect(CLOSED, any);
    check_reconnect(CLOSED, own);
    check_reconnect(RESET, own);
    check_reconnect(CUT, own);
}

/* A call that is made when the connection is there is sent once, behind those that waited. */
static void test_call_on_connect(void **state)
{
    struct seen s;
    uint32_t xid;
    uint8_t byte;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.call_on_connect = true;
    start(&s);
    call(&s, "aaaa");
    server_accept(&s.server);
    xid = server_read(&s.server);
    assert_memory_equal(s.server.record + 40, "aaaa", 4);
    assert_int_equal(server_read(&s.server), xid + 1);
    assert_memory_equal(s.server.record + 40, "more", 4);
    server_run(&s.server, 5 * MS);
    assert_int_equal(recv(s.server.fd, &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(rpc_client_stats(s.client).resent, 0);
    finish(&s);
}

/* One call was answered, and the server has closed the connection.  Returns the client's port. */
static uint16_t begin_idle(struct seen *s)
{
    uint16_t port;

    prepare(s, SOCK_STREAM);
    start(s);
    call(s, "a");
    server_accept(&s->server);
    port = s->server.peer_port;
    server_reply(&s->server, server_read(&s->server), TEXT("a"));
    server_run(&s->server, 5 * MS);
    close(s->server.fd);
    s->server.fd = -1;
    return port;
}

/* A connection that ends while nothing waits is normal: the next call makes it again. */
static void test_idle(void **state)
{
    struct seen s;
    uint16_t port;

    (void)state;
    port = begin_idle(&s);
    server_run(&s.server, 30 * MS);
    assert_int_equal(rpc_client_stats(s.client).connects, 1);
    call(&s, "b");
    server_accept(&s.server);
    assert_int_equal(s.server.peer_port, port);
    server_reply(&s.server, server_read(&s.server), TEXT("b"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "a,b,");
    assert_int_equal(rpc_client_stats(s.client).resent, 0);
    finish(&s);
}

static void test_nonsense(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *event;
    } cases[] = {
        { "\x80\0\0\x08HTTP/1.1", 12, "n:a record of 8 bytes is not an RPC reply;" },
        { "\x80\0\0\0", 4, "n:a record of 0 bytes is not an RPC reply;" },
        { "\x80\0\0\x08"
          "abcd\0\0\0\1",
          12, "n:a record of 8 bytes is not an RPC reply;" },
        { "\x80\0\0\x28xxxx\0\0\0\0\0\0\0\2xxxxxxxxxxxx\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 44,
          "n:a record of 40 bytes is not an RPC reply;" }, /* a call */
        { "\x80\0\4\1", 4, "n:a record of more than 1024 bytes;" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char events[160], byte;
        struct seen s;
        uint32_t xid;

        prepare(&s, SOCK_STREAM);
        s.setup.limits.reply_max = 1024;
        start(&s);
        call(&s, "a");
        server_accept(&s.server);
        xid = server_read(&s.server);
        server_write(&s.server, cases[i].bytes, cases[i].len);
        server_run(&s.server, 2 * MS);
        assert_int_equal(recv(s.server.fd, &byte, 1, 0), -1);
        assert_int_equal(errno, ECONNRESET);
        assert_int_equal(rpc_client_stats(s.client).garbage, 1);
        server_accept(&s.server); /* the call still waits */
        assert_int_equal(server_read(&s.server), xid);
        server_reply(&s.server, xid, TEXT("a"));
        server_run(&s.server, 5 * MS);
        assert_string_equal(s.text, "a,");
        snprintf(events, sizeof(events), "c;%sc;", cases[i].event);
        assert_string_equal(s.events, events);
        finish(&s);
    }
}

/* Nobody listens: attempts after 5, 10, 20 ms, and then the calls are lost. */
static void test_refused(void **state)
{
    struct seen s;
    int64_t begun = loop_clock();

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.attempts = 4;
    close(s.server.listening);
    s.server.listening = -1;
    start(&s);
    call(&s, "a");
    call(&s, "b");
    while (!*s.text && loop_clock() < begun + 2000 * MS)
        server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "lost,lost,");
    assert_true(loop_clock() - begun >= 35 * MS);
    assert_string_equal(s.events, "f:Connection refused;f:Connection refused;f:Connection refused;"
                                  "f:Connection refused;g:4 attempts without an answer;");
    assert_int_equal(rpc_client_stats(s.client).lost, 2);
    /* it can be tried again */
    server_listen(&s.server, SOCK_STREAM);
    call(&s, "c");
    server_accept(&s.server);
    server_reply(&s.server, server_read(&s.server), TEXT("c"));
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "lost,lost,c,");
    finish(&s);
}

/* A server that comes back on a port that is our own is not mistaken for ourselves. */
static void test_own_port(void **state)
{
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    close(s.server.listening);
    s.server.listening = -1;
    s.setup.limits.attempts = 1;
    s.setup.from = (struct source_port){ SOURCE_PORT_FIXED, s.server.address };
    start(&s);
    call(&s, "a");
    server_run(&s.server, 50 * MS);
    assert_string_equal(s.events, "f:Connection refused;g:1 attempts without an answer;");
    finish(&s);
}

/* While there is no connection, nobody else gets the port. */
static void test_port_held(void **state)
{
    struct seen s;
    struct sockaddr_in thief = { .sin_family = AF_INET };
    uint16_t port;
    int fd;

    (void)state;
    port = begin_idle(&s);
    server_run(&s.server, 5 * MS);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    thief.sin_port = htons(port);
    assert_int_equal(bind(fd, (struct sockaddr *)&thief, sizeof(thief)), -1);
    assert_int_equal(errno, EADDRINUSE);
    call(&s, "b");
    server_accept(&s.server);
    assert_int_equal(s.server.peer_port, port);
    finish(&s);
    assert_int_equal(bind(fd, (struct sockaddr *)&thief, sizeof(thief)), 0);
    close(fd);
}

/* Somebody else takes the port by force: it is tried again, then another one is taken, and that is
 * said. */
static void test_port_taken(void **state)
{
    struct seen s;
    struct sockaddr_in thief = { .sin_family = AF_INET };
    uint16_t port;
    int one = 1, fd;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.reconnect[1] = 5 * MS;
    start(&s);
    call(&s, "a");
    server_accept(&s.server);
    port = s.server.peer_port;
    server_reply(&s.server, server_read(&s.server), TEXT("a"));
    server_run(&s.server, 5 * MS);
    close(s.server.fd);
    s.server.fd = -1;
    server_run(&s.server, 5 * MS);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    thief.sin_port = htons(port);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&thief, sizeof(thief)), 0);
    assert_int_equal(listen(fd, 1), 0);
    call(&s, "b");
    server_accept(&s.server);
    assert_int_not_equal(s.server.peer_port, port);
    assert_int_equal(rpc_client_stats(s.client).other_ports, 1);
    assert_non_null(strstr(s.events, ";o:binding port "));
    close(fd);
    finish(&s);
}

/* --- privileged ports */

static void test_privileged(void **state)
{
    struct source_port from = { .kind = SOURCE_PORT_PRIVILEGED };

    (void)state;
    if (geteuid() != 0) {
        print_message("NOT RUN: privileged ports need root\n");
        return;
    }
    check_reconnect(CLOSED, from);
    check_reconnect(RESET, from);
    for (int udp = 0; udp < 2; udp++) {
        struct seen s;

        prepare(&s, udp ? SOCK_DGRAM : SOCK_STREAM);
        s.setup.from = from;
        start(&s);
        call(&s, "a");
        if (!udp) {
            server_accept(&s.server);
            server_read(&s.server);
        } else {
            server_receive(&s.server);
        }
        assert_in_range(s.server.peer_port, SOURCE_PORT_LOW, SOURCE_PORT_HIGH);
        finish(&s);
    }
}

/* Without the right: at once, with words that help. */
static void without_right(void)
{
    struct seen s;

    prepare(&s, SOCK_STREAM);
    s.setup.from.kind = SOURCE_PORT_PRIVILEGED;
    start(&s);
    call(&s, "a");
    server_run(&s.server, 5 * MS);
    assert_string_equal(s.text, "lost,");
    assert_non_null(strstr(s.events, " is privileged: this needs root, or the capability "
                                     "CAP_NET_BIND_SERVICE;"));
    finish(&s);

    prepare(&s, SOCK_DGRAM);
    s.setup.from.kind = SOURCE_PORT_PRIVILEGED;
    start(&s);
    assert_int_equal(rpc_client_call(s.client, &target, TEXT("a"), on_done, &s, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "this needs root"));
    assert_int_equal(rpc_client_stats(s.client).outstanding, 0);
    finish(&s);
}

static void test_without_right(void **state)
{
    int status;
    pid_t child;

    (void)state;
    if (geteuid() != 0) {
        without_right();
        return;
    }
    child = fork();
    if (child == 0) {
        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(1);
        without_right();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A network of our own, where we may have one: nobody else takes a port between two connections. */
static void leave_others(void)
{
    struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    int fd;

    if (unshare(CLONE_NEWNET) < 0)
        return;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0) {
        perror("lo");
        exit(1);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reconnect),  cmocka_unit_test(test_call_on_connect),
        cmocka_unit_test(test_idle),       cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_own_port),
        cmocka_unit_test(test_port_held),  cmocka_unit_test(test_port_taken),
        cmocka_unit_test(test_privileged), cmocka_unit_test(test_without_right),
    };

    leave_others();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
