/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/readme.c
 *
 * Writes README.md: where the release comes from, its files, its figures, the accepted findings,
 * and what can still be inferred.  facts.c has gathered the figures.  Of the audit it repeats only
 * what quotes no value of the original.  readme_write is for parts.c.  The contract is in
 * package.h.
 */
#include "audit/audit.h"
#include "base/values.h"
#include "package/accepted.h"
#include "package/facts.h"
#include "package/package.h"
#include "package/stage.h"

static bool has(const struct package_story *s, const char *member)
{
    return stage_find(s->stage, member) != NULL;
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? (double)part * 100 / (double)all : 0;
}

static void put_origin(const struct package_story *s, FILE *out)
{
    fprintf(out, "# %s\n\n",
            s->options->title ? s->options->title : "A trace of NFSv3 traffic, anonymized");
    if (s->description)
        fprintf(out, "%s\n\n", s->description);
    fprintf(
        out,
        "This release has packets of NFSv3 clients and servers, captured on a network, and files "
        "made from\nthem. Every message was decoded and written again. Names, addresses, "
        "users, handles and\neverything else that identifies are pseudonyms or removed. "
        "Contents of files are removed. All the\nrest is as it was.\n\n"
        "It was made by nfsdigest %s under the policy `%s`. `" MEMBER_POLICY
        "` has all rules of\nthis policy (its SHA-256 is `%s`).\nThe pseudonyms depend on a "
        "key that is not in the release. An audit compared the result with\nthe original and "
        "%s: `" MEMBER_AUDIT_HTML "`.\n",
        NFSDIGEST_VERSION, s->policy_name, s->policy_digest,
        audit_findings(s->audit) ? "had findings, which the maker accepted (see below)"
                                 : "found no leak");
    if (s->options->license)
        fprintf(out, "\nLicense: %s (SPDX identifier).\n", s->options->license);
}

static void put_files(const struct package_story *s, FILE *out)
{
    fputs("\n## Files\n\n| file | what |\n|---|---|\n", out);
    fprintf(out, "| `" MEMBER_CAPTURE "` | the packets, for every tool that reads pcapng |\n");
    if (has(s, MEMBER_DATABASE))
        fputs("| `" MEMBER_DATABASE
              "` | SQLite: each call with its reply, objects, paths, the tree "
              "(`schemas/trace.sql`, `schemas/digest.sql`) |\n",
              out);
    if (has(s, MEMBER_RDUMP))
        fprintf(out,
                "| `" MEMBER_RDUMP "` | a replay dump of the trace, with the tree before it and "
                "dependencies%s |\n",
                has(s, "schemas/rdump.md") ? " (`schemas/rdump.md`)" : "");
    fputs(
        "| `" MEMBER_POLICY "` | what happened to each class of values |\n"
        "| `" MEMBER_AUDIT_HTML "`, `" MEMBER_AUDIT_JSON "` | what was compared and searched for, "
        "and what can still be inferred |\n"
        "| `plots/` | plots as SVG |\n"
        "| `schemas/` | the formats of these files |\n"
        "| `" MEMBER_DATAPACKAGE "` | a [Frictionless Data Package](https://specs.frictionlessdata"
        ".io/data-package/) |\n"
        "| `" MEMBER_SUMS "` | for `sha256sum -c " MEMBER_SUMS "` |\n",
        out);
    fputs("\n## To open it\n\n```\n"
          "sha256sum -c " MEMBER_SUMS "\n"
          "tshark -r " MEMBER_CAPTURE " -q -z rpc,srt,100003,3\n"
          "wireshark " MEMBER_CAPTURE "\n",
          out);
    if (has(s, MEMBER_DATABASE))
        fputs("sqlite3 " MEMBER_DATABASE " 'SELECT * FROM op LIMIT 20'\n"
              "nfsdigest info " MEMBER_DATABASE "\n"
              "nfsdigest tree " MEMBER_DATABASE "\n",
              out);
    else
        fputs("nfsdigest ingest -o trace.db " MEMBER_CAPTURE "\n", out);
    if (has(s, MEMBER_RDUMP))
        fputs("nfsdigest rdump --check " MEMBER_RDUMP "\n"
              "nfsdigest rdump --dump " MEMBER_RDUMP "\n",
              out);
    fputs("```\n\nThe archive as a whole: `nfsdigest package --verify FILE.tar.zst`.\n", out);
}

static void put_count(FILE *out, const char *what, uint64_t n)
{
    char text[VALUE_TEXT_MAX];

    fprintf(out, "| %s | %s |\n", what, count_text(n, text));
}

static void put_totals(const struct facts *f, FILE *out)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    fputs("\n## The trace in numbers\n\n| | |\n|---|---:|\n", out);
    fprintf(out, "| begins (UTC, as in the capture) | %s |\n",
            f->has_times ? time_text(f->first_time, a) : "not known: no packet has a time");
    fprintf(out, "| duration | %s |\n",
            f->has_times ? duration_text(f->last_time - f->first_time, a) : "not known");
    put_count(out, "frames", f->frames);
    put_count(out, "operations", f->operations);
    put_count(out, "of these without call or reply", f->unpaired);
    put_count(out, "retransmitted calls and further replies", f->retransmissions);
    put_count(out, "copies of datagrams, made by the capture", f->copies);
    put_count(out, "gaps and other problems of the capture", f->problems);
    put_count(out, "clients", f->clients);
    put_count(out, "servers", f->servers);
    put_count(out, "objects (file handles)", f->objects);
    fprintf(out, "| read | %s |\n", size_text(f->bytes_read, a));
    fprintf(out, "| written | %s |\n", size_text(f->bytes_written, b));
}

static void put_tree(const struct facts *f, FILE *out)
{
    const struct plan_counts *c = &f->plan;
    char a[VALUE_TEXT_MAX];

    fputs("\n### The tree before the trace, as the trace shows it\n\n| | |\n|---|---:|\n", out);
    put_count(out, "subtrees (roots whose directory is not known)", c->subtrees);
    put_count(out, "directories", c->directories);
    put_count(out, "files", c->objects - c->directories);
    fprintf(out, "| bytes in them | %s |\n", size_text(c->bytes, a));
    fputs("\n### Fitness for replay\n\n| | |\n|---|---:|\n", out);
    put_count(out, "operations that were not captured but must have happened", c->inferred);
    for (int i = 1; i < REPAIR_REASON_MAX; i++)
        if (c->by_reason[i])
            fprintf(out, "| ... proof: %s | %s |\n", repair_reason_name((enum repair_reason)i),
                    count_text(c->by_reason[i], a));
    fprintf(out, "| operations that cannot be replayed | %s (%.3f %%) |\n",
            count_text(c->unplayable, a), percent(c->unplayable, c->operations));
    for (int i = 1; i < UNPLAYABLE_MAX; i++)
        if (c->by_unplayable[i])
            fprintf(out, "| ... reason: %s | %s |\n", unplayable_name((enum unplayable)i),
                    count_text(c->by_unplayable[i], a));
    for (int g = 0; g < 2; g++) {
        const struct depend_counts *d = &f->plan.depend[g];

        fprintf(out, "| direct dependencies of an operation, mean, granularity `%s` | %.2f |\n",
                granularity_name((enum granularity)g),
                d->operations ? (double)d->edges / (double)d->operations : 0);
    }
}

static void put_operations(const struct facts *f, FILE *out)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];

    fputs("\n### Operations\n\n| procedure | operations | share | errors | p50 | p90 | p99 | max |"
          "\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (int i = 0; i < f->grouped.by[BY_PROCEDURE].count; i++) {
        const struct group *g = &f->grouped.by[BY_PROCEDURE].groups[i];

        fprintf(out, "| %s | %s | %.2f %%", g->label, count_text(g->operations, a),
                percent(g->operations, f->operations));
        fprintf(out, " | %s |", count_text(g->errors, a));
        if (g->answered)
            fprintf(out, " %s | %s | %s | %s |\n", duration_text(g->p50, a),
                    duration_text(g->p90, b), duration_text(g->p99, c), duration_text(g->max, d));
        else
            fputs(" | | | |\n", out);
    }
    fputs("\n### Statuses of replies\n\n| status | operations |\n|---|---:|\n", out);
    for (uint32_t i = 0; i < f->status_count; i++)
        put_count(out, f->statuses[i].name, f->statuses[i].operations);
    if (f->other_statuses)
        put_count(out, "others", f->other_statuses);
}

static void put_plots(const struct package_story *s, FILE *out)
{
    fputs("\n## Plots\n", out);
    for (uint32_t i = 0; i < s->stage->count; i++) {
        const char *path = s->stage->members[i].path;

        if (strncmp(path, "plots/", 6) == 0)
            fprintf(out, "\n![%.*s](%s)\n", (int)(strlen(path) - 10), path + 6, path);
    }
}

static void put_accepted(const struct package_story *s, FILE *out)
{
    char text[VALUE_TEXT_MAX];

    if (!s->accepted->count)
        return;
    fputs("\n## Findings of the audit that were accepted\n\nThe maker looked at each of them, and "
          "says why it may be released.\n\n"
          "| kind | class | findings | reason |\n|---|---|---:|---|\n",
          out);
    for (uint32_t i = 0; i < s->accepted->count; i++) {
        const struct accepted_row *r = &s->accepted->rows[i];

        fprintf(out, "| %s | %s | %s | %s |\n", r->kind, r->what, count_text(r->count, text),
                r->reason);
    }
}

static void put_residual(void *ctx, const char *topic, const char *text)
{
    fprintf(ctx, "- **%s.** %s\n", topic, text);
}

int readme_write(const struct package_story *s, FILE *out, struct err *err)
{
    put_origin(s, out);
    put_files(s, out);
    put_totals(s->facts, out);
    put_operations(s->facts, out);
    put_tree(s->facts, out);
    put_plots(s, out);
    put_accepted(s, out);
    fputs("\n## What can still be inferred\n\nAn anonymized trace still shows a workload, and a "
          "workload says something about the people who\ncaused it. Do not try to find out who "
          "they are.\n\n",
          out);
    audit_residual(s->audit, put_residual, out);
    return ferror(out) ? err_set(err, ERR_SYSTEM, MEMBER_README ": cannot be written") : 0;
}
