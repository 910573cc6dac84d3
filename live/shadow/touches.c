/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/touches.c
 *
 * Which requests touch an object, and which of them meet there.
 */
#include "shadow/shadow_parts.h"

#include <stdlib.h>

static void link_touch(struct shadow *s, struct touch *t)
{
    struct known *k = known_of(s, t->what.object);
    struct touch *first = k->touches;

    t->next = NULL;
    t->previous = first ? first->previous : t;
    if (first)
        first->previous->next = t;
    else
        k->touches = t;
    k->touches->previous = t;
}

static void unlink_touch(struct shadow *s, struct touch *t)
{
    struct known *k = known_of(s, t->what.object);
    struct touch *first = k->touches;

    if (t->next)
        t->next->previous = t->previous;
    else
        first->previous = t->previous;
    if (t == first)
        k->touches = t->next;
    else
        t->previous->next = t->next;
}

/* An UNCHECKED CREATE sets the size of a file that was there. */
static void touch_what_was_there(const struct effect *e, struct overlap_touch *t)
{
    if (!(t->flags & TOUCH_CHANGES) || !(e->asked.bits & ASKED_SIZE))
        return;
    t->flags &= (uint16_t)~TOUCH_ATTRIBUTES_ONLY;
    t->flags |= TOUCH_TRUNCATES | TOUCH_HAS_RANGE;
    t->start = 0;
    t->end = UINT64_MAX;
}

static void touch_named(struct overlap_touch what[], uint32_t *count, uint32_t object,
                        uint16_t flags)
{
    if (object && flags && *count < OVERLAP_TOUCHES)
        what[(*count)++] = (struct overlap_touch){ .object = object, .flags = flags };
}

/* TOUCH_ bits of what a name of a request that failed stands for.  A name that is to be made fails
 * if it is there, whatever it stands for; but CREATE may use a file that is there (RFC 1813
 * s3.3.8). */
static uint16_t named_first(const struct effect *failed)
{
    switch (effect_action(failed)) {
    case ACTION_REMOVE:
        return failed->procedure->type == NF3DIR ? TOUCH_NAMED | TOUCH_GOES : TOUCH_NAMED;
    case ACTION_RENAME:
        return TOUCH_NAMED;
    case ACTION_MAKE:
        return failed->asked.bits & ASKED_HOW && failed->asked.how != GUARDED ? TOUCH_NAMED : 0;
    default:
        return 0;
    }
}

static uint16_t named_second(const struct effect *failed)
{
    return effect_action(failed) == ACTION_RENAME ? TOUCH_NAMED | TOUCH_GOES : 0;
}

/* What a request that failed would have done to an object. */
static uint32_t would(const struct effect *failed, const struct overlap_touch *touch)
{
    struct overlap_touch what[OVERLAP_TOUCHES];
    struct effect e = *failed;
    uint32_t count;

    if (e.succeeded)
        return touch->flags;
    e.rpc_status = RPC_SUCCESS;
    e.status = 0;
    e.succeeded = true;
    count = overlap_touches(&e, 0, what);
    for (uint32_t i = 0; i < count; i++)
        if (touch->bit && what[i].bit == touch->bit)
            return what[i].flags;
    return touch->flags;
}

int touches_set(struct shadow *s, struct request *r, const struct named *named, struct err *err)
{
    struct overlap_touch what[OVERLAP_TOUCHES];
    const struct effect *e = effect_of(r);
    uint32_t count = overlap_touches(e, named->gone, what);
    struct touch *touches = NULL;

    if (named->moved != named->gone) /* its ctime changes */
        touch_named(what, &count, named->moved,
                    TOUCH_NAMED | TOUCH_CHANGES | TOUCH_ATTRIBUTES_ONLY);
    touch_named(what, &count, named->first, named_first(e));
    touch_named(what, &count, named->second, named_second(e));

    for (uint32_t i = 0; i < count; i++) {
        if (what[i].bit == OVERLAP_NEW)
            touch_what_was_there(e, &what[i]);
        if (what[i].bit == OVERLAP_OBJECT && r->action == ACTION_LINK)
            what[i].flags |= TOUCH_ATTRIBUTES_ONLY; /* one more name, whatever else changes */
    }
    if (count && !(touches = calloc(count, sizeof(*touches))))
        return err_memory(err, "requests");
    for (uint32_t i = 0; i < r->touch_count; i++)
        unlink_touch(s, &r->touches[i]);
    free(r->touches);
    r->touches = touches;
    r->touch_count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        touches[i] =
            (struct touch){ .request = r, .what = what[i], .would = (uint16_t)would(e, &what[i]) };
        link_touch(s, &touches[i]);
    }
    return 0;
}

void touches_clear(struct shadow *s, struct request *r)
{
    for (uint32_t i = 0; i < r->touch_count; i++) {
        unlink_touch(s, &r->touches[i]);
        if (!known_of(s, r->touches[i].what.object)->touches)
            learn_forget(s, r->touches[i].what.object);
    }
    free(r->touches);
    r->touches = NULL;
    r->touch_count = 0;
}

/* |r| ends now; |x| has ended. */
static bool were_at_once(const struct request *r, const struct request *x)
{
    return x != r && x->stage != STAGE_CALLED && x->end > r->begin;
}

/* Attributes that one request sets on the object. */
static bool sets(const struct touch *t)
{
    return touch_changes(t) && effect_changes_rights(effect_of(t->request));
}

/* Whose times count is not known: those that one request sets, or those that a server sets when
 * another one changes contents or names. */
static bool is_about_times(const struct touch *a, const struct touch *b)
{
    const uint32_t both = a->what.flags & b->what.flags;

    return both & TOUCH_CHANGES &&
           ((effect_of(a->request)->asked.bits | effect_of(b->request)->asked.bits) &
            ASKED_TIMES) &&
           a->request->action != b->request->action;
}

/* What is made in a directory can inherit its group and its access control list, but not times. */
static bool sets_what_others_get(const struct touch *t)
{
    const struct effect *e = effect_of(t->request);

    return sets(t) &&
           (effect_action(e) != ACTION_SET || e->asked.bits & (ASKED_MODE | ASKED_UID | ASKED_GID));
}

/* One sets attributes of a directory, and the other one makes something that inherits them. */
static bool is_inherited(const struct touch *setting, const struct touch *other)
{
    return sets_what_others_get(setting) && touch_changes(other) &&
           other->what.flags & TOUCH_HAS_NAME && effect_makes_name(effect_of(other->request));
}

/* One sets attributes, and so does the other one, or it takes the set-id bits away by writing. */
static bool is_about_attributes(const struct touch *setting, const struct touch *other)
{
    return sets(setting) &&
           (sets(other) || (touch_changes(other) && other->what.flags & TOUCH_HAS_RANGE));
}

/* The reply to a LINK comes after that to a request which took a name of the file away.  If this
 * was the last one, the LINK was executed before, but would come too late on the SUT. */
static bool is_linked_late(const struct touch *last, const struct touch *first)
{
    return last->request->action == ACTION_LINK && touch_changes(last) &&
           last->what.bit == OVERLAP_OBJECT && !first->what.bit && touch_changes(first) &&
           first->what.flags & TOUCH_RIGHTS;
}

static bool sets_only_times(const struct touch *t)
{
    const struct effect *e = effect_of(t->request);

    return effect_action(e) == ACTION_SET &&
           !(e->asked.bits & (ASKED_MODE | ASKED_UID | ASKED_GID | ASKED_SIZE));
}

/* What the order of two requests decides. */
enum conflict {
    NO_CONFLICT,
    ABOUT_TIMES,  /* only the times of the object afterwards; */
    ABOUT_OBJECT, /* what the object is afterwards, */
    ABOUT_OTHERS, /* and also what others are */
};

/* The reply of |b| came first. */
static enum conflict conflict_of(const struct touch *a, const struct touch *b)
{
    uint32_t met = overlap_meet(&a->what, &b->what);

    if (met & CONFLICT_NAME || is_inherited(a, b) || is_inherited(b, a) || is_linked_late(a, b))
        return ABOUT_OTHERS;
    if (met & CONFLICT_DATA)
        return ABOUT_OBJECT;
    if (met & CONFLICT_ATTRIBUTES || is_about_attributes(a, b) || is_about_attributes(b, a))
        return sets_only_times(a) || sets_only_times(b) ? ABOUT_TIMES : ABOUT_OBJECT;
    return is_about_times(a, b) ? ABOUT_TIMES : NO_CONFLICT;
}

/* All that the request changed: if it is not known what a name stood for when it was moved or
 * replaced, other directories are not known either. */
static int again_all(struct shadow *s, const struct request *r, uint64_t since, struct err *err)
{
    for (uint32_t i = 0; i < r->touch_count; i++)
        if (touch_changes(&r->touches[i]) &&
            dispatch_again(s, mirror_at(s->mirror, r->touches[i].what.object), since, err) < 0)
            return -err->code;
    return 0;
}

/* What |theirs| means for the request of |mine|.  If theirs failed and mine changed something, then
 * perhaps because of that: in the other order, theirs comes first, and may succeed. */
static uint32_t bits_of(const struct touch *mine, const struct touch *theirs)
{
    struct overlap_touch other = theirs->what;
    uint32_t bits = overlap_meet(&mine->what, &other);

    if (!touch_changes(mine) || touch_changes(theirs))
        return bits;
    other.flags = theirs->would;
    return bits | (overlap_meet(&mine->what, &other) &
                   ~(uint32_t)(CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME));
}

/* A listing has the name that another request makes or takes at the same time, or not. */
static int note_changing(const struct touch *listing, const struct touch *changing, struct err *err)
{
    const struct effect *e;
    struct exchange *sut;
    struct bytes name;

    if (listing->request->action != ACTION_LIST || !touch_may_change(changing) ||
        !(changing->what.flags & TOUCH_HAS_NAME) || changing->request->is_left_out)
        return 0;
    e = effect_of(changing->request);
    name = changing->what.bit == OVERLAP_PARENT2 ? e->name2 : e->name;
    sut = requests_exchange(listing->request, err);
    if (!sut)
        return -err->code;
    if (!name.len || memchr(name.data, 0, name.len) || sut->changing.len > CHANGING_BYTES) {
        listing->request->names_left = true;
        return 0;
    }
    if (buf_append(&sut->changing, name.data, name.len) < 0 ||
        buf_append(&sut->changing, "", 1) < 0)
        return err_memory(err, "requests");
    if (listing->request->counted)
        requests_count(listing->request);
    return 0;
}

/* |x| has made something, which may have been there before for what is known of |r|, which ends
 * now.  If |r| failed and would only have made the name, it comes after |x| on the SUT, and finds
 * the name there. */
static bool may_have_been_there(const struct touch *theirs, const struct touch *mine)
{
    const struct effect *e = effect_of(mine->request);

    return theirs->request->has_made && bits_of(theirs, mine) & OVERLAP_NAME &&
           (e->succeeded || effect_action(e) != ACTION_MAKE);
}

/* |mine| is of the request that ends now. */
static int meet(struct shadow *s, struct touch *mine, struct touch *theirs, bool *conflicts,
                struct err *err)
{
    struct request *r = mine->request, *x = theirs->request;
    struct mirror_object *object = mirror_at(s->mirror, mine->what.object);
    enum conflict conflict;

    r->overlap |= (uint16_t)bits_of(mine, theirs);
    x->overlap |= (uint16_t)bits_of(theirs, mine);
    if (may_have_been_there(theirs, mine) &&
        dispatch_again(s, mirror_at(s->mirror, x->objects[TEE_NEW]), x->begin, err) < 0)
        return -err->code;
    if (note_changing(mine, theirs, err) < 0 || note_changing(theirs, mine, err) < 0)
        return -err->code;
    conflict = conflict_of(mine, theirs);
    if (conflict == NO_CONFLICT)
        return 0;
    if (conflict == ABOUT_TIMES && object && object->state == MIRROR_SYNCHRONIZED)
        return open_times_note(s, mine, theirs, err);
    *conflicts = true;
    if (conflict == ABOUT_OTHERS &&
        (again_all(s, x, r->begin, err) < 0 || again_all(s, r, r->begin, err) < 0))
        return -err->code;
    return dispatch_again(s, object, r->begin, err);
}

int touches_meet(struct shadow *s, struct request *r, struct err *err)
{
    for (uint32_t i = 0; i < r->touch_count; i++) {
        struct touch *mine = &r->touches[i];
        bool conflicts = false;

        for (struct touch *t = known_of(s, mine->what.object)->touches; t; t = t->next)
            if (were_at_once(r, t->request) && meet(s, mine, t, &conflicts, err) < 0)
                return -err->code;
        s->counts.overlaps += conflicts;
    }
    if (r->begin >= s->forgotten)
        return 0;
    /* what was under way with it is not known any more */
    r->names_left = r->action == ACTION_LIST;
    return again_all(s, r, r->begin, err);
}

int touches_meet_called(struct shadow *s, struct request *r, struct err *err)
{
    if (!s->called.first || s->called.first->begin >= r->end)
        return 0;
    for (uint32_t i = 0; i < r->touch_count; i++) {
        const struct touch *mine = &r->touches[i];

        for (struct touch *t = known_of(s, mine->what.object)->touches; t; t = t->next) {
            if (t->request->stage != STAGE_CALLED || t->request->begin >= r->end)
                continue;
            r->overlap |= (uint16_t)bits_of(mine, t);
            if (note_changing(mine, t, err) < 0)
                return -err->code;
        }
    }
    return 0;
}

bool touches_rival(const struct shadow *s, const struct request *r, uint32_t object)
{
    for (const struct touch *t = known_of(s, object)->touches; t; t = t->next)
        if (t->request != r && touch_changes(t) &&
            (t->request->stage == STAGE_CALLED || t->request->end > r->begin))
            return true;
    return false;
}

bool touches_changing(const struct shadow *s, uint32_t object, uint64_t since)
{
    for (const struct touch *t = known_of(s, object)->touches; t; t = t->next)
        if (touch_changes(t) && (t->request->stage == STAGE_CALLED || t->request->end > since))
            return true;
    return false;
}

bool touches_quiet(const struct shadow *s, uint32_t object, uint64_t before)
{
    if (object >= s->known_end)
        return true;
    for (const struct touch *t = known_of(s, object)->touches; t; t = t->next) {
        const struct request *r = t->request;

        if (r->stage == STAGE_CALLED ? r->begin <= before
                                     : request_is_queued(r) && touch_may_change(t))
            return false;
    }
    return true;
}
