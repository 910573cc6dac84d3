/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/trace.h"
#include "cli/tree_print.h"
#include "plan/tree_store.h"
#include "report/tree_script.h"
#include "show/args.h"
#include "store/moment.h"

#include <string.h>

static const char about[] =
    "Shows the initial tree of a trace: the files and directories that existed\n"
    "before its first operation, as far as operations show them, with the\n"
    "attributes that they had then.  An object whose directory is unknown is a root\n"
    "of its own, \"[#N]\".  At the end follow the size of the tree, the inferred\n"
    "operations, which must have happened but were not captured, and the\n"
    "operations that cannot be replayed.\n"
    "\n"
    "Each line has type and mode, owner and group, size and name.  A size with a +\n"
    "is a minimum: it is where the furthest READ ended.  \" = \" after a further name\n"
    "of a file is followed by its first name.  A question mark means unknown.\n"
    "\n"
    "FILE is a record stream or a capture, or - for standard input.\n";

struct tree_args {
    const char *script, *under, *at_text; /* |at_text|: as the user gave it */
    int64_t at;
    bool json, growth, inferred, summary, store;
};

struct run {
    const struct tree_args *args;
    struct buf text;
    struct plan_counts counts;
};

static int print_script(struct tree *tree, const struct tree_args *a, struct err *err)
{
    struct err text;
    uint64_t unmade = 0;
    int result = strcmp(a->script, "sh") == 0 ? tree_shell(tree, a->under, stdout, &unmade, err)
                                              : tree_mtree(tree, a->under, stdout, &unmade, err);

    if (result == 0 && unmade) {
        err_set(&text, ERR_INPUT, "%llu entries are left out: their names cannot be those of files",
                (unsigned long long)unmade);
        say(text.text);
    }
    return result;
}

static int print_tree(void *ctx, struct tree *tree, struct err *err)
{
    const struct run *r = ctx;
    const struct tree_args *a = r->args;
    int result = 0;

    if (a->script)
        result = print_script(tree, a, err);
    else if (!a->summary)
        result = a->json ? tree_json(tree, a->under, err) : tree_text(tree, a->under, err);
    if (result > 0)
        return err_set(err, ERR_USAGE, "--under: the trace shows no \"%s\"", a->under);
    if (result == 0 && a->growth && a->json)
        tree_growth_json(tree);
    else if (result == 0 && a->growth)
        tree_growth_text(tree);
    return result;
}

static int print_inferred(void *ctx, const struct inference *inference, struct err *err)
{
    struct run *r = ctx;

    return r->args->json ? tree_inferred_json(inference, &r->text, err)
                         : tree_inferred_text(inference, &r->text, err);
}

/* A script takes the tree alone, without a rehearsal of the operations. */
static int run(struct store *store, const struct tree_args *a, struct err *err)
{
    const struct plan_options options = { .from = a->at, .only_tree = a->script != NULL };
    struct run r = { .args = a };
    const struct plan_host host = { .tree = print_tree,
                                    .inferred = a->inferred ? print_inferred : NULL,
                                    .ctx = &r };
    int result = a->store ? tree_store(store_db(store), &host, &r.counts, err)
                          : plan_read(store_db(store), &options, &host, &r.counts, err);

    if (result == 0 && !a->script) {
        if (a->json)
            tree_summary_json(&r.counts);
        else
            tree_summary_text(&r.counts);
    }
    buf_free(&r.text);
    return result;
}

static int read_at(sqlite3 *db, struct tree_args *a, struct err *err)
{
    struct moment_span span;

    if (!a->at_text)
        return 0;
    if (moment_span_read(db, &span, err) < 0)
        return -err->code;
    return moment_parse(a->at_text, &span, &a->at, err) < 0 ? err_prefix(err, "%s", "--at") : 0;
}

int cmd_tree(int argc, char **argv, struct err *err)
{
    struct tree_args a = { .at = BEGINNING };
    const struct arg own[] = {
        { 0, "at", "TIME",
          "show the tree at this time, not before the trace:\n"
          "10:03, +5m, -0s (the end), 2026-11-21 05:48:01.5\n"
          "or seconds since 1970; count only operations from\n"
          "then on",
          set_text, &a.at_text },
        { 0, "under", "PATH", "show only what is below this path of the tree", set_text, &a.under },
        { 's', "summary", NULL, "show no tree, only the figures at its end", set_flag, &a.summary },
        { 0, "growth", NULL,
          "also show how many subtrees, files, directories\n"
          "and bytes were known after each twentieth of the\n"
          "trace",
          set_flag, &a.growth },
        { 0, "inferred", NULL, "also list the inferred operations", set_flag, &a.inferred },
        { 'j', "json", NULL, "print a JSON object on each line; times in ns", set_flag, &a.json },
        { 0, "script", "KIND",
          "print something that makes the tree: sh, a shell\n"
          "script, or mtree, a specification",
          set_text, &a.script },
        { 0, "store", NULL,
          "also write the tables tree_* into the database\n"
          "(schemas/digest.sql)",
          set_flag, &a.store },
        { 0 },
    };
    const struct args args = {
        "nfsdigest tree [OPTION...] DATABASE|FILE", about, own, NULL, NULL, 1, "one file"
    };
    struct trace trace;
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (a.script && strcmp(a.script, "sh") != 0 && strcmp(a.script, "mtree") != 0)
        return err_set(err, ERR_USAGE, "--script takes sh or mtree, not \"%s\"", a.script);
    if (a.script && (a.json || a.growth || a.inferred || a.summary))
        return err_set(err, ERR_USAGE, "--script goes with --at, --under and --store only");
    if (a.store && a.at_text)
        return err_set(err, ERR_USAGE, "--store writes the tree before the trace: not with --at");
    if (trace_open(&trace, argv[first], a.store, err) < 0)
        return -err->code;
    result = read_at(store_db(trace.store), &a, err);
    if (result == 0)
        result = run(trace.store, &a, err);
    return trace_close(&trace, result, err);
}
