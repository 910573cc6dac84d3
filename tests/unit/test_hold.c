/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold: the output keeps the order of the capture, whatever waits and for however long. */
#include "anon/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

struct written {
    char text[4096];
    uint64_t count;
    bool fail;
};

/* Writes down the first byte of each message. */
static int note(void *ctx, const struct ready *ready, struct err *err)
{
    struct written *w = ctx;

    if (w->fail)
        return err_set(err, ERR_SYSTEM, "full");
    if (w->count < sizeof(w->text) - 1)
        w->text[w->count] = ready->message.cap_len ? (char)ready->message.data[0] : '-';
    w->count++;
    return 0;
}

/* A reply; its frame's number is its time. */
static struct ready message(const char *text, int64_t time)
{
    uint32_t len = (uint32_t)strlen(text);

    return (struct ready){ .flow.client = 1,
                           .at = { .frame = (uint64_t)time, .time = time },
                           .message = { (const uint8_t *)text, len, len, REWRITE_WHOLE } };
}

static void put(struct hold *h, uint64_t ticket, const char *text, int64_t time)
{
    struct ready ready = message(text, time);
    struct err err;

    assert_int_equal(hold_put(h, ticket, &ready, &err), 0);
}

static void resolve(struct hold *h, uint64_t ticket, const char *text)
{
    struct ready ready = message(text, -1); /* flow, side and time stay those of the put */
    struct err err;

    assert_int_equal(hold_resolve(h, ticket, &ready, &err), 0);
}

static void nothing_waits(void **state)
{
    struct written w = { 0 };
    struct hold h;

    (void)state;
    hold_init(&h, note, &w);
    put(&h, 0, "a", 1);
    put(&h, 0, "b", 2);
    assert_string_equal(w.text, "ab");
    assert_int_equal(h.bytes, 0);
    hold_free(&h);
}

static void order_is_kept(void **state)
{
    struct written w = { 0 };
    struct hold h;

    (void)state;
    hold_init(&h, note, &w);
    put(&h, 0, "a", 1);
    put(&h, 7, "?", 2);
    put(&h, 0, "c", 3);
    put(&h, 8, "?", 4);
    put(&h, 0, "", 5);
    assert_string_equal(w.text, "a");
    resolve(&h, 8, "dddd");
    assert_string_equal(w.text, "a");
    resolve(&h, 99, "x"); /* never put */
    assert_string_equal(w.text, "a");
    resolve(&h, 7, "bb");
    assert_string_equal(w.text, "abcd-");
    assert_int_equal(h.bytes, 0);
    resolve(&h, 7, "x"); /* written already */
    put(&h, 0, "f", 6);
    assert_string_equal(w.text, "abcd-f");
    hold_free(&h);
}

static void call(struct hold *h, const char *text, int64_t time)
{
    struct ready ready = message(text, time);
    struct err err;

    ready.at.side = ready.flow.client;
    assert_int_equal(hold_put(h, 0, &ready, &err), 0);
}

static void late_calls_go_before_replies(void **state)
{
    struct written w = { 0 };
    struct hold h;

    (void)state;
    hold_init(&h, note, &w);
    put(&h, 1, "?", 2); /* of the call of frame 1 */
    put(&h, 2, "?", 4); /* of the call of frame 3 */
    call(&h, "a", 1);
    assert_string_equal(w.text, "a");
    resolve(&h, 1, "A");
    assert_string_equal(w.text, "aA");
    call(&h, "b", 3);
    resolve(&h, 2, "B");
    assert_string_equal(w.text, "aAbB");

    put(&h, 3, "?", 6);
    put(&h, 0, "x", 7); /* another reply, which may tell what a handle is */
    put(&h, 4, "?", 8);
    call(&h, "c", 5); /* not before that */
    call(&h, "d", 9); /* nor before what was before it */
    resolve(&h, 3, "C");
    assert_string_equal(w.text, "aAbBCxc");
    resolve(&h, 4, "D");
    assert_string_equal(w.text, "aAbBCxcDd");
    hold_free(&h);
}

static void the_end_writes_what_is_known(void **state)
{
    struct written w = { 0 };
    struct hold h;
    struct err err;

    (void)state;
    hold_init(&h, note, &w);
    put(&h, 1, "?", 1);
    put(&h, 0, "b", 2);
    assert_int_equal(hold_end(&h, &err), 0);
    assert_string_equal(w.text, "?b");
    put(&h, 2, "?", 3); /* freed unwritten */
    hold_free(&h);
    assert_string_equal(w.text, "?b");
}

static void memory_is_bounded(void **state)
{
    enum { BIG = 1 << 20 };
    struct written w = { 0 };
    struct ready ready = { 0 };
    struct hold h;
    struct err err;
    uint8_t *data = calloc(1, BIG);

    (void)state;
    assert_non_null(data);
    data[0] = 'x';
    ready.message = (struct rewritten){ data, BIG, BIG, REWRITE_WHOLE };
    hold_init(&h, note, &w);
    put(&h, 1, "?", 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hold_put(&h, 0, &ready, &err), 0);
        assert_true(h.bytes <= HOLD_BYTES_MAX);
    }
    assert_int_equal(h.overflows, 1);
    assert_int_equal(w.count, 101); /* nothing waits any more behind the reply that was given up */
    assert_int_equal(w.text[0], '?');
    resolve(&h, 1, "late");
    assert_int_equal(w.count, 101);
    hold_free(&h);
    free(data);
}

static void failures_are_passed_on(void **state)
{
    struct written w = { .fail = true };
    struct ready ready = message("a", 1);
    struct hold h;
    struct err err;

    (void)state;
    hold_init(&h, note, &w);
    assert_int_equal(hold_put(&h, 0, &ready, &err), -ERR_SYSTEM);
    put(&h, 1, "?", 1);
    put(&h, 0, "b", 2);
    assert_int_equal(hold_resolve(&h, 1, &ready, &err), -ERR_SYSTEM);
    hold_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_waits),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(late_calls_go_before_replies),
        cmocka_unit_test(the_end_writes_what_is_known),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(failures_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
