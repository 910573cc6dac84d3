/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page that needs nothing else. */
#include "audit/report.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>Audit of an anonymized capture</title>\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#d0d7de;--soft:#f3f5f7;"
    "--good:#116329;--bad:#a40e26}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--paper:#14171a;--line:#3a4149;"
    "--soft:#1e2328;--good:#56d364;--bad:#ff7b72}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:72em;margin:2em auto;padding:0 1em}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;margin:.5em 0}\n"
    "th,td{border-bottom:1px solid var(--line);padding:.25em .6em;text-align:right;"
    "vertical-align:top}\n"
    "th:first-child,td:first-child,td.t,th.t{text-align:left}\nth{background:var(--soft)}\n"
    ".wide{overflow-x:auto}\ncode{overflow-wrap:anywhere}\n"
    ".verdict{font-size:1.4em;font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}\n"
    ".warning{border:1px solid var(--bad);padding:.4em .8em}\n</style></head><body>\n";

static void text(FILE *out, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
                fputc('?', out);
            else
                fputc(*s, out);
        }
    }
}

static void show_line(void *ctx, const char *topic, const char *words)
{
    FILE *out = ctx;

    fputs("<tr><td class=\"t\">", out);
    text(out, topic);
    fputs("</td><td class=\"t\">", out);
    text(out, words);
    fputs("</td></tr>\n", out);
}

static void cell(FILE *out, uint64_t value, bool bad)
{
    fprintf(out, "<td%s>%llu</td>", bad && value ? " class=\"bad\"" : "",
            (unsigned long long)value);
}

static void show_secrets(const struct audit *a, FILE *out)
{
    char sampled[LINE_TEXT_MAX];

    fputs("<h2>Search of every byte</h2><div class=\"wide\"><table><tr><th>class</th>"
          "<th>gathered</th><th>patterns searched</th><th>hits</th><th>in values that stay</th>"
          "<th>allowed</th><th>doubtful hits</th><th>by chance</th><th>findings</th></tr>\n",
          out);
    for (unsigned c = 0; c < SECRET_MAX; c++) {
        const struct leak_row *row = &a->leaks[c];
        const char *name = secret_class_name((enum secret_class)c);

        fprintf(out, "<tr><td>%s</td>", name);
        cell(out, a->secrets.classes[c].seen, false);
        fprintf(out, "<td>%s</td>", report_sampled(a, (enum secret_class)c, sampled));
        cell(out, row->hits, false);
        cell(out, row->kept, false);
        cell(out, row->allowed, false);
        cell(out, row->doubtful, false);
        fprintf(out, "<td>%.2f</td>", row->expected);
        cell(out, report_found(a, FOUND_LEAK, name), true);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

static void show_domains(const struct audit *a, FILE *out)
{
    fputs("<h2>Mappings, field by field</h2><div class=\"wide\"><table><tr><th>class</th>"
          "<th>compared</th><th>may stay</th><th>unchanged</th><th>not a function</th>"
          "<th>collisions</th><th>zeroed</th></tr>\n",
          out);
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        const struct domain_row *row = &a->domains[d];

        if (!row->compared)
            continue;
        fprintf(out, "<tr><td>%s</td>", domain_name((enum domain)d));
        cell(out, row->compared, false);
        cell(out, row->kept, false);
        cell(out, row->same, true);
        cell(out, row->contradictions, true);
        cell(out, row->collisions, true);
        cell(out, row->changed_to_zero, false);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

static void show_findings(const struct audit *a, bool redact, FILE *out)
{
    char place[LINE_TEXT_MAX], quote[QUOTE_TEXT_MAX];

    if (!a->finding_total)
        return;
    fputs("<h2>Findings</h2><div class=\"wide\"><table><tr><th>kind</th><th class=\"t\">class</th>"
          "<th>count</th><th class=\"t\">meaning</th></tr>\n",
          out);
    for (uint32_t i = 0; i < a->count_rows; i++) {
        fprintf(out, "<tr><td>%s</td><td class=\"t\">%s</td>", finding_kind_name(a->counts[i].kind),
                a->counts[i].what);
        cell(out, a->counts[i].count, true);
        fprintf(out, "<td class=\"t\">%s</td></tr>\n", finding_kind_words(a->counts[i].kind));
    }
    fputs("</table></div><div class=\"wide\"><table><tr><th>kind</th><th class=\"t\">class</th>"
          "<th class=\"t\">where</th><th class=\"t\">original</th><th class=\"t\">anonymized</th>"
          "<th class=\"t\">remark</th></tr>\n",
          out);
    for (uint32_t i = 0; i < a->finding_count; i++) {
        const struct finding *f = &a->findings[i];

        fprintf(out, "<tr><td>%s</td><td class=\"t\">%s</td><td class=\"t\">",
                finding_kind_name(f->kind), f->what);
        text(out, finding_place(f, redact, place));
        fputs("</td><td class=\"t\"><code>", out);
        text(out, quote_text(&f->original, redact, quote));
        fputs("</code></td><td class=\"t\"><code>", out);
        text(out, quote_text(&f->anonymized, redact, quote));
        fputs("</code></td><td class=\"t\">", out);
        text(out, f->text);
        fputs("</td></tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

void audit_html(const struct audit *a, bool redact, FILE *out)
{
    char verdict[LINE_TEXT_MAX];

    fputs(head, out);
    fprintf(out, "<p class=\"warning\">%s</p>\n<h1>Audit of an anonymized capture</h1>\n",
            report_warning(redact));
    fprintf(out, "<p class=\"verdict %s\">%s</p>\n<table>\n", a->finding_total ? "bad" : "good",
            report_verdict(a, verdict));
    report_coverage(a, redact, show_line, out);
    fputs("</table>\n", out);
    show_findings(a, redact, out);
    show_secrets(a, out);
    show_domains(a, out);
    fputs("<h2>What can still be inferred</h2>\n<table>\n", out);
    residual_words(a, show_line, out);
    fputs("</table>\n</body></html>\n", out);
}
