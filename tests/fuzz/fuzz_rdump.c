/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_rdump.c
 *
 * The reader, the checker and the text form of replay dumps.  The first byte chooses what the rest
 * is: 0: a dump; 1: the payload of a block, which gets a right header and checksum so that the
 * records behind them are reached; else: text.
 *
 * Whatever was delivered must come back the same when it is written again, and when it goes through
 * text.
 */
#include "base/digest.h"
#include "rdump/rdump_check.h"
#include "rdump/rdump_format.h"
#include "rdump/rdump_text.h"
#include "wire/field.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int to_memory(void *ctx, const void *data, size_t len, struct err *err)
{
    return buf_append(ctx, data, len) < 0 ? err_set(err, ERR_SYSTEM, "no memory") : 0;
}

static int file_of(const struct buf *data)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || (data->len && write(fd, data->data, data->len) != (ssize_t)data->len) ||
        lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

static void need_input_error(int result, const struct err *err)
{
    if (result < 0 && (result != -ERR_INPUT || err->code != ERR_INPUT || !err->text[0]))
        abort();
}

/* What can be read of |dump|, written again with an end of its own where it lacks one. */
static int copy(const struct buf *dump, struct buf *out)
{
    static const struct rdump_end end;
    struct err err = { 0 };
    int fd = file_of(dump), result;
    struct rdump_reader *r = rdump_reader_new(fd, "fuzz", &err);
    struct rdump_writer *w = rdump_writer_new(to_memory, out, &err);
    enum rdump_kind kind = RDUMP_TRACE;
    const void *record;

    if (!w)
        abort();
    result = r ? 1 : -err.code;
    while (result > 0) {
        result = rdump_next(r, &kind, &record, &err);
        if (result > 0 && rdump_put(w, kind, record, &err) < 0)
            abort();
    }
    need_input_error(result, &err);
    if ((!r || kind != RDUMP_END) && rdump_put(w, RDUMP_END, &end, &err) < 0)
        abort();
    rdump_writer_free(w);
    rdump_reader_free(r);
    close(fd);
    return result;
}

static void check_same(const struct buf *a, const struct buf *b)
{
    if (a->len != b->len || memcmp(a->data, b->data, a->len))
        abort();
}

/* A good dump as text and back. */
static void there_and_back(const struct buf *dump)
{
    struct buf text = { 0 }, again = { 0 };
    struct err err = { 0 };
    int fd = file_of(dump);
    struct rdump_reader *r = rdump_reader_new(fd, "fuzz", &err);

    if (!r || rdump_to_text(r, false, to_memory, &text, &err) != 0)
        abort();
    rdump_reader_free(r);
    close(fd);
    fd = file_of(&text);
    if (rdump_from_text(fd, "fuzz", to_memory, &again, &err) != 0)
        abort();
    close(fd);
    check_same(dump, &again);
    buf_free(&text);
    buf_free(&again);
}

static int check(const struct buf *dump)
{
    struct rdump_summary summary;
    struct err err = { 0 };
    int fd = file_of(dump), result = rdump_check(fd, "fuzz", &summary, &err);

    need_input_error(result, &err);
    rdump_summary_free(&summary);
    close(fd);
    return result;
}

static void try_dump(const struct buf *dump)
{
    struct buf first = { 0 }, second = { 0 };
    int result = copy(dump, &first);

    if (check(dump) != result || copy(&first, &second) != 0)
        abort();
    check_same(&first, &second);
    there_and_back(&first);
    buf_free(&first);
    buf_free(&second);
}

static void try_text(const struct buf *text)
{
    struct buf dump = { 0 };
    struct err err = { 0 };
    int fd = file_of(text), result = rdump_from_text(fd, "fuzz", to_memory, &dump, &err);

    need_input_error(result, &err);
    if (result == 0)
        try_dump(&dump);
    buf_free(&dump);
    close(fd);
}

static void seal(struct buf *stream, size_t from)
{
    uint8_t sum[NFSR_CHECKSUM_LEN];

    store_le64(sum, XXH3_64bits(stream->data + from, stream->len - from));
    if (buf_append(stream, sum, sizeof(sum)) < 0)
        abort();
}

/* The first byte of |payload| is how many records it has. */
static void wrap(struct buf *stream, const uint8_t *payload, size_t len)
{
    uint8_t head[NFSR_BLOCK_HEADER_LEN];
    struct err err;
    struct rdump_writer *w = rdump_writer_new(to_memory, stream, &err);
    size_t at;

    if (!w || !len)
        abort();
    rdump_writer_free(w);
    at = stream->len;
    store_le32(head, RDUMP_MARKER);
    store_le32(head + 4, NFSR_BLOCK_RECORDS);
    store_le64(head + 8, 1);
    store_le32(head + 16, payload[0]);
    store_le32(head + 20, (uint32_t)len - 1);
    if (buf_append(stream, head, sizeof(head)) < 0 || buf_append(stream, payload + 1, len - 1) < 0)
        abort();
    seal(stream, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf input = { 0 };

    wire_init();
    if (size < 2 || size > NFSR_BLOCK_TARGET)
        return 0;
    if (data[0] == 1)
        wrap(&input, data + 1, size - 1);
    else if (buf_append(&input, data + 1, size - 1) < 0)
        abort();
    if (data[0] > 1)
        try_text(&input);
    else
        try_dump(&input);
    buf_free(&input);
    return 0;
}
