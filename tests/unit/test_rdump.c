/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replay dumps: what is written comes back, and damage is found wherever it is. */
#include "rdump_samples.h"
#include "base/digest.h"
#include "rdump/rdump_check.h"
#include "rdump/rdump_format.h"
#include "wire/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

static struct rdump_writer *new_writer(struct buf *out)
{
    struct err err = { 0 };
    struct rdump_writer *w = rdump_writer_new(memory_write, out, &err);

    assert_non_null(w);
    return w;
}

static void write_all(struct buf *out, const union rdump_record *records,
                      const enum rdump_kind *kinds, size_t count)
{
    struct rdump_writer *w = new_writer(out);
    struct err err = { 0 };

    for (size_t i = 0; i < count; i++)
        assert_int_equal(rdump_put(w, kinds[i], &records[i], &err), 0);
    rdump_writer_free(w);
}

static void make_small(struct buf *out)
{
    union rdump_record records[16];
    enum rdump_kind kinds[16];
    size_t count = sample_small(records, kinds);

    write_all(out, records, kinds, count);
}

/* Reads all; returns what the last call said, *|got| becomes how many records came. */
static int read_all(const void *data, size_t len, size_t *got, struct err *err)
{
    int fd = sample_file(data, len), result = 1;
    struct rdump_reader *r;
    struct err again;
    enum rdump_kind kind;
    const void *record;

    assert_true(fd >= 0);
    memset(err, 0, sizeof(*err));
    *got = 0;
    r = rdump_reader_new(fd, "small", err);
    if (!r)
        result = -err->code;
    while (result > 0) {
        result = rdump_next(r, &kind, &record, err);
        *got += result > 0;
    }
    if (r && result < 0) /* it stays so */
        assert_int_equal(rdump_next(r, &kind, &record, &again), result);
    rdump_reader_free(r);
    close(fd);
    return result;
}

static void every_kind_comes_back(void **state)
{
    enum { COUNT = 20000 };
    union rdump_record *records = calloc(COUNT, sizeof(*records));
    enum rdump_kind *kinds = calloc(COUNT, sizeof(*kinds)), kind;
    uint32_t(*lists)[SAMPLE_LISTS] = calloc(COUNT, sizeof(*lists));
    struct samples *s = malloc(sizeof(*s));
    struct buf stream = { 0 }, again = { 0 };
    struct err err = { 0 };
    struct rdump_reader *r;
    const void *record;
    int fd;

    (void)state;
    samples_init(s, 1);
    for (unsigned i = 0; i < COUNT; i++) {
        kinds[i] = i + 1 == COUNT ? RDUMP_END : 1 + i % (RDUMP_KIND_MAX - 2);
        sample_rdump(s, kinds[i], &records[i], lists[i]);
    }
    write_all(&stream, records, kinds, COUNT);
    fd = sample_file(stream.data, stream.len);
    r = rdump_reader_new(fd, "s", &err);
    assert_non_null(r);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(rdump_next(r, &kind, &record, &err), 1);
        assert_int_equal(kind, kinds[i]);
        assert_true(same_rdump(kind, record, &records[i]));
    }
    assert_int_equal(rdump_next(r, &kind, &record, &err), 0);
    assert_int_equal(rdump_next(r, &kind, &record, &err), 0);
    rdump_reader_free(r);
    close(fd);
    write_all(&again, records, kinds, COUNT);
    assert_int_equal(again.len, stream.len);
    assert_memory_equal(again.data, stream.data, stream.len);
    buf_free(&stream);
    buf_free(&again);
    free(records);
    free(kinds);
    free(lists);
    free(s);
}

/* The decoder of operations sets each field on its own. */
static void nothing_stays_of_the_operation_before(void **state)
{
    static const uint32_t numbers[] = { 1, 2 };
    static const uint8_t text[] = "abcd";
    /* static: what is between the members is compared, too */
    static const union rdump_record both[2] = {
        { .operation = { .source = 1,
                         .inferred = 2,
                         .unplayable = 3,
                         .time = 4,
                         .latency = 5,
                         .client = 6,
                         .server = 7,
                         .credential = 8,
                         .procedure = 9,
                         .status = 10,
                         .made = 11,
                         .arguments = { text, 4 },
                         .mask = 12,
                         .digest = 13,
                         .links = { text, 3 },
                         .results = { text, 2 },
                         .names = { text, 1 },
                         .dependencies = numbers,
                         .dependency_count = 2,
                         .copy = 14,
                         .cookie_from = 15,
                         .cookie_entries = 16,
                         .cookies = numbers,
                         .cookie_count = 2,
                         .forget = numbers,
                         .forget_count = 1 } },
        { .operation = { .source = 0 } },
    };
    struct buf stream = { 0 };
    struct rdump_writer *w = new_writer(&stream);
    struct err err = { 0 };
    struct rdump_reader *r;
    enum rdump_kind kind;
    const void *record;
    int fd;

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(rdump_put(w, RDUMP_OPERATION, &both[i % 2], &err), 0);
    assert_int_equal(rdump_put(w, RDUMP_END, &(struct rdump_end){ 0 }, &err), 0);
    rdump_writer_free(w);
    fd = sample_file(stream.data, stream.len);
    r = rdump_reader_new(fd, "s", &err);
    assert_non_null(r);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(rdump_next(r, &kind, &record, &err), 1);
        assert_true(same_rdump(kind, record, &both[i % 2]));
    }
    assert_memory_equal(record, &both[1], sizeof(both[1]));
    rdump_reader_free(r);
    close(fd);
    buf_free(&stream);
}

/* |record| alone, and back. */
static void comes_back(enum rdump_kind kind, const void *record)
{
    struct rdump_end end = { .hosts = 1 };
    struct buf stream = { 0 };
    struct rdump_writer *w = new_writer(&stream);
    struct err err = { 0 };
    struct rdump_reader *r;
    enum rdump_kind got;
    const void *back;
    int fd;

    assert_int_equal(rdump_put(w, kind, record, &err), 0);
    if (kind != RDUMP_END)
        assert_int_equal(rdump_put(w, RDUMP_END, &end, &err), 0);
    rdump_writer_free(w);
    fd = sample_file(stream.data, stream.len);
    r = rdump_reader_new(fd, "s", &err);
    assert_non_null(r);
    assert_int_equal(rdump_next(r, &got, &back, &err), 1);
    assert_int_equal(got, kind);
    assert_true(same_rdump(kind, back, record));
    rdump_reader_free(r);
    close(fd);
    buf_free(&stream);
}

#define COMES_BACK(KIND, TYPE, ...)                                                                \
    do {                                                                                           \
        union rdump_record r = { .TYPE = { __VA_ARGS__ } };                                        \
        comes_back(RDUMP_##KIND, &r);                                                              \
    } while (0)

static void single_fields_come_back(void **state)
{
    static const struct bytes text = { (const uint8_t *)"\0\xff", 2 };
    static const uint32_t far[] = { 0, 0, 1, UINT32_MAX - 1, UINT32_MAX, UINT32_MAX };

    (void)state;
    COMES_BACK(TRACE, trace, 0);
    COMES_BACK(TRACE, trace, .time = INT64_MIN);
    COMES_BACK(TRACE, trace, .horizon = UINT32_MAX);
    COMES_BACK(TRACE, trace, .fine = UINT8_MAX);
    COMES_BACK(TRACE, trace, .copies = UINT32_MAX);
    COMES_BACK(TRACE, trace, .tool = text);
    COMES_BACK(TRACE, trace, .selection = text);
    COMES_BACK(TRACE, trace, .results = UINT8_MAX);
    COMES_BACK(HOST, host, .number = UINT32_MAX);
    COMES_BACK(HOST, host, .address = text);
    COMES_BACK(CREDENTIAL, credential, .number = UINT32_MAX);
    COMES_BACK(CREDENTIAL, credential, .flavor = UINT32_MAX);
    COMES_BACK(CREDENTIAL, credential, .uid = UINT32_MAX);
    COMES_BACK(CREDENTIAL, credential, .gid = UINT32_MAX);
    COMES_BACK(CREDENTIAL, credential, .gids = text);
    COMES_BACK(CREDENTIAL, credential, .machine = text);
    COMES_BACK(OBJECT, object, .number = UINT32_MAX);
    COMES_BACK(OBJECT, object, .server = UINT32_MAX);
    COMES_BACK(OBJECT, object, .type = UINT8_MAX);
    COMES_BACK(OBJECT, object, .knows = UINT16_MAX);
    COMES_BACK(OBJECT, object, .mode = UINT32_MAX);
    COMES_BACK(OBJECT, object, .uid = UINT32_MAX);
    COMES_BACK(OBJECT, object, .gid = UINT32_MAX);
    COMES_BACK(OBJECT, object, .nlink = UINT32_MAX);
    COMES_BACK(OBJECT, object, .rdev = { UINT32_MAX, 0 });
    COMES_BACK(OBJECT, object, .rdev = { 0, UINT32_MAX });
    COMES_BACK(OBJECT, object, .size = UINT64_MAX);
    COMES_BACK(OBJECT, object, .atime = INT64_MIN);
    COMES_BACK(OBJECT, object, .mtime = INT64_MAX);
    COMES_BACK(OBJECT, object, .ctime = INT64_MIN);
    COMES_BACK(OBJECT, object, .link = text);
    COMES_BACK(OBJECT, object, .root = text);
    COMES_BACK(OBJECT, object, .source = INT64_MIN);
    COMES_BACK(OBJECT, object, .copy = UINT32_MAX);
    COMES_BACK(OBJECT, object, .used = UINT8_MAX);
    COMES_BACK(ENTRY, entry, .parent = UINT32_MAX);
    COMES_BACK(ENTRY, entry, .object = UINT32_MAX);
    COMES_BACK(ENTRY, entry, .name = text);
    COMES_BACK(OPERATION, operation, .source = INT64_MAX);
    COMES_BACK(OPERATION, operation, .inferred = UINT8_MAX);
    COMES_BACK(OPERATION, operation, .unplayable = UINT8_MAX);
    COMES_BACK(OPERATION, operation, .time = INT64_MIN);
    COMES_BACK(OPERATION, operation, .latency = INT64_MIN);
    COMES_BACK(OPERATION, operation, .latency = INT64_MAX);
    COMES_BACK(OPERATION, operation, .client = UINT32_MAX);
    COMES_BACK(OPERATION, operation, .server = UINT32_MAX);
    COMES_BACK(OPERATION, operation, .credential = UINT32_MAX);
    COMES_BACK(OPERATION, operation, .procedure = UINT8_MAX);
    COMES_BACK(OPERATION, operation, .status = UINT32_MAX);
    COMES_BACK(OPERATION, operation, .made = UINT32_MAX);
    COMES_BACK(OPERATION, operation, .arguments = text);
    COMES_BACK(OPERATION, operation, .mask = UINT32_MAX);
    COMES_BACK(OPERATION, operation, .digest = UINT64_MAX);
    COMES_BACK(OPERATION, operation, .digest = 1);
    COMES_BACK(OPERATION, operation, .links = { (const uint8_t *)"\0\0\0\2", 4 });
    COMES_BACK(OPERATION, operation, .results = { (const uint8_t *)"\0\0\0\2", 4 });
    COMES_BACK(OPERATION, operation, .names = { (const uint8_t *)"\0\0\0\1f", 5 });
    COMES_BACK(OPERATION, operation, .cookie_from = UINT32_MAX, .cookie_entries = 1);
    COMES_BACK(OPERATION, operation, .cookies = far, .cookie_count = 2);
    COMES_BACK(OPERATION, operation, .forget = far, .forget_count = 2);
    COMES_BACK(OPERATION, operation, .cookies = far, .cookie_count = 2, .forget = far + 1,
               .forget_count = 1, .dependencies = far, .dependency_count = 1);
    COMES_BACK(OPERATION, operation, .dependencies = far, .dependency_count = 6);
    COMES_BACK(OPERATION, operation, .copy = UINT32_MAX);
    COMES_BACK(END, end, .hosts = UINT64_MAX);
    COMES_BACK(END, end, .credentials = UINT64_MAX);
    COMES_BACK(END, end, .objects = UINT64_MAX);
    COMES_BACK(END, end, .entries = UINT64_MAX);
    COMES_BACK(END, end, .operations = UINT64_MAX);
    COMES_BACK(END, end, .inferred = UINT64_MAX);
    COMES_BACK(END, end, .unplayable = UINT64_MAX);
    COMES_BACK(END, end, .dependencies = UINT64_MAX);
    COMES_BACK(END, end, .last_time = INT64_MIN);
}

/* As many as the horizon allows; and further ones that need five bytes each. */
static void long_lists_come_back(void **state)
{
    enum { MANY = 262144 };
    uint32_t *list = calloc(MANY, sizeof(*list));
    union rdump_record r = { .operation = { .dependencies = list, .dependency_count = MANY } };

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        list[i] = i + 1;
    comes_back(RDUMP_OPERATION, &r);
    list[0] = UINT32_MAX;
    r.operation.dependency_count = 1;
    comes_back(RDUMP_OPERATION, &r);
    free(list);
}

static void totals_are_filled_in(void **state)
{
    static const struct rdump_end wanted = { 2, 1, 2, 1, 5, 1, 1, 2, 3000000 };
    struct buf stream = { 0 };
    struct err err = { 0 };
    struct rdump_reader *r;
    enum rdump_kind kind;
    const void *record;
    int fd;

    (void)state;
    make_small(&stream);
    fd = sample_file(stream.data, stream.len);
    r = rdump_reader_new(fd, "s", &err);
    do
        assert_int_equal(rdump_next(r, &kind, &record, &err), 1);
    while (kind != RDUMP_END);
    assert_memory_equal(record, &wanted, sizeof(wanted));
    rdump_reader_free(r);
    close(fd);
    buf_free(&stream);
}

static void writer_refuses(void **state)
{
    static const uint32_t falling[] = { 5, 4 };
    static uint8_t data[NFSR_RECORD_MAX];
    const struct rdump_operation bad[] = {
        { .dependencies = falling, .dependency_count = 2 },
        { .arguments = { data, sizeof(data) } },
    };
    const struct rdump_host host = { 0 };
    struct rdump_end end = { 0 };
    struct buf stream = { 0 };
    struct rdump_writer *w;
    struct err err;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        w = new_writer(&stream);
        assert_int_equal(rdump_put(w, RDUMP_OPERATION, &bad[i], &err), -ERR_USAGE);
        assert_non_null(strstr(err.text, i ? "longer than 16515072 bytes" : "dependencies that"));
        assert_int_equal(rdump_put(w, RDUMP_HOST, &host, &err), -ERR_USAGE); /* and stays so */
        rdump_writer_free(w);
    }
    w = new_writer(&stream);
    assert_int_equal(rdump_put(w, RDUMP_END, &end, &err), 0);
    assert_int_equal(rdump_put(w, RDUMP_HOST, &host, &err), -ERR_USAGE);
    rdump_writer_free(w);
    w = new_writer(&stream);
    assert_int_equal(rdump_put(w, RDUMP_KIND_MAX, &host, &err), -ERR_USAGE);
    rdump_writer_free(w);
    buf_free(&stream);
}

/* Blocks are closed by their length alone; a reader has one in memory. */
static void blocks_are_bounded(void **state)
{
    struct buf stream = { 0 };
    struct rdump_writer *w = new_writer(&stream);
    struct err err = { 0 };
    struct rdump_end end = { 0 };
    size_t at, blocks = 0, longest = 0;

    (void)state;
    for (int64_t i = 0; i < 100000; i++) {
        struct rdump_operation o = { .source = i + 1, .time = i * INT64_C(3000000000) };

        assert_int_equal(rdump_put(w, RDUMP_OPERATION, &o, &err), 0);
    }
    assert_int_equal(rdump_put(w, RDUMP_END, &end, &err), 0);
    rdump_writer_free(w);
    for (at = NFSR_HEADER_LEN + load_le32(stream.data + 12) + NFSR_CHECKSUM_LEN; at < stream.len;
         blocks++) {
        size_t len = load_le32(stream.data + at + 20);

        longest = len > longest ? len : longest;
        at += NFSR_BLOCK_HEADER_LEN + len + NFSR_CHECKSUM_LEN;
    }
    assert_int_equal(at, stream.len);
    assert_int_equal(blocks, stream.len / NFSR_BLOCK_TARGET + 1);
    assert_in_range(longest, NFSR_BLOCK_TARGET, NFSR_BLOCK_TARGET + 100);
    buf_free(&stream);
}

static void every_flipped_bit_is_found(void **state)
{
    struct rdump_summary summary;
    struct buf stream = { 0 };
    struct err err = { 0 };
    int fd;

    (void)state;
    wire_init();
    make_small(&stream);
    fd = sample_file(stream.data, stream.len);
    assert_true(fd >= 0);
    assert_int_equal(rdump_check(fd, "small", &summary, &err), 0);
    assert_int_equal(summary.findings, 0);
    rdump_summary_free(&summary);
    for (size_t bit = 0; bit < stream.len * 8; bit++) {
        uint8_t byte = stream.data[bit / 8] ^ (uint8_t)(1 << bit % 8);

        assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
        lseek(fd, 0, SEEK_SET);
        err = (struct err){ 0 };
        assert_int_equal(rdump_check(fd, "small", &summary, &err), -ERR_INPUT);
        assert_int_equal(err.code, ERR_INPUT);
        assert_int_equal(strncmp(err.text, "small: ", 7), 0);
        rdump_summary_free(&summary);
        assert_int_equal(pwrite(fd, &stream.data[bit / 8], 1, (off_t)(bit / 8)), 1);
    }
    close(fd);
    buf_free(&stream);
}

static void every_truncation_is_found(void **state)
{
    struct buf stream = { 0 };
    struct err err;
    size_t got;

    (void)state;
    make_small(&stream);
    assert_int_equal(read_all(stream.data, stream.len, &got, &err), 0);
    assert_int_equal(got, 13);
    for (size_t len = 0; len < stream.len; len++) {
        char expected[64] = "small: not a replay dump, at byte 0";

        if (len)
            snprintf(expected, sizeof(expected), "small: truncated at offset %zu, ", len);
        assert_int_equal(read_all(stream.data, len, &got, &err), -ERR_INPUT);
        assert_int_equal(got, 0); /* it has one block */
        assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
    }
    buf_free(&stream);
}

static void others_are_refused(void **state)
{
    struct buf stream = { 0 };
    struct err err;
    size_t got;

    (void)state;
    assert_int_equal(read_all("SQLite format 3", 16, &got, &err), -ERR_INPUT);
    assert_string_equal(err.text, "small: not a replay dump, at byte 0");
    make_small(&stream);
    memcpy(stream.data, NFSR_MAGIC, NFSR_MAGIC_LEN);
    assert_int_equal(read_all(stream.data, stream.len, &got, &err), -ERR_INPUT);
    assert_string_equal(err.text, "small: not a replay dump, at byte 0");
    memcpy(stream.data, RDUMP_MAGIC, NFSR_MAGIC_LEN);
    stream.data[8] = 3;
    stream.data[10] = 7;
    assert_int_equal(read_all(stream.data, stream.len, &got, &err), -ERR_INPUT);
    assert_string_equal(err.text, "small: is of rdump version 3.7, this program reads version 2 "
                                  "(up to 2.0)");
    stream.data[8] = 2;
    stream.data[10] = 0;
    assert_int_equal(buf_append(&stream, "", 1), 0);
    assert_int_equal(read_all(stream.data, stream.len, &got, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "bytes after the end record"));
    assert_int_equal(got, 13);
    buf_free(&stream);
}

/* A block with this payload behind the header of a dump. */
static int read_payload(const void *payload, size_t len, uint32_t records, struct err *err)
{
    uint8_t block[256] = { 0 };
    struct buf stream = { 0 };
    size_t got;
    int result;

    rdump_writer_free(new_writer(&stream));
    store_le32(block, RDUMP_MARKER);
    store_le32(block + 4, NFSR_BLOCK_RECORDS);
    store_le64(block + 8, 1);
    store_le32(block + 16, records);
    store_le32(block + 20, (uint32_t)len);
    memcpy(block + NFSR_BLOCK_HEADER_LEN, payload, len);
    len += NFSR_BLOCK_HEADER_LEN;
    store_le64(block + len, XXH3_64bits(block, len));
    assert_int_equal(buf_append(&stream, block, len + NFSR_CHECKSUM_LEN), 0);
    result = read_all(stream.data, stream.len, &got, err);
    buf_free(&stream);
    return result;
}

/* Bits 13 and 14 of an operation are its digest and its dependencies. */
static void impossible_fields_are_found(void **state)
{
    static const uint8_t end[] = { RDUMP_END, 2, 0x80, 0 };
    static const struct {
        const char *what;
        uint8_t len, bytes[16];
    } cases[] = {
        { NULL, 9, { 6, 7, 0x80, 0x80, 1, 3, 0, 1, 7 } },
        { "dependencies passes", 9, { 6, 7, 0x80, 0x80, 1, 4, 0, 1, 7 } },
        { "bytes left over", 9, { 6, 7, 0x80, 0x80, 1, 2, 0, 1, 7 } },
        { "dependencies passes", 11, { 6, 9, 0x80, 0x80, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x10 } },
        { NULL, 11, { 6, 9, 0x80, 0x80, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f } },
        { "32 bits", 12, { 6, 10, 0x80, 0x80, 1, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 1 } },
        { "dependencies passes",
          15,
          { 6, 13, 0x80, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
        { NULL, 6, { 6, 4, 0x80, 0x80, 1, 0 } },
        { NULL, 13, { 6, 11, 0x80, 0xc0, 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
        { "digest passes", 12, { 6, 10, 0x80, 0xc0, 0, 1, 2, 3, 4, 5, 6, 7 } },
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t payload[32];
        int result;

        memcpy(payload, cases[i].bytes, cases[i].len);
        memcpy(payload + cases[i].len, end, sizeof(end));
        result = read_payload(payload, cases[i].len + sizeof(end), 2, &err);
        assert_int_equal(result, cases[i].what ? -ERR_INPUT : 0);
        if (cases[i].what)
            assert_non_null(strstr(err.text, cases[i].what));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(nothing_stays_of_the_operation_before),
        cmocka_unit_test(single_fields_come_back),
        cmocka_unit_test(long_lists_come_back),
        cmocka_unit_test(totals_are_filled_in),
        cmocka_unit_test(writer_refuses),
        cmocka_unit_test(blocks_are_bounded),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(every_truncation_is_found),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(impossible_fields_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
