/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_parts.h"

#include <stdlib.h>

struct lint *lint_new(const struct lint_options *options, struct err *err)
{
    struct lint *lint = calloc(1, sizeof(*lint));

    if (!lint) {
        err_memory(err, "lint");
        return NULL;
    }
    lint->options = *options;
    lint->blind = lint->removed = lint->names_blind = INT64_MIN;
    if (!lint->options.objects)
        lint->options.objects = LINT_OBJECTS;
    if (!lint->options.ranges)
        lint->options.ranges = LINT_RANGES;
    if (!lint->options.names)
        lint->options.names = LINT_NAMES;
    if (!lint->options.blocks)
        lint->options.blocks = LINT_BLOCKS;
    return lint;
}

void lint_free(struct lint *lint)
{
    if (!lint)
        return;
    for (uint32_t i = 0; i < lint->object_count; i++)
        free(lint->objects[i].ranges);
    free(lint->objects);
    table_free(&lint->by_id);
    free(lint->entries);
    free(lint->blocks);
    table_free(&lint->by_block);
    free(lint->held);
    free(lint->accesses);
    free(lint->xids);
    free(lint->reads);
    table_free(&lint->by_fileid);
    free(lint->names);
    table_free(&lint->by_name);
    free(lint);
}

struct lint_counts lint_counts(const struct lint *lint)
{
    return lint->counts;
}

int lint_report(struct lint *lint, const struct lint_finding *finding, struct err *err)
{
    return lint->options.finding(lint->options.ctx, finding, err);
}

static bool is_nfs3(const struct effect *e)
{
    return e->procedure && e->program == NFS3_PROGRAM;
}

/* It may have been any operation of NFS, also of another version. */
static bool may_be_nfs(const struct effect *e)
{
    return !e->procedure && (!e->program || e->program == NFS3_PROGRAM);
}

int lint_called(struct lint *lint, struct effect *e, struct err *err)
{
    if (may_be_nfs(e)) {
        lint->counts.unknown++;
        if (e->done_time > lint->blind)
            lint->blind = e->done_time;
    }
    lint_rights_called(lint, e);
    if (!is_nfs3(e))
        return 0;
    if (lint_time_called(lint, e, err) < 0)
        return -err->code;
    if (lint_links_called(lint, e, err) < 0)
        return -err->code;
    lint_names_called(lint, e);
    return lint_xid(lint, e, err);
}

int lint_done(struct lint *lint, struct effect *e, struct err *err)
{
    struct lint_body body;
    int result;

    if (may_be_nfs(e) && e->done_time > lint->blind)
        lint->blind = e->done_time;
    lint_rights_done(lint, e);
    if (!is_nfs3(e))
        return 0;
    lint->counts.operations++;
    if (e->timed && e->done_time > lint->latest)
        lint->latest = e->done_time;
    lint->counts.unanswered += e->rpc_status == STATUS_NONE;
    lint_body_read(e, &body);
    lint->body = &body;
    result = lint_reply(lint, e, &body, err);
    if (result == 0)
        result = lint_listing(lint, e, &body, err);
    if (result == 0)
        result = lint_verifier(lint, e, &body, err);
    if (result == 0 && lint->verifier)
        result = lint_held_release(lint, e, err);
    if (result == 0)
        result = lint_links_done(lint, e, err);
    if (result == 0)
        result = lint_time_done(lint, e, err);
    if (result == 0)
        result = lint_names_done(lint, e, &body, err);
    if (result == 0)
        result = lint_access(lint, e, err);
    if (result == 0)
        result = lint_limit(lint, e, err);
    return result < 0 ? result : lint_session(lint, e, err);
}

int lint_end(struct lint *lint, struct err *err)
{
    int result = lint_held_end(lint, err);

    return result < 0 ? result : lint_owed_end(lint, err);
}
