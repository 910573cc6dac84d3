/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/residual.c
 *
 * What a reader can still infer from a clean file.  It gives only figures that can be counted in
 * the anonymized file itself.
 */
#include "audit/report.h"

#include <stdlib.h>

static const struct {
    enum domain domain;
    const char *topic, *what;
} ranked[RANKED] = {
    { DOMAIN_UID, "Users by frequency",
      "The ranks of uids and gids stay. Root and nobody keep their numbers. A reader who knows the "
      "busiest user knows a pseudonym." },
    { DOMAIN_NAME, "Popularity of names",
      "Names that are frequent everywhere (\".\", common files) can be guessed by rank." },
    { DOMAIN_HANDLE, "Popularity of files", "Equal handles stay equal." },
    { DOMAIN_ADDRESS, "Hosts",
      "The number of hosts and who talks to whom stay. Addresses with a common prefix have "
      "pseudonyms with a common prefix." },
};

void residual_message(struct audit *a, const struct audit_message *m, const struct items *items)
{
    struct residual *r = &a->residual;
    uint64_t entries = 0, sized[2] = { 0 }, key[2];
    bool lists = false;

    a->matched++;
    if (m->time != TIME_NONE && (!r->timed++ || m->time < r->first_time))
        r->first_time = m->time;
    if (m->time > r->last_time && m->time != TIME_NONE)
        r->last_time = m->time;
    if (m->is_call && m->header.program == 100003 && m->header.procedure < 32)
        r->calls_by_procedure[m->header.procedure]++;
    for (uint32_t i = 0; i < items->count; i++) {
        const struct item *item = &items->all[i];

        if (!item->field)
            continue;
        lists |= item->field->role & ROLE_ENTRY;
        entries += (item->field->role & ROLE_ENTRY) && item->value;
        if (item->cls == CLASS_SIZE && strcmp(item->field->name, "size") == 0)
            sized[0] = item->value;
        if (item->cls != CLASS_FILEID || strcmp(item->field->name, "fileid") != 0 || !sized[0])
            continue;
        key[0] = sized[0] * UINT64_C(0x9e3779b97f4a7c15);
        key[1] = sized[0];
        struct pair_entry *known = pair_side_find(&a->sizes, key);
        if (known && known->other[0] != item->value) {
            known->zero = true; /* of several files */
        } else if (!known && a->sizes.count < PAIRS_MAX / 4) {
            struct pair_entry entry = { .key = { key[0], key[1] }, .other = { item->value } };
            struct err ignored;

            pair_side_add(&a->sizes, &entry, &ignored);
        }
        sized[0] = 0;
    }
    if (!lists)
        return;
    r->listings++;
    r->entries += entries;
    if (entries > r->entries_max)
        r->entries_max = entries;
}

static void rank(const struct audit *a, enum domain domain, struct ranks *r)
{
    memset(r, 0, sizeof(*r));
    for (uint32_t i = 0; i < a->pairs.back.count; i++) {
        const struct pair_entry *e = &a->pairs.back.all[i];
        uint64_t uses = e->uses;

        if (e->domain != domain)
            continue;
        r->all += uses;
        r->distinct++;
        for (unsigned k = 0; k < RANKS; k++) {
            if (uses <= r->uses[k])
                continue;
            uint64_t less = r->uses[k];
            r->uses[k] = uses;
            uses = less;
        }
    }
}

void residual_figures(const struct audit *a, struct residual_figures *f)
{
    const struct residual *r = &a->residual;

    if (a->figures) {
        *f = *a->figures;
        return;
    }
    memset(f, 0, sizeof(*f));
    f->span = r->last_time - r->first_time;
    memcpy(f->calls_by_procedure, r->calls_by_procedure, sizeof(f->calls_by_procedure));
    f->listings = r->listings;
    f->entries = r->entries;
    f->entries_max = r->entries_max;
    f->sizes = a->sizes.count;
    for (uint32_t i = 0; i < a->sizes.count; i++)
        f->sizes_unique += !a->sizes.all[i].zero;
    f->sizes_more = a->sizes.count >= PAIRS_MAX / 4;
    f->xids_kept = a->xids_kept;
    f->ports_mapped = a->domains[DOMAIN_PORT].changed > 0;
    for (unsigned i = 0; i < RANKED; i++) {
        rank(a, ranked[i].domain, &f->ranks[i]);
        f->ranks[i].distinct <<= a->pairs.back.halvings;
    }
}

static void rank_line(const struct ranks *r, unsigned which, residual_line *line, void *ctx)
{
    char text[LINE_TEXT_MAX];
    int at;

    if (!r->all)
        return;
    at = snprintf(text, sizeof(text), "%llu distinct; the most frequent have",
                  (unsigned long long)r->distinct);
    for (unsigned k = 0; k < RANKS && r->uses[k]; k++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s %.1f %%", k ? "," : "",
                       100 * (double)r->uses[k] / (double)r->all);
    snprintf(text + at, sizeof(text) - (size_t)at, " of all uses. %s", ranked[which].what);
    line(ctx, ranked[which].topic, text);
}

static void procedures(const struct residual_figures *f, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < 22 && at < size; i++) {
        const struct procedure *p = procedure_find(100003, 3, i);

        if (f->calls_by_procedure[i] && p)
            at += (size_t)snprintf(text + at, size - at, "%s%s %llu", at ? ", " : "", p->name,
                                   (unsigned long long)f->calls_by_procedure[i]);
    }
}

void residual_words(const struct audit *a, residual_line *line, void *ctx)
{
    struct residual_figures f;
    char text[LINE_TEXT_MAX], list[LINE_TEXT_MAX / 2];

    residual_figures(a, &f);
    snprintf(text, sizeof(text),
             "%s; %llu messages over %.3f s. The intervals between them stay, to the nanosecond. "
             "A reader who knows when something happened can find it by its time%s.",
             a->shift ? "Shifted by one constant" : "Kept", (unsigned long long)a->matched,
             (double)f.span / 1e9,
             a->shift ? " as soon as one event is known, because all times have the same shift"
                      : "");
    line(ctx, "Times", text);
    procedures(&f, list, sizeof(list));
    snprintf(
        text, sizeof(text),
        "The number of messages of each kind stays, and so do statuses, sizes and order: NFS %s.",
        list);
    line(ctx, "Message counts", text);
    snprintf(text, sizeof(text),
             "%llu distinct file sizes%s; %llu of them belong to one file only. A known file (of "
             "a distribution, a download) can be recognized by its size, and then the directory "
             "around it.",
             (unsigned long long)f.sizes, f.sizes_more ? " and more" : "",
             (unsigned long long)f.sizes_unique);
    line(ctx, "File sizes", text);
    snprintf(text, sizeof(text),
             "%llu listings with %llu entries, the longest of %llu. Which directory is in which, "
             "and how many entries each has, can be compared with known trees.",
             (unsigned long long)f.listings, (unsigned long long)f.entries,
             (unsigned long long)f.entries_max);
    line(ctx, "Directory shapes", text);
    for (unsigned i = 0; i < RANKED; i++)
        rank_line(&f.ranks[i], i, line, ctx);
    snprintf(
        text, sizeof(text),
        "Lengths of names are %s; %llu of %llu distinct names kept a suffix, which reveals the "
        "kind of file, and %llu a prefix.",
        report_name_lengths(a), (unsigned long long)a->names.suffix,
        (unsigned long long)a->names.distinct, (unsigned long long)a->names.prefix);
    line(ctx, "Names", text);
    snprintf(text, sizeof(text),
             "XIDs are %s, ports are %s. They link this file to every other record of the same "
             "traffic. How clients choose them reveals their systems.",
             f.xids_kept ? "kept" : "mapped", f.ports_mapped ? "mapped" : "kept");
    line(ctx, "XIDs and ports", text);
}
