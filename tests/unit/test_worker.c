/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames through the worker's thread: all of them, unchanged, in order, and errors come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "base/queue.h"
#include "link/worker.h"

#include <pthread.h>
#include <stdlib.h>

/* What the consumer has seen; read by the tests only after worker_drain or worker_free. */
struct seen {
    uint64_t frames, bytes, wrong;
    uint64_t fail_at; /* frame number */
    pthread_t thread;
    useconds_t pause;
};

static uint8_t byte_of(uint64_t number, uint32_t at)
{
    return (uint8_t)(number * 7 + at * 13);
}

static int consume(void *ctx, const struct frame *frame, struct err *err)
{
    struct seen *seen = ctx;
    if (frame->number == seen->fail_at)
        return err_set(err, ERR_INPUT, "frame %d", (int)frame->number);
    seen->thread = pthread_self();
    seen->frames++;
    seen->bytes += frame->cap_len;
    seen->wrong += frame->number != seen->frames || frame->time != -(int64_t)frame->number ||
                   frame->wire_len != frame->cap_len + 3 || frame->link_type != 113;
    for (uint32_t i = 0; i < frame->cap_len; i++)
        seen->wrong += frame->data[i] != byte_of(frame->number, i);
    if (seen->pause)
        usleep(seen->pause);
    return 0;
}

static struct worker *begin(struct seen *seen)
{
    struct err err;
    struct worker *w = worker_new(consume, seen, &err);
    assert_non_null(w);
    return w;
}

/* The caller's bytes are gone as soon as worker_frame returns. */
static int send(struct worker *w, uint64_t number, uint32_t len, struct err *err)
{
    uint8_t *data = malloc(len ? len : 1);
    struct frame frame = { number, -(int64_t)number, data, len, len + 3, 113 };
    for (uint32_t i = 0; i < len; i++)
        data[i] = byte_of(number, i);
    int result = worker_frame(w, &frame, err);
    memset(data, 0, len);
    free(data);
    return result;
}

static void test_order(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    struct worker *w = begin(&seen);
    struct err err;
    uint64_t bytes = 0;
    uint32_t len = 1;
    for (uint64_t i = 1; i <= 20000; i++) {
        len = len * 1103515245 + 12345;
        bytes += len >> 16 & 1023;
        assert_int_equal(send(w, i, len >> 16 & 1023, &err), 0);
    }
    assert_int_equal(worker_drain(w, &err), 0);
    assert_int_equal(seen.frames, 20000);
    assert_int_equal(seen.bytes, bytes);
    assert_int_equal(seen.wrong, 0);
    assert_false(pthread_equal(seen.thread, pthread_self()));
    worker_free(w);
}

/* Frames of no bytes, of exactly a batch, around it, and far beyond. */
static void test_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0,      1,      7,      8,       9, QUEUE_BATCH_BYTES - 64,
                                      262144, 262143, 262145, 5000000, 0, QUEUE_BATCH_BYTES - 40 };
    struct seen seen = { 0 };
    struct worker *w = begin(&seen);
    struct err err;
    uint64_t number = 0;
    for (int round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            assert_int_equal(send(w, ++number, sizes[i], &err), 0);
    assert_int_equal(worker_drain(w, &err), 0);
    assert_int_equal(seen.frames, number);
    assert_int_equal(seen.wrong, 0);
    worker_free(w);
}

/* A slow consumer holds the producer up; draining again and again changes nothing. */
static void test_full_queue(void **state)
{
    (void)state;
    struct seen seen = { .pause = 200 };
    struct worker *w = begin(&seen);
    struct err err;
    assert_int_equal(worker_drain(w, &err), 0);
    for (uint64_t i = 1; i <= 60; i++) {
        assert_int_equal(send(w, i, QUEUE_BATCH_BYTES / 3, &err), 0);
        if (i % 20 == 0) {
            assert_int_equal(worker_drain(w, &err), 0);
            assert_int_equal(seen.frames, i);
        }
    }
    assert_int_equal(worker_drain(w, &err), 0);
    assert_int_equal(seen.frames, 60);
    assert_int_equal(seen.wrong, 0);
    worker_free(w);
}

/* The consumer's error comes back from a later frame or from the drain, and from all after it. */
static void test_failure(void **state)
{
    (void)state;
    struct seen seen = { .fail_at = 5 };
    struct worker *w = begin(&seen);
    struct err err = { 0 };
    for (uint64_t i = 1; i <= 9; i++)
        assert_int_equal(send(w, i, 100, &err), 0); /* one batch: not known yet */
    assert_int_equal(worker_drain(w, &err), -ERR_INPUT);
    assert_string_equal(err.text, "frame 5");
    assert_int_equal(seen.frames, 4);
    assert_int_equal(send(w, 10, 1, NULL), -ERR_INPUT);
    assert_int_equal(worker_drain(w, NULL), -ERR_INPUT);
    assert_int_equal(seen.frames, 4);
    worker_free(w);
}

static void test_failure_while_queueing(void **state)
{
    (void)state;
    struct seen seen = { .fail_at = 3 };
    struct worker *w = begin(&seen);
    struct err err;
    int result = 0;
    for (uint64_t i = 1; i <= 1000 && !result; i++)
        result = send(w, i, QUEUE_BATCH_BYTES / 2, &err);
    assert_int_equal(result, -ERR_INPUT);
    worker_free(w);
}

/* Given up with work waiting: returns soon, without consuming all of it. */
static void test_free_drops(void **state)
{
    (void)state;
    struct seen seen = { .pause = 1000 };
    struct worker *w = begin(&seen);
    struct err err;
    for (uint64_t i = 1; i <= 21; i++)
        assert_int_equal(send(w, i, QUEUE_BATCH_BYTES / 3, &err), 0);
    worker_free(w);
    assert_true(seen.frames < 21);
    worker_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_failure_while_queueing),
        cmocka_unit_test(test_free_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
