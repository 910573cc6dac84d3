/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page that needs nothing else. */
#include "audit/report.h"
#include "show/page.h"

static void show_line(void *ctx, const char *topic, const char *words)
{
    struct page *out = ctx;

    page_put(out, "<tr><td class=\"t\">");
    page_text(out, topic);
    page_put(out, "</td><td class=\"t\">");
    page_text(out, words);
    page_put(out, "</td></tr>\n");
}

static void cell(struct page *out, uint64_t value, bool bad)
{
    page_put(out, "<td%s>%llu</td>", bad && value ? " class=\"bad\"" : "",
             (unsigned long long)value);
}

static void show_secrets(const struct audit *a, struct page *out)
{
    char sampled[LINE_TEXT_MAX];

    page_put(out,
             "<h2>Search of every byte</h2><div class=\"wide\"><table><tr><th>class</th>"
             "<th>gathered</th><th>patterns searched</th><th>hits</th><th>in values that stay</th>"
             "<th>allowed</th><th>doubtful hits</th><th>by chance</th><th>findings</th></tr>\n");
    for (unsigned c = 0; c < SECRET_MAX; c++) {
        const struct leak_row *row = &a->leaks[c];
        const char *name = secret_class_name((enum secret_class)c);

        page_put(out, "<tr><td>%s</td>", name);
        cell(out, a->secrets.classes[c].seen, false);
        page_put(out, "<td>%s</td>", report_sampled(a, (enum secret_class)c, sampled));
        cell(out, row->hits, false);
        cell(out, row->kept, false);
        cell(out, row->allowed, false);
        cell(out, row->doubtful, false);
        page_put(out, "<td>%.6g</td>", row->expected); /* as in JSON, no digit more */
        cell(out, report_found(a, FOUND_LEAK, name), true);
        page_put(out, "</tr>\n");
    }
    page_put(out, "</table></div>\n");
}

static void show_domains(const struct audit *a, struct page *out)
{
    page_put(out, "<h2>Mappings, field by field</h2><div class=\"wide\"><table><tr><th>class</th>"
                  "<th>compared</th><th>may stay</th><th>unchanged</th><th>not a function</th>"
                  "<th>collisions</th><th>zeroed</th></tr>\n");
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        const struct domain_row *row = &a->domains[d];

        if (!row->compared)
            continue;
        page_put(out, "<tr><td>%s</td>", domain_name((enum domain)d));
        cell(out, row->compared, false);
        cell(out, row->kept, false);
        cell(out, row->same, true);
        cell(out, row->contradictions, true);
        cell(out, row->collisions, true);
        cell(out, row->changed_to_zero, false);
        page_put(out, "</tr>\n");
    }
    page_put(out, "</table></div>\n");
}

static void show_findings(const struct audit *a, bool redact, struct page *out)
{
    char place[LINE_TEXT_MAX], quote[QUOTE_TEXT_MAX];

    if (!a->finding_total)
        return;
    page_put(
        out,
        "<h2>Findings</h2><div class=\"wide\"><table><tr><th>kind</th><th class=\"t\">class</th>"
        "<th>count</th><th class=\"t\">meaning</th></tr>\n");
    for (uint32_t i = 0; i < a->count_rows; i++) {
        page_put(out, "<tr><td>%s</td><td class=\"t\">%s</td>",
                 finding_kind_name(a->counts[i].kind), a->counts[i].what);
        cell(out, a->counts[i].count, true);
        page_put(out, "<td class=\"t\">%s</td></tr>\n", finding_kind_words(a->counts[i].kind));
    }
    page_put(
        out,
        "</table></div><div class=\"wide\"><table><tr><th>kind</th><th class=\"t\">class</th>"
        "<th class=\"t\">where</th><th class=\"t\">original</th><th class=\"t\">anonymized</th>"
        "<th class=\"t\">remark</th></tr>\n");
    for (uint32_t i = 0; i < a->finding_count; i++) {
        const struct finding *f = &a->findings[i];

        page_put(out, "<tr><td>%s</td><td class=\"t\">%s</td><td class=\"t\">",
                 finding_kind_name(f->kind), f->what);
        page_text(out, finding_place(f, redact, place));
        page_put(out, "</td><td class=\"t\"><code>");
        page_text(out, f->kind == FOUND_RECOMPUTED ? "" : quote_text(&f->original, redact, quote));
        page_put(out, "</code></td><td class=\"t\"><code>");
        page_text(out, quote_text(&f->anonymized, redact, quote));
        page_put(out, "</code></td><td class=\"t\">");
        if (f->expected.len || f->expected.is_number) {
            page_put(out, "expected ");
            page_text(out, quote_text(&f->expected, redact, quote));
            page_put(out, f->text[0] ? "; " : "");
        }
        page_text(out, f->text);
        page_put(out, "</td></tr>\n");
    }
    page_put(out, "</table></div>\n");
}

void audit_html(const struct audit *a, bool redact, FILE *file)
{
    const struct page_head head = { "Audit of an anonymized capture", NULL, NULL };
    struct page page = { 0 }, *out = &page;
    struct err err = { 0 }; /* of |file|, whose owner asks for its errors */
    char verdict[LINE_TEXT_MAX];

    page_begin(out, &head, page_to_file, file, &err);
    page_put(out, "<p class=\"warning\">%s</p>\n<h1>Audit of an anonymized capture</h1>\n",
             report_warning(redact));
    page_put(out, "<p class=\"verdict %s\">%s</p>\n<table>\n", a->finding_total ? "bad" : "good",
             report_verdict(a, verdict));
    report_coverage(a, redact, show_line, out);
    page_put(out, "</table>\n");
    show_findings(a, redact, out);
    show_secrets(a, out);
    show_domains(a, out);
    page_put(out, "<h2>What can still be inferred</h2>\n<table>\n");
    residual_words(a, show_line, out);
    page_put(out, "</table>\n");
    page_end(out);
}
