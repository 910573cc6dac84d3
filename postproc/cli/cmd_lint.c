/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_lint.c
 *
 * "nfsdigest lint": reads the operations of a trace once, gives them to lint (lint.h), and prints
 * the findings (lint_print.h).  The contract of subcommands is in cli.h.
 */
#include "cli/cli.h"
#include "cli/lint_print.h"
#include "cli/outputs.h"
#include "cli/trace.h"
#include "plan/effects.h"
#include "show/args.h"
#include "store/sql.h"
#include "store/store.h"

#include <string.h>

static const char about[] =
    "Checks servers and clients against RFC 1813, and servers against themselves over\n"
    "time, without a reference.\n"
    "\n"
    "An error breaks the rule by itself.  A suspect contradicts an earlier reply,\n"
    "unless something that the trace does not show changed the object in between:\n"
    "another client, or a program on the server.  A note is allowed, but worth\n"
    "knowing.  Operations that overlapped are not compared with each other.\n"
    "\n"
    "The end of the text says how many findings each server and client has, and whether\n"
    "the trace shows a restart, and calls that were sent again: without these it does\n"
    "not tell if stable data and the duplicate request cache are right.  To compare\n"
    "what two servers answer, use \"nfsdigest compare\".\n"
    "\n"
    "The exit code is 1 if there are errors or suspects.\n";

struct chosen {
    bool any, rules[LINT_RULES];
};

static int choose(void *to, const char *value, struct err *err)
{
    struct chosen *chosen = to;
    int id = lint_rule_find(value);

    if (id < 0)
        return err_set(err, ERR_USAGE, "no rule \"%.64s\": see --list", value);
    chosen->any = chosen->rules[id] = true;
    return 0;
}

static void list(const struct lint_rules *rules)
{
    for (int i = 0; i < LINT_RULES; i++) {
        const struct lint_rule *rule = &rules->rule[i];

        printf("%-18s %-8s %s: %s\n", rule->name, lint_level_name(rule->level), rule->source,
               rule->text);
    }
}

static int called(void *ctx, struct effect *effect, struct err *err)
{
    return lint_called(ctx, effect, err);
}

static int done(void *ctx, struct effect *effect, struct err *err)
{
    return lint_done(ctx, effect, err);
}

static int found(void *ctx, const struct lint_finding *finding, struct err *err)
{
    return lint_view_add(ctx, finding, err);
}

static bool is_read(void *ctx, enum lint_id rule)
{
    return lint_view_reads(ctx, rule);
}

/* What the trace has besides NFSv3 and what may have been NFS. */
static int count_others(struct lint_view *view, struct err *err)
{
    uint64_t mine = view->counts.operations + view->counts.unknown;
    int64_t all;

    if (sql_number(view->db, "SELECT sum(operations) FROM source", 0, &all, err) < 0)
        return -err->code;
    view->others = (uint64_t)all > mine ? (uint64_t)all - mine : 0;
    return 0;
}

static int judge(struct lint_view *view, struct err *err)
{
    const struct lint_options options = {
        .rules = view->rules, .finding = found, .ctx = view, .is_read = is_read
    };
    struct lint *lint = lint_new(&options, err);
    const struct effect_visitor visitor = {
        .called = called, .done = done, .ctx = lint, .lint = true
    };
    int result = lint ? effects_read(view->db, &visitor, err) : -err->code;

    if (result == 0)
        result = lint_end(lint, err);
    if (result == 0) {
        view->counts = lint_counts(lint);
        lint_hosts_sort(view);
        result = sql_number(view->db, "SELECT count(*) FROM problem WHERE kind IN (1, 2)", 0,
                            &view->gaps, err);
        if (result == 0)
            result = count_others(view, err);
    }
    lint_free(lint);
    return result;
}

static int run(struct lint_view *view, bool json, const char *html, struct err *err)
{
    struct trace trace;
    int result;

    if (outputs_spare(view->name, "--html", html, err) < 0 ||
        trace_open(&trace, view->name, false, err) < 0)
        return -err->code;
    view->db = store_db(trace.store);
    result = judge(view, err);
    if (result == 0)
        result = json   ? lint_json(view, err)
                 : html ? lint_page(view, html, err)
                        : lint_text(view, err);
    if (result == 0 && json && html)
        result = lint_page(view, html, err);
    if (result == 0)
        result = finish_output(err);
    result = trace_close(&trace, result, err);
    if (result < 0)
        return result;
    return lint_view_level(view, LINT_ERROR) || lint_view_level(view, LINT_SUSPECT) ? EXIT_FINDINGS
                                                                                    : 0;
}

int cmd_lint(int argc, char **argv, struct err *err)
{
    struct chosen chosen = { 0 };
    struct lint_view view = { .top = 10 };
    struct lint_rules rules;
    bool json = false, only_list = false;
    const char *html = NULL;
    const struct arg own[] = {
        { 0, "rule", "RULE", "judge by this rule only; may be given several times", choose,
          &chosen },
        { 'n', "top", "N", "show N findings of each rule (10)", set_count, &view.top },
        { 0, "list", NULL, "list the rules", set_flag, &only_list },
        { 'j', "json", NULL, "print JSON", set_flag, &json },
        { 0, "html", "FILE", "write a page instead of the text", set_text, &html },
        { 0 },
    };
    const struct args args = {
        "nfsdigest lint [OPTION...] DATABASE|FILE", about, own, NULL, NULL, 0, "one file"
    };
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (argc - first != (only_list ? 0 : 1))
        return err_set(err, ERR_USAGE,
                       only_list ? "lint --list takes no file" : "lint takes one file");
    if (json && html && strcmp(html, "-") == 0)
        return err_set(err, ERR_USAGE, "--html - and --json both go to standard output");
    if (lint_rules_load(&rules, err) < 0) {
        lint_rules_free(&rules);
        return -err->code;
    }
    for (int i = 0; i < LINT_RULES; i++)
        view.chosen[i] = !chosen.any || chosen.rules[i];
    view.rules = &rules;
    view.name = argv[first];
    if (only_list) {
        list(&rules);
        result = finish_output(err);
    } else {
        result = run(&view, json, html, err);
    }
    lint_view_free(&view);
    lint_rules_free(&rules);
    return result;
}
