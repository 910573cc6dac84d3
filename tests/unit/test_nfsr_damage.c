/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .nfsr: damage is found wherever it is, and what stood before it is delivered. */
#include "nfsr_samples.h"
#include "record/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { RECORDS = 12, PER_BLOCK = 4 };

struct small {
    struct samples samples;
    struct record records[RECORDS];
    struct buf stream;
    size_t block_end[RECORDS / PER_BLOCK]; /* offsets */
    size_t delivered;
};

static int check_and_count(void *ctx, const struct record *record, struct err *err)
{
    struct small *s = ctx;

    (void)err;
    assert_in_range(s->delivered, 0, RECORDS - 1);
    assert_true(same_record(&s->records[s->delivered], record));
    s->delivered++;
    return 0;
}

/* Times at will would close blocks where this test doesn't want it. */
static void keep_to_one_span(struct record *r)
{
    int64_t *times[2] = { NULL, NULL };

    switch (r->kind) {
    case RECORD_FLOW:
        times[0] = &r->flow.time;
        break;
    case RECORD_OBJECT:
        times[0] = &r->object.time;
        break;
    case RECORD_NAME:
        times[0] = &r->name.time;
        break;
    case RECORD_OPERATION:
        times[0] = &r->operation.call.time;
        times[1] = &r->operation.reply.time;
        break;
    case RECORD_REPEAT:
        times[0] = &r->repeat.sighting.time;
        break;
    case RECORD_PROBLEM:
        times[0] = &r->problem.time;
        break;
    }
    for (unsigned i = 0; i < 2; i++)
        if (times[i])
            *times[i] &= 0xffffff;
}

static int setup(void **state)
{
    struct small *s = calloc(1, sizeof(*s));
    struct err err = { 0 };
    struct nfsr_writer *w;
    struct sink sink;

    samples_init(&s->samples, 7);
    w = nfsr_writer_new(memory_write, &s->stream, &err);
    sink = nfsr_writer_sink(w);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct record *r = &s->records[i];

        sample_record(&s->samples, i + 1 == RECORDS ? RECORD_END : 1 + i % RECORD_END, r);
        if (i + 1 < RECORDS && r->kind == RECORD_END)
            sample_record(&s->samples, RECORD_COUNTER, r);
        keep_to_one_span(r);
        assert_int_equal(sink.put(sink.ctx, r, &err), 0);
        if (i % PER_BLOCK == PER_BLOCK - 1) {
            assert_int_equal(nfsr_writer_flush(w, &err), 0);
            s->block_end[i / PER_BLOCK] = s->stream.len;
        }
    }
    nfsr_writer_free(w);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct small *s = *state;

    buf_free(&s->stream);
    free(s);
    return 0;
}

static int read_small(struct small *s, const uint8_t *data, size_t len, struct err *err)
{
    struct memory_source source = { data, len, 0, 0 };
    struct sink sink = { check_and_count, s };

    s->delivered = 0;
    memset(err, 0, sizeof(*err));
    return nfsr_read_stream(memory_read, &source, "small.nfsr", &sink, err);
}

/* Records in blocks that end at or before |offset|. */
static size_t whole_before(const struct small *s, size_t offset)
{
    size_t blocks = 0;

    while (blocks < RECORDS / PER_BLOCK && s->block_end[blocks] <= offset)
        blocks++;
    return blocks * PER_BLOCK;
}

static void every_flipped_bit_is_found(void **state)
{
    struct small *s = *state;
    uint8_t *bad = malloc(s->stream.len);
    struct err err;

    assert_int_equal(read_small(s, s->stream.data, s->stream.len, &err), 0);
    assert_int_equal(s->delivered, RECORDS);
    memcpy(bad, s->stream.data, s->stream.len);
    for (size_t bit = 0; bit < s->stream.len * 8; bit++) {
        int result;

        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        result = read_small(s, bad, s->stream.len, &err);
        if (bit / 8 < NFSR_MAGIC_LEN) {
            assert_int_equal(result, NFSR_NOT_MINE);
        } else {
            assert_int_equal(result, -ERR_INPUT);
            assert_int_equal(err.code, ERR_INPUT);
            assert_int_equal(strncmp(err.text, "small.nfsr: ", 12), 0);
        }
        assert_int_equal(s->delivered, whole_before(s, bit / 8));
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bad);
}

static void every_truncation_is_found(void **state)
{
    struct small *s = *state;
    struct err err;

    assert_int_equal(read_small(s, s->stream.data, 0, &err), NFSR_NOT_MINE);
    for (size_t len = 1; len < s->stream.len; len++) {
        char expected[64];
        /* a copy of exactly this size, so that a sanitizer sees reading beyond */
        uint8_t *cut = malloc(len);

        memcpy(cut, s->stream.data, len);
        snprintf(expected, sizeof(expected), "small.nfsr: truncated at offset %zu, ", len);
        assert_int_equal(read_small(s, cut, len, &err), -ERR_INPUT);
        assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
        assert_int_equal(s->delivered, whole_before(s, len));
        free(cut);
    }
}

static void messages_say_where(void **state)
{
    struct small *s = *state;
    uint8_t *bad = malloc(s->stream.len + 1);
    size_t at = s->block_end[0];
    char expected[128];
    struct err err;

    memcpy(bad, s->stream.data, s->stream.len);
    bad[at + 30] ^= 4;
    assert_int_equal(read_small(s, bad, s->stream.len, &err), -ERR_INPUT);
    snprintf(expected, sizeof(expected),
             "small.nfsr: block 2 at offset %zu: wrong checksum: its bytes were changed", at);
    assert_string_equal(err.text, expected);
    bad[at + 30] ^= 4;

    bad[s->stream.len] = 0;
    assert_int_equal(read_small(s, bad, s->stream.len + 1, &err), -ERR_INPUT);
    snprintf(expected, sizeof(expected), "small.nfsr: bytes after the end record, at offset %zu",
             s->stream.len);
    assert_string_equal(err.text, expected);
    assert_int_equal(s->delivered, RECORDS);

    assert_int_equal(read_small(s, bad, at, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "the end record is missing"));
    free(bad);
}

static void missing_and_swapped_blocks_are_found(void **state)
{
    struct small *s = *state;
    struct buf bad = { 0 };
    struct err err;

    buf_append(&bad, s->stream.data, s->block_end[0]);
    buf_append(&bad, s->stream.data + s->block_end[1], s->block_end[2] - s->block_end[1]);
    assert_int_equal(read_small(s, bad.data, bad.len, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "block 2 at offset"));
    assert_non_null(strstr(err.text, "has number 3"));
    assert_int_equal(s->delivered, PER_BLOCK);

    bad.len = 0;
    buf_append(&bad, s->stream.data, s->block_end[0]);
    buf_append(&bad, s->stream.data + s->block_end[0] - 100, 100);
    assert_int_equal(read_small(s, bad.data, bad.len, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "no block begins here"));
    buf_free(&bad);
}

static void others_are_not_mine(void **state)
{
    static const char *const others[] = {
        "\xd4\xc3\xb2\xa1\x02\x00\x04\x00",
        "\x0a\x0d\x0d\x0a\x1c\x00\x00\x00",
        "SQLite format 3",
        "\x89PNG\r\n\x1a\n",
        "\x89NFSR\n\x1a, line ends changed",
        "a",
    };
    struct small *s = *state;
    struct err err;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(read_small(s, (const uint8_t *)others[i], strlen(others[i]), &err),
                         NFSR_NOT_MINE);
        assert_int_equal(s->delivered, 0);
    }
}

/* Streams made by hand, with right checksums, that no writer makes. */
struct craft {
    struct buf stream;
    size_t block;
    uint64_t sequence;
};

static void craft_sum(struct craft *c, size_t start)
{
    uint8_t sum[8];

    store_le64(sum, XXH3_64bits(c->stream.data + start, c->stream.len - start));
    assert_int_equal(buf_append(&c->stream, sum, 8), 0);
}

/* The header of |good| with another version; |text| after its text. */
static void craft_header(struct craft *c, const struct buf *good, unsigned major, unsigned minor,
                         const char *text)
{
    uint32_t text_len = load_le32(good->data + 12);

    memset(c, 0, sizeof(*c));
    assert_int_equal(buf_append(&c->stream, good->data, 16 + text_len), 0);
    assert_int_equal(buf_append(&c->stream, text, strlen(text)), 0);
    c->stream.data[8] = (uint8_t)major;
    c->stream.data[10] = (uint8_t)minor;
    store_le32(c->stream.data + 12, text_len + (uint32_t)strlen(text));
    craft_sum(c, 0);
}

static void craft_block(struct craft *c, uint32_t kind, uint32_t records, const char *payload,
                        size_t len)
{
    uint8_t head[24] = "NFRB";
    size_t start = c->stream.len;

    store_le32(head + 4, kind);
    store_le64(head + 8, ++c->sequence);
    store_le32(head + 16, records);
    store_le32(head + 20, (uint32_t)len);
    assert_int_equal(buf_append(&c->stream, head, sizeof(head)), 0);
    assert_int_equal(buf_append(&c->stream, payload, len), 0);
    craft_sum(c, start);
}

#define BLOCK(c, kind, records, payload) craft_block(c, kind, records, payload, sizeof(payload) - 1)

static int count_one(void *ctx, const struct record *record, struct err *err)
{
    (void)err;
    ((size_t *)ctx)[record->kind]++;
    if (record->kind == RECORD_COUNTER) {
        assert_int_equal(record->counter.name.len, 2);
        assert_memory_equal(record->counter.name.data, "ab", 2);
        assert_int_equal(record->counter.value, 300);
    }
    return 0;
}

static int read_craft(struct craft *c, size_t seen[RECORD_KIND_MAX], struct err *err)
{
    struct memory_source source = { c->stream.data, c->stream.len, 0, 0 };
    struct sink sink = { count_one, seen };
    int result;

    memset(seen, 0, RECORD_KIND_MAX * sizeof(*seen));
    result = nfsr_read_stream(memory_read, &source, "craft", &sink, err);
    buf_free(&c->stream);
    return result;
}

/* counter { "ab", 300 }: kind 9, length 6, presence 3, length 2, a, b, 300 */
#define COUNTER                                                                                    \
    "\x09\x06\x03\x02"                                                                             \
    "ab\xac\x02"
#define LAST "\x0a\x02\x80\x00" /* end, nothing present, in two bytes of presence */

static void later_versions(void **state)
{
    struct small *s = *state;
    size_t seen[RECORD_KIND_MAX];
    struct craft c;
    struct err err;

    craft_header(&c, &s->stream, 2, 7, "");
    BLOCK(&c, 1, 1, LAST);
    assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
    assert_string_equal(err.text,
                        "craft: is of .nfsr version 2.7, this program reads version 1 (up to 1.5)");

    /* a later header may be anything behind the version */
    craft_header(&c, &s->stream, 2, 0, "");
    c.stream.len = 16;
    memset(c.stream.data + 12, 0xff, 4);
    assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "version 2.0"));

    /* a later minor version: a third field in counter, a record kind 13, a block kind 2 */
    craft_header(&c, &s->stream, 1, 6, "text that is new\n");
    BLOCK(&c, 1, 2,
          COUNTER "\x09\x07\x07\x02"
                  "ab\xac\x02\x2a");
    BLOCK(&c, 2, 77, "anything");
    BLOCK(&c, 1, 3, "\x0d\x03xyz" COUNTER LAST);
    assert_int_equal(read_craft(&c, seen, &err), 0);
    assert_int_equal(seen[RECORD_COUNTER], 3);
    assert_int_equal(seen[RECORD_END], 1);

    /* the same in this version: broken */
    craft_header(&c, &s->stream, 1, 5, "");
    BLOCK(&c, 1, 2,
          COUNTER "\x09\x07\x07\x02"
                  "ab\xac\x02\x2a");
    assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
    assert_int_equal(seen[RECORD_COUNTER], 1);
    assert_non_null(strstr(err.text, "record 2 at offset"));
    assert_non_null(strstr(err.text, "counter record: has fields that its version lacks"));

    /* this version with another layout */
    craft_header(&c, &s->stream, 1, 5, "more\n");
    BLOCK(&c, 1, 1, LAST);
    assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "its layout is not that version's"));
}

static void broken_payloads_are_refused(void **state)
{
    static const struct {
        uint32_t kind, records;
        const char *payload;
        size_t len;
        const char *message;
    } rows[] = {
#define ROW(kind, records, payload, message)                                                       \
    { kind, records, COUNTER payload, sizeof(COUNTER payload) - 1, message }
        ROW(1, 2, "\x00\x01\x00", "record of unknown kind 0"),
        ROW(1, 2, "\x0d\x01\x00", "record of unknown kind 13"),
        ROW(1, 2, "\x09", "record passes the block's end"),
        ROW(1, 2,
            "\x09\x06\x03\x02"
            "ab\xac",
            "record passes the block's end"),
        ROW(1, 2, "\x09\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x03", "record passes the block's"),
        ROW(1, 2, "\x09\x00", "counter record: its presence word passes its end"),
        ROW(1, 2,
            "\x09\x02\x03\x05"
            "abcdef",
            "field name passes the record's end"),
        ROW(1, 2,
            "\x09\x04\x01\x03"
            "ab",
            "field name passes the record's end"),
        ROW(1, 2, "\x09\x02\x02\x80", "field value passes the record's end"),
        ROW(1, 2, "\x09\x0b\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            "field value passes the record's end"),
        ROW(1, 2, "\x09\x03\x02\x01\x01", "counter record: 1 bytes left over"),
        ROW(1, 2, "\x01\x04\x82\x00\x80\x02", "flow record: field transport is out of its type"),
        ROW(1, 2, "\x01\x05\x90\x00\x80\x80\x04", "field client_port is out of its type's range"),
        ROW(1, 2, "\x01\x07\x81\x00\x80\x80\x80\x80\x10", "field id is out of its type's range"),
        ROW(1, 2, "\x01\x02\x84\x00", "field client is not an address"),
        ROW(1, 2, "\x01\x03\x84\x00\x05", "field client is not an address"),
        ROW(1, 2, "\x01\x06\x84\x00\x04\x7f\x00\x00", "field client passes the record's end"),
        ROW(1, 2, "\x06\x06\x80\x80\x80\x80\x20\x01", "data_digest passes the record's end"),
        ROW(1, 2, "\x06\x05\x80\x80\x80\x80\x40", "counterpart.number passes the record's end"),
        ROW(1, 2, "\x06\x0b\x80\x80\x80\x80\x80\x01\x80\x80\x80\x80\x10",
            "counterpart.copy is out of its type's range"),
        ROW(1, 2,
            "\x0b\x04\x08\x03"
            "ab",
            "field data passes the record's end"),
        ROW(1, 3, LAST COUNTER, "end record: not the last of its block"),
        ROW(1, 3, LAST, "end record: not the last of its block"),
        ROW(1, 1, "x", "1 bytes and 0 records left over"),
        ROW(1, 5, "", "0 bytes and 4 records left over"),
        ROW(2, 1, "", "unknown kind 2"),
    };
    struct small *s = *state;
    size_t seen[RECORD_KIND_MAX];
    struct craft c;
    struct err err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        craft_header(&c, &s->stream, 1, 0, "");
        craft_block(&c, rows[i].kind, rows[i].records, rows[i].payload, rows[i].len);
        assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
        if (!strstr(err.text, rows[i].message))
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.text, rows[i].message);
        assert_non_null(strstr(err.text, "craft: block 1 at offset "));
        assert_int_equal(seen[RECORD_COUNTER], rows[i].kind == 1);
        assert_int_equal(seen[RECORD_END], 0);
    }
    craft_header(&c, &s->stream, 1, 0, "");
    BLOCK(&c, 1, 0, "");
    store_le32(c.stream.data + c.stream.len - 12, NFSR_BLOCK_MAX + 1);
    assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "length 16777217, over 16777216"));
    craft_header(&c, &s->stream, 1, 0, "");
    store_le32(c.stream.data + 12, UINT32_MAX);
    assert_int_equal(read_craft(&c, seen, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "4294967295 bytes of text, over 65536"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(every_truncation_is_found),
        cmocka_unit_test(messages_say_where),
        cmocka_unit_test(missing_and_swapped_blocks_are_found),
        cmocka_unit_test(others_are_not_mine),
        cmocka_unit_test(later_versions),
        cmocka_unit_test(broken_payloads_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
