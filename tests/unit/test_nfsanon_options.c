/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The argument of tshark -z nfsanon: what it has beyond the words that all recorders understand,
 * which test_nfspair_options.c tries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "plugins/common/options.c"
#undef AT
#include "plugins/nfsanon/options.c"

static void describe(const struct anon_options *o, char *text, size_t size)
{
    snprintf(text, size, "%s key=%s policy=%s%s%s%s pending=%u", o->common.out, o->key,
             o->policy ? o->policy : "(none)", o->force ? " force" : "", o->stats ? " stats" : "",
             o->common.decap_wireshark ? " wireshark" : "", o->common.engine.options.pending);
}

static const struct {
    const char *argument, *expected;
} good[] = {
    { "nfsanon,out=a,key=k", "a key=k policy=(none) pending=0" },
    { "nfsanon,key=k\\,1,out=-", "- key=k,1 policy=(none) pending=0" },
    { "nfsanon,out=a,policy=lab,key=k", "a key=k policy=lab pending=0" },
    { "nfsanon,force,out=a,stats,key=k", "a key=k policy=(none) force stats pending=0" },
    { "nfsanon,out=a,key=k,force,force", "a key=k policy=(none) force pending=0" },
    { "nfsanon,out=a,key=k,decap=wireshark,pending=9",
      "a key=k policy=(none) wireshark pending=9" },
};

static const struct {
    const char *argument, *message;
} bad[] = {
    { "nfsanon", "out=FILE is missing" },
    { "nfsanon,key=k", "out=FILE is missing" },
    { "nfsanon,out=a", "key=FILE is missing" },
    { "nfsanon,out=a,policy=lab", "key=FILE is missing" },
    { "nfsanon,out=a,key=", "key= needs a file name" },
    { "nfsanon,out=a,key", "\"key\" is not an option of nfsanon" },
    { "nfsanon,out=a,key=k,key=l", "key= is given twice" },
    { "nfsanon,out=a,key=k,policy=", "policy= needs a name or a file name" },
    { "nfsanon,out=a,key=k,policy=lab,policy=lab", "policy= is given twice" },
    { "nfsanon,out=a,key=k,force=1", "\"force=\" is not an option of nfsanon" },
    { "nfsanon,out=a,key=k,same-server=10.0.0.1=10.0.0.2",
      "\"same-server=\" is not an option of nfsanon" },
    { "nfsanon,out=a,key=k,stat", "\"stat\" is not an option of nfsanon" },
    { "nfspair,out=a,key=k", "\"nfspair\": the statistic is called nfsanon" },
    { "nfsanon,out=a,key=k,port=0", "port: \"0\" is not a port from 1 to 65535" },
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct anon_options options;
        struct err err = { 0 };
        char text[256];
        if (options_parse(&nfsanon_options, &options.common, good[i].argument, &err))
            fail_msg("%s: %s", good[i].argument, err.text);
        describe(&options, text, sizeof text);
        assert_string_equal(text, good[i].expected);
        options_free(&nfsanon_options, &options.common);
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct anon_options options;
        struct err err = { 0 };
        if (options_parse(&nfsanon_options, &options.common, bad[i].argument, &err) != -ERR_USAGE)
            fail_msg("%s was accepted", bad[i].argument);
        assert_string_equal(err.text, bad[i].message);
        assert_null(options.key);
        assert_null(options.policy);
    }
}

static void test_help(void **state)
{
    struct anon_options options;
    struct err err = { 0 };
    (void)state;
    assert_int_equal(options_parse(&nfsanon_options, &options.common, "nfsanon,key=k,help", &err),
                     0);
    assert_true(options.common.help);
    options_free(&nfsanon_options, &options.common);
}

/* Each word of its own stands in the usage, with what must be given in the first line. */
static void test_usage(void **state)
{
    static const char *const lines[] = { "-z nfsanon,out=FILE|-,key=FILE[,OPTION...]\n",
                                         "\n  out=FILE  ",
                                         "\n  key=FILE  ",
                                         "\n  policy=NAME|FILE  ",
                                         "\n  force  ",
                                         "\n  stats  ",
                                         "\n  pending=N  " };
    char usage[4096] = "";
    FILE *to = fmemopen(usage, sizeof usage, "w");
    (void)state;
    assert_non_null(to);
    options_usage(&nfsanon_options, to);
    assert_int_equal(fclose(to), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(usage, lines[i]))
            fail_msg("the usage lacks %s", lines[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
