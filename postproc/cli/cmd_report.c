/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/values.h"
#include "cli/cli.h"
#include "cli/filter_args.h"
#include "cli/outputs.h"
#include "cli/trace.h"
#include "compare/compare.h"
#include "report/annotate.h"
#include "report/html.h"
#include "report/trace_report.h"
#include "show/args.h"
#include "store/sql.h"

#include <string.h>
#include <sys/stat.h>

static const char about[] =
    "Makes reports.\n"
    "\n"
    "Of a trace (a trace database, a record stream or a capture; - for standard\n"
    "input): --html writes a page about what happened in it, --json its numbers; with\n"
    "filters, of the operations that match all of them.\n"
    "\n"
    "Of the result of \"nfsdigest compare -o RESULT\": --html needs that file only.\n"
    "--annotate also needs the captures: those that RESULT names, or the CAPTUREs\n"
    "that are given, which are recognized by their contents.  If RESULT is that of a\n"
    "shadow's log, each CAPTURE is one of the relay's clients.\n";

enum { FILTER_WORDS_MAX = 1024 };

struct report_args {
    const char *html, *annotate;
    bool json;
    struct filter filter; /* of a trace */
};

/* The captures that are given. */
struct clients {
    const char *const *captures;
    uint32_t count;
    struct trace_files files;
};

/* A capture that is cut is read as far as it goes, as any that is annotated. */
static void drop_database(struct clients *c)
{
    struct err unseen;

    c->files.cut.code = 0;
    trace_files_remove(&c->files, 0, &unseen);
}

static void say_made(void *ctx, const struct annotated *file)
{
    char frames[VALUE_TEXT_MAX], commented[VALUE_TEXT_MAX], text[4096];

    (void)ctx;
    snprintf(text, sizeof(text), "%s: %s frames of %s, %s of them with comments", file->path,
             count_text(file->frames, frames), file->capture,
             count_text(file->commented, commented));
    say(text);
}

/* Each capture of the clients of a relay in its turn. */
static int find(void *ctx, const char *capture, const char **database, struct err *err)
{
    struct clients *c = ctx;

    drop_database(c);
    return trace_files_find(&c->files, capture, database, err);
}

static void say_lost(void *ctx, uint64_t lost, uint64_t all)
{
    const struct clients *c = ctx;
    char number[VALUE_TEXT_MAX], whole[VALUE_TEXT_MAX], text[4096];

    snprintf(text, sizeof(text), "%s of %s discrepancies are not in %s", count_text(lost, number),
             count_text(all, whole), c->count == 1 ? c->captures[0] : "these captures");
    say(text);
}

static int check_args(const struct report_args *a, int count, struct err *err)
{
    if (count < 1)
        return err_set(err, ERR_USAGE,
                       "report takes a trace or the result of a comparison: see"
                       " \"nfsdigest report --help\"");
    if (!a->html && !a->annotate && !a->json)
        return err_set(err, ERR_USAGE,
                       "nothing to write: use --html FILE, --json or --annotate OUT.pcapng");
    if (a->json && a->html && strcmp(a->html, "-") == 0)
        return err_set(err, ERR_USAGE, "--html - and --json both go to standard output");
    if (count > 1 && !a->annotate)
        return err_set(err, ERR_USAGE, "captures are for --annotate");
    return 0;
}

/* A pipe is a trace: nothing may be read from it to find that out. */
static bool is_result(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           compare_is_result(path);
}

/* A page without operations is easily taken for a quiet trace. */
static int say_if_none(sqlite3 *db, const struct filter *filter, struct err *err)
{
    sqlite3_stmt *stmt;
    int found = filter_prepare(db, filter, "SELECT 1 FROM operation o", &stmt, err);

    if (found < 0)
        return found;
    found = sql_row(stmt, err);
    if (sql_end(stmt, found < 0 ? found : 0, err) < 0)
        return -err->code;
    return found ? 0 : filter_say_none(db, filter, err);
}

static int report_trace(const char *name, struct report_args *a, struct err *err)
{
    char words[FILTER_WORDS_MAX];
    const struct trace_report_request request = {
        .name = name,
        .html = a->html,
        .json = a->json ? stdout : NULL,
        .filter = filter_is_empty(&a->filter) ? NULL : &a->filter,
        .filter_words = words,
    };
    struct trace trace;
    int result;

    filter_arg_words(&a->filter, words, sizeof(words));

    if (a->annotate)
        return err_set(err, ERR_USAGE,
                       "--annotate takes the result of a comparison, which %s is not", name);
    if (outputs_spare(name, "--html", a->html, err) < 0 || trace_open(&trace, name, false, err) < 0)
        return -err->code;
    result = trace_report(store_db(trace.store), &request, err);
    if (result == 0 && request.filter)
        result = say_if_none(store_db(trace.store), request.filter, err);
    return trace_close(&trace, result, err);
}

static int annotate(sqlite3 *result, const char *path, struct clients *c, struct err *err)
{
    const struct annotate_request request = { .path = path,
                                              .captures = c->captures,
                                              .count = c->count,
                                              .made = say_made,
                                              .ctx = c,
                                              .find = find,
                                              .lost = say_lost };
    int code = report_annotate(result, &request, err);

    drop_database(c);
    return code;
}

static int check_outputs(const struct report_args *a, int count, char **operands, struct err *err)
{
    const char *const result = operands[0];
    struct outputs o = { .count = 0 };
    int code = outputs_reads(&o, "the result", result, NULL, err);

    if (code == 0)
        code = outputs_names(&o, result, err);
    for (int i = 1; code == 0 && i < count; i++)
        code = outputs_reads(&o, "the capture", operands[i], NULL, err);
    if (code == 0 && a->html)
        code = outputs_writes(&o, "--html", a->html, err);
    if (code == 0 && a->annotate)
        code = outputs_annotates(&o, a->annotate, &result, 1, (uint32_t)count - 1, err);
    if (code == 0)
        code = outputs_check(&o, err);
    outputs_free(&o);
    return code;
}

int cmd_report(int argc, char **argv, struct err *err)
{
    struct report_args a = { 0 };
    const struct arg own[] = {
        { 0, "html", "FILE", "write one HTML page; \"-\" is standard output", set_text, &a.html },
        { 'j', "json", NULL, "print what the page of a trace shows as JSON; times in ns", set_flag,
          &a.json },
        { 0, "annotate", "OUT.pcapng",
          "write the captures with packet comments, as\n"
          "OUT-ref.pcapng and OUT-sut.pcapng; those of a\n"
          "relay's clients as OUT.pcapng",
          set_text, &a.annotate },
        { 0 },
    };
    struct arg filters[FILTER_ARG_COUNT];
    const struct args args = { "nfsdigest report [OPTION...] DATABASE|FILE\n"
                               "       nfsdigest report [OPTION...] RESULT [CAPTURE...]",
                               about, own, filters, "Filters, of a trace" };
    sqlite3 *result = NULL;
    int first, code;

    filter_init(&a.filter);
    filter_arg_table(&a.filter, filters);
    code = args_parse(&args, argc, argv, &first, err);
    if (code != 1)
        return code;
    code = check_args(&a, argc - first, err);
    if (code == 0 && !is_result(argv[first]))
        return report_trace(argv[first], &a, err);
    if (code == 0 && !filter_is_empty(&a.filter))
        code = err_set(err, ERR_USAGE,
                       "filters are for a trace; of a comparison, see --phase of \"nfsdigest"
                       " compare --help\"");
    if (code == 0 && a.json)
        code = err_set(err, ERR_USAGE,
                       "--json takes a trace; of a comparison, see \"nfsdigest"
                       " compare --help\"");
    if (code == 0)
        code = check_outputs(&a, argc - first, argv + first, err);
    if (code == 0)
        code = compare_open(argv[first], &result, err);
    if (code == 0 && a.annotate) {
        struct clients clients = { .captures = (const char *const *)argv + first + 1,
                                   .count = (uint32_t)(argc - first - 1) };

        code = annotate(result, a.annotate, &clients, err);
    }
    if (code == 0 && a.html)
        code = report_html(result, a.html, err);
    sqlite3_close(result);
    return code;
}
