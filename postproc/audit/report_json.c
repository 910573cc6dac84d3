/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/report_json.c
 *
 * Writes the report as schemas/audit.schema.json describes it.  restore.c reads the figures of a
 * redacted report back: who changes one of them changes both files and the schema.  audit_json is
 * for the commands audit and package.  The contract is in audit.h.
 */
#include "audit/report.h"
#include "base/json.h"

static void number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void show_files(const struct audit *a, FILE *out)
{
    fprintf(out, ",\"original\":{\"frames\":%llu", (unsigned long long)a->original.frames);
    number(out, "calls", a->original.calls);
    number(out, "replies", a->original.replies);
    number(out, "unread", a->original.unread);
    number(out, "not_rpc", a->original.not_rpc);
    number(out, "skipped_bytes", a->original.skipped);
    number(out, "lost_bytes", a->original.lost);
    fprintf(out, ",\"cut\":%s}", a->original.cut ? "true" : "false");
    fprintf(out, ",\"anonymized\":{\"frames\":%llu", (unsigned long long)a->anonymized.frames);
    number(out, "calls", a->anonymized.calls);
    number(out, "replies", a->anonymized.replies);
    number(out, "unread", a->anonymized.unread);
    fprintf(out, ",\"cut\":%s", a->anonymized.cut ? "true" : "false");
    number(out, "bytes_searched", a->bytes_searched);
    fputs(",\"policy\":", out);
    json_text(out, a->policy);
    fputs(",\"policy_digest\":", out);
    json_text(out, a->policy_digest);
    fputs(",\"provenance\":", out);
    json_text(out, a->provenance);
    fputs("}", out);
    fprintf(out, ",\"messages\":{\"compared\":%llu", (unsigned long long)a->matched);
    number(out, "values", report_values(a));
    number(out, "missing", a->missing);
    fputs(",\"stated_as_dropped\":", out);
    if (a->has_dropped)
        fprintf(out, "%llu", (unsigned long long)a->dropped);
    else
        fputs("null", out);
    number(out, "surplus", a->surplus);
    number(out, "cut", a->incomplete);
    number(out, "unreadable_bodies", a->unread_bodies);
    fputs("}", out);
}

static void show_recomputed(const struct audit *a, FILE *out)
{
    if (!a->recomputed.done) {
        fputs(",\"recomputed\":null", out);
        return;
    }
    fprintf(out, ",\"recomputed\":{\"messages\":%llu", (unsigned long long)a->recomputed.messages);
    number(out, "bytes", a->recomputed.bytes);
    fprintf(out, ",\"other_version\":%s}", a->recomputed.other_version ? "true" : "false");
}

static void show_names(const struct audit *a, bool redact, FILE *out)
{
    fputs(",\"names\":{\"lengths\":", out);
    json_text(out, report_name_lengths(a));
    number(out, "distinct", a->names.distinct);
    number(out, "with_suffix", a->names.suffix);
    number(out, "with_prefix", a->names.prefix);
    number(out, "paths", a->names.paths);
    number(out, "paths_flattened", a->names.paths_flattened);
    fprintf(out, "},\"times\":{\"matched\":%s,\"shifted\":%s", a->has_shift ? "true" : "false",
            a->shift ? "true" : "false");
    if (!redact)
        fprintf(out, ",\"shift_ns\":%lld", (long long)a->shift);
    fputs("}", out);
}

static void show_secrets(const struct audit *a, FILE *out)
{
    fputs(",\"search\":[", out);
    for (unsigned c = 0; c < SECRET_MAX; c++) {
        const struct leak_row *row = &a->leaks[c];
        const char *name = secret_class_name((enum secret_class)c);

        fprintf(out, "%s{\"class\":\"%s\"", c ? "," : "", name);
        number(out, "gathered", a->secrets.classes[c].seen);
        number(out, "too_regular", a->secrets.classes[c].dull);
        number(out, "distinct", report_distinct(a, (enum secret_class)c));
        number(out, "searched", a->secrets.classes[c].count);
        fprintf(out, ",\"sampled\":%s", a->secrets.classes[c].halvings ? "true" : "false");
        number(out, "hits", row->hits);
        number(out, "hits_in_kept_values", row->kept);
        number(out, "hits_allowed", row->allowed);
        number(out, "short_patterns", row->short_count);
        number(out, "doubtful_hits", row->doubtful);
        fprintf(out, ",\"doubtful_hits_expected\":%.6g,\"doubtful_hits_probability\":%.6g",
                row->expected, row->probability);
        number(out, "findings", report_found(a, FOUND_LEAK, name));
        fputs("}", out);
    }
    fputs("]", out);
}

static void show_domains(const struct audit *a, FILE *out)
{
    fputs(",\"mappings\":[", out);
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        const struct domain_row *row = &a->domains[d];

        fprintf(out, "%s{\"class\":\"%s\"", d ? "," : "", domain_name((enum domain)d));
        number(out, "compared", row->compared);
        number(out, "may_stay", row->kept);
        number(out, "unchanged", row->same);
        number(out, "not_a_function", row->contradictions);
        number(out, "collisions", row->collisions);
        number(out, "zeroed", row->changed_to_zero);
        number(out, "pseudonyms_that_are_originals", row->foreign);
        fprintf(out, ",\"expected_by_chance\":%.6g}", row->foreign_by_chance);
    }
    fprintf(out, "],\"mappings_sampled\":%s",
            a->pairs.forward.halvings || a->pairs.back.halvings ? "true" : "false");
}

static void show_findings(const struct audit *a, bool redact, FILE *out)
{
    char place[LINE_TEXT_MAX], quote[QUOTE_TEXT_MAX];

    fputs(",\"finding_counts\":[", out);
    for (uint32_t i = 0; i < a->count_rows; i++)
        fprintf(out, "%s{\"kind\":\"%s\",\"class\":\"%s\",\"count\":%llu}", i ? "," : "",
                finding_kind_name(a->counts[i].kind), a->counts[i].what,
                (unsigned long long)a->counts[i].count);
    fputs("],\"findings\":[", out);
    for (uint32_t i = 0; i < a->finding_count; i++) {
        const struct finding *f = &a->findings[i];

        fprintf(out, "%s\n{\"kind\":\"%s\",\"class\":\"%s\"", i ? "," : "",
                finding_kind_name(f->kind), f->what);
        if (f->offset >= 0)
            number(out, "offset", (uint64_t)f->offset);
        if (f->frame)
            number(out, "frame", f->frame);
        if (f->original_frame && !redact)
            number(out, "original_frame", f->original_frame);
        fputs(",\"place\":", out);
        json_text(out, f->place);
        if (!redact) {
            fputs(",\"original\":", out);
            json_text(out, quote_text(&f->original, false, quote));
            fputs(",\"anonymized\":", out);
            json_text(out, quote_text(&f->anonymized, false, quote));
        }
        if (!redact && f->kind == FOUND_RECOMPUTED) {
            fputs(",\"expected\":", out);
            json_text(out, quote_text(&f->expected, false, quote));
        }
        fputs(",\"text\":", out);
        json_text(out, f->text);
        fputs(",\"where\":", out);
        json_text(out, finding_place(f, redact, place));
        fputs("}", out);
    }
    fputs("]", out);
}

/* What its words are made of. */
static void show_residual_figures(const struct audit *a, FILE *out)
{
    struct residual_figures f;

    residual_figures(a, &f);
    fprintf(out, ",\"residual_figures\":{\"span_ns\":%lld,\"calls_by_procedure\":[",
            (long long)f.span);
    for (unsigned i = 0; i < sizeof(f.calls_by_procedure) / sizeof(*f.calls_by_procedure); i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)f.calls_by_procedure[i]);
    fputs("]", out);
    number(out, "listings", f.listings);
    number(out, "entries", f.entries);
    number(out, "entries_max", f.entries_max);
    number(out, "sizes", f.sizes);
    number(out, "sizes_unique", f.sizes_unique);
    fprintf(out, ",\"sizes_more\":%s,\"xids_kept\":%s,\"ports_mapped\":%s,\"ranks\":[",
            f.sizes_more ? "true" : "false", f.xids_kept ? "true" : "false",
            f.ports_mapped ? "true" : "false");
    for (unsigned i = 0; i < RANKED; i++) {
        fprintf(out, "%s{\"distinct\":%llu", i ? "," : "", (unsigned long long)f.ranks[i].distinct);
        number(out, "all", f.ranks[i].all);
        fputs(",\"uses\":[", out);
        for (unsigned k = 0; k < RANKS; k++)
            fprintf(out, "%s%llu", k ? "," : "", (unsigned long long)f.ranks[i].uses[k]);
        fputs("]}", out);
    }
    fputs("]}", out);
}

struct lines {
    FILE *out;
    bool first;
};

static void show_line(void *ctx, const char *topic, const char *words)
{
    struct lines *l = ctx;

    fputs(l->first ? "{\"topic\":" : ",{\"topic\":", l->out);
    json_text(l->out, topic);
    fputs(",\"text\":", l->out);
    json_text(l->out, words);
    fputs("}", l->out);
    l->first = false;
}

void audit_json(const struct audit *a, bool redact, FILE *out)
{
    struct lines lines = { out, true };

    fputs("{\"warning\":", out);
    json_text(out, report_warning(redact));
    fprintf(out, ",\"version\":1,\"redacted\":%s,\"clean\":%s", redact ? "true" : "false",
            a->finding_total ? "false" : "true");
    number(out, "finding_total", a->finding_total);
    show_files(a, out);
    show_recomputed(a, out);
    show_names(a, redact, out);
    show_secrets(a, out);
    show_domains(a, out);
    show_findings(a, redact, out);
    show_residual_figures(a, out);
    fputs(",\"residual\":[", out);
    residual_words(a, show_line, &lines);
    fputs("]}\n", out);
}
