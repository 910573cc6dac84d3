/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/make.c
 *
 * Makes a package in four steps: the anonymized capture, its audit, all other files, the archive.
 * The key is forgotten when the audit has ended, as nothing later needs it.  The archive appears
 * under its name only when it is whole.  For the command package.  package_make's contract is in
 * package.h.
 */
#include "base/output.h"
#include "base/values.h"
#include "package/accepted.h"
#include "package/anonymized.h"
#include "package/originals.h"
#include "package/parts.h"
#include "package/package_text.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct making {
    const struct package_options *options;
    int count;
    char **captures;
    char name[PACKAGE_NAME_MAX + 1];
    char *description;
    struct stage stage;
    struct policy *policy;
    struct key key;
    struct originals originals;
    struct audit_options audit_options;
    struct audit *audit;
    struct accepted accepted;
    struct parts parts;
};

/* --- the capture --- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const char *rough_time(double seconds, char text[VALUE_TEXT_MAX])
{
    if (seconds < 120)
        snprintf(text, VALUE_TEXT_MAX, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text, VALUE_TEXT_MAX, "%.0f min", seconds / 60);
    else
        snprintf(text, VALUE_TEXT_MAX, "%.1f h", seconds / 3600);
    return text;
}

/* How long all else takes, measured by what is done: it must be known before one waits for it. */
static void say_how_long(const struct progress *progress, double seconds)
{
    enum { LEAST = 8, MOST = 30, WORTH_SAYING = 60 };
    char least[VALUE_TEXT_MAX], most[VALUE_TEXT_MAX], text[256];

    if (seconds * MOST < WORTH_SAYING)
        return;
    snprintf(
        text, sizeof(text),
        "anonymized in %.0f s; audit, database, dump and archive usually take %d to %d times as "
        "long: %s to %s",
        seconds, LEAST, MOST, rough_time(seconds * LEAST, least), rough_time(seconds * MOST, most));
    progress_say(progress, text);
}

static int make_capture(struct making *m, struct err *err)
{
    char path[STAGE_PATH_MAX];
    const struct anonymizing what = { path, m->options->engine, m->policy, &m->key,
                                      m->options->progress };
    double start = now();
    int result = stage_path(&m->stage, MEMBER_CAPTURE, path, err);

    if (result == 0)
        result = anonymize_captures(&what, m->count, m->captures, err);
    if (result == 0)
        say_how_long(m->options->progress, now() - start);
    if (result > 0) /* what was wrong was said */
        return err_set(err, result, "a package is made of whole captures: nothing was written");
    return result;
}

/* --- the audit --- */

static int accept_findings(struct making *m, struct err *err)
{
    const struct package_options *o = m->options;
    int result = 1;

    if (o->accept)
        result = accepted_read(&m->accepted, o->accept, m->audit, err);
    else
        err_set(err, ERR_INPUT,
                "no package: the audit has findings; --findings FILE writes them into a file; add "
                "a reason to each line, and run again with --accept FILE");
    if (result == 0)
        audit_withhold(m->audit);
    if (result != 1)
        return result;
    if (o->json)
        audit_json(m->audit, false, o->report);
    else
        audit_text(m->audit, false, o->report);
    return o->findings && audit_template(m->audit, o->findings, err) < 0 ? -err->code : 1;
}

/* 1: it has findings that are not accepted. */
static int make_audit(struct making *m, struct err *err)
{
    char path[STAGE_PATH_MAX];
    struct audit_options *options = &m->audit_options;

    if (originals_join(&m->originals, m->stage.folder, m->count, m->captures, err) < 0 ||
        stage_path(&m->stage, MEMBER_CAPTURE, path, err) < 0)
        return -err->code;
    options->engine = m->options->engine;
    options->original = m->originals.path;
    options->anonymized = path;
    options->key = &m->key;
    options->key_policy = m->policy;
    if (policy_is_file(m->options->policy))
        options->policy_file = m->options->policy;
    options->progress = m->options->progress;
    m->audit = audit_run(options, err);
    progress_done(m->options->progress);
    options->original = options->anonymized = NULL; /* as long as |path| */
    options->key = NULL;
    key_forget(&m->key); /* as soon as it is not needed any more */
    originals_close(&m->originals);
    if (!m->audit)
        return -err->code;
    if (audit_findings(m->audit) || m->options->accept) {
        int result = accept_findings(m, err);

        if (result != 0)
            return result;
    }
    if (audit_cut(m->audit))
        return err_set(err, ERR_INPUT, "the %s capture is cut in the middle of a packet",
                       audit_cut(m->audit));
    return 0;
}

/* --- all else --- */

static int nothing(const struct making *m, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s%s: nothing to release: no operation was found",
                   m->captures[0], m->count > 1 ? " and the others" : "");
}

static int make_parts(struct making *m, struct err *err)
{
    int result;

    m->parts = (struct parts){ .options = m->options,
                               .name = m->name,
                               .description = m->description,
                               .stage = &m->stage,
                               .policy = m->policy,
                               .audit = m->audit,
                               .accepted = &m->accepted };
    result = parts_database(&m->parts, err);
    if (result == 0)
        result = parts_make(&m->parts, err);
    if (result == -ERR_INPUT) /* a capture that was made here, but without packets or operations */
        return nothing(m, err);
    return result == 0 ? 0 : -err->code;
}

static int pack(struct making *m, struct err *err)
{
    struct output *output = m->options->force ? output_open(m->options->output, err)
                                              : output_open_new(m->options->output, err);
    int result = output ? 0 : -err->code;

    if (result == 0)
        result = parts_pack(&m->parts, output_write, output, err);
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
    if (result == 0)
        result = make_parts(m, err);
    return result == 0 ? pack(m, err) : result;
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
    parts_free(&m.parts);
    accepted_free(&m.accepted);
    audit_free(m.audit);
    originals_close(&m.originals);
    policy_free(m.policy);
    stage_close(&m.stage);
    free(m.description);
    return result;
}
