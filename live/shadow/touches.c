/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/touches.c
 *
 * Which requests touch an object, and which of them meet there.
 */
#include "base/grow.h"
#include "shadow/shadow_parts.h"

struct known *known_get(struct shadow *s, uint32_t object, struct err *err)
{
    struct known *k;

    if (GROW_ZERO(s->known, (uint64_t)object + 1, s->known_cap) < 0) {
        err_memory(err, "objects");
        return NULL;
    }
    k = known_of(s, object);
    if (!k->is_there)
        *k =
            (struct known){ .is_there = true, .born = s->message, .generation = k->generation + 1 };
    return k;
}

struct mirror_object *known_object(struct shadow *s, struct bytes handle, struct err *err)
{
    struct mirror_object *object = mirror_add(s->mirror, handle, err);

    return object && known_get(s, object->id, err) ? object : NULL;
}

static void link_touch(struct shadow *s, struct touch *t)
{
    struct known *k = known_of(s, t->what.object);

    t->next = NULL;
    t->previous = k->last;
    *(k->last ? &k->last->next : &k->first) = t;
    k->last = t;
}

static void unlink_touch(struct shadow *s, struct touch *t)
{
    struct known *k = known_of(s, t->what.object);

    *(t->previous ? &t->previous->next : &k->first) = t->next;
    *(t->next ? &t->next->previous : &k->last) = t->previous;
}

void touches_set(struct shadow *s, struct request *r, uint32_t gone, uint32_t moved)
{
    struct overlap_touch what[OVERLAP_TOUCHES];
    uint32_t count = overlap_touches(&r->effect, gone, what);

    if (moved && moved != gone && count < OVERLAP_TOUCHES) /* its ctime changes */
        what[count++] = (struct overlap_touch){ .object = moved,
                                                .flags = TOUCH_CHANGES | TOUCH_ATTRIBUTES_ONLY };

    for (uint32_t i = 0; i < r->touch_count; i++)
        unlink_touch(s, &r->touches[i]);
    r->touch_count = count;
    for (uint32_t i = 0; i < count; i++) {
        r->touches[i] = (struct touch){ .request = r, .what = what[i] };
        link_touch(s, &r->touches[i]);
    }
}

void touches_clear(struct shadow *s, struct request *r)
{
    for (uint32_t i = 0; i < r->touch_count; i++) {
        unlink_touch(s, &r->touches[i]);
        if (!known_of(s, r->touches[i].what.object)->first)
            learn_forget(s, r->touches[i].what.object);
    }
    r->touch_count = 0;
}

/* |r| ends now; |x| has ended. */
static bool were_at_once(const struct request *r, const struct request *x)
{
    return x != r && x->stage != STAGE_CALLED && x->end > r->begin;
}

/* Whose times count is not known: those that one request sets, or those that a server sets when
 * another one changes contents or names. */
static bool is_about_times(const struct touch *a, const struct touch *b)
{
    const uint32_t both = a->what.flags & b->what.flags;

    return both & TOUCH_CHANGES &&
           ((a->request->effect.asked.bits | b->request->effect.asked.bits) & ASKED_TIMES) &&
           effect_action(&a->request->effect) != effect_action(&b->request->effect);
}

int touches_meet(struct shadow *s, struct request *r, struct err *err)
{
    enum { CONFLICTS = CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME };

    for (uint32_t i = 0; i < r->touch_count; i++) {
        struct touch *mine = &r->touches[i];
        bool is_conflict = false;

        for (struct touch *t = known_of(s, mine->what.object)->first; t; t = t->next) {
            if (!were_at_once(r, t->request))
                continue;
            r->overlap |= overlap_meet(&mine->what, &t->what);
            t->request->overlap |= overlap_meet(&t->what, &mine->what);
            is_conflict |=
                (overlap_meet(&mine->what, &t->what) & CONFLICTS) || is_about_times(mine, t);
        }
        if (!is_conflict)
            continue;
        s->counts.overlaps++;
        if (dispatch_again(s, mirror_at(s->mirror, mine->what.object), r->begin, err) < 0)
            return -err->code;
    }
    return 0;
}

bool touches_rival(const struct shadow *s, const struct request *r, uint32_t object)
{
    for (const struct touch *t = known_of(s, object)->first; t; t = t->next)
        if (t->request != r && touch_changes(t) &&
            (t->request->stage == STAGE_CALLED || t->request->end > r->begin))
            return true;
    return false;
}

bool touches_quiet(const struct shadow *s, uint32_t object, uint64_t before)
{
    if (object >= s->known_cap)
        return true;
    for (const struct touch *t = known_of(s, object)->first; t; t = t->next) {
        const struct request *r = t->request;

        if (r->stage == STAGE_CALLED ? r->begin <= before
                                     : request_is_queued(r) && touch_changes(t))
            return false;
    }
    return true;
}
