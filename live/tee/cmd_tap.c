/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/cmd_tap.c
 *
 * nfstee tap: writes what passes a relay as a record stream.  Options and totals around
 * tap/tap_ring.h.
 */
#include "base/json.h"
#include "base/output.h"
#include "base/values.h"
#include "record/nfsr.h"
#include "show/args.h"
#include "tap/tap_ring.h"
#include "tee/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct tap_options {
    const char *attach, *output;
    int64_t duration; /* ns; 0: until a signal */
    bool quiet, json;
};

struct tapping {
    struct tap_options options;
    struct loop *loop;
    struct output *file;
    struct nfsr_writer *writer;
    struct sink sink; /* the writer's */
    struct tap *tap;
    struct tap_ring *ring;
    struct timer end;
    uint64_t operations;
};

static const char about[] =
    "Records what passes a relay that runs with --attach: the operations of all its\n"
    "clients, as a record stream (.nfsr) for \"nfsdigest ingest\".  It begins with what\n"
    "comes next, and ends with the relay, at SIGINT or SIGTERM, or after --for.\n"
    "The output file gets its name then.\n";

static int check(const struct tap_options *o, struct err *err)
{
    if (!o->attach)
        return err_set(err, ERR_USAGE, "say --attach PATH, the path that the relay was given");
    if (!o->output && isatty(STDOUT_FILENO))
        return err_set(err, ERR_USAGE, "standard output is a terminal: say -o FILE");
    if (o->json && (!o->output || strcmp(o->output, "-") == 0))
        return err_set(err, ERR_USAGE,
                       "--json needs -o FILE: the stream would be on standard output, too");
    return 1;
}

static int parse(struct tap_options *o, int argc, char **argv, struct err *err)
{
    const struct arg table[] = {
        { 'a', "attach", "PATH", "the Unix socket that the relay was given with --attach", set_text,
          &o->attach },
        { 'o', "output", "FILE",
          "the record stream, or \"-\" for standard output (the\ndefault, unless that is a "
          "terminal)",
          set_text, &o->output },
        { 0, "for", "TIME", "end after this time", set_duration, &o->duration },
        { 'q', "quiet", NULL, "print nothing but errors", set_flag, &o->quiet },
        { 'j', "json", NULL, "print totals as JSON; needs -o FILE", set_flag, &o->json },
        { 0 },
    };
    const struct args args = { .usage = "nfstee tap --attach PATH [-o FILE] [OPTION...]",
                               .about = about,
                               .own = table,
                               .takes = "no arguments",
                               .program = "nfstee " };
    int first, result;

    memset(o, 0, sizeof(*o));
    result = args_parse(&args, argc, argv, &first, err);
    if (result == 1 && first < argc)
        return err_set(err, ERR_USAGE, "\"%s\": nfstee tap takes no arguments, only options",
                       argv[first]);
    return result == 1 ? check(o, err) : result;
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct tapping *t = ctx;

    if (record->kind == RECORD_END)
        t->operations = record->end.operations;
    return t->sink.put(t->sink.ctx, record, err);
}

static int ended(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* Records come when the loop runs.  So the stream can begin last, and a tap without a relay puts
 * nothing into a pipe. */
static int begin(struct tapping *t, struct err *err)
{
    const struct tap_host host = { .put = put, .ctx = t };

    t->loop = loop_new(err);
    if (!t->loop || loop_take_signals(t->loop, err) < 0)
        return -err->code;
    t->file = output_open(t->options.output ? t->options.output : "-", err);
    if (!t->file)
        return -err->code;
    t->tap = tap_new(&host, err);
    if (!t->tap)
        return -err->code;
    t->ring = tap_ring_new(t->loop, t->options.attach, t->tap,
                           &(struct tap_ring_host){ ended, t->loop }, err);
    if (!t->ring)
        return err_prefix(err, "--attach");
    t->writer = nfsr_writer_new(output_write, t->file, err);
    if (!t->writer)
        return -err->code;
    t->sink = nfsr_writer_sink(t->writer);
    t->end = (struct timer){ .due = ended, .ctx = t->loop };
    if (!t->options.duration)
        return 0;
    return loop_set(t->loop, &t->end, loop_clock() + t->options.duration, err);
}

static int finish(struct tapping *t, struct err *err)
{
    int result = tap_ring_drain(t->ring, err);

    if (result == 0)
        result = tap_end(t->tap, err);
    return result == 0 ? output_commit(t->file, err) : result;
}

static int print_json(const struct tapping *t, struct err *err)
{
    const struct tap_counts *c = tap_counts(t->tap);
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_name(
        &j, "output",
        (struct bytes){ (const uint8_t *)t->options.output, (uint32_t)strlen(t->options.output) });
    json_u64(&j, "operations", t->operations);
    json_u64(&j, "connections", c->connections);
    json_u64(&j, "bytes", c->bytes);
    json_u64(&j, "gaps", c->gaps);
    json_u64(&j, "lost_entries", c->lost_entries);
    json_u64(&j, "missing_bytes", c->missing_bytes);
    json_u64(&j, "unknown", c->unknown);
    json_u64(&j, "forgotten", c->forgotten);
    json_u64(&j, "damaged", c->damaged);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "a name") : 0;
}

/* To standard error: the stream may be on standard output. */
static void print_totals(const struct tapping *t)
{
    const struct tap_counts *c = tap_counts(t->tap);
    char bytes[VALUE_TEXT_MAX], missing[VALUE_TEXT_MAX];

    fprintf(stderr, "%" PRIu64 " operations of %" PRIu64 " connections, %s\n", t->operations,
            c->connections, size_text(c->bytes, bytes));
    if (c->gaps)
        fprintf(stderr,
                "%" PRIu64 " entries were overwritten before they were read, with %s of known "
                "connections; give the relay a larger --ring\n",
                c->lost_entries, size_text(c->missing_bytes, missing));
    if (c->unknown)
        fprintf(stderr, "%" PRIu64 " entries were of connections that were not announced yet\n",
                c->unknown);
    if (c->forgotten)
        fprintf(stderr, "%" PRIu64 " connections were forgotten, above %d\n", c->forgotten,
                TAP_CONNECTIONS);
    if (c->damaged)
        fprintf(stderr, "%" PRIu64 " entries were damaged, and left out\n", c->damaged);
}

int cmd_tap(int argc, char **argv, struct err *err)
{
    struct tapping t = { .loop = NULL };
    int result = parse(&t.options, argc, argv, err);

    if (result != 1)
        return result;
    result = begin(&t, err);
    if (result == 0 && !t.options.quiet && !t.options.json)
        fprintf(stderr, "recording what passes %s\n", t.options.attach);
    if (result == 0)
        result = loop_run(t.loop, err);
    if (result == 0)
        result = finish(&t, err);
    if (result == 0 && t.options.json)
        result = print_json(&t, err);
    else if (result == 0 && !t.options.quiet)
        print_totals(&t);
    tap_ring_free(t.ring);
    tap_free(t.tap);
    nfsr_writer_free(t.writer);
    output_close(t.file);
    if (t.loop)
        loop_unset(t.loop, &t.end);
    loop_free(t.loop);
    return result;
}
