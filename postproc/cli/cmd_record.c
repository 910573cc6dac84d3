/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "capture/convert.h"
#include "cli/engine_args.h"
#include "cli/outputs.h"
#include "cli/cli.h"
#include "record/nfsr.h"

#include <string.h>
#include <unistd.h>

static const char about[] =
    "Makes one record stream (.nfsr) from captures.\n"
    "\n"
    "CAPTURE is a pcap or pcapng file, also compressed with gzip, zstd, xz, lz4 or\n"
    "bzip2, or \"-\" for standard input.  Several captures are read one after the\n"
    "other, as if they were one, and frames are counted over all of them.  The\n"
    "output file gets its name when it is complete.\n";

struct recorder {
    const char *output;
    struct engine_args options;
    struct output *file;
    struct nfsr_writer *writer;
    struct sink sink; /* the writer's */
    struct engine *engine;
    struct record_end end;
    uint64_t repeats[COPY_REPLY + 1]; /* by enum repeat_kind */
};

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct recorder *r = ctx;

    if (record->kind == RECORD_END)
        r->end = record->end;
    else if (record->kind == RECORD_REPEAT && record->repeat.repeat <= COPY_REPLY)
        r->repeats[record->repeat.repeat]++;
    return r->sink.put(r->sink.ctx, record, err);
}

static int open_output(void *ctx, struct engine **engine, struct err *err)
{
    struct recorder *r = ctx;
    const struct sink sink = { put, r };

    r->file = output_open(r->output, err);
    r->writer = r->file ? nfsr_writer_new(output_write, r->file, err) : NULL;
    if (!r->writer)
        return -err->code;
    r->sink = nfsr_writer_sink(r->writer);
    *engine = r->engine = engine_new(&r->options.settings.options, &sink, NULL, err);
    return r->engine ? 0 : -err->code;
}

static int end_output(void *ctx, bool cut, struct err *err)
{
    struct recorder *r = ctx;

    return engine_end(r->engine, cut, err) < 0 ? -err->code : output_commit(r->file, err);
}

/* In the words of "ingest" and "info", where calls and replies count once; the end of the stream
 * counts each message. */
static int tell(const struct recorder *r, struct err *err)
{
    const uint64_t *again = r->repeats;
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "output", r->output);
    json_u64(&j, "frames", r->end.frames);
    json_u64(&j, "operations", r->end.operations);
    json_u64(&j, "calls", r->end.calls - again[REPEAT_CALL] - again[COPY_CALL]);
    json_u64(&j, "replies", r->end.replies - again[REPEAT_REPLY] - again[COPY_REPLY]);
    json_u64(&j, "retransmissions", again[REPEAT_CALL] + again[REPEAT_REPLY]);
    json_u64(&j, "copies", again[COPY_CALL] + again[COPY_REPLY]);
    json_u64(&j, "problems", r->end.problems);
    json_bool(&j, "cut", r->end.input_cut);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "names") : finish_output(err);
}

int cmd_record(int argc, char **argv, struct err *err)
{
    struct recorder recorder = { 0 };
    const struct conversion conversion = {
        .open = open_output, .end = end_output, .ctx = &recorder, .progress = &progress_line
    };
    struct arg more[ENGINE_ARG_COUNT];
    bool blocks = false, json = false;
    const struct arg own[] = {
        { 'o', "output", "FILE",
          "the record stream, or \"-\" for standard output (the\n"
          "default, unless that is a terminal)",
          set_text, &recorder.output },
        { 0, "block-digests", NULL, BLOCK_DIGESTS_HELP, set_flag, &blocks },
        { 'j', "json", NULL, "print what was recorded as JSON; needs -o FILE", set_flag, &json },
        { 0 },
    };
    const struct args args = { "nfsdigest record [OPTION...] [-o FILE] CAPTURE...", about, own,
                               more, "How captures are read" };
    int first, result;

    engine_arg_table(&recorder.options, true, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (first == argc)
        return err_set(err, ERR_USAGE, "nothing to record: name captures or \"-\"");
    recorder.options.settings.options.block_digests = blocks;
    if (!recorder.output && isatty(STDOUT_FILENO))
        return err_set(err, ERR_USAGE,
                       "refusing to write a record stream to a terminal: use -o FILE");
    if (!recorder.output)
        recorder.output = "-";
    if (json && strcmp(recorder.output, "-") == 0)
        return err_set(err, ERR_USAGE,
                       "--json needs -o FILE: the stream would be on standard output, too");
    if (outputs_spare_each(argv + first, (uint32_t)(argc - first), "", "--output", recorder.output,
                           err) < 0)
        return -err->code;
    result = convert_captures(&conversion, argc - first, argv + first, err);
    engine_free(recorder.engine);
    nfsr_writer_free(recorder.writer);
    output_close(recorder.file);
    return json && result >= 0 && tell(&recorder, err) < 0 ? -err->code : result;
}
