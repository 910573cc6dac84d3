/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_record_memory.c
 *
 * Many streams that share little memory.  Peers write long records into socket pairs, wholly or in
 * part; what the streams' buffers take is summed up here.
 */
#include "net/record_stream_parts.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { STREAMS = 60, RECORD = 512 << 10, ANSWER = 64 << 10, TOTAL = 12 << 20 };

struct side {
    struct lab *lab;
    struct record_stream *stream;
    int peer;
    size_t sent, got;
    uint32_t records;
};

struct lab {
    struct loop *loop;
    struct record_memory memory;
    struct record_limits limits;
    struct side sides[STREAMS];
    struct timer timer;
    uint32_t records, over;
    uint32_t answer; /* bytes of an answer to each record */
    uint64_t most;
};

static uint8_t record[4 + RECORD], answer[ANSWER];

static void measure(struct lab *lab)
{
    uint64_t held = 0;

    for (int i = 0; i < STREAMS; i++) {
        const struct record_stream *s = lab->sides[i].stream;

        if (s)
            held += s->in.cap + s->copies;
    }
    lab->most = held > lab->most ? held : lab->most;
}

static int on_record(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct side *side = ctx;
    struct lab *lab = side->lab;

    assert_int_equal(len, RECORD);
    assert_memory_equal(data, record + 4, len);
    side->records++;
    lab->records++;
    if (!lab->answer)
        return 0;
    return record_stream_send(side->stream, &(struct iovec){ answer, lab->answer }, 1, err);
}

static int on_over(void *ctx, enum record_end end, int errno_value, struct err *err)
{
    struct side *side = ctx;

    (void)end, (void)errno_value, (void)err;
    record_stream_free(side->stream);
    side->stream = NULL;
    side->lab->over++;
    return 0;
}

static int stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void run(struct lab *lab, int rounds)
{
    struct err err = { 0 };

    for (; rounds; rounds--) {
        lab->timer = (struct timer){ .due = stop, .ctx = lab->loop };
        assert_int_equal(loop_set(lab->loop, &lab->timer, loop_clock(), &err), 0);
        if (loop_run(lab->loop, &err) < 0)
            fail_msg("%s", err.text);
        loop_unset(lab->loop, &lab->timer);
        measure(lab);
    }
}

static void begin(struct lab *lab)
{
    struct err err = { 0 };

    *lab = (struct lab){ .limits = { RECORD, RECORD, ANSWER + 4, &lab->memory } };
    store_be32(record, 0x80000000 | RECORD);
    for (uint32_t i = 0; i < RECORD; i++)
        record[4 + i] = (uint8_t)(i * 7 + i / 255);
    lab->loop = loop_new(&err);
    assert_non_null(lab->loop);
    assert_int_equal(record_memory_init(&lab->memory, TOTAL, STREAMS, &lab->limits, &err), 0);
    for (int i = 0; i < STREAMS; i++) {
        struct side *side = &lab->sides[i];
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
                         0);
        side->lab = lab;
        side->peer = pair[1];
        side->stream = record_stream_new(lab->loop, pair[0], &lab->limits,
                                         &(struct record_host){ on_record, on_over, side }, &err);
        assert_non_null(side->stream);
    }
}

static void finish(struct lab *lab)
{
    for (int i = 0; i < STREAMS; i++) {
        record_stream_free(lab->sides[i].stream);
        if (lab->sides[i].peer >= 0)
            close(lab->sides[i].peer);
    }
    assert_int_equal(lab->memory.in.held, 0);
    assert_int_equal(lab->memory.out.held, 0);
    assert_int_equal(lab->memory.in.waiting + lab->memory.out.waiting, 0);
    assert_int_equal(lab->memory.in.granted + lab->memory.out.granted, 0);
    assert_in_range(lab->most, RECORD, TOTAL);
    loop_free(lab->loop);
}

/* Every peer writes up to |len| bytes of a record, in turn, until none gets any further. */
static void push(struct lab *lab, size_t len)
{
    for (int quiet = 0; quiet < 5;) {
        bool moved = false;

        for (int i = 0; i < STREAMS; i++) {
            struct side *side = &lab->sides[i];
            size_t left = len - side->sent;
            ssize_t n = left && side->stream ? send(side->peer, record + side->sent,
                                                    left < 30000 ? left : 30000, MSG_NOSIGNAL)
                                             : 0;

            if (n > 0)
                side->sent += (size_t)n;
            moved |= n > 0;
        }
        run(lab, 1);
        quiet = moved ? 0 : quiet + 1;
    }
}

/* All want to send more than there is room for: one after another does. */
static void test_whole_records(void **state)
{
    static struct lab lab;

    (void)state;
    begin(&lab);
    for (int time = 1; time <= 3; time++) {
        for (int i = 0; i < STREAMS; i++)
            lab.sides[i].sent = 0;
        push(&lab, sizeof(record));
        for (int i = 0; i < STREAMS; i++)
            assert_int_equal(lab.sides[i].records, time);
        assert_true(lab.memory.in.waits > 10);
        assert_int_equal(lab.memory.in.waiting, 0);
    }
    finish(&lab);
}

/* Halves of records fill all there is; when connections end that hold them, others go on. */
static void test_half_records(void **state)
{
    static struct lab lab;
    uint32_t waiting, closed = 0;

    (void)state;
    begin(&lab);
    push(&lab, sizeof(record) / 2);
    waiting = lab.memory.in.waiting;
    assert_in_range(waiting, STREAMS / 2, STREAMS);
    assert_int_equal(lab.records, 0);
    for (int i = 0; i < STREAMS && closed < 3; i++) {
        struct side *side = &lab.sides[i];

        if (record_stream_is_waiting(side->stream))
            continue;
        assert_true(record_stream_hoards(side->stream));
        close(side->peer);
        side->peer = -1;
        run(&lab, 3);
        assert_null(side->stream);
        closed++;
    }
    /* one may have been favoured */
    assert_in_range(lab.memory.in.waiting, waiting - 3, waiting - 2);
    finish(&lab);
}

static void take_answers(struct side *side)
{
    uint8_t bytes[1 << 16];
    ssize_t n;

    while ((n = recv(side->peer, bytes, sizeof(bytes), 0)) > 0)
        side->got += (size_t)n;
}

/* Peers that do not read their answers hold no more than there is; when they read, all are served.
 */
static void test_answers(void **state)
{
    enum { TIMES = 8 };
    static struct lab lab;
    int64_t end;

    (void)state;
    begin(&lab);
    lab.answer = ANSWER;
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < STREAMS; i++)
            if (lab.sides[i].sent == sizeof(record))
                lab.sides[i].sent = 0;
        push(&lab, sizeof(record));
    }
    assert_true(lab.memory.out.waits > 0);
    assert_true(lab.records < STREAMS * TIMES);
    end = loop_clock() + INT64_C(20000000000);
    for (bool done = false; !done;) { /* now they read, and finish what they have begun */
        done = true;
        for (int i = 0; i < STREAMS; i++) {
            take_answers(&lab.sides[i]);
            done &= lab.sides[i].sent == sizeof(record) &&
                    lab.sides[i].got == lab.sides[i].records * (size_t)(ANSWER + 4);
        }
        push(&lab, sizeof(record));
        assert_true(loop_clock() < end);
    }
    assert_int_equal(lab.memory.in.waiting + lab.memory.out.waiting, 0);
    finish(&lab);
}

static void test_too_little(void **state)
{
    struct record_limits limits = { RECORD, RECORD, ANSWER + 4, NULL };
    struct record_memory memory;
    struct err err;

    (void)state;
    assert_int_equal(record_memory_init(&memory, 1 << 20, STREAMS, &limits, &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "MiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_records),
        cmocka_unit_test(test_half_records),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_too_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
