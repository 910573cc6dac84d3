/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_deps.c
 *
 * "nfsdigest deps": reads the plan of a trace once (plan.h) and gives each operation to what was
 * asked for: a list, a graph, tables in the database.  The longest chains are counted here, over
 * the last DEPEND_HORIZON operations.  deps_pick.h chooses, deps_print.h prints.  The contract of
 * subcommands is in cli.h.
 */
#include "base/values.h"
#include "cli/cli.h"
#include "cli/deps_print.h"
#include "cli/outputs.h"
#include "cli/trace.h"
#include "plan/plan_store.h"
#include "show/args.h"
#include "store/sql.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Shows on which earlier operations each operation of a trace depends: both use\n"
    "the same thing, and one of them changes it.  A thing is a whole object, or\n"
    "(fine) attributes, byte ranges and names separately.  Dependencies that follow\n"
    "from others are left out.  The operations are in an order in which they can\n"
    "have happened, together with the inferred ones.\n"
    "\n"
    "Each line of --list has place in that order, operation (- if inferred), frame,\n"
    "time, procedure, path and status.  After \"<-\" follow the place, procedure and\n"
    "frame of each operation that it depends on.\n"
    "\n"
    "FILE is a record stream or a capture, or - for standard input.\n";

struct deps_args {
    const char *granularity, *path, *dot;
    int64_t first, last;
    uint64_t object;
    bool list, json, store;
};

struct run {
    const struct deps_args *args;
    sqlite3 *db;
    struct deps_choice choice;
    struct plan_paths paths;
    struct plan_about about;
    struct deps_pick pick;
    struct deps_dot *dot;
    struct plan_store store;
    struct plan_counts counts;
    int64_t begin; /* time of the first operation */
    uint64_t place;
    uint32_t *chains[2]; /* by enum granularity, rings: how many in a row end with an operation */
    uint64_t longest[2];
};

static int take_trace(void *ctx, const struct rdump_trace *trace, struct err *err)
{
    struct run *r = ctx;

    (void)err;
    r->begin = trace->time;
    return 0;
}

static int take_object(void *ctx, const struct rdump_object *object, struct err *err)
{
    return plan_paths_object(&((struct run *)ctx)->paths, object, err);
}

/* An operation that is not replayed is no link of a chain. */
static void chain(struct run *r, const struct rdump_operation *operation,
                  const struct plan_edges *edges)
{
    const uint32_t mask = DEPEND_HORIZON - 1;

    for (int g = 0; g < 2; g++) {
        uint32_t longest = 0;

        for (uint32_t i = 0; i < edges[g].count; i++) {
            uint32_t other = r->chains[g][(r->place - edges[g].distances[i]) & mask];

            longest = other > longest ? other : longest;
        }
        longest += !operation->unplayable;
        r->chains[g][r->place & mask] = longest;
        r->longest[g] = longest > r->longest[g] ? longest : r->longest[g];
    }
}

static int take(void *ctx, const struct rdump_operation *operation, const struct plan_edges *edges,
                struct err *err)
{
    struct run *r = ctx;
    const struct plan_step step = { .place = r->place,
                                    .time = r->begin + operation->time,
                                    .operation = operation,
                                    .edges = edges,
                                    .about = operation->inferred ? &r->about : NULL };

    chain(r, operation, edges);
    if (plan_paths_made(&r->paths, operation, r->place, err) < 0 ||
        (step.about && plan_paths_of(&r->paths, operation, step.time, &r->about, err) < 0) ||
        (r->args->store && plan_store_put(&r->store, &step, err) < 0) ||
        (r->pick.picked && deps_pick_next(&r->pick, &step, err) < 0))
        return -err->code;
    r->place++;
    return 0;
}

static int picked(void *ctx, struct deps_item *item, struct err *err)
{
    struct run *r = ctx;
    int result = 0;

    if (r->args->list)
        result = r->args->json ? deps_item_json(&r->pick, item, err)
                               : deps_item_text(&r->pick, item, err);
    if (result == 0 && ferror(stdout))
        result = finish_output(err);
    if (result == 0 && r->dot)
        return deps_dot_add(r->dot, item, err);
    deps_item_free(item);
    return result;
}

/* What was asked for must be there. */
static int look_for(struct run *r, const char *sql, const char *text, int64_t number,
                    struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(r->db, sql, &stmt, err) < 0)
        return -err->code;
    if (text)
        sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_int64(stmt, 1, number);
    result = sql_row(stmt, err);
    sqlite3_finalize(stmt);
    if (result != 0)
        return result > 0 ? 0 : result;
    return text ? err_set(err, ERR_USAGE, "--path: the trace shows no \"%s\"", text)
                : err_set(err, ERR_USAGE, "--object: the trace has no object %lld",
                          (long long)number);
}

static int begin(struct run *r, struct err *err)
{
    const struct deps_args *a = r->args;

    if (a->object && look_for(r, "SELECT 1 FROM object WHERE id = ?", NULL, r->choice.object, err))
        return -err->code;
    if (a->path && look_for(r,
                            "SELECT 1 FROM path WHERE text = ?1 OR substr(text, 1, length(?1) + 1)"
                            " = ?1 || '/' LIMIT 1",
                            r->choice.path, 0, err))
        return -err->code;
    for (int g = 0; g < 2; g++)
        r->chains[g] = calloc(DEPEND_HORIZON, sizeof(*r->chains[g]));
    if (!r->chains[0] || !r->chains[1])
        return err_memory(err, "dependencies");
    if (plan_paths_init(&r->paths, r->db, err) < 0)
        return -err->code;
    r->dot = a->dot ? deps_dot_new(err) : NULL;
    if (a->dot && !r->dot)
        return -err->code;
    if (!a->list && !a->dot)
        return 0;
    r->pick = (struct deps_pick){ .choice = &r->choice, .picked = picked, .ctx = r };
    return deps_pick_begin(&r->pick, r->db, err);
}

static int show(struct run *r, struct err *err)
{
    const struct deps_args *a = r->args;

    if (r->pick.picked && !r->pick.count)
        return err_set(err, ERR_USAGE, "no operation of NFS version 3 was selected");
    if (a->dot && deps_dot_write(r->dot, &r->pick, a->dot, err) < 0)
        return -err->code;
    if (a->list || (a->dot && strcmp(a->dot, "-") == 0))
        return 0;
    if (a->json)
        deps_summary_json(&r->counts, r->longest);
    else
        deps_summary_text(&r->counts, r->longest);
    return 0;
}

static int read_plan(void *ctx, struct err *err)
{
    const struct plan_options options = { .from = BEGINNING, .granularity = { true, true } };
    struct run *r = ctx;
    const struct plan_host host = {
        .trace = take_trace, .object = take_object, .operation = take, .ctx = r
    };
    bool store = r->args->store;
    struct err unseen;

    if ((store && plan_store_begin(&r->store, r->db, err) < 0) ||
        plan_read(r->db, &options, &host, &r->counts, err) < 0) {
        if (store)
            plan_store_end(&r->store, NULL, &unseen);
        return -err->code;
    }
    if (store && plan_store_end(&r->store, &r->counts, err) < 0)
        return -err->code;
    if (!r->place)
        return err_set(err, ERR_INPUT, "it has no operation of NFS version 3");
    return show(r, err);
}

static int run(struct store *store, struct run *r, struct err *err)
{
    int result;

    r->db = store_db(store);
    result = begin(r, err);
    if (result == 0)
        result = r->args->store ? tables_transaction(r->db, read_plan, r, err) : read_plan(r, err);
    deps_pick_end(&r->pick);
    deps_dot_free(r->dot);
    plan_paths_free(&r->paths);
    plan_about_free(&r->about);
    free(r->chains[0]);
    free(r->chains[1]);
    return result;
}

/* "A..B", "A..", "..B" or "A". */
static int set_range(void *to, const char *value, struct err *err)
{
    struct deps_args *a = to;
    const char *dots = strstr(value, "..");
    size_t len = dots ? (size_t)(dots - value) : strlen(value);
    uint64_t first = 1, last = INT64_MAX;
    char text[24] = "";
    bool good = len < sizeof(text) && (len || (dots && dots[2]));

    if (good) {
        memcpy(text, value, len);
        good = !len || parse_number(text, &first);
    }
    if (!dots)
        last = first;
    else if (dots[2])
        good = good && parse_number(dots + 2, &last);
    if (!good || first < 1 || first > last || last > INT64_MAX)
        return err_set(err, ERR_USAGE, "\"%s\" is not a range A..B of operations", value);
    a->first = (int64_t)first;
    a->last = (int64_t)last;
    return 0;
}

static int choose(const struct deps_args *a, struct deps_choice *c, struct err *err)
{
    bool shows = a->list || a->dot;

    if (a->granularity && !granularity_find(a->granularity, &c->granularity))
        return err_set(err, ERR_USAGE, "--granularity takes fine or object, not \"%s\"",
                       a->granularity);
    if (!shows && (a->first || a->object || a->path || a->granularity))
        return err_set(err, ERR_USAGE,
                       "--granularity, --range, --object and --path go with --list or --dot");
    if (a->dot && strcmp(a->dot, "-") == 0 && (a->list || a->json))
        return err_set(err, ERR_USAGE, "--dot - goes to standard output alone");
    c->first = a->first;
    c->last = a->last;
    if (a->object > INT64_MAX)
        return err_set(err, ERR_USAGE, "--object takes the number of an object");
    c->object = (int64_t)a->object;
    c->path = a->path ? strdup(a->path) : NULL;
    if (a->path && !c->path)
        return err_memory(err, "a path");
    for (size_t len = c->path ? strlen(c->path) : 0; len > 1 && c->path[len - 1] == '/'; len--)
        c->path[len - 1] = '\0';
    return 0;
}

static int set_object(void *to, const char *value, struct err *err)
{
    if (set_count(to, value, err) < 0)
        return -ERR_USAGE;
    return *(uint64_t *)to ? 0 : err_set(err, ERR_USAGE, "objects are counted from 1");
}

static int run_on(const char *path, struct run *r, struct err *err)
{
    struct trace trace;
    int result;

    if (outputs_spare(path, "--dot", r->args->dot, err) < 0 ||
        trace_open(&trace, path, r->args->store, err) < 0)
        return -err->code;
    result = run(trace.store, r, err);
    if (result == -ERR_INPUT)
        err_prefix(err, "%s", path);
    return trace_close(&trace, result, err);
}

int cmd_deps(int argc, char **argv, struct err *err)
{
    struct deps_args a = { 0 };
    const struct arg own[] = {
        { 0, "list", NULL, "list operations with what each depends on", set_flag, &a.list },
        { 0, "dot", "FILE",
          "draw a graph for Graphviz; operations that were\n"
          "not chosen are dashed; \"-\" is standard output",
          set_text, &a.dot },
        { 0, "granularity", "WHAT", "fine or object, for --list and --dot (fine)", set_text,
          &a.granularity },
        { 0, "range", "A..B", "take only operations with these ids", set_range, &a },
        { 'O', "object", "N", "take only operations on this object", set_object, &a.object },
        { 0, "path", "PATH",
          "take only operations on this path and below, as\n"
          "ops shows paths",
          set_text, &a.path },
        { 'j', "json", NULL, "print a JSON object on each line; times in ns", set_flag, &a.json },
        { 0, "store", NULL,
          "also write the tables plan_* into the database\n"
          "(schemas/plan.sql)",
          set_flag, &a.store },
        { 0 },
    };
    const struct args args = {
        "nfsdigest deps [OPTION...] DATABASE|FILE", about, own, NULL, NULL, 1, "one file"
    };
    struct run r = { .args = &a };
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    result = choose(&a, &r.choice, err);
    if (result == 0) {
        result = run_on(argv[first], &r, err);
    }
    free(r.choice.path);
    return result;
}
