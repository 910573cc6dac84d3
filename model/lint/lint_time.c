/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_time.c
 *
 * The rules that an operation can break against earlier ones: what a handle stands for, and sizes
 * and times that nobody changed.  An operation is quiet for an object if no other one that may
 * change this object overlapped it.  Only then are sizes and times judged and learned.  Times of
 * the last status change are left out: operations on names change them for objects that no message
 * tells.  The contract is in lint_parts.h.
 */
#include "base/values.h"
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* One object in a reply. */
struct sight {
    struct lint *lint;
    const struct effect *effect;
    struct lint_object *object;
    enum whose whose;
    bool changes, quiet;
};

static uint32_t may_change(const struct effect *e)
{
    switch (effect_action(e)) {
    case ACTION_WRITE:
    case ACTION_SET:
    case ACTION_REMOVE:
        return MAY_OBJECT;
    case ACTION_MAKE:
        return MAY_OBJECT | MAY_NEW;
    case ACTION_RENAME:
        return MAY_OBJECT | MAY_PARENT2;
    case ACTION_LINK:
        return MAY_PARENT2;
    default:
        return 0;
    }
}

static uint32_t changed_object(const struct effect *e, uint32_t bit)
{
    return bit == MAY_OBJECT ? e->object : bit == MAY_PARENT2 ? e->parent2 : e->new_object;
}

static void be_blind(struct lint *lint, const struct effect *e)
{
    lint->blind = e->done_time > lint->blind ? e->done_time : lint->blind;
}

int lint_time_called(struct lint *lint, struct effect *e, struct err *err)
{
    uint32_t may = may_change(e);

    e->mark = 0;
    for (uint32_t bit = MAY_OBJECT; bit <= MAY_NEW; bit <<= 1) {
        uint32_t id = changed_object(e, bit);
        struct lint_object *o;

        if (!(may & bit))
            continue;
        if (!id && bit != MAY_NEW)
            be_blind(lint, e);
        if (!id)
            continue;
        o = lint_object(lint, id);
        if (!o)
            return err_memory(err, "objects");
        o->active++;
        o->unsure |= !e->timed || e->pairing != PAIRED;
        e->mark |= bit;
        if (lint_contents_called(lint, o, e, err) < 0)
            return -err->code;
    }
    return 0;
}

/* Its effects are over: what is learned of its objects now is learned of their state behind it.
 * Objects with operations under way are not forgotten, so they are there. */
static int release(struct lint *lint, const struct effect *e, struct err *err)
{
    for (uint32_t bit = MAY_OBJECT; bit <= MAY_NEW; bit <<= 1) {
        struct lint_object *o;

        if (!(e->mark & bit))
            continue;
        o = lint_object(lint, changed_object(e, bit));
        if (!o)
            return err_memory(err, "objects");
        o->active--;
    }
    return 0;
}

/* Also of a new object that the call did not tell. */
static int note_changes(struct lint *lint, const struct effect *e, struct err *err)
{
    uint32_t may = may_change(e);

    for (uint32_t bit = MAY_OBJECT; bit <= MAY_NEW; bit <<= 1) {
        uint32_t id = may & bit ? changed_object(e, bit) : 0;
        struct lint_object *o = lint_object(lint, id);

        if (!o && id)
            return err_memory(err, "objects");
        if (!o)
            continue;
        o->changed = e->done_time;
        o->unsure |= e->pairing != PAIRED;
    }
    return 0;
}

static int judge_identity(const struct sight *s, const struct attributes *a, struct err *err)
{
    struct lint_object *o = s->object;
    int64_t earlier = o->identified_by;
    bool type = o->identified && a->type != o->type;
    bool file = o->identified && (a->fsid != o->fsid || a->fileid != o->fileid);
    int result = 0;

    if (type)
        result = LINT_SAY(s->lint, LINT_TYPE_CHANGED, s->effect, earlier, err,
                          "the type is %u, and was %u", a->type, o->type);
    if (result == 0 && file)
        result = LINT_SAY(s->lint, LINT_FILEID_CHANGED, s->effect, earlier, err,
                          "fsid 0x%" PRIx64 " and fileid %" PRIu64 ", and were 0x%" PRIx64
                          " and %" PRIu64,
                          a->fsid, a->fileid, o->fsid, o->fileid);
    if (!o->identified || type || file) {
        lint_fileid_forget(s->lint, o);
        if (!o->identified || file)
            o->identified_at = s->effect->done_time;
        o->identified = true;
        o->server = s->effect->server_number;
        o->type = a->type;
        o->fsid = a->fsid;
        o->fileid = a->fileid;
        o->identified_by = s->effect->id;
        if (lint_fileid_learn(s->lint, o, err) < 0)
            return -err->code;
    }
    return result;
}

/* Which object of the operation a text is about: its path is that of the name, if it has one. */
static const char *of_which(const struct sight *s)
{
    return s->whose == OF_PARENT    ? "of the directory: "
           : s->whose == OF_PARENT2 ? "of the new name's directory: "
           : s->object->identified && s->object->type == OBJECT_DIR ? "of the directory: "
                                                                    : "";
}

/* A size and time from before the operation, or from behind one that changes nothing. */
static int judge_state(const struct sight *s, uint64_t size, int64_t mtime, struct err *err)
{
    const struct lint_object *o = s->object;
    char now[VALUE_TEXT_MAX], then[VALUE_TEXT_MAX];
    struct lint_written loose;

    if (!s->quiet || !o->known || o->known_at >= s->effect->call_time ||
        o->known_at <= s->lint->blind || (size == o->size && mtime == o->mtime))
        return 0;
    lint_contents_spoil(s->lint, s->object);
    loose = o->loose;
    loose.stable = !loose.by;
    return LINT_SAY_UNLESS_LOST(s->lint, LINT_CHANGED_UNSEEN, s->effect, o->known_by, &loose, err,
                                "%ssize %" PRIu64 " and mtime %s, and were %" PRIu64 " and %s%s",
                                of_which(s), size, time_text(mtime, now), o->size,
                                time_text(o->mtime, then),
                                mtime < o->mtime ? ": the mtime went back" : "");
}

static int judge_size(const struct sight *s, const struct attributes *a, struct err *err)
{
    const struct effect *e = s->effect;
    uint64_t end;
    bool overflows;

    if (!s->quiet || !e->succeeded || s->whose != OF_OBJECT || a->type != OBJECT_REG)
        return 0;
    if (effect_action(e) == ACTION_SET && e->asked.bits & ASKED_SIZE && a->size != e->asked.size)
        return LINT_SAY(s->lint, LINT_SIZE_SET, e, 0, err,
                        "the size is %" PRIu64 ", %" PRIu64 " was set", a->size, e->asked.size);
    if (!e->has_done || e->arguments != WALK_OK)
        return 0;
    overflows = __builtin_add_overflow(e->offset, e->done, &end);
    if (effect_action(e) == ACTION_WRITE && e->done && !overflows && a->size < end)
        return LINT_SAY(s->lint, LINT_SIZE_WRITTEN, e, 0, err,
                        "the size is %" PRIu64 ", %" PRIu64 " bytes were written at %" PRIu64,
                        a->size, e->done, e->offset);
    if (effect_action(e) == ACTION_READ && e->has_eof && e->eof != (overflows || end >= a->size))
        return LINT_SAY(s->lint, LINT_READ_EOF, e, 0, err,
                        "eof is %s, the size is %" PRIu64 ", %" PRIu64
                        " bytes were read at %" PRIu64,
                        e->eof ? "true" : "false", a->size, e->done, e->offset);
    return 0;
}

static void learn(const struct sight *s, const struct attributes *a)
{
    struct lint_object *o = s->object;

    if (!s->quiet) {
        o->known &= !s->changes;
        return;
    }
    o->known = a != NULL;
    if (!a)
        return;
    o->size = a->size;
    o->mtime = a->mtime;
    o->known_by = s->effect->id;
    o->known_at = s->effect->done_time;
}

static int judge_one(const struct sight *s, struct err *err)
{
    struct attributes_before before;
    struct attributes after;
    bool has_after = effect_attributes(s->effect, s->whose, &after);
    int result = 0;

    if (has_after)
        result = judge_identity(s, &after, err);
    if (result == 0 && effect_before(s->effect, s->whose, &before))
        result = judge_state(s, before.size, before.mtime, err);
    else if (result == 0 && has_after && !s->changes)
        result = judge_state(s, after.size, after.mtime, err);
    if (result == 0 && has_after)
        result = judge_size(s, &after, err);
    if (result == 0 && has_after)
        result = lint_fileid_judge(s->lint, s->effect, s->object, err);
    if (result == 0)
        result = lint_links_judge(
            s->lint,
            &(struct lint_links_seen){ s->effect, s->object, s->whose, s->quiet, s->changes },
            has_after ? &after : NULL, err);
    if (has_after || s->changes)
        learn(s, has_after ? &after : NULL);
    if (s->changes)
        lint_contents_done(s->lint, s->object, s->effect);
    else if (effect_action(s->effect) == ACTION_FLUSH)
        lint_contents_commit(s->lint, s->object, s->effect);
    else if (result == 0 && s->whose == OF_OBJECT)
        result = lint_contents_judge(s->lint, s->object, s->effect, err);
    return result;
}

/* A status that is about the one handle in the arguments. */
static int judge_stale(struct lint *lint, const struct effect *e, struct err *err)
{
    struct lint_object *o;
    int64_t earlier;

    if (!e->object || e->parent2_role || (!e->succeeded && e->status != NFS3ERR_STALE))
        return 0;
    o = lint_object(lint, e->object);
    if (!o)
        return err_memory(err, "objects");
    if (e->status == NFS3ERR_STALE) {
        o->stale_by = e->id;
        o->stale_at = e->done_time;
    }
    earlier = o->stale_by;
    if (!e->succeeded || !earlier || !e->timed || o->stale_at >= e->call_time)
        return 0;
    o->stale_by = 0;
    return LINT_SAY(lint, LINT_STALE_WORKS, e, earlier, err, "%s works again", e->procedure->name);
}

static int judge_object(struct lint *lint, const struct effect *e, enum whose whose,
                        struct err *err)
{
    static const uint32_t bits[WHOSE_MAX] = { [OF_OBJECT] = MAY_OBJECT,
                                              [OF_PARENT] = MAY_OBJECT,
                                              [OF_PARENT2] = MAY_PARENT2,
                                              [OF_NEW_OBJECT] = MAY_NEW };
    uint32_t id = whose == OF_OBJECT    ? e->object
                  : whose == OF_PARENT  ? e->parent
                  : whose == OF_PARENT2 ? e->parent2
                                        : e->new_object;
    struct sight s = { .lint = lint, .effect = e, .whose = whose };

    if (!id || (whose == OF_OBJECT && e->parent)) /* then the directory */
        return 0;
    s.object = lint_object(lint, id);
    if (!s.object)
        return err_memory(err, "objects");
    s.changes = may_change(e) & bits[whose];
    s.quiet = e->timed && !s.object->unsure && !s.object->aliased && !s.object->active &&
              s.object->changed < e->call_time && lint->blind < e->call_time;
    return judge_one(&s, err);
}

int lint_time_done(struct lint *lint, const struct effect *e, struct err *err)
{
    int result = release(lint, e, err);

    for (enum whose whose = OF_OBJECT; result == 0 && whose < OF_ENTRY; whose++)
        result = judge_object(lint, e, whose, err);
    if (result == 0)
        result = judge_stale(lint, e, err);
    return result < 0 ? result : note_changes(lint, e, err);
}
