/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture files of every form, whole and cut at every byte, through postproc/capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "capture/capture.h"
#include "capture/track.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKETS = 5 };

static const struct {
    int64_t time; /* whole microseconds, so that every format can say it */
    uint32_t cap_len, wire_len;
} packets[PACKETS] = {
    { INT64_C(1700000000000001000), 60, 60 },   { INT64_C(1700000000999999000), 0, 10 },
    { INT64_C(1700000001000000000), 17, 1500 }, { INT64_C(1699999999500000000), 256, 256 },
    { INT64_C(1700000002123456000), 61, 61 },
};

static char path[] = "/tmp/test_capture.XXXXXX";

static uint8_t byte_of(int packet, uint32_t at)
{
    return (uint8_t)(packet * 37 + at);
}

struct form {
    const char *name;
    uint32_t magic;
    bool swapped, nanoseconds;
    uint32_t extra; /* bytes at the end of record headers */
};

static const struct form forms[] = {
    { "microseconds", 0xa1b2c3d4, false, false, 0 },
    { "microseconds, swapped", 0xa1b2c3d4, true, false, 0 },
    { "nanoseconds", 0xa1b23c4d, false, true, 0 },
    { "nanoseconds, swapped", 0xa1b23c4d, true, true, 0 },
    { "modified", 0xa1b2cd34, false, false, 8 },
    { "modified, swapped", 0xa1b2cd34, true, false, 8 },
};

static void put32(struct buf *out, const struct form *form, uint32_t value)
{
    uint8_t bytes[4];

    if (form->swapped)
        store_be32(bytes, value);
    else
        store_le32(bytes, value);
    assert_int_equal(buf_append(out, bytes, 4), 0);
}

static void put16(struct buf *out, const struct form *form, uint16_t value)
{
    uint8_t bytes[2] = { (uint8_t)value, (uint8_t)(value >> 8) };

    if (form->swapped)
        store_be16(bytes, value);
    assert_int_equal(buf_append(out, bytes, 2), 0);
}

/* A pcap file; |starts| gets where each record begins, and the end. */
static void make_pcap(struct buf *out, const struct form *form, uint32_t link_type,
                      size_t starts[PACKETS + 1])
{
    static const uint8_t zeros[8];

    out->len = 0;
    put32(out, form, form->magic);
    put16(out, form, 2);
    put16(out, form, 4);
    put32(out, form, 0);
    put32(out, form, 0);
    put32(out, form, 65535);
    put32(out, form, link_type);
    for (int i = 0; i < PACKETS; i++) {
        starts[i] = out->len;
        put32(out, form, (uint32_t)(packets[i].time / 1000000000));
        put32(out, form, (uint32_t)(packets[i].time % 1000000000 / (form->nanoseconds ? 1 : 1000)));
        put32(out, form, packets[i].cap_len);
        put32(out, form, packets[i].wire_len);
        assert_int_equal(buf_append(out, zeros, form->extra), 0);
        for (uint32_t k = 0; k < packets[i].cap_len; k++) {
            uint8_t byte = byte_of(i, k);
            assert_int_equal(buf_append(out, &byte, 1), 0);
        }
    }
    starts[PACKETS] = out->len;
}

static void write_file(const void *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_TRUNC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    close(fd);
}

/* Reads the file: how many frames there were, the last result in *|result|. */
static int read_all(int link_type, int *result, struct err *err)
{
    struct input *input = input_open(path, true, err);
    struct capture *capture;
    struct frame frame;
    int frames = 0;

    assert_non_null(input);
    capture = capture_open(input, err);
    if (!capture) {
        *result = -err->code;
        input_close(input);
        return 0;
    }
    while ((*result = capture_next(capture, &frame, err)) == 1) {
        assert_true(frames < PACKETS);
        assert_int_equal(frame.number, frames + 1);
        assert_int_equal(frame.time, packets[frames].time);
        assert_int_equal(frame.cap_len, packets[frames].cap_len);
        assert_int_equal(frame.wire_len, packets[frames].wire_len);
        assert_int_equal(frame.link_type, link_type);
        for (uint32_t k = 0; k < frame.cap_len; k++)
            assert_int_equal(frame.data[k], byte_of(frames, k));
        frames++;
    }
    capture_close(capture);
    input_close(input);
    return frames;
}

static void whole_files_of_all_forms(void **state)
{
    size_t starts[PACKETS + 1];
    struct buf file = { 0 };
    struct err err;
    int result;

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        make_pcap(&file, &forms[i], 1, starts);
        write_file(file.data, file.len);
        assert_int_equal(read_all(1, &result, &err), PACKETS);
        assert_int_equal(result, 0);
    }
    buf_free(&file);
}

static void cut_at_every_byte(void **state)
{
    size_t starts[PACKETS + 1];
    struct buf file = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        make_pcap(&file, &forms[i], 1, starts);
        for (size_t cut = 1; cut < file.len; cut++) {
            struct err err = { 0 };
            char want[128];
            int result, whole = 0, frames;

            write_file(file.data, cut);
            frames = read_all(1, &result, &err);
            while (whole < PACKETS && starts[whole + 1] <= cut)
                whole++;
            if (cut < 24) {
                assert_int_equal(frames, 0);
                assert_int_equal(result, -ERR_INPUT);
                assert_non_null(strstr(err.text, path));
                assert_non_null(strstr(err.text, "byte 0"));
                continue;
            }
            assert_int_equal(frames, whole);
            if (cut == starts[whole]) {
                assert_int_equal(result, 0);
                continue;
            }
            assert_int_equal(result, -ERR_INPUT);
            snprintf(want, sizeof(want),
                     "%s: cut in the middle of packet %d, which begins at byte %zu", path,
                     whole + 1, starts[whole]);
            assert_string_equal(err.text, want);
        }
    }
    buf_free(&file);
}

static void damaged_record(void **state)
{
    size_t starts[PACKETS + 1];
    struct buf file = { 0 };
    struct err err = { 0 };
    char want[64];
    int result;

    (void)state;
    make_pcap(&file, &forms[0], 1, starts);
    store_le32(file.data + starts[3] + 8, 0x7fffffff);
    write_file(file.data, file.len);
    assert_int_equal(read_all(1, &result, &err), 3);
    assert_int_equal(result, -ERR_INPUT);
    snprintf(want, sizeof(want), "damaged at byte %zu, after packet 3", starts[3]);
    assert_non_null(strstr(err.text, want));
    buf_free(&file);
}

static void link_types(void **state)
{
    /* as they stand in files: tcpdump.org/linktypes */
    static const int types[] = { 0, 1, 101, 108, 113, 228, 229, 276, 104, 100 };
    size_t starts[PACKETS + 1];
    struct buf file = { 0 };
    struct err err;
    int result;

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        make_pcap(&file, &forms[0], (uint32_t)types[i], starts);
        write_file(file.data, file.len);
        assert_int_equal(read_all(types[i], &result, &err), PACKETS);
        assert_int_equal(result, 0);
    }
    buf_free(&file);
}

static void no_captures(void **state)
{
    static const struct {
        const char *data;
        size_t len;
        const char *says;
    } files[] = {
        { "", 0, ": empty" },
        { "x", 1, ": not a capture" },
        { "SQLite format 3", 16, ": not a capture" },
        { "\xd4\xc3\xb2\xa1", 4, "byte 0" },
        { "\x0a\x0d\x0d\x0a", 4, "byte 0" },
    };
    int result;

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct err err = { 0 };

        write_file(files[i].data, files[i].len);
        assert_int_equal(read_all(1, &result, &err), 0);
        assert_int_equal(result, -ERR_INPUT);
        assert_non_null(strstr(err.text, files[i].says));
        assert_non_null(strstr(err.text, path));
    }
}

static void gzip_into(struct buf *out, const uint8_t *data, size_t len)
{
    uint8_t *room = malloc(len + 1024);
    z_stream z = { .next_in = (uint8_t *)data, .avail_in = (uInt)len };

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = room;
    z.avail_out = (uInt)(len + 1024);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(buf_append(out, room, z.total_out), 0);
    deflateEnd(&z);
    free(room);
}

static void zstd_into(struct buf *out, const uint8_t *data, size_t len)
{
    size_t cap = ZSTD_compressBound(len), n;
    uint8_t *room = malloc(cap);

    n = ZSTD_compress(room, cap, data, len, 3);
    assert_false(ZSTD_isError(n));
    assert_int_equal(buf_append(out, room, n), 0);
    free(room);
}

static void digest_of_file(uint8_t digest[INPUT_DIGEST_LEN], uint64_t *size)
{
    struct input *input = input_open(path, true, NULL);

    assert_non_null(input);
    assert_int_equal(input_drain(input, NULL), 0);
    input_digest(input, digest);
    *size = input_offset(input);
    input_close(input);
}

typedef void compress_into(struct buf *out, const uint8_t *data, size_t len);

/* Compressed in one part or in several, the contents are the same. */
static void compressed(void **state)
{
    compress_into *const into[] = { gzip_into, zstd_into };
    uint8_t plain_digest[INPUT_DIGEST_LEN], digest[INPUT_DIGEST_LEN];
    size_t starts[PACKETS + 1];
    struct buf file = { 0 }, packed = { 0 };
    uint64_t plain_size, size;
    struct err err;
    int result;

    (void)state;
    make_pcap(&file, &forms[2], 1, starts);
    write_file(file.data, file.len);
    digest_of_file(plain_digest, &plain_size);
    assert_int_equal(plain_size, file.len);
    for (int i = 0; i < 2; i++)
        for (size_t parts = 1; parts <= 4; parts++) {
            packed.len = 0;
            for (size_t k = 0; k < parts; k++)
                into[i](&packed, file.data + file.len * k / parts,
                        file.len * (k + 1) / parts - file.len * k / parts);
            write_file(packed.data, packed.len);
            assert_int_equal(read_all(1, &result, &err), PACKETS);
            assert_int_equal(result, 0);
            digest_of_file(digest, &size);
            assert_int_equal(size, plain_size);
            assert_memory_equal(digest, plain_digest, sizeof(digest));
        }
    /* gzip's own padding */
    packed.len = 0;
    gzip_into(&packed, file.data, file.len);
    assert_int_equal(buf_append(&packed, "\0\0\0\0", 4), 0);
    write_file(packed.data, packed.len);
    assert_int_equal(read_all(1, &result, &err), PACKETS);
    assert_int_equal(result, 0);
    buf_free(&file);
    buf_free(&packed);
}

static void compressed_and_cut(void **state)
{
    compress_into *const into[] = { gzip_into, zstd_into };
    size_t starts[PACKETS + 1];
    struct buf file = { 0 }, packed = { 0 };
    int result;

    (void)state;
    make_pcap(&file, &forms[0], 1, starts);
    for (int i = 0; i < 2; i++) {
        packed.len = 0;
        into[i](&packed, file.data, file.len);
        for (size_t cut = 4; cut < packed.len; cut++) {
            struct err err = { 0 };

            write_file(packed.data, cut);
            assert_true(read_all(1, &result, &err) <= PACKETS);
            assert_int_equal(result, -ERR_INPUT);
            assert_non_null(strstr(err.text, i ? "zstd data end in the middle, at byte"
                                               : "gzip data end in the middle, at byte"));
        }
        for (size_t at = 12; at < packed.len - 8;
             at += 7) { /* a changed byte never passes for good */
            struct err err = { 0 };
            uint8_t old = packed.data[at];

            packed.data[at] ^= 0x55;
            write_file(packed.data, packed.len);
            packed.data[at] = old;
            if (i == 0) { /* zstd's one-shot form here has no checksum */
                struct input *input = input_open(path, false, &err);
                assert_non_null(input);
                assert_int_equal(input_drain(input, &err), -ERR_INPUT);
                assert_non_null(strstr(err.text, "gzip data"));
                input_close(input);
            }
        }
    }
    buf_free(&file);
    buf_free(&packed);
}

static void head_stays(void **state)
{
    struct buf file = { 0 };
    struct input *input;
    const uint8_t *head;
    uint8_t *all, digest[INPUT_DIGEST_LEN], head_digest[INPUT_DIGEST_LEN];
    size_t len = 0;
    ssize_t n;

    (void)state;
    for (uint32_t i = 0; i < 300000; i++) {
        uint32_t word = i * 2654435761u;
        assert_int_equal(buf_append(&file, &word, 4), 0);
    }
    write_file(file.data, file.len);
    input = input_open(path, true, NULL);
    assert_int_equal(input_head(input, &head), INPUT_HEAD_MAX);
    assert_memory_equal(head, file.data, INPUT_HEAD_MAX);
    input_head_digest(input, INPUT_HEAD_MAX, head_digest);
    all = malloc(file.len + 1);
    while ((n = input_read(input, all + len, len % 3 ? 1000 : 70001, NULL)) > 0) {
        len += (size_t)n;
        if (len == INPUT_HEAD_MAX) {
            input_digest(input, digest);
            assert_memory_equal(digest, head_digest, sizeof(digest));
        }
        if (len + 70001 > file.len)
            break;
    }
    while ((n = input_read(input, all + len, file.len + 1 - len, NULL)) > 0)
        len += (size_t)n;
    assert_int_equal(n, 0);
    assert_int_equal(len, file.len);
    assert_int_equal(input_offset(input), file.len);
    assert_memory_equal(all, file.data, file.len);
    assert_true(input_progress(input) == 1);
    input_close(input);
    free(all);
    buf_free(&file);
}

/* However the bytes come in, the place is the same. */
static void tracking_in_pieces(void **state)
{
    size_t starts[PACKETS + 1];
    struct buf file = { 0 };
    uint32_t random = 1;

    (void)state;
    make_pcap(&file, &forms[1], 1, starts);
    for (int round = 0; round < 2000; round++) {
        struct track track;
        size_t at = 0, end = 24 + (size_t)round % (file.len - 24);
        uint64_t start;
        int whole = 0;

        track_begin(&track, file.data, file.len);
        while (at < end) {
            size_t len;

            random = random * 1103515245 + 12345;
            len = 1 + (random >> 16) % 40;
            len = len < end - at ? len : end - at;
            track_bytes(&track, file.data + at, len);
            at += len;
        }
        while (starts[whole + 1] <= end)
            whole++;
        assert_int_equal(track_inside(&track, &start), starts[whole] != end);
        if (starts[whole] != end)
            assert_int_equal(start, starts[whole]);
    }
    buf_free(&file);
}

/* A pcapng file of one packet, whose interface counts |ticks| by |resolution| from |offset|. */
static void make_pcapng(struct buf *out, uint8_t resolution, int64_t offset, uint64_t ticks)
{
    static const struct form little = { .name = "" };
    const uint32_t words[] = {
        0x0a0d0d0a,
        28,
        0x1a2b3c4d,
        1,
        UINT32_MAX,
        UINT32_MAX,
        28, /* section */
        1,
        44,
        1,
        0,
        9 | 1 << 16,
        resolution,
        14 | 8 << 16,
        (uint32_t)offset,
        (uint32_t)((uint64_t)offset >> 32),
        0,
        44, /* interface */
        6,
        36,
        0,
        (uint32_t)(ticks >> 32),
        (uint32_t)ticks,
        4,
        4,
        0,
        36, /* packet */
    };

    out->len = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        put32(out, &little, words[i]);
}

/* The difference of two times of frames must have no overflow, whatever a file says. */
static void times_far_off(void **state)
{
    static const struct {
        uint8_t resolution;
        int64_t offset;
        uint64_t ticks;
        int64_t time;
    } rows[] = {
        { 9, 0, UINT64_C(1700000000123456789), INT64_C(1700000000123456789) },
        { 0, 0, 1700000000, INT64_C(1700000000000000000) },
        { 0, -1700000001, 1700000000, -INT64_C(1000000000) },
        { 9, 0, UINT32_MAX * UINT64_C(1000000000), UINT32_MAX * INT64_C(1000000000) },
        { 9, 0, UINT64_C(1) << 62, TIME_NONE },
        { 0, 0, UINT64_MAX, -INT64_C(1000000000) }, /* as Wireshark takes it: -1 s */
        { 0, 0, UINT64_C(10000000000), TIME_NONE },
        { 0, INT64_MIN, 0, TIME_NONE },
        { 0, INT64_MAX, 1, TIME_NONE },
        { 0, 18446744074, 0, TIME_NONE }, /* in nanoseconds, a little more than 2^64 */
    };
    struct buf file = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = { 0 };
        struct input *input;
        struct capture *capture;
        struct frame frame;

        make_pcapng(&file, rows[i].resolution, rows[i].offset, rows[i].ticks);
        write_file(file.data, file.len);
        input = input_open(path, true, &err);
        assert_non_null(input);
        capture = capture_open(input, &err);
        assert_non_null(capture);
        assert_int_equal(capture_next(capture, &frame, &err), 1);
        if (frame.time != rows[i].time)
            fail_msg("row %zu: %lld", i, (long long)frame.time);
        capture_close(capture);
        input_close(input);
    }
    buf_free(&file);
}

static int make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    close(fd);
    return fd < 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_of_all_forms),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(damaged_record),
        cmocka_unit_test(link_types),
        cmocka_unit_test(no_captures),
        cmocka_unit_test(compressed),
        cmocka_unit_test(compressed_and_cut),
        cmocka_unit_test(head_stays),
        cmocka_unit_test(tracking_in_pieces),
        cmocka_unit_test(times_far_off),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
