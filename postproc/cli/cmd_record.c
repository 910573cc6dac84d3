/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "record/nfsr.h"

#include <string.h>
#include <unistd.h>

static const char about[] =
    "Makes one record stream (schemas/nfsr.md) of captures (pcap, pcapng, also compressed with "
    "gzip or\n"
    "zstd), which are read one after the other as if they were one: frames are counted over all "
    "of\n"
    "them.  \"-\" is standard input.  A file gets its name when it is complete.\n";

struct recorder {
    struct output *file;
    struct nfsr_writer *writer;
    struct engine *engine;
    uint64_t frames;
    bool cut;
};

static int open_output(struct recorder *r, const char *output, const struct engine_options *options,
                       struct err *err)
{
    struct sink sink;

    r->file = output_open(output, err);
    r->writer = r->file ? nfsr_writer_new(output_write, r->file, err) : NULL;
    if (!r->writer)
        return -err->code;
    sink = nfsr_writer_sink(r->writer);
    r->engine = engine_new(options, &sink, NULL, err);
    return r->engine ? 0 : -err->code;
}

/* One capture; the output is opened when the first turns out to be one. */
static int record_file(struct recorder *r, const char *path, const char *output,
                       const struct engine_options *options, struct err *err)
{
    struct input *input = input_open(path, false, err);
    const uint8_t *head;
    struct feed feed = { 0 };
    int result = input ? 0 : -err->code;
    size_t len = input ? input_head(input, &head) : 0;

    if (len && capture_is(head, len) && !r->engine)
        result = open_output(r, output, options, err);
    if (result == 0 && r->engine) {
        result = feed_capture(input, r->engine, r->frames, &progress_line, &feed, err);
        r->frames += feed.frames;
        if (feed.cut) {
            r->cut = true;
            result = -ERR_INPUT;
        }
    } else if (result == 0) {
        struct capture *capture = capture_open(input, err); /* says why it is none */

        capture_close(capture);
        result = -err->code;
    }
    input_close(input);
    return result;
}

static int record_all(struct recorder *r, int count, char **paths, const char *output,
                      const struct engine_options *options, struct err *err)
{
    int worst = 0, result;

    for (int i = 0; i < count; i++) {
        result = record_file(r, paths[i], output, options, err);
        if (result == -ERR_INPUT) {
            say(err->text);
            worst = ERR_INPUT;
        } else if (result < 0) {
            return result;
        }
    }
    if (!r->engine)
        return worst;
    if (!r->frames)
        return worst ? worst : err_set(err, ERR_INPUT, "%s: holds no packets", paths[0]);
    if (engine_end(r->engine, r->cut, err) < 0 || output_commit(r->file, err) < 0)
        return -err->code;
    return worst;
}

int cmd_record(int argc, char **argv, struct err *err)
{
    const char *output = NULL;
    struct recorder recorder = { 0 };
    struct engine_args engine;
    struct arg more[ENGINE_ARG_COUNT];
    const struct arg own[] = {
        { 'o', "output", "FILE",
          "the record stream; \"-\", or none when standard output is\nno terminal: standard output",
          set_text, &output },
        { 0 },
    };
    const struct args args = { "nfsdigest record [OPTION...] [-o FILE] CAPTURE...", about, own,
                               more, "How captures are read" };
    int first, result;

    engine_arg_table(&engine, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (first == argc)
        return err_set(err, ERR_USAGE, "nothing to record: name captures or \"-\"");
    if (!output && isatty(STDOUT_FILENO))
        return err_set(err, ERR_USAGE, "a record stream is nothing for a terminal: give -o FILE");
    result = record_all(&recorder, argc - first, argv + first, output ? output : "-",
                        &engine.options, err);
    engine_free(recorder.engine);
    nfsr_writer_free(recorder.writer);
    output_close(recorder.file);
    return result;
}
