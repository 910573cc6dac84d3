/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_rules.c
 *
 * Which rules allowed differences, and why there are such rules.
 */
#include "base/escape.h"
#include "report/report_parts.h"

#include <inttypes.h>

static void add_rule(struct report_rule *to, const struct rules *rules,
                     const struct compare_rule *rule, const struct tally_rule *from)
{
    snprintf(to->file, sizeof(to->file), "%s", rules->files[rule->file].name);
    snprintf(to->rule, sizeof(to->rule), "%s", rule->text);
    rules_reason(rules, rule, to->reason, sizeof(to->reason));
    to->line = rule->line;
    to->operations = from->operations;
    to->differ = from->differ;
    to->dump = from->dump;
    to->number = from->number;
    if (from->text[0])
        report_procedure_name(from->procedure, to->procedure);
    memcpy(to->text, from->text, sizeof(to->text));
}

/* Those for which there is no row. */
static void add_further(struct report_rule *to, const struct tally_rule *from)
{
    if (to->line)
        *to = (struct report_rule){ .rule = "further rules",
                                    .operations = to->operations,
                                    .differ = to->differ };
    to->operations += from->operations;
    to->differ += from->differ;
}

void report_rules(struct report *report, const struct rules *rules, const struct tally *tally)
{
    uint32_t *count = &report->counts[REPORT_RULES];
    char *names = report->run.rules;

    names[0] = '\0';
    for (uint32_t i = 1; rules && i < rules->file_count; i++) {
        size_t len = strlen(names);

        snprintf(names + len, sizeof(report->run.rules) - len, "%s%s", len ? ", " : "",
                 rules->files[i].name);
    }
    *count = 0;
    for (uint32_t i = 0; rules && i < tally->rule_count; i++) {
        const struct tally_rule *from = &tally->rules[i];

        if (!from->operations && !from->differ)
            continue;
        if (*count == REPORT_RULE_ROWS)
            add_further(&report->rules[REPORT_RULE_ROWS - 1], from);
        else
            add_rule(&report->rules[(*count)++], rules, rules_at(rules, i + 1), from);
    }
}

static void print_rule(const struct report_rule *x, FILE *to)
{
    enum { INDENT = 34 };

    fprintf(to, "  %12" PRIu64 " %17" PRIu64 "  ", x->operations, x->differ);
    escape_print(to, x->rule);
    if (x->line) {
        fputs(" (", to);
        escape_print(to, x->file);
        fprintf(to, " line %" PRIu64 ")", x->line);
    }
    if (x->reason[0]) {
        fprintf(to, "\n%*swhy: ", INDENT, "");
        escape_print(to, x->reason);
    }
    if (x->text[0]) {
        fprintf(to, "\n%*sthe first: operation %" PRIu64 " (%s): ", INDENT, "", x->number,
                x->procedure);
        escape_print(to, x->text);
    }
    fputc('\n', to);
}

void report_rules_text(const struct report *r, FILE *to)
{
    if (r->counts[REPORT_RULES])
        fprintf(to, "\nDifferences that rules allow\n    operations  differ otherwise  rule\n");
    for (uint32_t i = 0; i < r->counts[REPORT_RULES]; i++)
        print_rule(&r->rules[i], to);
}
