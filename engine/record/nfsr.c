/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr.c
 *
 * The .nfsr stream: writes the records of a sink into blocks, and gives those of blocks to a sink.
 */
#include "record/blocks.h"

#include <stdlib.h>

struct nfsr_writer {
    struct block_writer blocks;
};

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct nfsr_writer *w = ctx;

    return block_writer_put(&w->blocks, record->kind, record, err);
}

struct nfsr_writer *nfsr_writer_new(output_writer *write, void *ctx, struct err *err)
{
    struct nfsr_writer *w = calloc(1, sizeof(*w));

    if (!w) {
        err_memory(err, "a writer");
        return NULL;
    }
    if (block_writer_begin(&w->blocks, &nfsr_format, write, ctx, err) == 0)
        return w;
    nfsr_writer_free(w);
    return NULL;
}

struct sink nfsr_writer_sink(struct nfsr_writer *writer)
{
    return (struct sink){ put, writer };
}

int nfsr_writer_flush(struct nfsr_writer *writer, struct err *err)
{
    return block_writer_flush(&writer->blocks, err);
}

void nfsr_writer_free(struct nfsr_writer *writer)
{
    if (!writer)
        return;
    block_writer_free(&writer->blocks);
    free(writer);
}

bool nfsr_is_stream(const uint8_t *head, size_t len)
{
    return len >= NFSR_MAGIC_LEN && memcmp(head, NFSR_MAGIC, NFSR_MAGIC_LEN) == 0;
}

void nfsr_input_cut(const char *name, struct err *err)
{
    err_set(err, ERR_INPUT, "%s: the capture that it was made of ended in the middle of a packet",
            name);
}

int nfsr_read_stream(nfsr_read *read, void *ctx, const char *name, const struct sink *sink,
                     struct err *err)
{
    struct block_reader r = { .format = &nfsr_format, .read = read, .ctx = ctx, .name = name };
    struct record record;
    struct err unseen;
    unsigned kind;
    int result;

    if (!err)
        err = &unseen;
    result = block_reader_begin(&r, err);
    if (result == 0)
        while ((result = block_reader_next(&r, &kind, &record, err)) > 0) {
            record.kind = (uint8_t)kind;
            result = sink->put(sink->ctx, &record, err);
            if (result < 0)
                break;
        }
    block_reader_free(&r);
    return result;
}
