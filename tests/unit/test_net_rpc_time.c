/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_rpc_time.c
 *
 * Slow and idle connections of the RPC server.  The clock is the test's own: what the loop asks the
 * C library for is answered here, so that a busy machine changes nothing.
 */
#include "net/record_stream.c"
#include "net/rpc_server_parts.h"
#include "rpc_server_lab.h"

#include <time.h>

static int64_t now = 1000 * MS;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){ now / 1000000000, now % 1000000000 };
    return 0;
}

/* Two rounds: what one asks for at its end belongs to this moment, too. */
static void pass(struct lab *lab, int64_t ns)
{
    lab_run(lab, 0);
    lab_run(lab, 0);
    now += ns;
    lab_run(lab, 0);
}

static void pass_slowly(struct lab *lab, int64_t ns)
{
    for (; ns > 0; ns -= MS)
        pass(lab, MS);
}

enum { SLOW = 40, IDLE = 100 }; /* ms */

static const struct wait {
    const char *what;
    const char *steps; /* every 10 ms: '.' nothing, 'c' a call, 'k' one that is kept, 'b' the first
                        * byte of a record, 'h' its end and the first byte of the next, 'f' the
                        * first kept call is freed */
    bool slow, idle;
} waits[] = {
    { "says nothing", "........", true, false },
    { "a byte now and then", "b.b.b.b.", true, false },
    { "a call, then nothing", "c.................", false, true },
    { "a call, then a byte", "c..b........", true, false },
    { "a call, a long pause, then a byte", "c.......b", false, false },
    { "calls now and then", "c...c...c...c...c...c...c...c", false, false },
    { "always within a record", "bhhhhhhhhhhhhhhh", false, false },
    { "a kept call", "k...........................", false, false },
    { "a kept call, answered", "k.........f.................", false, true },
    { "a kept call, then a byte", "k...b.......", true, false },
};

static void send_end_and_beginning(int fd)
{
    static const uint32_t words[] = { 0x80000000 | 40, 1, 0, 2, LAB_PROGRAM, 3, 0, 0, 0, 0, 0 };
    uint8_t bytes[sizeof(words) + 1] = { [sizeof(words)] = 0x80 };

    lab_words(bytes, words, sizeof(words) / 4);
    lab_write(fd, bytes + 1, sizeof(bytes) - 1);
}

static void test_time(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;

    (void)state;
    limits.slow = SLOW * MS;
    limits.idle = IDLE * MS;
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
        const struct wait *w = &waits[i];
        const struct rpc_server_counts *counts;
        struct lab lab;
        int fd;

        lab_begin_with(&lab, &limits, NULL);
        counts = rpc_server_counts(lab.server);
        fd = lab_connect(&lab);
        for (const char *step = w->steps; *step && !lab_is_closed(fd); step++) {
            if (*step == 'c')
                lab_send(fd, 1, LAB_SILENT, 0);
            else if (*step == 'k')
                lab_send(fd, 1, LAB_KEEP, 0);
            else if (*step == 'b')
                lab_write(fd, "\x80", 1);
            else if (*step == 'h')
                send_end_and_beginning(fd);
            else if (*step == 'f')
                rpc_call_free(lab.kept[0]);
            pass(&lab, 10 * MS);
        }
        if (counts->slow != w->slow || counts->idle != w->idle ||
            lab_is_closed(fd) != (w->slow || w->idle))
            fail_msg("%s: slow %d, idle %d", w->what, (int)counts->slow, (int)counts->idle);
        close(fd);
        lab_end(&lab);
    }
}

/* A client that waits because the server holds it is not slow. */
static void test_held_is_not_slow(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct lab lab;
    int fd;

    (void)state;
    limits.slow = limits.idle = 10 * MS;
    limits.connection_calls = 1;
    lab_begin_with(&lab, &limits, NULL);
    fd = lab_connect(&lab);
    lab_send(fd, 1, LAB_KEEP, 0);
    lab_send(fd, 2, LAB_KEEP, 0);
    lab_write(fd, "\x80", 1);
    pass_slowly(&lab, 60 * MS);
    assert_false(lab_is_closed(fd));
    assert_int_equal(lab.kept_count, 1);
    rpc_call_free(lab.kept[0]);
    pass_slowly(&lab, MS);
    assert_int_equal(lab.kept_count, 2);
    rpc_call_free(lab.kept[1]);
    pass_slowly(&lab, 60 * MS);
    assert_int_equal(rpc_server_counts(lab.server)->slow, 1);
    close(fd);
    lab_end(&lab);
}

/* Memory of a connection that rests is given back; it works on. */
static void test_rest(void **state)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct lab lab;
    int fd;

    (void)state;
    limits.idle = 400 * MS;
    lab_begin_with(&lab, &limits, NULL);
    fd = lab_connect(&lab);
    for (uint32_t xid = 1; xid < 4; xid++) {
        lab_send(fd, xid, LAB_ECHO, 1);
        pass(&lab, 0);
        lab_expect(fd, xid, 1);
        assert_true(lab.server->connections->stream->in.cap >= RECORD_READ);
        for (int i = 0; i < 3; i++)
            pass(&lab, 100 * MS);
        assert_int_equal(lab.server->connections->stream->in.cap, 0);
    }
    close(fd);
    lab_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_held_is_not_slow),
        cmocka_unit_test(test_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
