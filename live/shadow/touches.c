/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/touches.c
 *
 * Which requests touch an object, and which of them meet there.
 */
#include "shadow/shadow_parts.h"

static int link_touch(struct shadow *s, struct touch *t, uint32_t id)
{
    struct touch *first = touches_of(s, t->object);

    if (!first && index_reserve(&s->touched, 1) < 0)
        return -ERR_SYSTEM;
    t->next = 0;
    if (first) {
        t->previous = first->previous;
        touch_at(s, first->previous)->next = id;
        first->previous = id;
    } else {
        t->previous = id;
        index_set_number(&s->touched, t->object, id);
    }
    return 0;
}

static void unlink_touch(struct shadow *s, struct touch *t)
{
    struct touch *first = touches_of(s, t->object);

    if (t->next)
        touch_at(s, t->next)->previous = t->previous;
    else
        first->previous = t->previous;
    if (t == first)
        index_set_number(&s->touched, t->object, t->next);
    else
        touch_at(s, t->previous)->next = t->next;
}

struct overlap_touch touch_what(const struct shadow *s, const struct touch *t)
{
    const struct touch_where *where = t->where ? pool_at(&s->where, t->where) : NULL;
    struct overlap_touch what = { .object = t->object, .bit = (uint16_t)t->bit, .flags = t->flags };

    if (where && t->flags & TOUCH_HAS_NAME) {
        what.name = where->start_or_name;
    } else if (where) {
        what.start = where->start_or_name;
        what.end = where->end;
    }
    return what;
}

static int set_where(struct shadow *s, struct touch *t, const struct overlap_touch *what)
{
    bool has_name = what->flags & TOUCH_HAS_NAME;
    struct touch_where *where;

    if (!has_name && !(what->flags & TOUCH_HAS_RANGE))
        return 0;
    t->where = pool_new(&s->where);
    if (!t->where)
        return -ERR_SYSTEM;
    where = pool_at(&s->where, t->where);
    where->start_or_name = has_name ? what->name : what->start;
    where->end = has_name ? 0 : what->end;
    return 0;
}

static struct touch *add_touch(struct shadow *s, struct request *r,
                               const struct overlap_touch *what, uint32_t would, uint32_t **end)
{
    uint32_t id = pool_new(&s->touches);
    struct touch *t = touch_at(s, id);

    if (!t)
        return NULL;
    t->request = r->id;
    t->object = what->object;
    t->bit = what->bit;
    t->flags = (uint8_t)what->flags;
    t->would = (uint8_t)would;
    if (link_touch(s, t, id) < 0) {
        pool_give(&s->touches, id);
        return NULL;
    }
    **end = id;
    *end = &t->further;
    return set_where(s, t, what) < 0 ? NULL : t;
}

static void give_up(struct shadow *s, uint32_t id)
{
    if (touch_at(s, id)->where)
        pool_give(&s->where, touch_at(s, id)->where);
    pool_give(&s->touches, id);
}

/* Takes those of |r| away. */
static void unlink_all(struct shadow *s, struct request *r, bool forgets)
{
    for (uint32_t id = r->touches, next; id; id = next) {
        const uint32_t object = touch_at(s, id)->object;

        next = touch_at(s, id)->further;
        unlink_touch(s, touch_at(s, id));
        give_up(s, id);
        if (forgets && !touches_of(s, object))
            learn_forget(s, object);
    }
    r->touches = 0;
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
    uint32_t *end = &r->touches;

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
    unlink_all(s, r, false);
    for (uint32_t i = 0; i < count; i++)
        if (!add_touch(s, r, &what[i], would(e, &what[i]), &end))
            return err_memory(err, "requests");
    return 0;
}

void touches_clear(struct shadow *s, struct request *r)
{
    unlink_all(s, r, true);
}

/* |r| ends now; |x| has ended. */
static bool were_at_once(const struct request *r, const struct request *x)
{
    return x != r && x->stage != STAGE_CALLED && x->end > r->begin;
}

static const struct effect *effect_at(const struct shadow *s, const struct touch *t)
{
    return effect_of(request_of(s, t));
}

/* Attributes that one request sets on the object. */
static bool sets(const struct shadow *s, const struct touch *t)
{
    return touch_changes(t) && effect_changes_rights(effect_at(s, t));
}

/* Whose times count is not known: those that one request sets, or those that a server sets when
 * another one changes contents or names. */
static bool is_about_times(const struct shadow *s, const struct touch *a, const struct touch *b)
{
    const uint32_t both = a->flags & b->flags;

    return both & TOUCH_CHANGES &&
           ((effect_at(s, a)->asked.bits | effect_at(s, b)->asked.bits) & ASKED_TIMES) &&
           request_of(s, a)->action != request_of(s, b)->action;
}

/* What is made in a directory can inherit its group and its access control list, but not times. */
static bool sets_what_others_get(const struct shadow *s, const struct touch *t)
{
    const struct effect *e = effect_at(s, t);

    return sets(s, t) &&
           (effect_action(e) != ACTION_SET || e->asked.bits & (ASKED_MODE | ASKED_UID | ASKED_GID));
}

/* One sets attributes of a directory, and the other one makes something that inherits them. */
static bool is_inherited(const struct shadow *s, const struct touch *setting,
                         const struct touch *other)
{
    return sets_what_others_get(s, setting) && touch_changes(other) &&
           other->flags & TOUCH_HAS_NAME && effect_makes_name(effect_at(s, other));
}

/* One sets attributes, and so does the other one, or it takes the set-id bits away by writing. */
static bool is_about_attributes(const struct shadow *s, const struct touch *setting,
                                const struct touch *other)
{
    return sets(s, setting) &&
           (sets(s, other) || (touch_changes(other) && other->flags & TOUCH_HAS_RANGE));
}

/* The reply to a LINK comes after that to a request which took a name of the file away.  If this
 * was the last one, the LINK was executed before, but would come too late on the SUT. */
static bool is_linked_late(const struct shadow *s, const struct touch *last,
                           const struct touch *first)
{
    return request_of(s, last)->action == ACTION_LINK && touch_changes(last) &&
           last->bit == OVERLAP_OBJECT && !first->bit && touch_changes(first) &&
           first->flags & TOUCH_RIGHTS;
}

static bool sets_only_times(const struct shadow *s, const struct touch *t)
{
    const struct effect *e = effect_at(s, t);

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
static enum conflict conflict_of(const struct shadow *s, const struct touch *a,
                                 const struct touch *b)
{
    struct overlap_touch mine = touch_what(s, a), theirs = touch_what(s, b);
    uint32_t met = overlap_meet(&mine, &theirs);

    if (met & CONFLICT_NAME || is_inherited(s, a, b) || is_inherited(s, b, a) ||
        is_linked_late(s, a, b))
        return ABOUT_OTHERS;
    if (met & CONFLICT_DATA)
        return ABOUT_OBJECT;
    if (met & CONFLICT_ATTRIBUTES || is_about_attributes(s, a, b) || is_about_attributes(s, b, a))
        return sets_only_times(s, a) || sets_only_times(s, b) ? ABOUT_TIMES : ABOUT_OBJECT;
    return is_about_times(s, a, b) ? ABOUT_TIMES : NO_CONFLICT;
}

/* All that the request changed: if it is not known what a name stood for when it was moved or
 * replaced, other directories are not known either. */
static int again_all(struct shadow *s, const struct request *r, uint64_t since, struct err *err)
{
    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further))
        if (touch_changes(t) && dispatch_again(s, mirror_at(s->mirror, t->object), since, err) < 0)
            return -err->code;
    return 0;
}

/* What |theirs| means for the request of |mine|.  If theirs failed and mine changed something, then
 * perhaps because of that: in the other order, theirs comes first, and may succeed. */
static uint32_t bits_of(const struct shadow *s, const struct touch *mine,
                        const struct touch *theirs)
{
    struct overlap_touch own = touch_what(s, mine), other = touch_what(s, theirs);
    uint32_t bits = overlap_meet(&own, &other);

    if (!touch_changes(mine) || touch_changes(theirs))
        return bits;
    other.flags = theirs->would;
    return bits | (overlap_meet(&own, &other) &
                   ~(uint32_t)(CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME));
}

/* A listing has the name that another request makes or takes at the same time, or not. */
static int note_changing(const struct shadow *s, const struct touch *listing,
                         const struct touch *changing, struct err *err)
{
    struct request *lists = request_of(s, listing);
    const struct request *changes = request_of(s, changing);
    const struct effect *e;
    struct exchange *sut;
    struct bytes name;

    if (lists->action != ACTION_LIST || !touch_may_change(changing) ||
        !(changing->flags & TOUCH_HAS_NAME) || rest_of(changes)->is_left_out)
        return 0;
    e = effect_of(changes);
    name = changing->bit == OVERLAP_PARENT2 ? e->name2 : e->name;
    sut = requests_exchange(lists, err);
    if (!sut)
        return -err->code;
    if (!name.len || memchr(name.data, 0, name.len) || sut->changing.len > CHANGING_BYTES) {
        rest_of(lists)->names_left = true;
        return 0;
    }
    if (buf_append(&sut->changing, name.data, name.len) < 0 ||
        buf_append(&sut->changing, "", 1) < 0)
        return err_memory(err, "requests");
    if (rest_of(lists)->counted)
        requests_count(lists);
    return 0;
}

/* |x| has made something, which may have been there before for what is known of |r|, which ends
 * now.  If |r| failed and would only have made the name, it comes after |x| on the SUT, and finds
 * the name there. */
static bool may_have_been_there(const struct shadow *s, const struct touch *theirs,
                                const struct touch *mine)
{
    const struct effect *e = effect_at(s, mine);

    return request_of(s, theirs)->has_made && bits_of(s, theirs, mine) & OVERLAP_NAME &&
           (e->succeeded || effect_action(e) != ACTION_MAKE);
}

/* |mine| is of the request that ends now. */
static int meet(struct shadow *s, struct touch *mine, struct touch *theirs, bool *conflicts,
                struct err *err)
{
    struct request *r = request_of(s, mine), *x = request_of(s, theirs);
    struct mirror_object *object = mirror_at(s->mirror, mine->object);
    enum conflict conflict;

    r->overlap |= bits_of(s, mine, theirs);
    x->overlap |= bits_of(s, theirs, mine);
    if (may_have_been_there(s, theirs, mine) &&
        dispatch_again(s, mirror_at(s->mirror, rest_of(x)->objects[TEE_NEW]), x->begin, err) < 0)
        return -err->code;
    if (note_changing(s, mine, theirs, err) < 0 || note_changing(s, theirs, mine, err) < 0)
        return -err->code;
    conflict = conflict_of(s, mine, theirs);
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
    for (struct touch *mine = touch_at(s, r->touches); mine; mine = touch_at(s, mine->further)) {
        bool conflicts = false;

        for (struct touch *t = touches_of(s, mine->object); t; t = touch_at(s, t->next))
            if (were_at_once(r, request_of(s, t)) && meet(s, mine, t, &conflicts, err) < 0)
                return -err->code;
        s->counts.overlaps += conflicts;
    }
    if (r->begin >= s->forgotten)
        return 0;
    /* what was under way with it is not known any more */
    rest_of(r)->names_left = r->action == ACTION_LIST;
    return again_all(s, r, r->begin, err);
}

int touches_meet_called(struct shadow *s, struct request *r, struct err *err)
{
    const struct request *first = request_at(s, s->called.first);

    if (!first || first->begin >= r->end)
        return 0;
    for (struct touch *mine = touch_at(s, r->touches); mine; mine = touch_at(s, mine->further))
        for (struct touch *t = touches_of(s, mine->object); t; t = touch_at(s, t->next)) {
            const struct request *x = request_of(s, t);

            if (x->stage != STAGE_CALLED || x->begin >= r->end)
                continue;
            r->overlap |= bits_of(s, mine, t);
            if (note_changing(s, mine, t, err) < 0)
                return -err->code;
        }
    return 0;
}

bool touches_rival(const struct shadow *s, const struct request *r, uint32_t object)
{
    for (const struct touch *t = touches_of(s, object); t; t = touch_at(s, t->next)) {
        const struct request *x = request_of(s, t);

        if (x != r && touch_changes(t) && (x->stage == STAGE_CALLED || x->end > r->begin))
            return true;
    }
    return false;
}

bool touches_changing(const struct shadow *s, uint32_t object, uint64_t since)
{
    for (const struct touch *t = touches_of(s, object); t; t = touch_at(s, t->next)) {
        const struct request *x = request_of(s, t);

        if (touch_changes(t) && (x->stage == STAGE_CALLED || x->end > since))
            return true;
    }
    return false;
}

bool touches_quiet(const struct shadow *s, uint32_t object, uint64_t before)
{
    if (object >= s->known_end)
        return true;
    for (const struct touch *t = touches_of(s, object); t; t = touch_at(s, t->next)) {
        const struct request *r = request_of(s, t);

        if (r->stage == STAGE_CALLED ? r->begin <= before
                                     : request_is_queued(r) && touch_may_change(t))
            return false;
    }
    return true;
}
