/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/report_json.c
 *
 * Writes the report as schemas/audit.schema.json describes it.  restore.c reads the figures of a
 * redacted report back: who changes one of them changes both files and the schema.  audit_json is
 * for the commands audit and package.  The contract is in audit.h.
 */
#include "audit/report.h"
#include "base/json.h"

static void show_files(struct json *j, const struct audit *a)
{
    json_object(j, "original");
    json_u64(j, "frames", a->original.frames);
    json_u64(j, "calls", a->original.calls);
    json_u64(j, "replies", a->original.replies);
    json_u64(j, "unread", a->original.unread);
    json_u64(j, "not_rpc", a->original.not_rpc);
    json_u64(j, "skipped_bytes", a->original.skipped);
    json_u64(j, "lost_bytes", a->original.lost);
    json_bool(j, "cut", a->original.cut);
    json_object_end(j);
    json_object(j, "anonymized");
    json_u64(j, "frames", a->anonymized.frames);
    json_u64(j, "calls", a->anonymized.calls);
    json_u64(j, "replies", a->anonymized.replies);
    json_u64(j, "unread", a->anonymized.unread);
    json_bool(j, "cut", a->anonymized.cut);
    json_u64(j, "bytes_searched", a->bytes_searched);
    json_text(j, "policy", a->policy);
    json_text(j, "policy_digest", a->policy_digest);
    json_text(j, "provenance", a->provenance);
    json_object_end(j);
}

static void show_messages(struct json *j, const struct audit *a)
{
    json_object(j, "messages");
    json_u64(j, "compared", a->matched);
    json_u64(j, "values", report_values(a));
    json_u64(j, "missing", a->missing);
    if (a->has_dropped)
        json_u64(j, "stated_as_dropped", a->dropped);
    else
        json_null(j, "stated_as_dropped");
    json_u64(j, "surplus", a->surplus);
    json_u64(j, "cut", a->incomplete);
    json_u64(j, "unreadable_bodies", a->unread_bodies);
    json_object_end(j);
}

static void show_recomputed(struct json *j, const struct audit *a)
{
    if (!a->recomputed.done) {
        json_null(j, "recomputed");
        return;
    }
    json_object(j, "recomputed");
    json_u64(j, "messages", a->recomputed.messages);
    json_u64(j, "bytes", a->recomputed.bytes);
    json_bool(j, "other_version", a->recomputed.other_version);
    json_object_end(j);
}

static void show_names(struct json *j, const struct audit *a)
{
    json_object(j, "names");
    json_text(j, "lengths", report_name_lengths(a));
    json_u64(j, "distinct", a->names.distinct);
    json_u64(j, "with_suffix", a->names.suffix);
    json_u64(j, "with_prefix", a->names.prefix);
    json_u64(j, "paths", a->names.paths);
    json_u64(j, "paths_flattened", a->names.paths_flattened);
    json_object_end(j);
}

static void show_times(struct json *j, const struct audit *a, bool redact)
{
    json_object(j, "times");
    json_bool(j, "matched", a->has_shift);
    json_bool(j, "shifted", a->shift != 0);
    if (!redact)
        json_i64(j, "shift_ns", a->shift);
    json_object_end(j);
}

static void show_secrets(struct json *j, const struct audit *a)
{
    json_array(j, "search");
    for (unsigned c = 0; c < SECRET_MAX; c++) {
        const struct leak_row *row = &a->leaks[c];
        const char *name = secret_class_name((enum secret_class)c);

        json_object(j, NULL);
        json_text(j, "class", name);
        json_u64(j, "gathered", a->secrets.classes[c].seen);
        json_u64(j, "too_regular", a->secrets.classes[c].dull);
        json_u64(j, "distinct", report_distinct(a, (enum secret_class)c));
        json_u64(j, "searched", a->secrets.classes[c].count);
        json_bool(j, "sampled", a->secrets.classes[c].halvings != 0);
        json_u64(j, "hits", row->hits);
        json_u64(j, "hits_in_kept_values", row->kept);
        json_u64(j, "hits_allowed", row->allowed);
        json_u64(j, "short_patterns", row->short_count);
        json_u64(j, "doubtful_hits", row->doubtful);
        json_number(j, "doubtful_hits_expected", "%.6g", row->expected);
        json_number(j, "doubtful_hits_probability", "%.6g", row->probability);
        json_u64(j, "findings", report_found(a, FOUND_LEAK, name));
        json_object_end(j);
    }
    json_array_end(j);
}

static void show_domains(struct json *j, const struct audit *a)
{
    json_array(j, "mappings");
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        const struct domain_row *row = &a->domains[d];

        json_object(j, NULL);
        json_text(j, "class", domain_name((enum domain)d));
        json_u64(j, "compared", row->compared);
        json_u64(j, "may_stay", row->kept);
        json_u64(j, "unchanged", row->same);
        json_u64(j, "not_a_function", row->contradictions);
        json_u64(j, "collisions", row->collisions);
        json_u64(j, "zeroed", row->changed_to_zero);
        json_u64(j, "pseudonyms_that_are_originals", row->foreign);
        json_number(j, "expected_by_chance", "%.6g", row->foreign_by_chance);
        json_object_end(j);
    }
    json_array_end(j);
    json_bool(j, "mappings_sampled", a->pairs.forward.halvings || a->pairs.back.halvings);
}

static void show_finding(struct json *j, const struct finding *f, bool redact)
{
    char place[LINE_TEXT_MAX], quote[QUOTE_TEXT_MAX];

    json_object(j, NULL);
    json_text(j, "kind", finding_kind_name(f->kind));
    json_text(j, "class", f->what);
    if (f->offset >= 0)
        json_u64(j, "offset", (uint64_t)f->offset);
    if (f->frame)
        json_u64(j, "frame", f->frame);
    if (f->original_frame && !redact)
        json_u64(j, "original_frame", f->original_frame);
    json_text(j, "place", f->place);
    if (!redact) {
        json_text(j, "original", quote_text(&f->original, false, quote));
        json_text(j, "anonymized", quote_text(&f->anonymized, false, quote));
    }
    if (!redact && f->kind == FOUND_RECOMPUTED)
        json_text(j, "expected", quote_text(&f->expected, false, quote));
    json_text(j, "text", f->text);
    json_text(j, "where", finding_place(f, redact, place));
    json_object_end(j);
}

static void show_findings(struct json *j, const struct audit *a, bool redact)
{
    json_array(j, "finding_counts");
    for (uint32_t i = 0; i < a->count_rows; i++) {
        json_object(j, NULL);
        json_text(j, "kind", finding_kind_name(a->counts[i].kind));
        json_text(j, "class", a->counts[i].what);
        json_u64(j, "count", a->counts[i].count);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "findings");
    for (uint32_t i = 0; i < a->finding_count; i++) {
        json_break(j);
        show_finding(j, &a->findings[i], redact);
    }
    json_array_end(j);
}

static void show_numbers(struct json *j, const char *key, const uint64_t *numbers, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_u64(j, NULL, numbers[i]);
    json_array_end(j);
}

/* What its words are made of. */
static void show_residual_figures(struct json *j, const struct audit *a)
{
    struct residual_figures f;

    residual_figures(a, &f);
    json_object(j, "residual_figures");
    json_i64(j, "span_ns", f.span);
    show_numbers(j, "calls_by_procedure", f.calls_by_procedure,
                 sizeof(f.calls_by_procedure) / sizeof(*f.calls_by_procedure));
    json_u64(j, "listings", f.listings);
    json_u64(j, "entries", f.entries);
    json_u64(j, "entries_max", f.entries_max);
    json_u64(j, "sizes", f.sizes);
    json_u64(j, "sizes_unique", f.sizes_unique);
    json_bool(j, "sizes_more", f.sizes_more);
    json_bool(j, "xids_kept", f.xids_kept);
    json_bool(j, "ports_mapped", f.ports_mapped);
    json_array(j, "ranks");
    for (unsigned i = 0; i < RANKED; i++) {
        json_object(j, NULL);
        json_u64(j, "distinct", f.ranks[i].distinct);
        json_u64(j, "all", f.ranks[i].all);
        show_numbers(j, "uses", f.ranks[i].uses, RANKS);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void show_line(void *ctx, const char *topic, const char *words)
{
    json_object(ctx, NULL);
    json_text(ctx, "topic", topic);
    json_text(ctx, "text", words);
    json_object_end(ctx);
}

void audit_json(const struct audit *a, bool redact, FILE *out)
{
    struct json j = { .out = out };

    json_object(&j, NULL);
    json_text(&j, "warning", report_warning(redact));
    json_u64(&j, "version", 1);
    json_bool(&j, "redacted", redact);
    json_bool(&j, "clean", !a->finding_total);
    json_u64(&j, "finding_total", a->finding_total);
    show_files(&j, a);
    show_messages(&j, a);
    show_recomputed(&j, a);
    show_names(&j, a);
    show_times(&j, a, redact);
    show_secrets(&j, a);
    show_domains(&j, a);
    show_findings(&j, a, redact);
    show_residual_figures(&j, a);
    json_array(&j, "residual");
    residual_words(a, show_line, &j);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
}
