/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_nfsr.c
 *
 * The .nfsr reader.  The first byte chooses what the rest is: 0: a stream; else the payload of a
 * block, which gets a right header and checksum so that the records behind them are reached (2 and
 * more: in a stream of a later minor version).
 *
 * Whatever was delivered must come back the same when it is written again.
 */
#include "record/layout.h"
#include "record/nfsr_check.h"

#include "nfsr_block.h"

struct source {
    const uint8_t *data;
    size_t len;
};

static ssize_t from_source(void *ctx, void *data, size_t len, struct err *err)
{
    struct source *s = ctx;

    (void)err;
    if (len > s->len)
        len = s->len;
    if (!len) /* |data| may be NULL then */
        return 0;
    memcpy(data, s->data, len);
    s->data += len;
    s->len -= len;
    return (ssize_t)len;
}

/* A stream read: what it says as text, and the same written again. */
struct copy {
    struct buf text, stream;
    struct sink writer;
};

static int take(void *ctx, const struct record *record, struct err *err)
{
    struct copy *c = ctx;

    if (record_json(record, &c->text) < 0)
        abort();
    return c->writer.put(c->writer.ctx, record, err);
}

static int copy_stream(struct copy *c, const uint8_t *data, size_t len)
{
    struct source source = { data, len };
    struct sink sink = { take, c };
    struct nfsr_writer *w;
    struct err err = { 0 };
    int result;

    memset(c, 0, sizeof(*c));
    w = nfsr_writer_new(block_to_memory, &c->stream, &err);
    if (!w)
        abort();
    c->writer = nfsr_writer_sink(w);
    result = nfsr_read_stream(from_source, &source, "fuzz", &sink, &err);
    if (result < 0 && (result != -ERR_INPUT || err.code != ERR_INPUT || !err.text[0]))
        abort();
    if (nfsr_writer_flush(w, &err) < 0)
        abort();
    nfsr_writer_free(w);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nfsr_summary summary;
    struct buf stream = { 0 };
    struct copy first, second;
    struct source source;
    int result;

    if (!size || size > NFSR_BLOCK_TARGET)
        return 0;
    if (data[0])
        block_wrap(&stream, data + 1, size - 1, data[0] > 1);
    else if (buf_append(&stream, data + 1, size - 1) < 0)
        abort();

    result = copy_stream(&first, stream.data, stream.len);
    copy_stream(&second, first.stream.data, first.stream.len);
    if (first.text.len != second.text.len || first.stream.len != second.stream.len ||
        (first.text.len && memcmp(first.text.data, second.text.data, first.text.len)) ||
        memcmp(first.stream.data, second.stream.data, first.stream.len))
        abort();

    source = (struct source){ stream.data, stream.len };
    if (nfsr_check(from_source, &source, "fuzz", &summary, NULL) != result)
        abort();
    nfsr_summary_free(&summary);
    buf_free(&first.text);
    buf_free(&first.stream);
    buf_free(&second.text);
    buf_free(&second.stream);
    buf_free(&stream);
    return 0;
}
