/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_access.c
 *
 * What ACCESS granted or denied against what the same caller could do then, while nobody changed
 * the rights.  Owners of files may read and write them in any case (RFC 1813 s4.4), so that
 * refusals of rights are only judged for directories.  Also the limits that FSINFO tells.  The
 * contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_DIRECTORY = ACCESS3_MODIFY | ACCESS3_EXTEND };

static struct lint_access *place_of(struct lint *lint, const struct effect *e)
{
    uint64_t h = ((uint64_t)e->object << 32 | e->credential) * UINT64_C(0x9e3779b97f4a7c15);

    if (!lint->accesses)
        lint->accesses = calloc(LINT_ACCESSES, sizeof(*lint->accesses));
    return lint->accesses ? &lint->accesses[(h ^ h >> 31) % LINT_ACCESSES] : NULL;
}

/* The rights that the operation needs on its object: all of them. */
static uint32_t rights_for(enum action action)
{
    switch (action) {
    case ACTION_FIND:
        return ACCESS3_LOOKUP;
    case ACTION_READ:
    case ACTION_LIST:
        return ACCESS3_READ;
    case ACTION_WRITE:
        return CHANGES_DIRECTORY;
    case ACTION_MAKE:
        return CHANGES_DIRECTORY | ACCESS3_LOOKUP;
    default:
        return 0;
    }
}

/* Of these, if none is granted, the operation on a directory cannot succeed. */
static uint32_t rights_without(enum action action)
{
    return action == ACTION_FIND   ? ACCESS3_LOOKUP
           : action == ACTION_LIST ? ACCESS3_READ
           : action == ACTION_MAKE ? CHANGES_DIRECTORY
                                   : 0;
}

void lint_rights_called(struct lint *lint, const struct effect *e)
{
    struct lint_object *o = effect_changes_rights(e) ? lint_object(lint, e->object) : NULL;

    if (!o)
        return;
    o->rights_active++;
    o->rights_unsure |= !e->timed || e->pairing != PAIRED;
}

void lint_rights_done(struct lint *lint, const struct effect *e)
{
    struct lint_object *o = effect_changes_rights(e) ? lint_object(lint, e->object) : NULL;

    if (!o)
        return;
    o->rights_active -= o->rights_active != 0;
    o->rights_changed = e->done_time;
    o->rights_unsure |= e->pairing != PAIRED;
}

static int judge(struct lint *lint, const struct effect *e, const struct lint_access *a,
                 struct err *err)
{
    enum action action = effect_action(e);
    uint32_t all = rights_for(action), none = rights_without(action);

    if (e->status == NFS3ERR_ACCES && all && (a->granted & all) == all)
        return LINT_SAY(lint, LINT_ACCESS_GRANTED, e, a->by, err,
                        "%s is refused, ACCESS had granted 0x%02x", e->procedure->name, a->granted);
    if (e->succeeded && none && (a->wanted & none) == none && !(a->granted & none))
        return LINT_SAY(lint, LINT_ACCESS_DENIED, e, a->by, err,
                        "%s succeeds, ACCESS had granted 0x%02x of 0x%02x", e->procedure->name,
                        a->granted, a->wanted);
    return 0;
}

int lint_access(struct lint *lint, const struct effect *e, struct err *err)
{
    const struct lint_body *b = lint->body;
    bool asks = e->has_granted && b->has_wanted && e->succeeded;
    struct lint_access *a = NULL;
    const struct lint_object *o;

    if (!e->object || !e->credential || !e->timed ||
        (!asks && (!rights_for(effect_action(e)) || (!e->succeeded && e->status != NFS3ERR_ACCES))))
        return 0;
    o = lint_object(lint, e->object);
    a = o ? place_of(lint, e) : NULL;
    if (!a)
        return err_memory(err, "rights");
    if (o->rights_active || o->rights_unsure || o->rights_changed >= e->call_time ||
        lint->blind >= e->call_time) {
        if (asks)
            a->object = 0;
        return 0;
    }
    if (asks) {
        *a = (struct lint_access){ .object = e->object,
                                   .credential = e->credential,
                                   .wanted = b->wanted,
                                   .granted = e->granted,
                                   .by = e->id,
                                   .called = e->call_time,
                                   .at = e->done_time };
        return 0;
    }
    if (a->object != e->object || a->credential != e->credential || a->at >= e->call_time ||
        a->called <= o->rights_changed || a->called <= lint->blind)
        return 0;
    return judge(lint, e, a, err);
}

/* FSINFO: "wtmax" and "maxfilesize" of its file system. */
static void learn_limit(struct lint *lint, const struct effect *e, const struct attributes *a)
{
    struct lint_limit *l = lint->limits;

    while (l < lint->limits + lint->limit_count &&
           (l->server != e->server_number || l->fsid != a->fsid))
        l++;
    if (l == lint->limits + LINT_LIMITS)
        return;
    if (l == lint->limits + lint->limit_count)
        lint->limit_count++;
    *l = (struct lint_limit){ e->server_number, lint->body->wtmax, e->id, a->fsid,
                              lint->body->largest };
}

int lint_limit(struct lint *lint, const struct effect *e, struct err *err)
{
    const struct lint_object *o;
    struct attributes a;

    if (e->succeeded && lint->body->has_wtmax && effect_attributes(e, OF_OBJECT, &a))
        learn_limit(lint, e, &a);
    if (effect_action(e) != ACTION_WRITE || e->arguments != WALK_OK || !lint->limit_count)
        return 0;
    o = lint_object(lint, e->object);
    for (uint32_t i = 0; o && o->identified && i < lint->limit_count; i++) {
        const struct lint_limit *l = &lint->limits[i];

        if (l->server != e->server_number || l->fsid != o->fsid)
            continue;
        if (e->count > l->wtmax)
            return LINT_SAY(lint, LINT_WRITE_LIMIT, e, l->by, err,
                            "%" PRIu64 " bytes, wtmax is %" PRIu32, e->count, l->wtmax);
        if (l->largest && (e->offset > l->largest || e->count > l->largest - e->offset))
            return LINT_SAY(lint, LINT_WRITE_LIMIT, e, l->by, err,
                            "%" PRIu64 " bytes at %" PRIu64 ", maxfilesize is %" PRIu64, e->count,
                            e->offset, l->largest);
    }
    return 0;
}
