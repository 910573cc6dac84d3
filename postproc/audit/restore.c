/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/restore.c
 *
 * Reads the figures of a redacted report back, one by one, as report_json.c has written them.  A
 * figure that is missing or none is 0: the report that is made of them then differs.
 */
#include "audit/report.h"
#include "store/store.h"

#include <stddef.h>
#include <stdlib.h>

struct restored { /* what audit_free frees is the first of it */
    struct audit audit;
    struct residual_figures figures;
    char whats[128][32];
};

struct figure {
    const char *path;
    size_t at;
};

#define OF(struct_name, path, member) { path, offsetof(struct struct_name, member) }

static const struct figure of_audit[] = {
    OF(audit, "$.finding_total", finding_total),
    OF(audit, "$.original.frames", original.frames),
    OF(audit, "$.original.calls", original.calls),
    OF(audit, "$.original.replies", original.replies),
    OF(audit, "$.original.unread", original.unread),
    OF(audit, "$.original.not_rpc", original.not_rpc),
    OF(audit, "$.original.skipped_bytes", original.skipped),
    OF(audit, "$.original.lost_bytes", original.lost),
    OF(audit, "$.anonymized.frames", anonymized.frames),
    OF(audit, "$.anonymized.calls", anonymized.calls),
    OF(audit, "$.anonymized.replies", anonymized.replies),
    OF(audit, "$.anonymized.unread", anonymized.unread),
    OF(audit, "$.anonymized.bytes_searched", bytes_searched),
    OF(audit, "$.messages.compared", matched),
    OF(audit, "$.messages.values", fields[0]),
    OF(audit, "$.messages.missing", missing),
    OF(audit, "$.messages.stated_as_dropped", dropped),
    OF(audit, "$.messages.surplus", surplus),
    OF(audit, "$.messages.cut", incomplete),
    OF(audit, "$.messages.unreadable_bodies", unread_bodies),
    OF(audit, "$.recomputed.messages", recomputed.messages),
    OF(audit, "$.recomputed.bytes", recomputed.bytes),
    OF(audit, "$.names.distinct", names.distinct),
    OF(audit, "$.names.with_suffix", names.suffix),
    OF(audit, "$.names.with_prefix", names.prefix),
    OF(audit, "$.names.paths", names.paths),
    OF(audit, "$.names.paths_flattened", names.paths_flattened),
};

static const struct figure of_search[] = {
    OF(leak_row, "hits", hits),
    OF(leak_row, "hits_in_kept_values", kept),
    OF(leak_row, "hits_allowed", allowed),
    OF(leak_row, "doubtful_hits", doubtful),
};

static const struct figure of_mapping[] = {
    OF(domain_row, "compared", compared),
    OF(domain_row, "may_stay", kept),
    OF(domain_row, "unchanged", same),
    OF(domain_row, "not_a_function", contradictions),
    OF(domain_row, "collisions", collisions),
    OF(domain_row, "zeroed", changed_to_zero),
    OF(domain_row, "pseudonyms_that_are_originals", foreign),
};

static const struct figure of_residual[] = {
    OF(residual_figures, "listings", listings),         OF(residual_figures, "entries", entries),
    OF(residual_figures, "entries_max", entries_max),   OF(residual_figures, "sizes", sizes),
    OF(residual_figures, "sizes_unique", sizes_unique),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The value at a path, "$.search[3].hits": 1 when there is one that is no null. */
__attribute__((format(printf, 2, 3))) static int ask(sqlite3_stmt *s, const char *format, ...)
{
    char path[128];
    va_list values;

    va_start(values, format);
    vsnprintf(path, sizeof(path), format, values);
    va_end(values);
    sqlite3_reset(s);
    sqlite3_bind_text(s, 2, path, -1, SQLITE_TRANSIENT);
    return sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL;
}

#define NUMBER(s, ...) (ask(s, __VA_ARGS__) ? (uint64_t)sqlite3_column_int64(s, 0) : 0)
#define REAL(s, ...) (ask(s, __VA_ARGS__) ? sqlite3_column_double(s, 0) : 0)

static void read_figures(sqlite3_stmt *s, const char *where, const struct figure *figures,
                         size_t count, void *to)
{
    for (size_t i = 0; i < count; i++)
        *(uint64_t *)((char *)to + figures[i].at) = NUMBER(s, "%s%s", where, figures[i].path);
}

static void read_names(sqlite3_stmt *s, struct name_row *names)
{
    const char *lengths =
        ask(s, "$.names.lengths") ? (const char *)sqlite3_column_text(s, 0) : NULL;

    /* so that report_name_lengths says the same */
    if (lengths && strcmp(lengths, "kept") == 0)
        names->same_length = names->distinct;
    else if (lengths && strcmp(lengths, "hidden") == 0)
        names->lengths[0] = names->distinct;
}

static void read_search(sqlite3_stmt *s, struct audit *a)
{
    for (unsigned c = 0; c < SECRET_MAX; c++) {
        uint64_t distinct = NUMBER(s, "$.search[%u].distinct", c);
        char where[32];

        snprintf(where, sizeof(where), "$.search[%u].", c);
        read_figures(s, where, of_search, COUNT(of_search), &a->leaks[c]);
        a->leaks[c].short_count = (uint32_t)NUMBER(s, "%sshort_patterns", where);
        a->leaks[c].expected = REAL(s, "%sdoubtful_hits_expected", where);
        a->leaks[c].probability = REAL(s, "%sdoubtful_hits_probability", where);
        a->secrets.classes[c].seen = NUMBER(s, "%sgathered", where);
        a->secrets.classes[c].dull = NUMBER(s, "%stoo_regular", where);
        a->secrets.classes[c].count = (uint32_t)NUMBER(s, "%ssearched", where);
        if (!NUMBER(s, "%ssampled", where))
            continue;
        while (a->secrets.classes[c].halvings < 63 &&
               report_distinct(a, (enum secret_class)c) < distinct)
            a->secrets.classes[c].halvings++;
    }
}

static void read_mappings(sqlite3_stmt *s, struct audit *a)
{
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        char where[32];

        snprintf(where, sizeof(where), "$.mappings[%u].", d);
        read_figures(s, where, of_mapping, COUNT(of_mapping), &a->domains[d]);
        a->domains[d].foreign_by_chance = REAL(s, "%sexpected_by_chance", where);
    }
    a->pairs.forward.halvings = NUMBER(s, "$.mappings_sampled") != 0;
}

static void read_residual(sqlite3_stmt *s, struct residual_figures *f)
{
    static const char where[] = "$.residual_figures.";

    read_figures(s, where, of_residual, COUNT(of_residual), f);
    f->span = (int64_t)NUMBER(s, "%sspan_ns", where);
    for (unsigned i = 0; i < COUNT(f->calls_by_procedure); i++)
        f->calls_by_procedure[i] = NUMBER(s, "%scalls_by_procedure[%u]", where, i);
    f->sizes_more = NUMBER(s, "%ssizes_more", where) != 0;
    f->xids_kept = NUMBER(s, "%sxids_kept", where) != 0;
    f->ports_mapped = NUMBER(s, "%sports_mapped", where) != 0;
    for (unsigned i = 0; i < RANKED; i++) {
        f->ranks[i].distinct = NUMBER(s, "%sranks[%u].distinct", where, i);
        f->ranks[i].all = NUMBER(s, "%sranks[%u].all", where, i);
        for (unsigned k = 0; k < RANKS; k++)
            f->ranks[i].uses[k] = NUMBER(s, "%sranks[%u].uses[%u]", where, i, k);
    }
}

/* As the tables of the report know it, else |text|. */
static const char *known_class(const char *text)
{
    for (unsigned c = 0; c < SECRET_MAX; c++)
        if (strcmp(secret_class_name((enum secret_class)c), text) == 0)
            return secret_class_name((enum secret_class)c);
    return text;
}

static void read_findings(sqlite3_stmt *s, struct restored *r)
{
    struct audit *a = &r->audit;

    for (uint32_t i = 0; i < COUNT(r->whats) && ask(s, "$.finding_counts[%u].class", i); i++) {
        struct finding_count *c = &a->counts[i];
        char kind[32] = "";

        snprintf(r->whats[i], sizeof(r->whats[i]), "%s", (const char *)sqlite3_column_text(s, 0));
        r->whats[i][strspn(r->whats[i], "abcdefghijklmnopqrstuvwxyz_ ")] = '\0';
        c->what = known_class(r->whats[i]);
        c->count = NUMBER(s, "$.finding_counts[%u].count", i);
        if (ask(s, "$.finding_counts[%u].kind", i))
            snprintf(kind, sizeof(kind), "%s", (const char *)sqlite3_column_text(s, 0));
        for (c->kind = 0;
             c->kind + 1 < FOUND_KINDS && strcmp(finding_kind_name(c->kind), kind) != 0;)
            c->kind++;
        a->count_rows = i + 1;
    }
}

static void read_report(sqlite3_stmt *s, struct audit *a, struct residual_figures *figures)
{
    read_figures(s, "", of_audit, COUNT(of_audit), a);
    a->has_dropped = ask(s, "$.messages.stated_as_dropped");
    a->has_shift = NUMBER(s, "$.times.matched") != 0;
    a->shift = NUMBER(s, "$.times.shifted") != 0;
    a->recomputed.done = ask(s, "$.recomputed.messages");
    a->recomputed.other_version = NUMBER(s, "$.recomputed.other_version") != 0;
    read_names(s, &a->names);
    read_search(s, a);
    read_mappings(s, a);
    read_residual(s, figures);
}

struct audit *audit_restore(sqlite3 *db, const char *text, size_t len, const char *policy,
                            const char *policy_digest, const char *provenance, struct err *err)
{
    static const struct audit_options options;
    struct restored *r = calloc(1, sizeof(*r));
    struct audit *a = r ? &r->audit : NULL;
    sqlite3_stmt *s = NULL;

    if (!r) {
        err_memory(err, "a report");
        return NULL;
    }
    a->options = &options;
    a->figures = &r->figures;
    secrets_init(&a->secrets, 0);
    pairs_init(&a->pairs, 0);
    if (sqlite3_prepare_v2(db, "SELECT json_extract(?1, ?2)", -1, &s, NULL) != SQLITE_OK) {
        store_fail(db, "a report of an audit", err);
        audit_free(a);
        return NULL;
    }
    sqlite3_bind_text(s, 1, text, (int)len, SQLITE_STATIC);
    read_report(s, a, &r->figures);
    read_findings(s, r);
    sqlite3_finalize(s);
    snprintf(a->policy, sizeof(a->policy), "%s", policy);
    snprintf(a->policy_digest, sizeof(a->policy_digest), "%s", policy_digest);
    snprintf(a->provenance, sizeof(a->provenance), "%s", provenance);
    a->has_provenance = true;
    return a;
}
