/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_record_stream.c
 *
 * Records over a socket pair.  The peer is this program's own: what it writes is a table of bytes,
 * what it must get is one of texts.
 */
#include "net/record_stream.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { RECORD_MAX = 1 << 20, OUTPUT_STOP = 1 << 20 };

struct seen {
    struct loop *loop;
    struct record_stream *stream;
    char text[4096]; /* records, each with a "," */
    size_t text_len;
    uint64_t records, bytes;
    int end; /* enum record_end, or -1 */
    bool free_at_once, echo, quiet;
    uint32_t hold_after;
    struct timer timer;
    struct bytes soon[RECORD_SOON]; /* announced, from |soon_at| to |soon_end| not yet delivered */
    uint32_t soon_at, soon_end;
};

static void on_soon(void *ctx, const uint8_t *data, uint32_t len)
{
    struct seen *s = ctx;

    assert_true(s->soon_end - s->soon_at < RECORD_SOON);
    s->soon[s->soon_end++ % RECORD_SOON] = (struct bytes){ data, len };
}

static int on_record(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct seen *s = ctx;

    s->records++;
    s->bytes += len;
    if (s->soon_at < s->soon_end) {
        assert_ptr_equal(s->soon[s->soon_at % RECORD_SOON].data, data);
        assert_int_equal(s->soon[s->soon_at++ % RECORD_SOON].len, len);
    }
    if (!s->quiet)
        s->text_len += (size_t)snprintf(s->text + s->text_len, sizeof(s->text) - s->text_len,
                                        "%.*s,", (int)len, (const char *)data);
    if (s->free_at_once) {
        record_stream_free(s->stream);
        s->stream = NULL;
        loop_stop(s->loop);
        return 0;
    }
    if (s->records == s->hold_after) {
        record_stream_hold(s->stream);
        s->soon_at = s->soon_end; /* what waits may move */
    }
    if (s->echo)
        return record_stream_send(s->stream, &(struct iovec){ (void *)(uintptr_t)data, len }, 1,
                                  err);
    return 0;
}

static int on_over(void *ctx, enum record_end end, int errno_value, struct err *err)
{
    struct seen *s = ctx;

    (void)errno_value;
    (void)err;
    s->end = (int)end;
    record_stream_free(s->stream);
    s->stream = NULL;
    loop_stop(s->loop);
    return 0;
}

static int end_loop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* Our end of the pair; the peer's. */
static int begin(struct seen *s)
{
    struct record_limits limits = { RECORD_MAX, OUTPUT_STOP };
    struct record_host host = { on_record, on_over, s, on_soon };
    struct err err;
    int pair[2];

    s->end = -1;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
    s->loop = loop_new(&err);
    assert_non_null(s->loop);
    s->stream = record_stream_new(s->loop, pair[0], &limits, &host, &err);
    assert_non_null(s->stream);
    return pair[1];
}

static void run(struct seen *s, int64_t ns)
{
    struct err err = { 0 };

    s->timer = (struct timer){ .due = end_loop, .ctx = s->loop };
    assert_int_equal(loop_set(s->loop, &s->timer, loop_clock() + ns, &err), 0);
    if (loop_run(s->loop, &err) < 0)
        fail_msg("%s", err.text);
    loop_unset(s->loop, &s->timer);
}

static void leave_pair(struct seen *s, int peer)
{
    record_stream_free(s->stream);
    loop_free(s->loop);
    close(peer);
}

/* --- input */

static const struct {
    const char *what;
    const char *bytes;
    size_t len;
    const char *records;
    int end;
} inputs[] = {
    { "one fragment", "\x80\0\0\3abc", 7, "abc,", RECORD_CLOSED },
    { "two records", "\x80\0\0\1a\x80\0\0\2bc", 11, "a,bc,", RECORD_CLOSED },
    { "three fragments", "\0\0\0\1a\0\0\0\2bc\x80\0\0\1d", 16, "abcd,", RECORD_CLOSED },
    { "empty fragments", "\0\0\0\0\0\0\0\1x\0\0\0\0\x80\0\0\0", 17, "x,", RECORD_CLOSED },
    { "an empty record", "\x80\0\0\0", 4, ",", RECORD_CLOSED },
    { "after fragments another", "\0\0\0\1a\x80\0\0\1b\x80\0\0\1c", 15, "ab,c,", RECORD_CLOSED },
    { "cut in a mark", "\x80\0\0", 3, "", RECORD_CUT },
    { "cut in a fragment", "\x80\0\0\3ab", 6, "", RECORD_CUT },
    { "cut between fragments", "\0\0\0\1a", 5, "", RECORD_CUT },
    { "too long", "\x80\x10\0\1a", 5, "", RECORD_TOO_LONG },
    { "too long in sum", "\0\0\0\1a\x80\x10\0\0", 9, "", RECORD_TOO_LONG },
    { "nothing", "", 0, "", RECORD_CLOSED },
};

static void test_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
        for (size_t step = 1; step <= 64; step *= 4) { /* bytes that come at once */
            struct seen s = { 0 };
            int peer = begin(&s);

            for (size_t at = 0; at < inputs[i].len && s.end < 0; at += step) {
                size_t left = inputs[i].len - at;

                assert_true(write(peer, inputs[i].bytes + at, left < step ? left : step) > 0);
                run(&s, 0);
            }
            if (s.end < 0)
                shutdown(peer, SHUT_WR);
            if (s.end < 0)
                run(&s, INT64_C(2000000000));
            if (s.end != inputs[i].end || strcmp(s.text, inputs[i].records) != 0)
                fail_msg("%s by %zu: end %d, records \"%s\"", inputs[i].what, step, s.end, s.text);
            leave_pair(&s, peer);
        }
    }
}

static void test_freed_while_delivering(void **state)
{
    struct seen s = { .free_at_once = true };
    int peer = begin(&s);

    (void)state;
    assert_int_equal(write(peer, "\x80\0\0\1a\x80\0\0\1b", 10), 10);
    run(&s, INT64_C(2000000000));
    assert_string_equal(s.text, "a,");
    leave_pair(&s, peer);
}

static void test_held(void **state)
{
    struct seen s = { .hold_after = 2 };
    int peer = begin(&s);
    struct err err;

    (void)state;
    assert_int_equal(write(peer, "\x80\0\0\1a\x80\0\0\1b\x80\0\0\1c", 15), 15);
    run(&s, 20000000);
    assert_string_equal(s.text, "a,b,");
    assert_int_equal(record_stream_resume(s.stream, &err), 0);
    run(&s, 20000000);
    assert_string_equal(s.text, "a,b,c,");
    leave_pair(&s, peer);
}

/* Those of one fragment are announced before the first of them is delivered. */
static void test_announced(void **state)
{
    static const char bytes[] = "\x80\0\0\1a\x80\0\0\2bc\0\0\0\1d\x80\0\0\1e\x80\0\0\1f";
    struct seen s = { 0 };
    int peer = begin(&s);
    uint8_t many[40 * 5];

    (void)state;
    assert_int_equal(write(peer, bytes, sizeof(bytes) - 1), sizeof(bytes) - 1);
    run(&s, 20000000);
    assert_string_equal(s.text, "a,bc,de,f,");
    assert_int_equal(s.soon_end, 3);
    for (size_t i = 0; i < sizeof(many); i += 5)
        memcpy(many + i, "\x80\0\0\1x", 5);
    assert_int_equal(write(peer, many, sizeof(many)), sizeof(many));
    run(&s, 20000000);
    assert_int_equal(s.records, 44);
    assert_int_equal(s.soon_end, 43);
    leave_pair(&s, peer);
}

/* A record of fragments without bytes never ends; what is kept of it does not grow. */
static void test_empty_fragments(void **state)
{
    struct seen s = { 0 };
    int peer = begin(&s);
    static const uint8_t marks[1 << 16];

    (void)state;
    for (int i = 0; i < 200; i++) { /* 13 MB */
        assert_int_equal(write(peer, marks, sizeof(marks)), sizeof(marks));
        run(&s, 0);
    }
    assert_int_equal(s.end, -1);
    assert_in_range(s.stream->in.cap, 0, 2 * RECORD_READ);
    assert_int_equal(write(peer, "\x80\0\0\1x", 5), 5);
    run(&s, 20000000);
    assert_string_equal(s.text, "x,");
    leave_pair(&s, peer);
}

/* --- output */

/* A peer that sends and does not read is stopped; everything it sent is answered once it reads. */
static void test_output_is_bounded(void **state)
{
    enum { RECORDS = 3000, SIZE = 4096 };
    struct seen s = { .echo = true, .quiet = true };
    int peer = begin(&s);
    static uint8_t record[SIZE + 4], in[1 << 16];
    uint64_t written = 0, got = 0, most = 0, want = (uint64_t)RECORDS * (SIZE + 4);

    (void)state;
    fcntl(peer, F_SETFL, O_NONBLOCK);
    store_be32(record, UINT32_C(0x80000000) | SIZE);
    for (int idle = 0; idle < 50;) { /* until nothing moves */
        size_t at = written % sizeof(record);
        ssize_t n = written < want ? write(peer, record + at, sizeof(record) - at) : -1;

        idle = n > 0 ? 0 : idle + 1;
        written += n > 0 ? (uint64_t)n : 0;
        run(&s, n > 0 ? 0 : 1000000);
        most = record_stream_output(s.stream) > most ? record_stream_output(s.stream) : most;
    }
    assert_true(written < want);
    assert_in_range(most, OUTPUT_STOP, OUTPUT_STOP + 2 * sizeof(record));
    for (int idle = 0; got < want && idle < 500;) {
        size_t at = written % sizeof(record);
        ssize_t n = read(peer, in, sizeof(in));

        idle = n > 0 ? 0 : idle + 1;
        got += n > 0 ? (uint64_t)n : 0;
        n = written < want ? write(peer, record + at, sizeof(record) - at) : -1;
        written += n > 0 ? (uint64_t)n : 0;
        run(&s, 100000);
    }
    assert_int_equal(got, want);
    assert_int_equal(s.records, RECORDS);
    leave_pair(&s, peer);
}

/* What waits is sent before the end of a peer that only stopped sending is reported. */
static void test_half_closed(void **state)
{
    struct seen s = { .echo = true };
    int peer = begin(&s);
    char in[16];

    (void)state;
    assert_int_equal(write(peer, "\x80\0\0\2hi", 6), 6);
    shutdown(peer, SHUT_WR);
    run(&s, INT64_C(2000000000));
    assert_int_equal(s.end, RECORD_CLOSED);
    assert_int_equal(read(peer, in, sizeof(in)), 6);
    assert_memory_equal(in, "\x80\0\0\2hi", 6);
    leave_pair(&s, peer);
}

/* --- timers of the loop */

struct tick {
    struct timer timer;
    int number;
};
static int order[512], order_count;

static int tick(void *ctx, struct err *err)
{
    (void)err;
    order[order_count++] = ((struct tick *)ctx)->number;
    return 0;
}

static void test_timers(void **state)
{
    enum { TICKS = 300 };
    static struct tick ticks[TICKS];
    struct seen s = { 0 };
    struct err err;
    int64_t now = loop_clock();
    int last = -1;

    (void)state;
    s.loop = loop_new(&err);
    for (int i = 0; i < TICKS; i++) { /* in a mixed order, each set twice, some taken back */
        int number = i * 7 % TICKS;

        ticks[i] = (struct tick){ { .due = tick, .ctx = &ticks[i] }, number };
        assert_int_equal(loop_set(s.loop, &ticks[i].timer, now + number % 13 * 999, &err), 0);
        assert_int_equal(loop_set(s.loop, &ticks[i].timer, now + number * 1000, &err), 0);
    }
    for (int i = 0; i < TICKS; i++)
        if (ticks[i].number % 3 == 1)
            loop_unset(s.loop, &ticks[i].timer);
    run(&s, 20000000);
    assert_int_equal(order_count, TICKS - TICKS / 3);
    for (int i = 0; i < order_count; i++) {
        assert_int_not_equal(order[i] % 3, 1);
        assert_true(order[i] > last);
        last = order[i];
    }
    loop_free(s.loop);
}

/* --- tails */

enum { TAILED = 300, TAIL_MOST = 40000 };

/* Records with tails of all lengths, to a peer that reads a part at a time, against the same bytes
 * put together by hand. */
static void test_tails(void **state)
{
    static uint8_t source[TAIL_MOST], got[1 << 16];
    struct seen s = { 0 };
    struct err err = { 0 };
    int peer = begin(&s);
    struct buf expected = { 0 };
    size_t at = 0;
    uint32_t seed = 7;

    (void)state;
    for (uint32_t i = 0; i < TAIL_MOST; i++)
        source[i] = (uint8_t)(i * 7 + i / 251);
    for (uint32_t i = 0; i < TAILED; i++) {
        uint32_t head = (seed = seed * 1664525 + 1013904223) >> 8;
        uint32_t tail = i % 3 ? head / 256 % TAIL_MOST : i; /* short ones, too: they are copied */
        uint8_t mark[4];

        head = i % 50 == 9 ? 70000 % TAIL_MOST : 4 * (head % 64);
        store_be32(mark, (head + ((tail + 3) & ~3u)) | 0x80000000u);
        assert_int_equal(buf_append(&expected, mark, 4), 0);
        assert_int_equal(buf_append(&expected, source, head), 0);
        assert_int_equal(buf_append(&expected, source, tail), 0);
        assert_int_equal(buf_append(&expected, "\0\0\0", -tail & 3), 0);
        assert_int_equal(record_stream_send_with(s.stream, &(struct iovec){ source, head }, 1,
                                                 (struct bytes){ source, tail }, &err),
                         0);
        assert_true(record_stream_copies(s.stream) <= record_stream_output(s.stream));
        if (i % 8 == 7)
            run(&s, 0);
        if (i % 16 == 15) {
            ssize_t part = recv(peer, got, 1 + seed % sizeof(got), MSG_DONTWAIT);

            assert_true(part > 0);
            assert_memory_equal(got, expected.data + at, part);
            at += (size_t)part;
        }
        while (at < expected.len && i + 1 == TAILED) {
            ssize_t part;

            run(&s, 0);
            part = recv(peer, got, sizeof(got), MSG_DONTWAIT);
            assert_true(part > 0);
            assert_memory_equal(got, expected.data + at, part);
            at += (size_t)part;
        }
    }
    assert_int_equal(record_stream_output(s.stream), 0);
    assert_int_equal(record_stream_copies(s.stream), 0);
    assert_null(s.stream->filling);
    buf_free(&expected);
    leave_pair(&s, peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_freed_while_delivering),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_announced),
        cmocka_unit_test(test_empty_fragments),
        cmocka_unit_test(test_output_is_bounded),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_timers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
