/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/anon.h"
#include "audit/audit.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "package/archive.h"
#include "package/database.h"
#include "package/facts.h"
#include "package/look_ahead.h"
#include "package/originals.h"
#include "package/package_rdump.h"
#include "package/plots.h"
#include "package/schemas.h"
#include "package/text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char work[] = "work.db"; /* no member */
static const char member_look_ahead[] = "plots/concurrency.svg";

struct making {
    const struct package_options *options;
    int count;
    char **captures;
    char name[PACKAGE_NAME_MAX + 1];
    char *description;
    struct stage stage;
    struct policy *policy;
    struct key key;
    struct anon *anon;
    struct output *capture; /* while it is made */
    struct originals originals;
    struct audit *audit;
    struct store *store;
    struct facts facts;
};

static int take(struct making *m, const char *member, struct err *err)
{
    bool found;

    return stage_take(&m->stage, member, NULL, &found, err);
}

/* --- the capture --- */

static int open_capture(void *ctx, struct engine **engine, struct err *err)
{
    struct making *m = ctx;
    char path[STAGE_PATH_MAX];

    if (stage_path(&m->stage, MEMBER_CAPTURE, path, err) < 0)
        return -err->code;
    m->capture = output_open_new(path, err);
    if (m->capture)
        m->anon = anon_new(m->options->engine, m->policy, &m->key, output_write, m->capture, err);
    if (!m->anon)
        return -err->code;
    *engine = anon_engine(m->anon);
    return 0;
}

static int end_capture(void *ctx, bool cut, struct err *err)
{
    struct making *m = ctx;

    if (anon_end(m->anon, cut, err) < 0 || output_commit(m->capture, err) < 0)
        return -err->code;
    return 0;
}

static int make_capture(struct making *m, struct err *err)
{
    const struct conversion conversion = { open_capture, end_capture, m };
    int result = convert_captures(&conversion, m->count, m->captures, err);

    progress_clear();
    anon_free(m->anon);
    output_close(m->capture);
    m->anon = NULL;
    m->capture = NULL;
    key_forget(&m->key); /* as soon as it is not needed any more */
    if (result > 0)      /* what was wrong was said */
        return err_set(err, result, "a package is made of whole captures: nothing was written");
    return result < 0 ? result : take(m, MEMBER_CAPTURE, err);
}

/* --- the audit --- */

static int put_report(struct making *m, const char *member,
                      void (*print)(const struct audit *audit, bool redact, FILE *out),
                      struct err *err)
{
    FILE *file = stage_create(&m->stage, member, err);

    if (!file)
        return -err->code;
    print(m->audit, true, file);
    return stage_done(file, member, err) < 0 ? -err->code : take(m, member, err);
}

/* 1: it has findings. */
static int make_audit(struct making *m, struct err *err)
{
    char path[STAGE_PATH_MAX];
    struct audit_options options = { .engine = m->options->engine };

    if (originals_join(&m->originals, m->stage.folder, m->count, m->captures, err) < 0 ||
        stage_path(&m->stage, MEMBER_CAPTURE, path, err) < 0)
        return -err->code;
    options.original = m->originals.path;
    options.anonymized = path;
    m->audit = audit_run(&options, err);
    originals_close(&m->originals);
    if (!m->audit)
        return -err->code;
    if (audit_findings(m->audit)) {
        audit_text(m->audit, false, m->options->report);
        return 1;
    }
    if (audit_cut(m->audit))
        return err_set(err, ERR_INPUT, "the %s capture is cut in the middle of a packet",
                       audit_cut(m->audit));
    if (put_report(m, MEMBER_AUDIT_HTML, audit_html, err) < 0)
        return -err->code;
    return put_report(m, MEMBER_AUDIT_JSON, audit_json, err);
}

static int make_policy(struct making *m, struct err *err)
{
    struct buf text = { 0 };
    FILE *file = stage_create(&m->stage, MEMBER_POLICY, err);
    int result = file ? policy_print(m->policy, &text, err) : -err->code;

    if (file) {
        fwrite(text.data, 1, result < 0 ? 0 : text.len, file);
        if (stage_done(file, MEMBER_POLICY, result < 0 ? NULL : err) < 0 && result >= 0)
            result = -err->code;
    }
    buf_free(&text);
    return result < 0 ? result : take(m, MEMBER_POLICY, err);
}

/* --- the database and what is made of it --- */

static int nothing(const struct making *m, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s%s: nothing to release: no operation was found",
                   m->captures[0], m->count > 1 ? " and the others" : "");
}

static int take_tree(void *ctx, struct tree *tree, struct err *err)
{
    struct making *m = ctx;

    (void)err;
    facts_grow(&m->facts, tree);
    return 0;
}

static int make_database(struct making *m, struct err *err)
{
    const struct plan_host host = { .tree = take_tree, .ctx = m };
    char capture[STAGE_PATH_MAX], path[STAGE_PATH_MAX];
    int result;

    if (stage_path(&m->stage, MEMBER_CAPTURE, capture, err) < 0 ||
        stage_path(&m->stage, work, path, err) < 0)
        return -err->code;
    m->store = store_open(path, STORE_WRITE, err);
    result = m->store ? database_fill(m->store, capture, MEMBER_CAPTURE, &host, err) : -err->code;
    progress_clear();
    if (result == -ERR_INPUT) /* a capture that was made here, but without packets */
        return nothing(m, err);
    if (result != 0)
        return -err->code;
    if (m->options->no_database)
        return 0;
    if (stage_path(&m->stage, MEMBER_DATABASE, path, err) < 0 ||
        database_write(m->store, path, err) < 0)
        return -err->code;
    return take(m, MEMBER_DATABASE, err);
}

static int make_facts(struct making *m, struct err *err)
{
    if (facts_read(&m->facts, store_db(m->store), err) < 0)
        return -err->code;
    return m->facts.operations ? 0 : nothing(m, err);
}

static int make_rdump(struct making *m, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (m->options->no_rdump)
        return 0;
    if (stage_path(&m->stage, MEMBER_RDUMP, path, err) < 0 ||
        package_rdump(store_db(m->store), path, err) < 0)
        return -err->code;
    return take(m, MEMBER_RDUMP, err);
}

static int make_look_ahead(struct making *m, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (stage_path(&m->stage, member_look_ahead, path, err) < 0 ||
        look_ahead_plot(store_db(m->store), path, m->name, &m->facts.plan, err) < 0)
        return -err->code;
    return take(m, member_look_ahead, err);
}

static int make_schemas(struct making *m, struct err *err)
{
    char member[MEMBER_PATH_MAX];

    for (const struct schema_file *s = schema_files; s->name; s++) {
        FILE *file;

        /* replay dumps are in the container of .nfsr streams */
        if (m->options->no_rdump &&
            (strncmp(s->name, "rdump.", 6) == 0 || strncmp(s->name, "nfsr.", 5) == 0))
            continue;
        snprintf(member, sizeof(member), "schemas/%s", s->name);
        file = stage_create(&m->stage, member, err);
        if (!file)
            return -err->code;
        fwrite(s->start, 1, (size_t)(s->end - s->start), file);
        if (stage_done(file, member, err) < 0 || take(m, member, err) < 0)
            return -err->code;
    }
    return 0;
}

/* --- what tells of all the others --- */

static int make_story(struct making *m, const struct package_story *story, const char *member,
                      int (*write)(const struct package_story *, FILE *, struct err *),
                      struct err *err)
{
    FILE *file = stage_create(&m->stage, member, err);
    int result;

    if (!file)
        return -err->code;
    stage_sort(&m->stage);
    result = write(story, file, err);
    if (stage_done(file, member, result == 0 ? err : NULL) < 0 && result == 0)
        result = -err->code;
    return result == 0 ? take(m, member, err) : result;
}

static int write_sums(const struct package_story *story, FILE *out, struct err *err)
{
    (void)err; /* stage_done tells */
    sums_write(story->stage, out);
    return 0;
}

static int make_stories(struct making *m, struct err *err)
{
    struct package_story story = {
        .options = m->options,
        .name = m->name,
        .description = m->description,
        .facts = &m->facts,
        .audit = m->audit,
        .stage = &m->stage,
    };

    snprintf(story.policy_name, sizeof(story.policy_name), "%s", m->policy->name);
    for (size_t i = 0; i < sizeof(m->policy->digest); i++)
        snprintf(story.policy_digest + 2 * i, 3, "%02x", m->policy->digest[i]);
    if (make_story(m, &story, MEMBER_README, readme_write, err) < 0 ||
        make_story(m, &story, MEMBER_DATAPACKAGE, datapackage_write, err) < 0)
        return -err->code;
    return make_story(m, &story, MEMBER_SUMS, write_sums, err);
}

static int pack(struct making *m, struct err *err)
{
    struct output *output = m->options->force ? output_open(m->options->output, err)
                                              : output_open_new(m->options->output, err);
    int64_t date = m->options->date >= 0 ? m->options->date : m->facts.last_time / 1000000000;
    int result = output ? 0 : -err->code;

    stage_sort(&m->stage);
    if (result == 0)
        result = archive_pack(&m->stage, m->name, date > 0 ? date : 0, output_write, output, err);
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}

/* --- all of it --- */

static int run(struct making *m, struct err *err)
{
    int result = make_capture(m, err);

    if (result == 0)
        result = make_audit(m, err);
    if (result != 0)
        return result;
    if (make_policy(m, err) < 0 || make_database(m, err) < 0 || make_facts(m, err) < 0 ||
        make_rdump(m, err) < 0 || make_look_ahead(m, err) < 0 ||
        plots_make(&m->stage, store_db(m->store), &m->facts, err) < 0 || make_schemas(m, err) < 0 ||
        make_stories(m, err) < 0)
        return -err->code;
    return pack(m, err);
}

static int prepare(struct making *m, struct err *err)
{
    const struct package_options *o = m->options;

    if (package_texts(o, m->name, &m->description, err) < 0 ||
        originals_check(m->count, m->captures, err) < 0)
        return -err->code;
    if (!o->force && access(o->output, F_OK) == 0)
        return err_set(err, ERR_USAGE, "%s exists: --force replaces it", o->output);
    if (key_load(&m->key, o->key, err) < 0 || policy_load(o->policy, &m->policy, err) < 0)
        return -err->code;
    return stage_open(&m->stage, o->output, err);
}

int package_make(const struct package_options *options, int count, char **captures, struct err *err)
{
    struct making m = {
        .options = options, .count = count, .captures = captures, .originals = { .fd = -1 }
    };
    int result = prepare(&m, err);

    if (result == 0)
        result = run(&m, err);
    key_forget(&m.key);
    facts_free(&m.facts);
    store_close(m.store);
    audit_free(m.audit);
    originals_close(&m.originals);
    anon_free(m.anon);
    output_close(m.capture);
    policy_free(m.policy);
    stage_close(&m.stage);
    free(m.description);
    return result;
}
