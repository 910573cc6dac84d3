/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_differ.c
 *
 * What a server acknowledged before an outage, and what is different after it: findings of lint
 * that compare an operation after the outage with one before, and WRITEs that it may have lost. The
 * contract is in outage.h.
 */
#include "base/grow.h"
#include "cli/outage.h"
#include "cli/outage_lost.h"
#include "lint/lint.h"
#include "plan/effects.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

struct differ {
    const struct outage_request *request;
    struct outages *outages;
    struct lint *lint;
    struct lost *lost;
    sqlite3_stmt *when; /* of an operation's reply, and the port of its server */
};

static int called(void *ctx, struct effect *effect, struct err *err)
{
    const struct differ *d = ctx;

    return lint_called(d->lint, effect, err);
}

static int done(void *ctx, struct effect *effect, struct err *err)
{
    const struct differ *d = ctx;

    return lost_done(d->lost, effect, err) < 0 ? -err->code : lint_done(d->lint, effect, err);
}

static int add(struct outage *o, const struct lint_finding *f, uint64_t top, struct err *err)
{
    struct outage_difference *to;

    if (o->different++ >= top)
        return 0;
    if (GROW(o->differences, o->difference_count, o->difference_cap) < 0)
        return err_memory(err, "differences");
    to = &o->differences[o->difference_count];
    *to = (struct outage_difference){ f->rule, f->effect->id, f->earlier, strdup(f->text) };
    if (!to->text)
        return err_memory(err, "differences");
    o->difference_count++;
    return 0;
}

static int found(void *ctx, const struct lint_finding *f, struct err *err)
{
    struct differ *d = ctx;
    int64_t earlier = INT64_MAX;
    int port = 0, result;

    if (!f->earlier || !f->effect->timed)
        return 0;
    sqlite3_bind_int64(d->when, 1, f->earlier);
    result = sql_row(d->when, err);
    if (result > 0) {
        earlier = sql_column(d->when, 0, INT64_MAX);
        port = sqlite3_column_int(d->when, 1);
    }
    sqlite3_reset(d->when);
    for (uint32_t i = 0; result >= 0 && i < d->outages->count; i++) {
        struct outage *o = &d->outages->list[i];

        if (earlier <= o->begin && f->effect->done_time >= o->end && port == o->port &&
            f->effect->done_time < o->next && strcmp(f->effect->server, o->server) == 0)
            return add(o, f, d->request->top, err);
    }
    return result < 0 ? result : 0;
}

int outage_differences(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                       struct err *err)
{
    struct differ d = { .request = request, .outages = outages };
    const struct lint_options options = { .rules = request->rules, .finding = found, .ctx = &d };
    const struct effect_visitor visitor = { .called = called, .done = done, .ctx = &d };
    int result;

    if (sql_prepare(db,
                    "SELECT o.reply_time, f.server_port FROM operation o"
                    " JOIN flow f ON f.id = o.flow WHERE o.id = ?",
                    &d.when, err) < 0)
        return -err->code;
    d.lint = lint_new(&options, err);
    d.lost = d.lint ? lost_new(db, request, outages, err) : NULL;
    result = d.lost ? effects_read(db, &visitor, err) : -err->code;
    if (result == 0)
        result = lost_end(d.lost, db, err);
    lost_free(d.lost);
    lint_free(d.lint);
    return sql_end(d.when, result, err);
}
