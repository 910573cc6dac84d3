/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_queue: the output keeps the order of the capture, whatever waits and for however long. */
#include "anon/output_queue.h"

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

static void put(struct output_queue *q, uint64_t ticket, const char *text, int64_t time)
{
    struct ready ready = message(text, time);
    struct err err;

    assert_int_equal(output_queue_put(q, ticket, &ready, &err), 0);
}

static void resolve(struct output_queue *q, uint64_t ticket, const char *text)
{
    struct ready ready = message(text, -1); /* flow, side and time stay those of the put */
    struct err err;

    assert_int_equal(output_queue_resolve(q, ticket, &ready, &err), 0);
}

static void nothing_waits(void **state)
{
    struct written w = { 0 };
    struct output_queue q;

    (void)state;
    output_queue_init(&q, note, &w);
    put(&q, 0, "a", 1);
    put(&q, 0, "b", 2);
    assert_string_equal(w.text, "ab");
    assert_int_equal(q.bytes, 0);
    output_queue_free(&q);
}

static void order_is_kept(void **state)
{
    struct written w = { 0 };
    struct output_queue q;

    (void)state;
    output_queue_init(&q, note, &w);
    put(&q, 0, "a", 1);
    put(&q, 7, "?", 2);
    put(&q, 0, "c", 3);
    put(&q, 8, "?", 4);
    put(&q, 0, "", 5);
    assert_string_equal(w.text, "a");
    resolve(&q, 8, "dddd");
    assert_string_equal(w.text, "a");
    resolve(&q, 99, "x"); /* never put */
    assert_string_equal(w.text, "a");
    resolve(&q, 7, "bb");
    assert_string_equal(w.text, "abcd-");
    assert_int_equal(q.bytes, 0);
    resolve(&q, 7, "x"); /* written already */
    put(&q, 0, "f", 6);
    assert_string_equal(w.text, "abcd-f");
    output_queue_free(&q);
}

static void call(struct output_queue *q, const char *text, int64_t time)
{
    struct ready ready = message(text, time);
    struct err err;

    ready.at.side = ready.flow.client;
    assert_int_equal(output_queue_put(q, 0, &ready, &err), 0);
}

static void late_calls_go_before_replies(void **state)
{
    struct written w = { 0 };
    struct output_queue q;

    (void)state;
    output_queue_init(&q, note, &w);
    put(&q, 1, "?", 2); /* of the call of frame 1 */
    put(&q, 2, "?", 4); /* of the call of frame 3 */
    call(&q, "a", 1);
    assert_string_equal(w.text, "a");
    resolve(&q, 1, "A");
    assert_string_equal(w.text, "aA");
    call(&q, "b", 3);
    resolve(&q, 2, "B");
    assert_string_equal(w.text, "aAbB");

    put(&q, 3, "?", 6);
    put(&q, 0, "x", 7); /* another reply, which may tell what a handle is */
    put(&q, 4, "?", 8);
    call(&q, "c", 5); /* not before that */
    call(&q, "d", 9); /* nor before what was before it */
    resolve(&q, 3, "C");
    assert_string_equal(w.text, "aAbBCxc");
    resolve(&q, 4, "D");
    assert_string_equal(w.text, "aAbBCxcDd");
    output_queue_free(&q);
}

static void the_end_writes_what_is_known(void **state)
{
    struct written w = { 0 };
    struct output_queue q;
    struct err err;

    (void)state;
    output_queue_init(&q, note, &w);
    put(&q, 1, "?", 1);
    put(&q, 0, "b", 2);
    assert_int_equal(output_queue_end(&q, &err), 0);
    assert_string_equal(w.text, "?b");
    put(&q, 2, "?", 3); /* freed unwritten */
    output_queue_free(&q);
    assert_string_equal(w.text, "?b");
}

static void memory_is_bounded(void **state)
{
    enum { BIG = 1 << 20 };
    struct written w = { 0 };
    struct ready ready = { 0 };
    struct output_queue q;
    struct err err;
    uint8_t *data = calloc(1, BIG);

    (void)state;
    assert_non_null(data);
    data[0] = 'x';
    ready.message = (struct rewritten){ data, BIG, BIG, REWRITE_WHOLE };
    output_queue_init(&q, note, &w);
    put(&q, 1, "?", 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(output_queue_put(&q, 0, &ready, &err), 0);
        assert_true(q.bytes <= OUTPUT_QUEUE_MAX);
    }
    assert_int_equal(q.overflows, 1);
    assert_int_equal(w.count, 101); /* nothing waits any more behind the reply that was given up */
    assert_int_equal(w.text[0], '?');
    resolve(&q, 1, "late");
    assert_int_equal(w.count, 101);
    output_queue_free(&q);
    free(data);
}

static void failures_are_passed_on(void **state)
{
    struct written w = { .fail = true };
    struct ready ready = message("a", 1);
    struct output_queue q;
    struct err err;

    (void)state;
    output_queue_init(&q, note, &w);
    assert_int_equal(output_queue_put(&q, 0, &ready, &err), -ERR_SYSTEM);
    put(&q, 1, "?", 1);
    put(&q, 0, "b", 2);
    assert_int_equal(output_queue_resolve(&q, 1, &ready, &err), -ERR_SYSTEM);
    output_queue_free(&q);
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
