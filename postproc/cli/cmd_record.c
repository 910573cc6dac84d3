/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"
#include "record/nfsr.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: nfsdigest record [OPTIONS] [-o FILE] CAPTURE...\n\n"
    "Turns captures (pcap or pcapng, also gzip or zstd; - is standard input) into one stream of\n"
    "records. Several captures are read as one that was rotated: in the order of their times.\n\n"
    "  -o, --output=FILE         where to; - is standard output (the default, unless that is a\n"
    "                            terminal). A file appears under its name when it is "
    "complete.\n" ENGINE_HELP "  -h, --help                this text\n";

static const struct option options[] = {
    { "output", required_argument, NULL, 'o' },
    { "help", no_argument, NULL, 'h' },
    ENGINE_LONG_OPTIONS,
    { 0 },
};

/* One capture; a cut one is noted in |bad|, and what came before it is kept. */
static int record_one(struct engine *engine, const char *path, uint64_t *frames, struct err *bad,
                      struct err *err)
{
    struct input *input = input_open(path, false, err);
    struct capture *capture = input ? capture_open(input, err) : NULL;
    int rc = capture ? feed_capture(engine, input, capture, frames, err) : -err->code;

    if (rc == -ERR_INPUT && capture) {
        *bad = *err;
        rc = 0;
    }
    capture_close(capture);
    input_close(input);
    return rc;
}

static int record(const struct engine_settings *settings, const char *output, char **captures,
                  int count, struct err *bad, struct err *err)
{
    struct nfsr_file *file = nfsr_file_open(output, err);
    struct nfsr_writer *writer = file ? nfsr_writer_new(nfsr_file_write, file, err) : NULL;
    struct sink sink = writer ? nfsr_writer_sink(writer) : (struct sink){ 0 };
    struct engine *engine = writer ? engine_new(&settings->options, &sink, NULL, err) : NULL;
    uint64_t frames = 0;
    int rc = engine ? 0 : -err->code;

    for (int i = 0; rc == 0 && !bad->code && i < count; i++)
        rc = record_one(engine, captures[i], &frames, bad, err);
    if (rc == 0)
        rc = engine_end(engine, bad->code != 0, err);
    if (rc == 0)
        rc = nfsr_file_commit(file, err);
    engine_free(engine);
    nfsr_writer_free(writer);
    nfsr_file_close(file);
    return rc;
}

int cmd_record(int argc, char **argv)
{
    struct engine_settings settings = { 0 };
    const char *output = NULL;
    struct err err = { 0 }, bad = { 0 };
    int option, rc;

    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        rc = engine_setting(&settings, option, optarg, &err);
        if (rc < 0)
            return command_usage("record", "%s", err.text);
        if (rc > 0)
            continue;
        if (option == 'o')
            output = optarg;
        else if (option == 'h')
            return fputs(usage, stdout) < 0 ? EXIT_SYSTEM : EXIT_DONE;
        else
            return command_usage("record", "see the options that there are");
    }
    if (optind == argc)
        return command_usage("record", "no capture was named");
    if (!output && isatty(STDOUT_FILENO))
        return command_usage("record", "records are not for terminals: name a file with -o");
    if (record(&settings, output ? output : "-", argv + optind, argc - optind, &bad, &err) < 0)
        return command_fail(&err);
    return bad.code ? command_fail(&bad) : EXIT_DONE;
}
