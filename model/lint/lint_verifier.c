/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_parts.h"

#include <stdio.h>
#include <string.h>

static struct lint_server *server_of(struct lint *lint, uint32_t number)
{
    for (uint32_t i = 0; i < lint->server_count; i++)
        if (lint->servers[i].number == number)
            return &lint->servers[i];
    if (lint->server_count == LINT_SERVERS)
        return NULL;
    lint->servers[lint->server_count].number = number;
    lint->servers[lint->server_count].now_called = INT64_MIN;
    return &lint->servers[lint->server_count++];
}

static void replace(struct lint_server *s, const struct lint_verifier *by, int64_t when)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (&s->verifiers[i] != by && s->verifiers[i].replaced > when)
            s->verifiers[i].replaced = when;
}

/* One that the server had not shown before. */
static int add(struct lint *lint, struct lint_server *s, const struct effect *e,
               const uint8_t *bytes, struct err *err)
{
    struct lint_verifier *v = &s->verifiers[s->count];
    int64_t last = s->last;

    if (s->count == LINT_VERIFIERS) {
        lint->counts.verifiers_ignored++;
        return 0;
    }
    s->count++;
    memcpy(v->bytes, bytes, sizeof(v->bytes));
    v->first = s->last = e->id;
    v->replaced = INT64_MAX;
    replace(s, v, e->done_time);
    if (s->count == 1)
        return 0;
    lint->counts.new_verifiers++;
    return LINT_SAY(lint, LINT_VERIFIER_CHANGED, e, last, err, "the write verifier is a new one");
}

/* Also one for which there is no room: its id is that of all such ones. */
static void note(struct lint *lint, struct lint_server *s, const struct effect *e,
                 const struct lint_verifier *v)
{
    lint->verifier =
        (uint32_t)((s - lint->servers) * (LINT_VERIFIERS + 1) + (v - s->verifiers) + 1);
    if (e->call_time < s->now_called)
        return;
    s->now = lint->verifier;
    s->now_called = e->call_time;
}

uint32_t lint_verifier_now(const struct lint *lint, uint32_t server_number)
{
    for (uint32_t i = 0; i < lint->server_count; i++)
        if (lint->servers[i].number == server_number)
            return lint->servers[i].now;
    return 0;
}

int lint_verifier(struct lint *lint, const struct effect *e, const struct lint_body *b,
                  struct err *err)
{
    struct lint_server *s = b->has_verifier ? server_of(lint, e->server_number) : NULL;
    struct lint_verifier *v;
    int64_t last;

    lint->verifier = 0;
    if (!s) {
        lint->counts.verifiers_ignored += b->has_verifier;
        return 0;
    }
    for (v = s->verifiers; v < s->verifiers + s->count; v++)
        if (memcmp(v->bytes, b->verifier, sizeof(v->bytes)) == 0)
            break;
    note(lint, s, e, v);
    if (v == s->verifiers + s->count)
        return add(lint, s, e, b->verifier, err);
    if (v->replaced == INT64_MAX || !e->timed || v->replaced >= e->call_time) {
        s->last = e->id;
        return 0;
    }
    last = s->last;
    s->last = e->id;
    v->replaced = INT64_MAX; /* it is in force again: said once */
    replace(s, v, e->done_time);
    return LINT_SAY(lint, LINT_VERIFIER_RETURNED, e, last, err,
                    "the write verifier of operation %lld is back", (long long)v->first);
}
