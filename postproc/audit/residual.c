/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/residual.c
 *
 * What a clean file still tells.  Only such figures are given as anybody can take from the
 * anonymized file itself.
 */
#include "audit/report.h"

#include <stdlib.h>

enum { RANKS = 5 };

struct ranks {
    uint64_t uses[RANKS], all, distinct;
};

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

static void rank_line(const struct audit *a, enum domain domain, const char *topic,
                      const char *what, residual_line *line, void *ctx)
{
    struct ranks r;
    char text[LINE_TEXT_MAX];
    int at;

    rank(a, domain, &r);
    if (!r.all)
        return;
    at = snprintf(text, sizeof(text), "%llu distinct; the most frequent have",
                  (unsigned long long)r.distinct << a->pairs.back.halvings);
    for (unsigned k = 0; k < RANKS && r.uses[k]; k++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s %.1f %%", k ? "," : "",
                       100 * (double)r.uses[k] / (double)r.all);
    snprintf(text + at, sizeof(text) - (size_t)at, " of all uses. %s", what);
    line(ctx, topic, text);
}

static void procedures(const struct audit *a, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < 22 && at < size; i++) {
        const struct procedure *p = procedure_find(100003, 3, i);

        if (a->residual.calls_by_procedure[i] && p)
            at += (size_t)snprintf(text + at, size - at, "%s%s %llu", at ? ", " : "", p->name,
                                   (unsigned long long)a->residual.calls_by_procedure[i]);
    }
}

void residual_words(const struct audit *a, residual_line *line, void *ctx)
{
    const struct residual *r = &a->residual;
    char text[LINE_TEXT_MAX], list[LINE_TEXT_MAX / 2];
    uint64_t unique = 0;

    snprintf(text, sizeof(text),
             "%s; %llu messages over %.3f s, with the intervals between them to the nanosecond. "
             "Who knows when something happened finds it by its time%s.",
             a->shift ? "Shifted by one constant" : "Kept", (unsigned long long)a->matched,
             (double)(r->last_time - r->first_time) / 1e9,
             a->shift ? " once he knows one event: the shift is the same for all" : "");
    line(ctx, "Times", text);
    procedures(a, list, sizeof(list));
    snprintf(text, sizeof(text),
             "How many messages of which kind, with statuses, sizes and order: NFS %s.", list);
    line(ctx, "Message counts", text);
    for (uint32_t i = 0; i < a->sizes.count; i++)
        unique += !a->sizes.all[i].zero;
    snprintf(text, sizeof(text),
             "%u distinct file sizes%s, %llu of them of one file only: a known file (of a "
             "distribution, a download) can be recognized by its size, and with it the directory "
             "around it.",
             a->sizes.count, a->sizes.count >= PAIRS_MAX / 4 ? " and more" : "",
             (unsigned long long)unique);
    line(ctx, "File sizes", text);
    snprintf(text, sizeof(text),
             "%llu listings with %llu entries, the longest of %llu: which directory lies in which, "
             "and how many entries each has, can be compared with known trees.",
             (unsigned long long)r->listings, (unsigned long long)r->entries,
             (unsigned long long)r->entries_max);
    line(ctx, "Directory shapes", text);
    rank_line(a, DOMAIN_UID, "Users by frequency",
              "The ranks of uids and gids stay: root and nobody have their numbers, and who knows "
              "who works most knows a pseudonym.",
              line, ctx);
    rank_line(a, DOMAIN_NAME, "Popularity of names",
              "Names that are used most everywhere (\".\", common files) can be guessed by rank.",
              line, ctx);
    rank_line(a, DOMAIN_HANDLE, "Popularity of files", "Equal handles stay equal.", line, ctx);
    rank_line(a, DOMAIN_ADDRESS, "Hosts",
              "How many there are and who talks to whom stays; addresses with a common prefix "
              "have pseudonyms with one.",
              line, ctx);
    snprintf(text, sizeof(text),
             "Lengths of names are %s; %llu of %llu distinct names kept a suffix, which tells the "
             "kind of file, and %llu a prefix.",
             report_name_lengths(a), (unsigned long long)a->names.suffix,
             (unsigned long long)a->names.distinct, (unsigned long long)a->names.prefix);
    line(ctx, "Names", text);
    snprintf(text, sizeof(text),
             "XIDs are %s, ports are %s: they join this file to any other record of the same "
             "traffic, and tell clients' systems by how they choose them.",
             a->xids_kept ? "kept" : "mapped", a->domains[DOMAIN_PORT].changed ? "mapped" : "kept");
    line(ctx, "XIDs and ports", text);
}
