/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/piece_list.h"
#include "names/names.h"
#include "show/args.h"

#include <inttypes.h>
#include <string.h>

static const char about[] =
    "Makes one record stream of pieces (nfsdigest piece) that \"nfsdigest join\" calls\n"
    "exact, named in the order of the capture: as one run over the whole capture would\n"
    "have made it.  Frames and ids count over the capture, calls get the replies that a\n"
    "later piece has, and operations their paths, objects and dependencies, which need\n"
    "the whole past of a server.\n"
    "\n"
    "Reads NAME.border, NAME.order and NAME.nfsr of each NAME.\n"
    "\n"
    "Servers do not depend on each other: with --server, many machines can each make\n"
    "the stream of one server.\n"
    "\n"
    "With --canonical, the one NAME can also be a stream of \"nfsdigest record\", ending\n"
    "in .nfsr: the same capture gives the same bytes, in pieces or not.\n";

static int set_server(void *to, const char *value, struct err *err)
{
    struct names_options *o = to;

    if (o->server_count == NAMES_SERVERS_MAX)
        return err_set(err, ERR_USAGE, "more than %d servers", NAMES_SERVERS_MAX);
    if (!address_read(value, strlen(value), &o->servers[o->server_count]))
        return err_set(err, ERR_USAGE, "\"%s\" is not an address", value);
    o->server_count++;
    return 0;
}

static void print_text(FILE *out, const struct names_result *r)
{
    fprintf(out,
            "%" PRIu64 " frames, %" PRIu64 " operations, %" PRIu64 " objects, %" PRIu64 " paths\n",
            r->frames, r->operations, r->objects, r->paths);
    if (r->waiting)
        fprintf(out, "%" PRIu64 " calls wait in the state for their replies.\n", r->waiting);
    if (r->strays)
        fprintf(out,
                "%" PRIu64 " repeated messages are of operations that no piece knows any more.\n",
                r->strays);
    if (r->stopped)
        fprintf(out,
                "%" PRIu64 " connections stopped inside a message or at a hole: \"nfsdigest join\" "
                "names them.\n",
                r->stopped);
}

static void print_json(const struct names_result *r)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_u64(&j, "frames", r->frames);
    json_u64(&j, "operations", r->operations);
    json_u64(&j, "objects", r->objects);
    json_u64(&j, "paths", r->paths);
    json_u64(&j, "waiting", r->waiting);
    json_u64(&j, "strays", r->strays);
    json_u64(&j, "stopped", r->stopped);
    json_object_end(&j);
    json_end(&j);
}

static bool is_stream(const char *name)
{
    size_t len = strlen(name);

    return len > 5 && strcmp(name + len - 5, ".nfsr") == 0;
}

/* What it writes is not what it reads; the state is both. */
static int spare_inputs(const struct names_options *o, const struct piece_list *l, struct err *err)
{
    static const char *const suffixes[] = { "", ".nfsr", ".border", ".order" };
    struct outputs both = { .count = 0 };
    int rc = outputs_writes(&both, "--output", o->output, err);

    if (rc == 0 && o->state)
        rc = outputs_writes(&both, "--state", o->state, err);
    if (rc == 0)
        rc = outputs_check(&both, err);
    outputs_free(&both);
    for (size_t i = !o->canonical; rc == 0 && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        rc = outputs_spare_each(l->names, l->count, suffixes[i], "--output", o->output, err);
        if (rc == 0)
            rc = outputs_spare_each(l->names, l->count, suffixes[i], "--state", o->state, err);
    }
    return rc;
}

static int make(const struct names_options *options, const struct piece_list *l,
                struct names_result *result, struct err *err)
{
    if (!l->count)
        return err_set(err, ERR_USAGE, "nothing to name: give pieces, without .nfsr");
    if (!options->canonical || l->count != 1 || !is_stream(l->names[0]))
        return names_make(options, l->names, (int)l->count, result, err);
    if (options->server_count || options->state)
        return err_set(err, ERR_USAGE, "--server and --state are for pieces, not for a stream");
    return names_order(l->names[0], options->output, result, err);
}

int cmd_names(int argc, char **argv, struct err *err)
{
    struct names_options options = { 0 };
    struct names_result result;
    struct piece_list names = { 0 };
    const char *list = NULL;
    bool json = false;
    const struct arg own[] = {
        { 'o', "output", "FILE",
          "the record stream to write (.nfsr), or \"-\" for standard\noutput", set_text,
          &options.output },
        { 0, "server", "ADDRESS", "only the operations of this server; may be repeated", set_server,
          &options },
        { 0, "state", "FILE",
          "go on behind the pieces of this state, if the file is\nthere, and write it for the next "
          "day",
          set_text, &options.state },
        { 0, "list", "FILE", "read further NAMEs from this file, one a line", set_text, &list },
        { 0, "canonical", NULL,
          "put the records in an order that follows from what\nthe wire says; in memory", set_flag,
          &options.canonical },
        { 'j', "json", NULL, "print what was made as JSON", set_flag, &json },
        { 0 },
    };
    const struct args args = { .usage = "nfsdigest names [OPTION...] -o FILE NAME...",
                               .about = about,
                               .own = own };
    int first, rc = args_parse(&args, argc, argv, &first, err);

    if (rc != 1)
        return rc;
    if (!options.output)
        return err_set(err, ERR_USAGE, "-o FILE is missing: the record stream to write");
    if (json && strcmp(options.output, "-") == 0)
        return err_set(err, ERR_USAGE,
                       "--json needs a file: the stream would be on standard output, too");
    rc = piece_list_read(&names, argv + first, argc - first, list, err);
    if (rc == 0)
        rc = spare_inputs(&options, &names, err);
    if (rc == 0)
        rc = make(&options, &names, &result, err);
    if (rc == 0 && json)
        print_json(&result);
    else if (rc == 0)
        print_text(strcmp(options.output, "-") == 0 ? stderr : stdout, &result);
    piece_list_free(&names);
    return rc;
}
