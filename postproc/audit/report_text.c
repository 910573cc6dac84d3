/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/report.h"

static void show_line(void *ctx, const char *topic, const char *text)
{
    enum { COLUMN = 20, WIDTH = 100 };
    FILE *out = ctx;
    size_t column = COLUMN;

    fprintf(out, "%-*s", COLUMN, topic);
    while (*text) {
        size_t word = strcspn(text, " ");

        if (column > COLUMN && column + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", COLUMN, "");
            column = COLUMN;
        }
        fprintf(out, "%s%.*s", column > COLUMN ? " " : "", (int)word, text);
        column += word + (column > COLUMN);
        text += word;
        text += *text == ' ';
    }
    fputc('\n', out);
}

static void show_secrets(const struct audit *a, FILE *out)
{
    char sampled[LINE_TEXT_MAX];

    fprintf(out, "\nSearch of every byte\n%-13s %12s %18s %10s %9s %8s %10s %9s %8s\n", "class",
            "gathered", "patterns searched", "hits", "in kept", "allowed", "doubtful", "by chance",
            "findings");
    for (unsigned c = 0; c < SECRET_MAX; c++) {
        const struct leak_row *row = &a->leaks[c];

        fprintf(out, "%-13s %12llu %18s %10llu %9llu %8llu %10llu %9.2f %8llu\n",
                secret_class_name((enum secret_class)c),
                (unsigned long long)a->secrets.classes[c].seen,
                report_sampled(a, (enum secret_class)c, sampled), (unsigned long long)row->hits,
                (unsigned long long)row->kept, (unsigned long long)row->allowed,
                (unsigned long long)row->doubtful, row->expected,
                (unsigned long long)report_found(a, FOUND_LEAK,
                                                 secret_class_name((enum secret_class)c)));
    }
}

static void show_domains(const struct audit *a, FILE *out)
{
    fprintf(out, "\nMappings, field by field\n%-13s %12s %9s %10s %14s %10s %9s\n", "class",
            "compared", "may stay", "unchanged", "not a function", "collisions", "zeroed");
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        const struct domain_row *row = &a->domains[d];

        if (row->compared)
            fprintf(out, "%-13s %12llu %9llu %10llu %14llu %10llu %9llu\n",
                    domain_name((enum domain)d), (unsigned long long)row->compared,
                    (unsigned long long)row->kept, (unsigned long long)row->same,
                    (unsigned long long)row->contradictions, (unsigned long long)row->collisions,
                    (unsigned long long)row->changed_to_zero);
    }
    if (a->pairs.forward.halvings || a->pairs.back.halvings)
        fprintf(out, "(too many to remember: 1 in %u values and 1 in %u pseudonyms were checked)\n",
                1u << a->pairs.forward.halvings, 1u << a->pairs.back.halvings);
}

static void show_finding(const struct finding *f, bool redact, FILE *out)
{
    char place[LINE_TEXT_MAX], one[QUOTE_TEXT_MAX], two[QUOTE_TEXT_MAX];
    bool same = f->original.is_number == f->anonymized.is_number &&
                f->original.len == f->anonymized.len &&
                f->original.number == f->anonymized.number &&
                memcmp(f->original.data, f->anonymized.data, FINDING_BYTES) == 0;

    fprintf(out, "    %s", finding_place(f, redact, place));
    if (f->expected.len || f->expected.is_number)
        fprintf(out, ": expected %s", quote_text(&f->expected, redact, one));
    if (f->original.len || f->original.is_number)
        fprintf(out, ": %s", quote_text(&f->original, redact, one));
    if (!same)
        fprintf(out, " -> %s", quote_text(&f->anonymized, redact, two));
    if (f->text[0])
        fprintf(out, "%s%s", place[0] ? "; " : "", f->text);
    fputc('\n', out);
}

static void show_findings(const struct audit *a, bool redact, FILE *out)
{
    for (uint32_t i = 0; i < a->count_rows; i++) {
        const struct finding_count *c = &a->counts[i];
        uint64_t shown = 0;

        fprintf(out, "\n%llu x %s: %s %s\n", (unsigned long long)c->count,
                finding_kind_name(c->kind), c->what, finding_kind_words(c->kind));
        for (uint32_t j = 0; j < a->finding_count; j++) {
            if (a->findings[j].kind != c->kind || a->findings[j].what != c->what)
                continue;
            show_finding(&a->findings[j], redact, out);
            shown++;
        }
        if (shown < c->count)
            fprintf(out, "    ... and %llu more\n", (unsigned long long)(c->count - shown));
    }
}

void audit_text(const struct audit *a, bool redact, FILE *out)
{
    char verdict[LINE_TEXT_MAX];

    fprintf(out, "%s\n\n", report_warning(redact));
    show_line(out, "Verdict", report_verdict(a, verdict));
    report_coverage(a, redact, show_line, out);
    show_secrets(a, out);
    show_domains(a, out);
    if (a->finding_total)
        fprintf(out, "\nFindings\n");
    show_findings(a, redact, out);
    fprintf(out, "\nWhat can still be inferred\n");
    residual_words(a, show_line, out);
}
