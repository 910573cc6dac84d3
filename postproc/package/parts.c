/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/parts.c
 *
 * Makes one member after the other: each is written and closed, then taken into the stage with its
 * SHA-256.  README.md, datapackage.json and SHA256SUMS come last, as they tell of all others.  For
 * make.c, verify.c and verify_again.c.  The contract is in parts.h.
 */
#include "package/parts.h"
#include "package/archive.h"
#include "package/database.h"
#include "package/package_rdump.h"
#include "package/plots.h"
#include "package/schemas.h"
#include "report/concurrency_plot.h"

#include <stdlib.h>

static const char work[] = "work.db"; /* no member */
static const char member_concurrency[] = "plots/concurrency.svg";

enum { WINDOWS = 17 }; /* 1, 2, 4, ... */
_Static_assert(1 << (WINDOWS - 1) == CONCURRENCY_WINDOW_MAX, "the largest one is the last");

static int take(struct parts *p, const char *member, struct err *err)
{
    bool found;

    return stage_take(p->stage, member, NULL, &found, err);
}

/* --- the report of the audit, and the policy --- */

static int put_report(struct parts *p, const char *member,
                      void (*print)(const struct audit *audit, bool redact, FILE *out),
                      struct err *err)
{
    FILE *file = stage_create(p->stage, member, err);

    if (!file)
        return -err->code;
    print(p->audit, true, file);
    return stage_done(file, member, err) < 0 ? -err->code : take(p, member, err);
}

static int make_policy(struct parts *p, struct err *err)
{
    struct buf text = { 0 };
    FILE *file = stage_create(p->stage, MEMBER_POLICY, err);
    int result = file ? policy_print(p->policy, &text, err) : -err->code;

    if (file) {
        fwrite(text.data, 1, result < 0 ? 0 : text.len, file);
        if (stage_done(file, MEMBER_POLICY, result < 0 ? NULL : err) < 0 && result >= 0)
            result = -err->code;
    }
    buf_free(&text);
    return result < 0 ? result : take(p, MEMBER_POLICY, err);
}

/* --- the database and what is made of it --- */

static int take_tree(void *ctx, struct tree *tree, struct err *err)
{
    struct parts *p = ctx;

    (void)err;
    facts_grow(&p->facts, tree);
    return 0;
}

int parts_database(struct parts *p, struct err *err)
{
    const struct plan_host host = { .tree = take_tree, .ctx = p };
    char capture[STAGE_PATH_MAX], path[STAGE_PATH_MAX];
    int result;

    if (stage_path(p->stage, MEMBER_CAPTURE, capture, err) < 0 ||
        stage_path(p->stage, work, path, err) < 0)
        return -err->code;
    p->store = store_open(path, STORE_WRITE, err);
    result =
        p->store ? database_fill(p->store, capture, &host, p->options->progress, err) : -err->code;
    progress_done(p->options->progress);
    return result;
}

static int make_database(struct parts *p, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (p->options->no_database)
        return 0;
    if (stage_path(p->stage, MEMBER_DATABASE, path, err) < 0 ||
        database_write(p->store, path, err) < 0)
        return -err->code;
    return take(p, MEMBER_DATABASE, err);
}

static int make_facts(struct parts *p, struct err *err)
{
    if (facts_read(&p->facts, store_db(p->store), err) < 0)
        return -err->code;
    return p->facts.operations
               ? 0
               : err_set(err, ERR_INPUT, MEMBER_CAPTURE ": no operation was found in it");
}

static int make_rdump(struct parts *p, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (p->options->no_rdump)
        return 0;
    if (stage_path(p->stage, MEMBER_RDUMP, path, err) < 0 ||
        package_rdump(store_db(p->store), path, err) < 0)
        return -err->code;
    return take(p, MEMBER_RDUMP, err);
}

/* Where no operation has a latency there is nothing to draw. */
static int draw_concurrency(struct parts *p, const char *path, struct err *err)
{
    uint32_t windows[WINDOWS];
    /* FEUT doubles the latency of directories */
    const struct concurrency_request request = { .models = { { 0, 1 }, { 0, 2 } },
                                                 .model_count = 2,
                                                 .windows = windows,
                                                 .window_count = WINDOWS };
    struct concurrency_report r;
    int result;

    for (uint32_t w = 0; w < WINDOWS; w++)
        windows[w] = 1u << w;
    result = concurrency_report(store_db(p->store), &request, &r, &p->facts.plan, err);
    if (result == 0 && (r.measured || !r.operations))
        result = concurrency_svg(&r, path, p->name, err) < 0 ? -err->code : 1;
    concurrency_report_free(&r);
    return result > 0 ? take(p, member_concurrency, err) : result;
}

static int make_plots(struct parts *p, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (stage_path(p->stage, member_concurrency, path, err) < 0 ||
        draw_concurrency(p, path, err) < 0)
        return -err->code;
    return plots_make(p->stage, store_db(p->store), &p->facts, err);
}

static int make_schemas(struct parts *p, struct err *err)
{
    char member[MEMBER_PATH_MAX];

    for (const struct schema_file *s = schema_files; s->name; s++) {
        FILE *file;

        /* replay dumps are in the container of .nfsr streams */
        if (p->options->no_rdump &&
            (strncmp(s->name, "rdump.", 6) == 0 || strncmp(s->name, "nfsr.", 5) == 0))
            continue;
        snprintf(member, sizeof(member), "schemas/%s", s->name);
        file = stage_create(p->stage, member, err);
        if (!file)
            return -err->code;
        fwrite(s->start, 1, (size_t)(s->end - s->start), file);
        if (stage_done(file, member, err) < 0 || take(p, member, err) < 0)
            return -err->code;
    }
    return 0;
}

/* --- what tells of all the others --- */

static int make_story(struct parts *p, const struct package_story *story, const char *member,
                      int (*write)(const struct package_story *, FILE *, struct err *),
                      struct err *err)
{
    FILE *file = stage_create(p->stage, member, err);
    int result;

    if (!file)
        return -err->code;
    stage_sort(p->stage);
    result = write(story, file, err);
    if (stage_done(file, member, result == 0 ? err : NULL) < 0 && result == 0)
        result = -err->code;
    return result == 0 ? take(p, member, err) : result;
}

static int write_sums(const struct package_story *story, FILE *out, struct err *err)
{
    (void)err; /* stage_done tells */
    sums_write(story->stage, out);
    return 0;
}

static int make_stories(struct parts *p, struct err *err)
{
    struct package_story story = {
        .options = p->options,
        .name = p->name,
        .description = p->description,
        .facts = &p->facts,
        .audit = p->audit,
        .accepted = p->accepted,
        .stage = p->stage,
    };

    snprintf(story.policy_name, sizeof(story.policy_name), "%s", p->policy->name);
    for (size_t i = 0; i < sizeof(p->policy->digest); i++)
        snprintf(story.policy_digest + 2 * i, 3, "%02x", p->policy->digest[i]);
    if (make_story(p, &story, MEMBER_README, readme_write, err) < 0 ||
        make_story(p, &story, MEMBER_DATAPACKAGE, datapackage_write, err) < 0)
        return -err->code;
    return make_story(p, &story, MEMBER_SUMS, write_sums, err);
}

/* --- all of it --- */

int parts_make(struct parts *p, struct err *err)
{
    if (take(p, MEMBER_CAPTURE, err) < 0 || put_report(p, MEMBER_AUDIT_HTML, audit_html, err) < 0 ||
        put_report(p, MEMBER_AUDIT_JSON, audit_json, err) < 0 || make_policy(p, err) < 0 ||
        make_database(p, err) < 0 || make_facts(p, err) < 0 || make_rdump(p, err) < 0 ||
        make_plots(p, err) < 0 || make_schemas(p, err) < 0)
        return -err->code;
    return make_stories(p, err);
}

int parts_pack(struct parts *p, output_writer *write, void *ctx, struct err *err)
{
    int64_t date = p->options->date >= 0 ? p->options->date : p->facts.last_time / 1000000000;
    const struct archive_folder folder = { p->name, date > 0 ? date : 0 };

    stage_sort(p->stage);
    return archive_pack(p->stage, &folder, write, ctx, err);
}

void parts_free(struct parts *p)
{
    facts_free(&p->facts);
    store_close(p->store);
    p->store = NULL;
}
