/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_session.c
 *
 * Listings of several calls: from cookie 0 to the end, each call with the last cookie of the one
 * before.  The contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>

struct taking {
    struct lint *lint;
    struct lint_listed listed;
    struct err *err;
    uint32_t entries, again;
    uint64_t cookie;
};

static int take(void *ctx, const struct effect_entry *entry)
{
    struct taking *t = ctx;
    int result;

    t->listed.name = entry->name;
    result = lint_names_listed(t->lint, &t->listed, t->err);
    t->again += t->listed.again;
    t->entries++;
    t->cookie = entry->cookie;
    return result;
}

/* The listing that |e| goes on with, or a new one.  NULL: it begins somewhere else. */
static struct lint_session *session_of(struct lint *lint, const struct effect *e)
{
    struct lint_session *s;

    for (s = lint->sessions; s < lint->sessions + LINT_SESSIONS; s++)
        if (s->directory == e->object && s->client == e->client_number)
            break;
    if (s < lint->sessions + LINT_SESSIONS && e->asked.cookie) {
        if (s->cookie == e->asked.cookie)
            return s;
        s->directory = 0;
    }
    if (e->asked.cookie)
        return NULL;
    if (s == lint->sessions + LINT_SESSIONS) {
        s = &lint->sessions[lint->session_next];
        lint->session_next = (lint->session_next + 1) % LINT_SESSIONS;
    }
    if (++lint->session_number == 0)
        lint->session_number = 1;
    *s = (struct lint_session){ .client = e->client_number,
                                .directory = e->object,
                                .number = lint->session_number,
                                .began = e->call_time };
    return s;
}

/* Nobody changed the directory while it was listed. */
static bool is_quiet(const struct lint *lint, const struct lint_object *o, int64_t since)
{
    return !o->unsure && !o->aliased && !o->active && o->changed < since && lint->blind < since &&
           lint->names_blind < since;
}

/* Names that were there when the listing began, and are not in it. */
static int judge_loss(struct lint *lint, const struct lint_session *s, const struct effect *e,
                      struct err *err)
{
    uint32_t lost = 0, known = 0, at = lint_object(lint, s->directory)->names;
    int64_t earlier = 0;

    for (; at; at = lint->names[at - 1].next) {
        const struct lint_name *n = &lint->names[at - 1];

        if (n->state != NAME_THERE || n->unsure || n->active || n->known_at <= lint->blind ||
            n->known_at <= lint->names_blind)
            continue;
        known++;
        if (n->listed == s->number || n->known_at >= s->began)
            continue;
        lost++;
        earlier = n->known_by;
    }
    if (!lost)
        return 0;
    return LINT_SAY(lint, LINT_LISTING_LOSS, e, earlier, err,
                    "the listing ends here, and %" PRIu32 " of %" PRIu32
                    " known names were not in it",
                    lost, known);
}

int lint_session(struct lint *lint, const struct effect *e, struct err *err)
{
    struct taking t = { .lint = lint, .listed = { .effect = e }, .err = err };
    const struct lint_object *directory;
    struct lint_session *s;
    bool quiet;
    int result;

    if (effect_action(e) != ACTION_LIST || !e->succeeded || !e->object || e->arguments != WALK_OK)
        return 0;
    s = session_of(lint, e);
    t.listed.listing = s ? s->number : 0;
    result = effect_entries(e, take, &t);
    if (result < 0 || !s)
        return result;
    directory = lint_object(lint, e->object);
    if (!directory)
        return err_memory(err, "objects");
    quiet = e->timed && is_quiet(lint, directory, s->began);
    if (quiet && t.again)
        result = LINT_SAY(lint, LINT_LISTING_AGAIN, e, 0, err,
                          "%" PRIu32 " of %" PRIu32 " names were in the calls before", t.again,
                          t.entries);
    if (result == 0 && quiet && e->result == WALK_OK && e->has_eof && e->eof)
        result = judge_loss(lint, s, e, err);
    if (e->result != WALK_OK || !e->has_eof || e->eof)
        s->directory = 0;
    else if (t.entries)
        s->cookie = t.cookie;
    return result;
}
