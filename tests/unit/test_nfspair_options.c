/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The argument of tshark -z nfspair: each line of the tables is one argument and what it gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "plugins/common/options.c"
#include "plugins/nfspair/options.c"

/* What was read, as one line. */
static void describe(const struct options *o, char *text, size_t size)
{
    const struct engine_options *e = &o->engine.options;
    int n = snprintf(text, size, "%s %s", o->out ? o->out : "(none)",
                     o->help              ? "help"
                     : o->decap_wireshark ? "wireshark"
                                          : "engine");
    if (o->engine.same.count)
        n += snprintf(text + n, size - (size_t)n, " same %u", o->engine.same.count);
    if (e->stream_window || e->total_window)
        n += snprintf(text + n, size - (size_t)n, " window %u %u", e->stream_window,
                      e->total_window);
    if (e->connections || e->pending)
        n += snprintf(text + n, size - (size_t)n, " table %u %u", e->connections, e->pending);
    if (e->retransmit_span || e->reorder_span)
        n += snprintf(text + n, size - (size_t)n, " span %lld %lld", (long long)e->retransmit_span,
                      (long long)e->reorder_span);
    for (uint32_t i = 0; i < e->port_count; i++)
        n += snprintf(text + n, size - (size_t)n, " port %u", e->ports[i]);
}

static const struct {
    const char *argument, *expected;
} good[] = {
    { "nfspair,out=a.nfsr", "a.nfsr engine" },
    { "nfspair,out=-", "- engine" },
    { "nfspair,out=a\\,b.nfsr", "a,b.nfsr engine" },
    { "nfspair,out=a\\b=c", "a\\b=c engine" },
    { "nfspair,decap=wireshark,out=a", "a wireshark" },
    { "nfspair,decap=wireshark,out=a,decap=engine", "a engine" },
    { "nfspair,out=a,rpc-port=2050,port=1,rpc-port=65535\\,7",
      "a engine port 2050 port 1 port 65535 port 7" },
    { "nfspair,out=a,same-server=10.0.0.1=10.0.0.2,same-server=10.0.0.1=fd00::1",
      "a engine same 2" },
    { "nfspair,out=a,stream-window=65536,total-window=1G", "a engine window 65536 1073741824" },
    { "nfspair,out=a,stream-window=64k,total-window=4294967295",
      "a engine window 65536 4294967295" },
    { "nfspair,out=a,stream-window=1M,stream-window=1024", "a engine window 1024 0" },
    { "nfspair,out=a,connections=1,pending=7", "a engine table 1 7" },
    { "nfspair,out=a,retransmit-span=900,reorder-span=0.000000001",
      "a engine span 900000000000 1" },
    { "nfspair,out=a,retransmit-span=1h,reorder-span=2ms", "a engine span 3600000000000 2000000" },
    { "nfspair,out=a,retransmit-span=0,reorder-span=1.5", "a engine span 1 1500000000" },
    { "nfspair,out=a,reorder-span=3162240000s", "a engine span 0 3162240000000000000" },
    { "nfspair,help", "(none) help" },
    { "nfspair,out=a,help", "a help" },
};

static const struct {
    const char *argument, *message;
} bad[] = {
    { "nfspair", "out=FILE is missing" },
    { "nfspair,decap=engine", "out=FILE is missing" },
    { "nfspairs,out=a", "\"nfspairs\": the statistic is called nfspair" },
    { "nfspair.x", "\"nfspair.x\": the statistic is called nfspair" },
    { "nfspair,", "\"\" is not an option of nfspair" },
    { "nfspair,out=a,", "\"\" is not an option of nfspair" },
    { "nfspair,out", "\"out\" is not an option of nfspair" },
    { "nfspair,out=a,frob=1", "\"frob=\" is not an option of nfspair" },
    { "nfspair,out=a,OUT=b", "\"OUT=\" is not an option of nfspair" },
    { "nfspair,out=", "out= needs a file name, or - for standard output" },
    { "nfspair,out=a,out=b", "out= is given twice" },
    { "nfspair,out=a,decap=", "decap=: there are decap=engine and decap=wireshark" },
    { "nfspair,out=a,decap=Engine", "decap=Engine: there are decap=engine and decap=wireshark" },
    { "nfspair,out=a,rpc-port=", "rpc-port: \"\" is not a port from 1 to 65535" },
    { "nfspair,out=a,rpc-port=0", "rpc-port: \"0\" is not a port from 1 to 65535" },
    { "nfspair,out=a,rpc-port=65536", "rpc-port: \"65536\" is not a port from 1 to 65535" },
    { "nfspair,out=a,rpc-port=-1", "rpc-port: \"-1\" is not a port from 1 to 65535" },
    { "nfspair,out=a,rpc-port=1K", "rpc-port: \"1K\" is not a port from 1 to 65535" },
    { "nfspair,out=a,rpc-port=2049x", "rpc-port: \"2049x\" is not a port from 1 to 65535" },
    { "nfspair,out=a,port=0", "port: \"0\" is not a port from 1 to 65535" },
    { "nfspair,out=a,rpc-port=1\\,x", "rpc-port: \"x\" is not a port from 1 to 65535" },
    { "nfspair,out=a,stream-window=1023", "stream-window: \"1023\" is not a size from 1k to 1G" },
    { "nfspair,out=a,stream-window=2G", "stream-window: \"2G\" is not a size from 1k to 1G" },
    { "nfspair,out=a,stream-window=-1", "stream-window: \"-1\" is not a size from 1k to 1G" },
    { "nfspair,out=a,stream-window=1T", "stream-window: \"1T\" is not a size from 1k to 1G" },
    { "nfspair,out=a,stream-window=K", "stream-window: \"K\" is not a size from 1k to 1G" },
    { "nfspair,out=a,stream-window=", "stream-window: \"\" is not a size from 1k to 1G" },
    { "nfspair,out=a,total-window=4G", "total-window: \"4G\" is not a size from 1k to 4294967295" },
    { "nfspair,out=a,total-window=99999999999999999999",
      "total-window: \"99999999999999999999\" is not a size from 1k to 4294967295" },
    { "nfspair,out=a,total-window=18446744073709551615K",
      "total-window: \"18446744073709551615K\" is not a size from 1k to 4294967295" },
    { "nfspair,out=a,connections=0", "connections: \"0\" is not a number from 1 to 16777216" },
    { "nfspair,out=a,pending=16777217",
      "pending: \"16777217\" is not a number from 1 to 16777216" },
    { "nfspair,out=a,pending=1k", "pending: \"1k\" is not a number from 1 to 16777216" },
    { "nfspair,out=a,reorder-span=.5",
      "reorder-span: \".5\" is not a time such as 50ms or 2s, up to 100 years" },
    { "nfspair,out=a,reorder-span=-1s",
      "reorder-span: \"-1s\" is not a time such as 50ms or 2s, up to 100 years" },
    { "nfspair,out=a,retransmit-span=1e3",
      "retransmit-span: \"1e3\" is not a time such as 50ms or 2s, up to 100 years" },
    { "nfspair,out=a,retransmit-span=3162240001",
      "retransmit-span: \"3162240001\" is not a time such as 50ms or 2s, up to 100 years" },
    { "nfspair,out=a,retransmit-span=99999999999999999999999999",
      "retransmit-span: \"99999999999999999999999999\" is not a time such as 50ms or 2s, up to 100 "
      "years" },
    { "nfspair,out=a,retransmit-span=",
      "retransmit-span: \"\" is not a time such as 50ms or 2s, up to 100 years" },
    { "nfspair,out=a,same-server=10.0.0.1",
      "same-server: \"10.0.0.1\" is not two addresses with \"=\" between them" },
    { "nfspair,out=a,window=1M", "\"window=\" is not an option of nfspair" },
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct options options;
        struct err err = { 0 };
        char text[256];
        if (options_parse(&nfspair_options, &options, good[i].argument, &err))
            fail_msg("%s: %s", good[i].argument, err.text);
        describe(&options, text, sizeof text);
        assert_string_equal(text, good[i].expected);
        options_free(&nfspair_options, &options);
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct options options;
        struct err err = { 0 };
        if (options_parse(&nfspair_options, &options, bad[i].argument, &err) != -ERR_USAGE)
            fail_msg("%s was accepted", bad[i].argument);
        assert_string_equal(err.text, bad[i].message);
        assert_int_equal(err.code, ERR_USAGE);
        assert_null(options.out);
    }
}

static void test_too_many_ports(void **state)
{
    (void)state;
    char argument[32 + (ENGINE_PORTS_MAX + 1) * 16] = "nfspair,out=a";
    struct options options;
    struct err err = { 0 };
    size_t len = strlen(argument);
    for (int i = 1; i <= ENGINE_PORTS_MAX; i++)
        len += (size_t)snprintf(argument + len, sizeof argument - len, ",rpc-port=%d", i);
    assert_int_equal(options_parse(&nfspair_options, &options, argument, &err), 0);
    assert_int_equal(options.engine.options.port_count, ENGINE_PORTS_MAX);
    options_free(&nfspair_options, &options);
    snprintf(argument + len, sizeof argument - len, ",rpc-port=1");
    assert_int_equal(options_parse(&nfspair_options, &options, argument, &err), -ERR_USAGE);
}

/* The usage names every option that is understood, and no other. */
static void test_usage(void **state)
{
    (void)state;
    static const char *const words[] = {
        "out=",          "decap=",       "rpc-port=", "stream-window=",
        "total-window=", "connections=", "pending=",  "retransmit-span=",
        "reorder-span=", "same-server=", "help"
    };
    char usage[4096] = "";
    size_t lines = 0;
    FILE *to = fmemopen(usage, sizeof usage, "w");
    assert_non_null(to);
    options_usage(&nfspair_options, to);
    assert_int_equal(fclose(to), 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char start[64];
        snprintf(start, sizeof start, "\n  %s", words[i]);
        if (!strstr(usage, start))
            fail_msg("the usage lacks %s", words[i]);
    }
    for (const char *p = usage; (p = strstr(p, "\n  ")); p++)
        lines++;
    assert_int_equal(lines, sizeof words / sizeof *words + 1); /* decap= has two */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_too_many_ports),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
