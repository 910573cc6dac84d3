/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_held.c
 *
 * Findings about data that a restart of the server may lose.  Only the next verifier tells if there
 * was one.  And what is said at the end: of data that clients left behind.  The contract is in
 * lint_parts.h.
 */
#include "lint/lint_parts.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>

#define COMMIT_SPAN INT64_C(60000000000) /* ns: clients write back within half a minute */

static int hold(struct lint *lint, const struct lint_finding *f, const struct lint_written *written,
                struct err *err)
{
    struct lint_held *h;

    if (lint->held_count == LINT_HELD) {
        lint->counts.undecided++;
        return 0;
    }
    if (GROW(lint->held, lint->held_count, lint->held_cap) < 0)
        return err_memory(err, "findings");
    h = &lint->held[lint->held_count++];
    *h = (struct lint_held){ .effect = *f->effect, .written = *written, .rule = f->rule };
    h->effect.arguments_body = h->effect.result_body = h->effect.blocks = (struct bytes){ 0 };
    snprintf(h->text, sizeof(h->text), "%s", f->text);
    return 0;
}

int lint_contradiction(struct lint *lint, const struct lint_finding *f,
                       const struct lint_written *written, struct err *err)
{
    uint32_t now = lint_verifier_now(lint, f->effect->server_number);
    bool restarted = written->verifier && now && now != written->verifier;
    struct lint_finding finding = *f;

    if (!written->stable && restarted) {
        lint->counts.excused++;
        return 0;
    }
    if (!written->stable && !written->verifier) { /* it was not captured */
        lint->counts.undecided++;
        return 0;
    }
    if (!written->stable)
        return hold(lint, f, written, err);
    if (restarted && f->rule == LINT_READ_CONTENTS)
        finding.rule = LINT_STABLE_LOST;
    return lint_report(lint, &finding, err);
}

static int say(struct lint *lint, const struct lint_held *h, const char *more, struct err *err)
{
    return LINT_SAY(lint, h->rule, &h->effect, h->written.by, err, "%.200s%s", h->text, more);
}

int lint_held_release(struct lint *lint, const struct effect *e, struct err *err)
{
    uint32_t kept = 0;
    int result = 0;

    for (uint32_t i = 0; i < lint->held_count; i++) {
        struct lint_held *h = &lint->held[i];

        if (result < 0 || h->effect.server_number != e->server_number ||
            e->call_time <= h->effect.done_time) {
            lint->held[kept++] = *h;
            continue;
        }
        if (h->written.verifier == lint->verifier)
            result = say(lint, h, "", err);
        else
            lint->counts.excused++;
    }
    lint->held_count = kept;
    return result;
}

int lint_held_end(struct lint *lint, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < lint->held_count; i++)
        result =
            say(lint, &lint->held[i], "; no later reply tells if the server restarted before", err);
    lint->held_count = 0;
    return result;
}

static int judge_owed(struct lint *lint, const struct lint_object *o, struct err *err)
{
    const struct lint_range *owed = NULL, *loose = NULL;
    struct effect e = { 0 };

    for (uint32_t i = 0; i < o->range_count; i++) {
        const struct lint_range *r = &o->ranges[i];

        if (r->state != RANGE_KNOWN || r->written.stable)
            continue;
        if (r->owed_by && lint->latest - r->owed > COMMIT_SPAN)
            owed = r;
        else if (!r->owed_by && lint->latest - r->written.at > COMMIT_SPAN)
            loose = r;
    }
    if (owed) {
        e.id = owed->owed_by;
        return LINT_SAY(lint, LINT_NOT_SENT_AGAIN, &e, owed->written.by, err,
                        "the verifier is not that of the WRITE of %" PRIu64 " byte%s at %" PRIu64
                        ", which was not sent again",
                        owed->end - owed->start, owed->end - owed->start == 1 ? "" : "s",
                        owed->start);
    }
    if (!loose)
        return 0;
    e.id = loose->written.by;
    return LINT_SAY(
        lint, LINT_UNCOMMITTED, &e, 0, err,
        "%" PRIu64 " bytes at %" PRIu64 " were not committed until the end, %" PRId64 " s later",
        loose->end - loose->start, loose->start, (lint->latest - loose->written.at) / 1000000000);
}

int lint_owed_end(struct lint *lint, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < lint->object_count; i++)
        if (!lint->objects[i].unsure && !lint->objects[i].crowded)
            result = judge_owed(lint, &lint->objects[i], err);
    return result;
}
