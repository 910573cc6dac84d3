/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/anonymized.h"
#include "base/output.h"
#include "capture/convert.h"

struct run {
    const struct anonymizing *what;
    struct anon *anon;
    struct output *output;
};

static int open_output(void *ctx, struct engine **engine, struct err *err)
{
    struct run *r = ctx;
    const struct anonymizing *w = r->what;

    r->output = output_open_new(w->to, err);
    if (r->output)
        r->anon = anon_new(w->engine, w->policy, w->key, output_write, r->output, err);
    if (!r->anon)
        return -err->code;
    *engine = anon_engine(r->anon);
    return 0;
}

static int end_output(void *ctx, bool cut, struct err *err)
{
    struct run *r = ctx;

    if (anon_end(r->anon, cut, err) < 0 || output_commit(r->output, err) < 0)
        return -err->code;
    return 0;
}

int anonymize_captures(const struct anonymizing *what, int count, char **paths, struct err *err)
{
    struct run run = { .what = what };
    const struct conversion conversion = {
        .open = open_output, .end = end_output, .ctx = &run, .progress = what->progress
    };
    int result = convert_captures(&conversion, count, paths, err);

    progress_done(what->progress);
    anon_free(run.anon);
    output_close(run.output);
    return result;
}
