/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTML pages: text is nothing but text, what is cut is cut between characters and marked, errors
 * stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "show/markup.h"
#include "show/page.h"

struct sink {
    struct buf text;
    uint32_t calls, fail_at; /* 0: never */
};

static int take(void *ctx, const void *data, size_t len, struct err *err)
{
    struct sink *sink = ctx;

    if (++sink->calls == sink->fail_at)
        return err_set(err, ERR_SYSTEM, "the sink is full");
    assert_int_equal(buf_append(&sink->text, data, len), 0);
    return 0;
}

static const struct page_head head = { "a <title>", ".x{}", NULL };

/* What |text| becomes when |most| bytes of it are shown. */
static void expect_cut(const char *text, size_t most, const char *wanted)
{
    struct sink sink = { 0 };
    struct err err = { 0 };
    struct page page = { 0 };
    size_t begun;

    page_begin(&page, &head, take, &sink, &err);
    begun = page.text.len;
    page_text_cut(&page, text, most);
    assert_int_equal(buf_append(&page.text, "", 1), 0);
    assert_string_equal((const char *)page.text.data + begun, wanted);
    page.text.len--;
    assert_int_equal(page_end(&page), 0);
    assert_non_null(memmem(sink.text.data, sink.text.len, "<title>a &lt;title&gt;</title>", 30));
    assert_non_null(memmem(sink.text.data, sink.text.len, "script-src 'none'", 17));
    assert_memory_equal(sink.text.data + sink.text.len - 8, "</html>\n", 8);
    buf_free(&sink.text);
}

#define CUT(N) "<span class=\"cut\" title=\"cut: it has " N " bytes\">…</span>"

static void test_cut(void **state)
{
    (void)state;
    expect_cut("", 3, "");
    expect_cut("abc", 3, "abc");
    expect_cut("abcd", 3, "abc" CUT("4"));
    expect_cut("<&>\"'", 5, "&lt;&amp;&gt;&quot;&#39;");
    expect_cut("<&>\"'", 2, "&lt;&amp;" CUT("5"));
    expect_cut("aéé", 5, "aéé");
    expect_cut("aéé", 4, "aé" CUT("5"));
    expect_cut("aéé", 3, "aé" CUT("5"));
    expect_cut("éé", 1, CUT("4"));
    expect_cut("\xbf\xbf\xbf\xbf", 2, CUT("4")); /* nothing but bytes that go on with something */
    expect_cut("a\x01\n\xff\\", 9, "a\\x01\\x0a\\xff\\");
}

static void test_plain(void **state)
{
    struct buf plain = { 0 };

    (void)state;
    assert_int_equal(markup_plain(&plain, "<\\x>\t\x7f\xc0 é\xef\xbf\xbf"), 0);
    assert_int_equal(buf_append(&plain, "", 1), 0);
    assert_string_equal((const char *)plain.data, "<\\x>\\x09\\x7f\\xc0 é?");
    buf_free(&plain);
}

static void test_errors(void **state)
{
    struct sink sink = { .fail_at = 2 };
    struct err err = { 0 };
    struct page page = { 0 };
    char piece[1000];

    (void)state;
    memset(piece, 'x', sizeof(piece));
    page_begin(&page, &head, take, &sink, &err);
    for (int i = 0; i < 300; i++) {
        page_raw(&page, piece, sizeof(piece));
        page_text(&page, "y");
        assert_true(page.text.len < PAGE_BUFFER);
    }
    assert_true(page.failed);
    assert_int_equal(sink.calls, 2); /* and none after that */
    assert_int_equal(page_end(&page), -ERR_SYSTEM);
    assert_string_equal(err.text, "the sink is full");
    buf_free(&sink.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
