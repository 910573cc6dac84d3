/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/tree_print.h"
#include "plan/tree_store.h"

#include <string.h>

static const char about[] =
    "Shows the tree of files that a trace was made on: what was there before its first operation, "
    "as\n"
    "far as operations showed it, with the attributes that it had then.  Objects whose directory "
    "is\n"
    "not known are roots of their own, \"[#N]\".  At the end: how much that is, how many "
    "operations\n"
    "must have happened that were not captured, and how many cannot be replayed.\n"
    "\n"
    "Each line: type and mode, owner and group, size (with a + what was read of it, at least), "
    "name.\n"
    "\" = \" leads from a further name of a file to its first.  A question mark: not known.\n";

struct tree_args {
    const char *script, *under;
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
    int result = strcmp(a->script, "sh") == 0 ? tree_shell(tree, a->under, &unmade, err)
                                              : tree_mtree(tree, a->under, &unmade, err);

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

int cmd_tree(int argc, char **argv, struct err *err)
{
    struct tree_args a = { .at = BEGINNING };
    const struct arg own[] = {
        { 't', "at", "TIME",
          "as it was then (2026-11-21 05:48:01.5, or since 1970), not\nbefore the trace, and of "
          "operations those from then on",
          set_time, &a.at },
        { 'u', "under", "PATH", "only what is below this path, as the tree has it", set_text,
          &a.under },
        { 's', "summary", NULL, "no tree, only what is said at its end", set_flag, &a.summary },
        { 'g', "growth", NULL,
          "also subtrees, files, directories and bytes that were known\nby lengths of the trace",
          set_flag, &a.growth },
        { 'i', "inferred", NULL, "also the operations that must have happened", set_flag,
          &a.inferred },
        { 'j', "json", NULL, "a JSON object on each line; times in ns", set_flag, &a.json },
        { 0, "script", "KIND",
          "what makes the tree: sh, a shell script, or mtree, a\nspecification", set_text,
          &a.script },
        { 0, "store", NULL, "also write the tables tree_* of the database (schemas/digest.sql)",
          set_flag, &a.store },
        { 0 },
    };
    const struct args args = { "nfsdigest tree [OPTION...] DATABASE", about, own, NULL, NULL };
    struct store *store;
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (argc - first != 1)
        return err_set(err, ERR_USAGE, "tree takes one database: see \"nfsdigest tree --help\"");
    if (a.script && strcmp(a.script, "sh") != 0 && strcmp(a.script, "mtree") != 0)
        return err_set(err, ERR_USAGE, "--script takes sh or mtree, not \"%s\"", a.script);
    if (a.script && (a.json || a.growth || a.inferred || a.summary))
        return err_set(err, ERR_USAGE, "--script goes with --at, --under and --store only");
    if (a.store && a.at != BEGINNING)
        return err_set(err, ERR_USAGE, "--store writes the tree before the trace: not with --at");
    wire_init();
    store = store_open(argv[first], STORE_READ, err);
    if (!store)
        return -err->code;
    result = run(store, &a, err);
    store_close(store);
    return result;
}
