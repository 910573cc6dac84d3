/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .nfsr: what is written comes back; blocks close where nfsr.h says. */
#include "nfsr_samples.h"
#include "record/frames.h"
#include "record/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

/* Compares what a stream delivers with the records that went into it. */
struct expected {
    struct record *records;
    size_t count, at;
};

static int compare(void *ctx, const struct record *record, struct err *err)
{
    struct expected *e = ctx;

    (void)err;
    assert_in_range(e->at, 0, e->count - 1);
    assert_true(same_record(&e->records[e->at], record));
    e->at++;
    return 0;
}

static void write_all(struct buf *out, const struct record *records, size_t count)
{
    struct err err = { 0 };
    struct nfsr_writer *w = nfsr_writer_new(memory_write, out, &err);
    struct sink sink;

    assert_non_null(w);
    sink = nfsr_writer_sink(w);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sink.put(sink.ctx, &records[i], &err), 0);
    nfsr_writer_free(w);
}

static size_t count_blocks(const struct buf *stream)
{
    size_t at = NFSR_HEADER_LEN + load_le32(stream->data + 12) + NFSR_CHECKSUM_LEN, blocks = 0;

    for (; at < stream->len; blocks++)
        at += NFSR_BLOCK_HEADER_LEN + load_le32(stream->data + at + 20) + NFSR_CHECKSUM_LEN;
    assert_int_equal(at, stream->len);
    return blocks;
}

static void every_kind_comes_back(void **state)
{
    enum { COUNT = 20000 };
    struct record *records = calloc(COUNT, sizeof(*records));
    struct samples *s = malloc(sizeof(*s));
    struct expected e = { records, COUNT, 0 };
    struct sink sink = { compare, &e };
    struct memory_source source = { 0 };
    struct buf stream = { 0 }, again = { 0 };
    struct err err = { 0 };

    (void)state;
    samples_init(s, 1);
    for (unsigned i = 0; i < COUNT; i++)
        sample_record(s, i + 1 == COUNT ? RECORD_END : sample_kind(i), &records[i]);
    write_all(&stream, records, COUNT);
    assert_in_range(count_blocks(&stream), 2, COUNT);
    for (size_t chunk = 0; chunk < 3; chunk++) {
        source = (struct memory_source){ stream.data, stream.len, 0, chunk * 1000 };
        e.at = 0;
        assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
        assert_int_equal(e.at, COUNT);
    }
    /* the same records give the same bytes */
    write_all(&again, records, COUNT);
    assert_int_equal(again.len, stream.len);
    assert_memory_equal(again.data, stream.data, stream.len);
    buf_free(&stream);
    buf_free(&again);
    free(records);
    free(s);
}

/* The time 0 is one, and none is none; and every kind knows which of its fields are times. */
static void absent_times_come_back(void **state)
{
    struct record r[3] = { { .kind = RECORD_NAME, .name.time = 0 },
                           { .kind = RECORD_NAME, .name.time = TIME_NONE },
                           { .kind = RECORD_END, .end = { .first_time = TIME_NONE } } };
    struct expected e = { r, 3, 0 };
    struct sink sink = { compare, &e };
    struct buf stream = { 0 };
    struct memory_source source;
    struct err err = { 0 };

    (void)state;
    for (unsigned kind = 0; kind < nfsr_format.kind_max; kind++) {
        uint64_t times = 0;
        for (unsigned i = 0; i < nfsr_format.kinds[kind].count; i++)
            if (nfsr_format.kinds[kind].fields[i].type == LAYOUT_TIME)
                times |= UINT64_C(1) << i;
        assert_true(nfsr_format.kinds[kind].times == times);
    }
    write_all(&stream, r, 3);
    source = (struct memory_source){ stream.data, stream.len, 0, 0 };
    assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
    assert_int_equal(e.at, 3);
    buf_free(&stream);
}

/* record_frames knows the fields that are numbers of frames, whatever their type. */
static void frames_are_known(void **state)
{
    struct record r = { 0 };

    (void)state;
    for (unsigned kind = 1; kind < nfsr_format.kind_max; kind++) {
        uint64_t *frames[RECORD_FRAMES_MAX];
        int count = 0, all;

        r.kind = (uint8_t)kind;
        all = record_frames(&r, frames);
        for (unsigned i = 0; i < nfsr_format.kinds[kind].count; i++) {
            const struct layout_field *f = &nfsr_format.kinds[kind].fields[i];
            size_t len = strlen(f->name);

            if (f->type == LAYOUT_FRAME || (len >= 5 && !strcmp(f->name + len - 5, "frame"))) {
                assert_in_range(count, 0, all - 1);
                assert_ptr_equal(frames[count], (char *)&r + f->offset);
                count++;
            }
        }
        assert_int_equal(count, all);
    }
}

/* One field at a time, at its largest and all others zero: presence bits and borders. */
static void single_fields_come_back(void **state)
{
    static const struct bytes text = { (const uint8_t *)"\0\xff", 2 };
    struct record r[10] = { 0 };
    struct expected e = { r, 10, 0 };
    struct sink sink = { compare, &e };
    struct buf stream = { 0 };
    struct memory_source source;
    struct err err = { 0 };

    (void)state;
    r[0] = (struct record){ .kind = RECORD_OPERATION };
    r[1] = (struct record){ .kind = RECORD_OPERATION, .operation.id = UINT64_MAX };
    r[2] = (struct record){ .kind = RECORD_OPERATION, .operation.reply.time = INT64_MIN };
    r[3] = (struct record){ .kind = RECORD_OPERATION, .operation.data_digest[15] = 1 };
    r[4] = (struct record){ .kind = RECORD_OPERATION, .operation.rpc_status = INT32_MIN };
    r[5] = (struct record){ .kind = RECORD_COUNTER, .counter.name = text };
    r[6] = (struct record){ .kind = RECORD_PATH };
    r[7].kind = r[8].kind = RECORD_OPERATION;
    r[7].operation.counterpart.number = UINT64_MAX;
    r[8].operation.counterpart.copy = UINT32_MAX;
    r[9] = (struct record){ .kind = RECORD_END, .end.input_cut = true };
    write_all(&stream, r, 10);
    source = (struct memory_source){ stream.data, stream.len, 0, 1 };
    assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
    assert_int_equal(e.at, 10);
    buf_free(&stream);
}

static struct record operation_at(int64_t call, int64_t reply)
{
    return (struct record){ .kind = RECORD_OPERATION,
                            .operation = { .id = 1, .call.time = call, .reply.time = reply } };
}

static void blocks_close_by_time(void **state)
{
    const int64_t t = INT64_C(1700000000000000000), s = NFSR_BLOCK_SPAN;
    struct record steady[] = {
        operation_at(t, t + 5),          operation_at(t + 6, t + 7),
        operation_at(t + s, t + s + 5), /* the span is full: block 1 ends */
        operation_at(t + s, t + s + 10), operation_at(t + s + 20, 0),
        { .kind = RECORD_END },
    };
    struct record late[] = {
        /* calls given up long after they were seen don't cut blocks */
        operation_at(t, t + 5),       operation_at(t - 900 * s, 0), operation_at(t + 6, t + 7),
        operation_at(t - 800 * s, 0), operation_at(t + 8, t + 9),   operation_at(t - 700 * s, 0),
        operation_at(t + 10, t + 11), { .kind = RECORD_END },
    };
    struct record untimed[] = {
        { .kind = RECORD_COUNTER },
        operation_at(t, t + 5),
        { .kind = RECORD_COUNTER },
        { .kind = RECORD_END },
    };
    struct buf stream = { 0 };

    (void)state;
    write_all(&stream, steady, 6);
    assert_int_equal(count_blocks(&stream), 2);
    stream.len = 0;
    write_all(&stream, late, 8);
    assert_int_equal(count_blocks(&stream), 1);
    stream.len = 0;
    write_all(&stream, untimed, 4);
    assert_int_equal(count_blocks(&stream), 1);
    buf_free(&stream);
}

static void large_records_fit(void **state)
{
    size_t size = NFSR_RECORD_MAX - 4096;
    uint8_t *data = calloc(1, size + 4096);
    struct record r[] = {
        { .kind = RECORD_COUNTER, .counter = { { data, NFSR_BLOCK_TARGET - 1000 }, 1 } },
        { .kind = RECORD_COUNTER, .counter = { { data, (uint32_t)size }, 2 } },
        { .kind = RECORD_COUNTER, .counter = { { data, 5 }, 3 } },
        { .kind = RECORD_END },
    };
    struct expected e = { r, 4, 0 };
    struct sink sink = { compare, &e };
    struct buf stream = { 0 };
    struct memory_source source;
    struct err err = { 0 };
    struct nfsr_writer *w;

    (void)state;
    memset(data, 0xa5, size);
    write_all(&stream, r, 4);
    assert_int_equal(count_blocks(&stream), 2);
    source = (struct memory_source){ stream.data, stream.len, 0, 65536 };
    assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
    assert_int_equal(e.at, 4);

    r[1].counter.name.len = NFSR_RECORD_MAX;
    w = nfsr_writer_new(memory_write, &stream, &err);
    sink = nfsr_writer_sink(w);
    assert_int_equal(sink.put(sink.ctx, &r[1], &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "counter record longer than"));
    nfsr_writer_free(w);
    buf_free(&stream);
    free(data);
}

static void flush_closes_a_block(void **state)
{
    struct record r = { .kind = RECORD_COUNTER, .counter.value = 1 };
    struct record end = { .kind = RECORD_END };
    struct buf stream = { 0 };
    struct err err = { 0 };
    struct nfsr_writer *w = nfsr_writer_new(memory_write, &stream, &err);
    struct sink sink = nfsr_writer_sink(w);
    size_t header = stream.len;

    (void)state;
    assert_int_equal(nfsr_writer_flush(w, &err), 0); /* nothing to close */
    assert_int_equal(stream.len, header);
    assert_int_equal(sink.put(sink.ctx, &r, &err), 0);
    assert_int_equal(stream.len, header);
    assert_int_equal(nfsr_writer_flush(w, &err), 0);
    assert_int_equal(count_blocks(&stream), 1);
    assert_int_equal(sink.put(sink.ctx, &end, &err), 0);
    assert_int_equal(count_blocks(&stream), 2);
    assert_int_equal(nfsr_writer_flush(w, &err), 0);
    assert_int_equal(count_blocks(&stream), 2);
    assert_int_equal(sink.put(sink.ctx, &r, &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "after the end record"));
    nfsr_writer_free(w);
    buf_free(&stream);
}

static void impossible_records_are_refused(void **state)
{
    struct record bad[] = {
        { .kind = 0 },
        { .kind = RECORD_KIND_MAX },
        { .kind = 255 },
        { .kind = RECORD_FLOW, .flow.client.version = 5 },
    };
    struct buf stream = { 0 };
    struct err err = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct nfsr_writer *w = nfsr_writer_new(memory_write, &stream, &err);
        struct sink sink = nfsr_writer_sink(w);

        assert_int_equal(sink.put(sink.ctx, &bad[i], &err), -ERR_USAGE);
        nfsr_writer_free(w);
    }
    buf_free(&stream);
}

/* Writes fail from the |left|th on. */
static int full_disk(void *ctx, const void *data, size_t len, struct err *err)
{
    int *left = ctx;

    (void)data, (void)len;
    return (*left)-- > 0 ? 0 : err_set(err, ERR_SYSTEM, "x.nfsr: %s", strerror(ENOSPC));
}

static void write_errors_come_out(void **state)
{
    static uint8_t data[NFSR_BLOCK_TARGET];
    struct record large = { .kind = RECORD_COUNTER, .counter.name = { data, sizeof(data) } };
    struct record r = { .kind = RECORD_COUNTER, .counter.value = 1 };
    struct record end = { .kind = RECORD_END };
    struct err err = { 0 };
    struct nfsr_writer *w;
    struct sink sink;
    int left = 0;

    (void)state;
    assert_null(nfsr_writer_new(full_disk, &left, &err));
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_string_equal(err.text, "x.nfsr: No space left on device");

    left = 1;
    w = nfsr_writer_new(full_disk, &left, &err);
    assert_non_null(w);
    sink = nfsr_writer_sink(w);
    assert_int_equal(sink.put(sink.ctx, &r, &err), 0);
    assert_int_equal(nfsr_writer_flush(w, &err), -ERR_SYSTEM);
    assert_int_equal(sink.put(sink.ctx, &r, &err), -ERR_USAGE); /* no stream with a gap */
    assert_int_equal(left, -1);
    nfsr_writer_free(w);

    left = 1;
    w = nfsr_writer_new(full_disk, &left, &err);
    sink = nfsr_writer_sink(w);
    assert_int_equal(sink.put(sink.ctx, &large, &err), -ERR_SYSTEM);
    assert_int_equal(sink.put(sink.ctx, &r, &err), -ERR_USAGE);
    assert_string_equal(err.text, "record after a failed write");
    nfsr_writer_free(w);

    left = 1;
    w = nfsr_writer_new(full_disk, &left, &err);
    sink = nfsr_writer_sink(w);
    assert_int_equal(sink.put(sink.ctx, &end, &err), -ERR_SYSTEM);
    nfsr_writer_free(w);
}

static int refuse(void *ctx, const struct record *record, struct err *err)
{
    (void)ctx, (void)record;
    return err_set(err, ERR_SYSTEM, "the sink is full");
}

static ssize_t bad_read(void *ctx, void *data, size_t len, struct err *err)
{
    (void)ctx, (void)data, (void)len;
    return err_set(err, ERR_SYSTEM, "cannot read");
}

static void errors_of_others_pass_through(void **state)
{
    struct record end = { .kind = RECORD_END };
    struct sink sink = { refuse, NULL };
    struct buf stream = { 0 };
    struct memory_source source;
    struct err err = { 0 };

    (void)state;
    write_all(&stream, &end, 1);
    source = (struct memory_source){ stream.data, stream.len, 0, 0 };
    assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), -ERR_SYSTEM);
    assert_string_equal(err.text, "the sink is full");
    assert_int_equal(nfsr_read_stream(bad_read, NULL, "s", &sink, &err), -ERR_SYSTEM);
    assert_string_equal(err.text, "cannot read");
    buf_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back),  cmocka_unit_test(single_fields_come_back),
        cmocka_unit_test(absent_times_come_back), cmocka_unit_test(frames_are_known),
        cmocka_unit_test(blocks_close_by_time),   cmocka_unit_test(large_records_fit),
        cmocka_unit_test(flush_closes_a_block),   cmocka_unit_test(impossible_records_are_refused),
        cmocka_unit_test(write_errors_come_out),  cmocka_unit_test(errors_of_others_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
