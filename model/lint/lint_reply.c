/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_reply.c
 *
 * The rules that one operation can break by itself: forms, statuses, types, times and counts.  The
 * contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const type_names[] = { "no defined type", "NF3REG", "NF3DIR",  "NF3BLK",
                                          "NF3CHR",          "NF3LNK", "NF3SOCK", "NF3FIFO" };
static const char *const of_whom[WHOSE_MAX] = { "of the object", "of the directory",
                                                "of the second directory",
                                                "of the object found or made", "of an entry" };

/* Where and why a body has not the form of its table. */
static int judge_body(struct lint *lint, const struct effect *e, bool is_result, struct err *err)
{
    const struct kept_body kept = is_result ? effect_result(e) : effect_arguments(e);
    enum lint_id id = is_result ? LINT_MALFORMED_REPLY : LINT_MALFORMED_CALL;
    char path[WALK_PATH_MAX];
    struct walk w;

    if (!(kept.flags & SIGHTING_MALFORMED) ||
        kept_walk(&w, is_result ? e->procedure->result : e->procedure->arguments, &kept, NULL) !=
            WALK_MALFORMED)
        return 0;
    return LINT_SAY(lint, id, e, 0, err, "%.100s: %s", walk_path(&w, NULL, path), w.problem);
}

static int judge_status(struct lint *lint, const struct effect *e, struct err *err)
{
    const char *name;

    if (e->status < 0 || e->rpc_status != 0)
        return 0;
    name = status_name(e->procedure, (uint32_t)e->status);
    if (!name)
        return LINT_SAY(lint, LINT_STATUS_UNDEFINED, e, 0, err, "status %" PRId64, e->status);
    if (!lint_listed(lint->options.rules, e->procedure->number, (uint32_t)e->status))
        return LINT_SAY(lint, LINT_STATUS_UNLISTED, e, 0, err, "%s of %s", name,
                        e->procedure->name);
    return 0;
}

/* The type that an object must have for |e| to succeed; OBJECT_UNKNOWN: any. */
static uint32_t type_needed(const struct effect *e, enum whose whose)
{
    if (whose == OF_PARENT || whose == OF_PARENT2)
        return OBJECT_DIR;
    if (whose == OF_NEW_OBJECT && effect_action(e) == ACTION_MAKE)
        return e->procedure->type           ? e->procedure->type
               : e->asked.bits & ASKED_TYPE ? e->asked.type
                                            : OBJECT_UNKNOWN;
    if (whose != OF_OBJECT)
        return OBJECT_UNKNOWN;
    switch (effect_action(e)) {
    case ACTION_READ:
    case ACTION_WRITE:
    case ACTION_FLUSH:
        return OBJECT_REG;
    case ACTION_READ_LINK:
        return OBJECT_LNK;
    case ACTION_LIST:
        return OBJECT_DIR;
    default:
        return OBJECT_UNKNOWN;
    }
}

static int judge_attributes(struct lint *lint, const struct effect *e, enum whose whose,
                            struct err *err)
{
    struct attributes a;
    struct attributes_before before;
    uint32_t needed = type_needed(e, whose);
    bool has = effect_attributes(e, whose, &a);
    bool over = has && a.is_over;
    int result = 0;

    if (effect_before(e, whose, &before))
        over |= before.is_over;
    if (over)
        result = LINT_SAY(lint, LINT_NANOSECONDS, e, 0, err,
                          "a time %s has a second or more of nanoseconds", of_whom[whose]);
    if (result < 0 || !has)
        return result;
    if (a.type == OBJECT_UNKNOWN)
        return LINT_SAY(lint, LINT_TYPE_UNDEFINED, e, 0, err, "the type %s is not defined",
                        of_whom[whose]);
    if (e->succeeded && needed != OBJECT_UNKNOWN && needed != a.type)
        return LINT_SAY(lint, LINT_TYPE_WRONG, e, 0, err, "the type %s is %s, not %s",
                        of_whom[whose], type_names[a.type], type_names[needed]);
    return 0;
}

static int judge_read(struct lint *lint, const struct effect *e, const struct lint_body *b,
                      struct err *err)
{
    int result = 0;

    if (e->arguments == WALK_OK && e->done > e->count)
        result = LINT_SAY(lint, LINT_READ_COUNT, e, 0, err,
                          "%" PRIu64 " bytes returned, %" PRIu64 " asked for", e->done, e->count);
    if (result == 0 && b->has_returned && b->returned != e->done)
        result = LINT_SAY(lint, LINT_READ_DATA, e, 0, err,
                          "the count is %" PRIu64 ", but %" PRIu32 " bytes follow", e->done,
                          b->returned);
    return result;
}

static int judge_write(struct lint *lint, const struct effect *e, const struct lint_body *b,
                       struct err *err)
{
    static const char *const how[] = { "UNSTABLE", "DATA_SYNC", "FILE_SYNC" };
    int result = 0;

    if (b->has_sent && b->sent != e->count)
        result =
            LINT_SAY(lint, LINT_WRITE_DATA, e, 0, err,
                     "the count is %" PRIu64 ", but %" PRIu32 " bytes follow", e->count, b->sent);
    if (result == 0 && e->succeeded && e->has_done && b->has_sent && e->done > e->count)
        result = LINT_SAY(lint, LINT_WRITE_COUNT, e, 0, err,
                          "%" PRIu64 " bytes written, %" PRIu64 " sent", e->done, e->count);
    if (result == 0 && b->has_stable && b->has_committed && b->stable <= FILE_SYNC &&
        b->committed < b->stable)
        result = LINT_SAY(lint, LINT_WRITE_COMMITTED, e, 0, err, "committed %s, asked for %s",
                          how[b->committed], how[b->stable]);
    return result;
}

/* The time from before the operation is what the server compared the guard with. */
static int judge_guard(struct lint *lint, const struct effect *e, const struct lint_body *b,
                       struct err *err)
{
    struct attributes_before before;

    if (!b->has_guard || !effect_before(e, OF_OBJECT, &before))
        return 0;
    if (e->succeeded && before.ctime != b->guard)
        return LINT_SAY(lint, LINT_GUARD, e, 0, err, "guard %" PRId64 " ns, ctime %" PRId64 " ns",
                        b->guard, before.ctime);
    if (e->status == NFS3ERR_NOT_SYNC && before.ctime == b->guard)
        return LINT_SAY(lint, LINT_GUARD_REFUSED, e, 0, err,
                        "guard and ctime are both %" PRId64 " ns", b->guard);
    return 0;
}

int lint_reply(struct lint *lint, const struct effect *e, const struct lint_body *b,
               struct err *err)
{
    int result = judge_body(lint, e, false, err);

    if (result == 0 && e->rpc_status == 0)
        result = judge_body(lint, e, true, err);
    if (result == 0)
        result = judge_status(lint, e, err);
    for (enum whose whose = OF_OBJECT; result == 0 && whose < OF_ENTRY; whose++)
        result = judge_attributes(lint, e, whose, err);
    if (result == 0 && effect_action(e) == ACTION_READ && e->succeeded && e->has_done)
        result = judge_read(lint, e, b, err);
    if (result == 0 && effect_action(e) == ACTION_WRITE && e->arguments == WALK_OK)
        result = judge_write(lint, e, b, err);
    return result < 0 ? result : judge_guard(lint, e, b, err);
}
