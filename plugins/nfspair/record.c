/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record mode: tshark -z nfspair,out=FILE[,...]. */
#include "compat.h"
#include "nfspair.h"
#include "options.h"
#include "recorder.h"
#include "record/nfsr.h"

#include <stdlib.h>

struct stream {
    struct nfsr_writer *writer;
    struct engine *engine;
};

static void close_stream(void *state)
{
    struct stream *stream = state;
    engine_free(stream->engine);
    nfsr_writer_free(stream->writer);
    free(stream);
}

static void *open_stream(const struct options *options, struct output **file, struct err *err)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        err_memory(err, "a recorder");
        return NULL;
    }
    *file = output_open(options->out, err);
    if (*file)
        stream->writer = nfsr_writer_new(output_write, *file, err);
    if (stream->writer) {
        struct sink sink = nfsr_writer_sink(stream->writer);
        stream->engine = engine_new(&options->engine.options, &sink, NULL, err);
    }
    if (stream->engine)
        return stream;
    close_stream(stream);
    return NULL;
}

static struct engine *engine_of(void *state)
{
    struct stream *stream = state;
    return stream->engine;
}

static int flush(void *state, struct err *err)
{
    struct stream *stream = state;
    return nfsr_writer_flush(stream->writer, err);
}

static int end(void *state, bool input_cut, struct err *err)
{
    struct stream *stream = state;
    return engine_end(stream->engine, input_cut, err);
}

void record_register(void)
{
    static const struct recorder_type type = {
        .options = &nfspair_options,
        .elsewhere = "-z nfspair,out=FILE records with tshark only; here the NFS Pair tree and its "
                     "filters show the same.",
        .stream = "the stream",
        .open = open_stream,
        .engine = engine_of,
        .flush = flush,
        .end = end,
        .close = close_stream,
    };
    recorder_register(&type);
}
