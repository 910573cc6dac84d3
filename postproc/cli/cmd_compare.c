/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_compare.c
 *
 * "nfsdigest compare": its options, and what is done with the result: a report on standard output,
 * an HTML page, annotated captures.  Before any work it checks that no output takes the place of an
 * input (outputs.h).  Without --output, page and captures are made from a temporary result.  The
 * comparison is compare.h's; the contract of subcommands is in cli.h.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/log_operand.h"
#include "cli/outputs.h"
#include "cli/trace.h"
#include "compare/compare.h"
#include "compare/verdict.h"
#include "rules/rules.h"
#include "report/annotate.h"
#include "report/baseline.h"
#include "report/compare_report.h"
#include "report/html.h"
#include "report/only_phase.h"
#include "report/suggest.h"
#include "show/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char about[] =
    "Compares how two servers answered the same requests.  REF is the trace of the\n"
    "reference, SUT that of the system under test: a database, a record stream\n"
    "(.nfsr) or a capture.  With one trace, --ref-server and --sut-server choose two\n"
    "of its servers.  With the result of an earlier comparison (OUT.db), its traces\n"
    "are compared again under other rules.\n"
    "\n"
    "Matching of objects starts at the mounted roots and follows names.  Operations\n"
    "are aligned for each client and object.  Replies are compared field by field\n"
    "under rules (schemas/rules).  Discrepancies of the same kind are one group.\n"
    "The exit code is 1 if there are any.  Withheld are comparisons that earlier requests\n"
    "can explain; the manual page explains this and other words of the report.\n"
    "\n"
    "LOG is the directory of a shadow (nfstee shadow --log), also while it runs.\n"
    "\n"
    "Operations of a recorded replay (nfsreplay --record) say which operations of\n"
    "the original trace they repeat.  Then nothing is searched.\n";

enum { LIST_MAX = 64, EXAMPLES_MAX = 3 }; /* as many examples as a result has */

/* An option that may come several times. */
struct text_list {
    const char *texts[LIST_MAX];
    uint32_t count;
};

struct compare_args {
    struct text_list rules, clients;
    const char *output, *ref_server, *sut_server, *noise, *html, *annotate, *baseline, *by, *phase;
    uint64_t examples, copy;
    bool json, summary, one_sided, suggest;
};

static int add_text(void *to, const char *value, struct err *err)
{
    struct text_list *list = to;

    if (list->count == LIST_MAX)
        return err_set(err, ERR_USAGE, "an option comes more than %d times", LIST_MAX);
    list->texts[list->count++] = value;
    return 0;
}

static int set_examples(void *to, const char *value, struct err *err)
{
    if (set_count(to, value, err) < 0)
        return -err->code;
    return *(uint64_t *)to <= EXAMPLES_MAX
               ? 0
               : err_set(err, ERR_USAGE, "%s: a result has 0 to %d examples of each group", value,
                         EXAMPLES_MAX);
}

static int print(sqlite3 *result, const struct compare_args *a, struct err *err)
{
    const struct report_options options = { .examples = a->summary ? 0 : (uint32_t)a->examples,
                                            .one_sided = a->one_sided,
                                            .phases = a->by != NULL,
                                            .baseline = a->baseline };
    int verdict;

    if (a->phase && only_phase(result, a->phase, err) < 0)
        return -err->code;
    if (a->baseline && baseline_attach(result, a->baseline, err) < 0)
        return -err->code;
    if ((a->suggest ? report_rules(result, stdout, err)
         : a->json  ? report_json(result, &options, stdout, err)
                    : report_text(result, &options, stdout, err)) < 0 ||
        (verdict = verdict_of(result, err)) < 0)
        return -err->code;
    if (a->baseline) {
        int is_new = baseline_has_new(result, err);

        return is_new > 0 ? EXIT_FINDINGS : is_new;
    }
    return verdict_is_finding((enum verdict)verdict) ? EXIT_FINDINGS : 0;
}

static int check_operands(const struct compare_args *a, int count, char **operands, struct err *err)
{
    bool again = count == 1 && compare_is_result(operands[0]);

    if (a->baseline && !compare_is_result(a->baseline))
        return err_set(err, ERR_INPUT, "--baseline: %s: not the result of a comparison",
                       a->baseline);
    if (a->suggest && (a->json || a->one_sided || a->baseline))
        return err_set(err, ERR_USAGE, "--suggest-rules prints rules instead of a report");
    if (a->by && strcmp(a->by, "phase") != 0)
        return err_set(err, ERR_USAGE, "--by takes phase, not \"%s\"", a->by);
    if (a->by && (a->json || a->suggest || a->baseline))
        return err_set(err, ERR_USAGE,
                       "--by shows one table of the report; JSON always has all tables");
    if (a->phase && (a->baseline || a->suggest || a->html || a->annotate))
        return err_set(err, ERR_USAGE,
                       "--phase narrows the report on standard output; it does not go with"
                       " --baseline, --suggest-rules, --html and --annotate");
    if (count < 1 || count > 2)
        return err_set(err, ERR_USAGE,
                       "compare takes two traces: see \"nfsdigest compare --help\"");
    if (again && (a->ref_server || a->sut_server || a->noise || a->clients.count))
        return err_set(err, ERR_USAGE,
                       "with a stored result, only --rules and the output options can be given");
    if (count == 1 && !again && (!a->ref_server || !a->sut_server))
        return err_set(err, ERR_USAGE, "one trace needs --ref-server and --sut-server");
    if (count == 1 && !again && strcmp(a->ref_server, a->sut_server) == 0)
        return err_set(err, ERR_USAGE, "--ref-server and --sut-server are the same");
    if (count == 2 && strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        return err_set(err, ERR_USAGE, "only one side can be standard input");
    for (int i = 0; i < count; i++)
        if (count == 2 && compare_is_result(operands[i]))
            return err_set(err, ERR_INPUT, "%s: the result of a comparison, not a trace database",
                           operands[i]);
    return again;
}

/* The report of the comparison goes there. */
static bool is_standard_output(const char *path)
{
    struct stat a, b;

    return strcmp(path, "-") == 0 ||
           (stat(path, &a) == 0 && fstat(STDOUT_FILENO, &b) == 0 && !S_ISCHR(a.st_mode) &&
            a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static int check_outputs(const struct compare_args *a, int count, const char *const *operands,
                         bool again, struct err *err)
{
    static const char result[] = "the result", database[] = "the trace database";
    const struct {
        const char *option, *path;
    } written[] = { { "--output", a->output }, { "--html", a->html } };
    const char *const sides[SIDES] = { operands[0], operands[count - 1] };
    struct outputs o = { .count = 0 };
    int code = 0;

    for (int i = 0; code == 0 && i < count; i++)
        if ((code = outputs_reads(&o, again ? result : database, operands[i],
                                  again ? "--output" : NULL, err)) == 0)
            code = outputs_names(&o, operands[i], err);
    if (code == 0 && a->baseline)
        code = outputs_reads(&o, "the baseline", a->baseline, NULL, err);
    if (code == 0 && a->noise && (code = outputs_reads(&o, database, a->noise, NULL, err)) == 0)
        code = outputs_names(&o, a->noise, err);
    for (uint32_t i = 0; code == 0 && i < a->rules.count; i++)
        if (rules_is_file(a->rules.texts[i]))
            code = outputs_reads(&o, "the rule file", a->rules.texts[i], NULL, err);
    for (int i = 0; code == 0 && i < 2; i++) {
        if (!written[i].path)
            continue;
        code = is_standard_output(written[i].path)
                   ? err_set(err, ERR_USAGE, "%s %s: standard output is for the report",
                             written[i].option, written[i].path)
                   : outputs_writes(&o, written[i].option, written[i].path, err);
    }
    if (code == 0 && a->annotate)
        code = outputs_annotates(&o, a->annotate, sides, again ? 1 : SIDES, 0, err);
    if (code == 0)
        code = outputs_check(&o, err);
    outputs_free(&o);
    return code;
}

/* Reports are made of the stored result, by a connection that knows nothing else. */
static int report(const struct compare_args *a, const char *path, struct err *err)
{
    const struct annotate_request request = { .path = a->annotate };
    sqlite3 *result = NULL;
    int code = compare_open(path, &result, err);

    if (code == 0 && a->annotate)
        code = report_annotate(result, &request, err);
    if (code == 0 && a->html)
        code = report_html(result, a->html, err);
    sqlite3_close(result);
    return code;
}

static int find(void *files, const char *path, const char **file, struct err *err)
{
    return trace_files_find(files, path, file, err);
}

/* The captures that are to be annotated are known when the operands are databases. */
static int check_annotated(const struct compare_args *a, int count, char **operands,
                           struct trace_files *files, struct err *err)
{
    const char *databases[SIDES];

    for (int i = 0; i < count; i++)
        if (trace_files_find(files, operands[i], &databases[i], err) < 0)
            return -err->code;
    return files->count ? check_outputs(a, count, databases, false, err) : 0;
}

/* Compares, or, with |again|, compares the result |again| under other rules. */
static int compare(const struct compare_args *a, const struct compare_options *options,
                   const char *again, struct err *err)
{
    const char *output = a->output;
    struct cleanup cleanup = { .entered = false };
    sqlite3 *result = NULL;
    char kept[4096] = "";
    int code, found = 0;

    if (!output && (a->html || a->annotate)) {
        if (trace_temporary(kept, sizeof(kept), err) < 0)
            return -err->code;
        output = kept;
        cleanup_enter(&cleanup, cleanup_unlink, kept);
    }
    code = again ? compare_again(again, options, output, &result, err)
                 : compare_run(options, output, &result, err);
    if (code == 0)
        code = found = print(result, a, err);
    sqlite3_close(result);
    if (code >= 0 && (a->html || a->annotate))
        code = report(a, output, err);
    if (*kept)
        unlink(kept);
    cleanup_drop(&cleanup);
    return code < 0 ? code : found;
}

/* A log ends where its shadow is, or was killed: unlike a wrong checksum, that is no damage. */
static void accept_cut(struct trace_files *files)
{
    char text[sizeof(files->cut.text) + 80];

    if (!files->cut.code ||
        (!strstr(files->cut.text, "truncated") && !strstr(files->cut.text, "end record")))
        return;
    snprintf(text, sizeof(text), "%s: the shadow runs, or was killed", files->cut.text);
    say(text);
    files->cut.code = 0;
}

/* A shadow that found nothing has logged no pair. */
static int explain_empty(const char *log, struct err *err)
{
    if (strstr(err->text, "where a block should begin") || strstr(err->text, "holds no packets") ||
        strstr(err->text, "no operation in common"))
        return err_set(err, ERR_INPUT,
                       "%s: no pair is in this log; its summary.json says what was compared", log);
    return -err->code;
}

static int run(const struct compare_args *a, int count, char **operands, struct err *err)
{
    const char *directory = count ? operands[0] : NULL;
    struct log_operand log;
    int is_log = count == 1 ? log_operand_find(&log, operands[0], err) : 0;
    struct trace_files files = { .count = 0 };

    if (is_log < 0)
        return is_log;
    if (is_log) {
        operands = log.operands;
        count = SIDES;
    }
    const struct compare_options options = {
        .side = { { operands[0], a->ref_server }, { operands[count - 1], a->sut_server } },
        .noise = { a->noise, a->ref_server },
        .rules = a->rules.texts,
        .rule_count = a->rules.count,
        .clients = a->clients.texts,
        .client_count = a->clients.count,
        .find = find,
        .find_ctx = &files,
        .copy = (uint32_t)a->copy,
    };
    int again = check_operands(a, count, operands, err), result;

    if (again < 0)
        return again;
    result = check_outputs(a, count, (const char *const *)operands, again, err);
    if (result == 0 && a->annotate && !again)
        result = check_annotated(a, count, operands, &files, err);
    if (result == 0)
        result = compare(a, &options, again ? operands[0] : NULL, err);
    if (is_log)
        accept_cut(&files);
    if (is_log && result == -ERR_INPUT)
        result = explain_empty(directory, err);
    return trace_files_remove(&files, result, err);
}

static int set_copy(void *to, const char *value, struct err *err)
{
    int result = set_count(to, value, err);

    if (result == 0 && *(uint64_t *)to > UINT32_MAX)
        return err_set(err, ERR_USAGE, "\"%s\" is not a number below 2^32", value);
    return result;
}

int cmd_compare(int argc, char **argv, struct err *err)
{
    struct compare_args a = { .examples = EXAMPLES_MAX };
    const struct arg own[] = {
        { 'r', "rules", "RULES",
          "more rules, which override earlier ones:\n"
          "linux-knfsd, ganesha, ftnfsd, replay, anonymized,\n"
          "strict (after anonymized), or a file with a / or .\n"
          "in its name; can be given several times",
          add_text, &a.rules },
        { 'o', "output", "OUT.db", "keep the result (schemas/compare.sql)", set_text, &a.output },
        { 0, "ref-server", "ADDRESS", "the reference is this server of REF", set_text,
          &a.ref_server },
        { 0, "sut-server", "ADDRESS", "the system under test is this server of SUT", set_text,
          &a.sut_server },
        { 0, "client-map", "REF=SUT",
          "this client of REF is that client of SUT; others\n"
          "are matched by address, then by first appearance;\n"
          "can be given several times",
          add_text, &a.clients },
        { 0, "copy", "N",
          "of a replay in several copies, compare this one,\n"
          "from 0 (0)",
          set_copy, &a.copy },
        { 0, "noise", "REF2",
          "a second run of the reference: what differs\n"
          "between the two runs is noise",
          set_text, &a.noise },
        { 'e', "examples", "N", "show N examples of each group, at most 3 (3)", set_examples,
          &a.examples },
        { 's', "summary", NULL, "show the table without examples", set_flag, &a.summary },
        { '1', "one-sided", NULL, "list each operation that only one side has", set_flag,
          &a.one_sided },
        { 'b', "by", "phase",
          "show only the table of phases that clients marked\n"
          "(nfsdigest phase)",
          set_text, &a.by },
        { 0, "phase", "NAME",
          "report only the discrepancies in this phase; they\n"
          "decide the exit code",
          set_text, &a.phase },
        { 0, "baseline", "EARLIER.db",
          "report what is new since this result; the exit code\n"
          "is 1 only if something is",
          set_text, &a.baseline },
        { 0, "suggest-rules", NULL,
          "print a rule for each group of differences, which\n"
          "accepts it, instead of the report",
          set_flag, &a.suggest },
        { 'j', "json", NULL, "print one object (schemas/compare.schema.json)", set_flag, &a.json },
        { 0, "html", "FILE", "also write the HTML page of \"nfsdigest report\"", set_text,
          &a.html },
        { 0, "annotate", "OUT.pcapng",
          "also write the captures with packet comments, as\n"
          "\"nfsdigest report\" does",
          set_text, &a.annotate },
        { 0 },
    };
    const struct args args = { "nfsdigest compare [OPTION...] REF SUT | TRACE | LOG | OUT.db",
                               about, own, NULL, NULL };
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    return run(&a, argc - first, argv + first, err);
}
