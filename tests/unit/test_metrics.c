/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_metrics.c
 *
 * Metrics: tables that are refused; the page against one written by hand from the format's
 * description; HTTP over loopback.
 */
#include "metrics/metrics.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;

/* --- tables */

static const struct {
    struct metric metric;
    const char *message; /* NULL: good */
} tables[] = {
    { { "nfs_calls_total", METRIC_COUNTER, "", NULL }, NULL },
    { { "a:b_9", METRIC_GAUGE, "", "procedure status" }, NULL },
    { { "x_seconds", METRIC_HISTOGRAM, "", "procedure" }, NULL },
    { { "", METRIC_GAUGE, "", NULL }, "\"\" is not a metric's name" },
    { { "9a", METRIC_GAUGE, "", NULL }, "\"9a\" is not a metric's name" },
    { { "a-b", METRIC_GAUGE, "", NULL }, "\"a-b\" is not a metric's name" },
    { { "calls", METRIC_COUNTER, "", NULL },
      "metric calls: counters, and nothing else, end in _total" },
    { { "calls_total", METRIC_GAUGE, "", NULL },
      "metric calls_total: counters, and nothing else, end in _total" },
    { { "x", METRIC_GAUGE, "", "a:b" }, "metric x: \"a:b\" are not labels" },
    { { "x", METRIC_GAUGE, "", "a  b" }, "metric x: \"a  b\" are not labels" },
    { { "x", METRIC_GAUGE, "", "__a" }, "metric x: \"__a\" are not labels" },
    { { "x", METRIC_HISTOGRAM, "", "le" }, "metric x: \"le\" are not labels" },
    { { "x", METRIC_GAUGE, "", "a b c d e f g h i" },
      "metric x: \"a b c d e f g h i\" are not labels" },
};

static void test_tables(void **state)
{
    static const struct metric twice[] = { { "x", METRIC_GAUGE, "", NULL },
                                           { "x", METRIC_GAUGE, "", NULL } };

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        int result = metrics_check(&tables[i].metric, 1, &err);

        assert_int_equal(result, tables[i].message ? -ERR_USAGE : 0);
        if (result)
            assert_string_equal(err.text, tables[i].message);
    }
    assert_int_equal(metrics_check(twice, 2, &err), -ERR_USAGE);
    assert_string_equal(err.text, "metric x is there twice");
}

/* --- pages */

enum { CALLS, LOAD, UNUSED, LATENCY };

static const struct metric table[] = {
    [CALLS] = { "calls_total", METRIC_COUNTER, "calls by \\ \"procedure\"\nand status",
                "procedure status" },
    [LOAD] = { "load", METRIC_GAUGE, "load", NULL },
    [UNUSED] = { "unused", METRIC_GAUGE, "never told", NULL },
    [LATENCY] = { "latency_seconds", METRIC_HISTOGRAM, "time to the reply", "procedure" },
};

static const char page_text[] =
    "# HELP calls_total calls by \\\\ \"procedure\"\\nand status\n"
    "# TYPE calls_total counter\n"
    "calls_total{procedure=\"READ\",status=\"\"} 18446744073709551615\n"
    "calls_total{procedure=\"a\\\"\\\\\\n\xc3\xa4\xef\xbf\xbd\",status=\"x\"} 0\n"
    "# HELP load load\n"
    "# TYPE load gauge\n"
    "load 0.1\n"
    "load -1.5e-07\n"
    "load 0.30000000000000004\n"
    "load NaN\n"
    "load +Inf\n"
    "load -Inf\n"
    "# HELP latency_seconds time to the reply\n"
    "# TYPE latency_seconds histogram\n"
    "latency_seconds_bucket{procedure=\"READ\",le=\"0.001\"} 3\n"
    "latency_seconds_bucket{procedure=\"READ\",le=\"0.01\"} 3\n"
    "latency_seconds_bucket{procedure=\"READ\",le=\"1\"} 7\n"
    "latency_seconds_bucket{procedure=\"READ\",le=\"+Inf\"} 12\n"
    "latency_seconds_sum{procedure=\"READ\"} 20.5\n"
    "latency_seconds_count{procedure=\"READ\"} 12\n";

static int collect(void *ctx, struct metrics_page *page, struct err *e)
{
    static const double bounds[] = { 0.001, 0.01, 1 };
    static const uint64_t counts[] = { 3, 0, 4, 5 };
    struct metric_histogram histogram = { 3, bounds, counts, 20.5 };
    const char *const read[] = { "READ", "" }, *const odd[] = { "a\"\\\n\xc3\xa4\xff", "x" };

    if (ctx && *(int *)ctx)
        return err_set(e, ERR_SYSTEM, "nothing works");
    metrics_page_u64(page, &table[CALLS], read, UINT64_MAX);
    metrics_page_u64(page, &table[CALLS], odd, 0);
    metrics_page_double(page, &table[LOAD], NULL, 0.1);
    metrics_page_double(page, &table[LOAD], NULL, -1.5e-7);
    metrics_page_double(page, &table[LOAD], NULL, 0.1 + 0.2);
    metrics_page_double(page, &table[LOAD], NULL, (double)NAN);
    metrics_page_double(page, &table[LOAD], NULL, (double)INFINITY);
    metrics_page_double(page, &table[LOAD], NULL, -(double)INFINITY);
    metrics_page_histogram(page, &table[LATENCY], read, &histogram);
    return 0;
}

static void test_page(void **state)
{
    struct metrics_page page = { .table = table, .count = 4 };

    (void)state;
    assert_int_equal(collect(NULL, &page, &err), 0);
    assert_int_equal(metrics_page_end(&page, &err), 0);
    assert_int_equal(buf_append(&page.text, "", 1), 0);
    assert_string_equal(page.text.data, page_text);
    page.text.len--;
    metrics_page_u64(&page, &table[LOAD], NULL, 1);
    assert_int_equal(page.text.len, sizeof(page_text) - 1);
    assert_int_equal(metrics_page_end(&page, &err), -ERR_USAGE);
    buf_free(&page.text);
}

/* --- HTTP */

struct lab {
    struct loop *loop;
    struct metrics *metrics;
    struct net_address address;
    struct timer timer;
    int broken;
};

static int on_stop(void *ctx, struct err *e)
{
    (void)e;
    loop_stop(ctx);
    return 0;
}

static void run(struct lab *l)
{
    l->timer = (struct timer){ .due = on_stop, .ctx = l->loop };
    loop_set(l->loop, &l->timer, loop_clock() + 1000000, &err);
    if (loop_run(l->loop, &err) < 0)
        fail_msg("%s", err.text);
}

static void begin(struct lab *l)
{
    struct metrics_setup setup = { .table = table, .count = 4, .collect = collect };

    *l = (struct lab){ 0 };
    setup.ctx = &l->broken;
    l->loop = loop_new(&err);
    assert_int_equal(metrics_address(&setup.address, "0", &err), 0);
    assert_true(net_address_is_loopback(&setup.address));
    l->metrics = metrics_new(l->loop, &setup, &err);
    if (!l->metrics)
        fail_msg("%s", err.text);
    assert_int_equal(metrics_listens(l->metrics, &l->address, &err), 0);
}

static void finish(struct lab *l)
{
    metrics_free(l->metrics);
    loop_free(l->loop);
}

static int connect_to(const struct lab *l)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, &l->address.any, net_address_size(&l->address)), 0);
    return fd;
}

/* All of the answer to |request|, which asks for the connection's end. */
static void ask(struct lab *l, const char *request, char *to, size_t room)
{
    int fd = connect_to(l);
    size_t len = 0;

    assert_int_equal(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
    for (int i = 0; i < 2000; i++) {
        ssize_t got = recv(fd, to + len, room - 1 - len, MSG_DONTWAIT);

        if (got == 0)
            break;
        len += got > 0 ? (size_t)got : 0;
        if (got < 0)
            run(l);
    }
    to[len] = '\0';
    close(fd);
}

static const struct {
    const char *request, *status, *holds, *lacks;
} requests[] = {
    { "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 ",
      "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n", NULL },
    { "HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 ", NULL,
      "# HELP" },
    { "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 ",
      "\r\n\r\nthe metrics are at /metrics\n", "# HELP" },
    { "POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
      "HTTP/1.1 405 ", "Allow: GET, HEAD\r\n", "# HELP" },
    { "nonsense\r\n\r\n", "", NULL, "# HELP" },
};

static void test_http(void **state)
{
    static char answer[65536];
    struct lab l;

    (void)state;
    begin(&l);
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        ask(&l, requests[i].request, answer, sizeof(answer));
        if (strncmp(answer, requests[i].status, strlen(requests[i].status)) != 0 ||
            (requests[i].holds && !strstr(answer, requests[i].holds)) ||
            (requests[i].lacks && strstr(answer, requests[i].lacks)))
            fail_msg("%s\n%s", requests[i].request, answer);
        if (i == 0)
            assert_string_equal(strstr(answer, "\r\n\r\n") + 4, page_text);
    }
    l.broken = 1;
    ask(&l, requests[0].request, answer, sizeof(answer));
    assert_non_null(strstr(answer, "HTTP/1.1 500 "));
    assert_non_null(strstr(answer, "\r\n\r\nnothing works\n"));
    finish(&l);
}

/* More connections than there may be: the others are not answered, and nothing turns around. */
static void test_many(void **state)
{
    int fds[METRICS_CONNECTIONS + 4];
    static char answer[65536];
    struct lab l;

    (void)state;
    begin(&l);
    for (int i = 0; i < METRICS_CONNECTIONS + 4; i++) {
        fds[i] = connect_to(&l);
        run(&l);
    }
    close(fds[0]);
    run(&l);
    for (int i = 1; i < METRICS_CONNECTIONS + 4; i++)
        close(fds[i]);
    run(&l);
    ask(&l, requests[0].request, answer, sizeof(answer));
    assert_non_null(strstr(answer, "HTTP/1.1 200 "));
    finish(&l);
}

static void test_taken(void **state)
{
    struct metrics_setup setup = { .table = table, .count = 4, .collect = collect };
    struct lab l;

    (void)state;
    begin(&l);
    setup.address = l.address;
    assert_null(metrics_new(l.loop, &setup, &err));
    assert_non_null(strstr(err.text, ": Address already in use"));
    setup.count = 1;
    setup.table = &tables[3].metric;
    assert_null(metrics_new(l.loop, &setup, &err));
    assert_string_equal(err.text, tables[3].message);
    finish(&l);
}

static void test_address(void **state)
{
    struct net_address address;
    char text[NET_ADDRESS_TEXT];

    (void)state;
    assert_int_equal(metrics_address(&address, "9100", &err), 0);
    assert_string_equal(net_address_text(&address, text), "127.0.0.1:9100");
    assert_int_equal(metrics_address(&address, "[::1]:9100", &err), 0);
    assert_string_equal(net_address_text(&address, text), "[::1]:9100");
    assert_true(metrics_address(&address, "", &err) < 0);
    assert_true(metrics_address(&address, "99999", &err) < 0);
    assert_int_equal(metrics_known_address(&address, "9100", &err), 0);
    assert_int_equal(metrics_known_address(&address, "0", &err), -ERR_USAGE);
    assert_int_equal(metrics_known_address(&address, "[::1]:0", &err), -ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables), cmocka_unit_test(test_page),  cmocka_unit_test(test_http),
        cmocka_unit_test(test_many),   cmocka_unit_test(test_taken), cmocka_unit_test(test_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
