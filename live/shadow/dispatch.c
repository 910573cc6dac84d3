/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/dispatch.c
 *
 * Decides what becomes of a request when the reference has answered it: it goes to the SUT, or its
 * changes are noted for the copy of an object, or what it changed is copied again.
 */
#include "shadow/paths.h"
#include "shadow/shadow_parts.h"

/* --- again */

void dispatch_unhold(struct shadow *s, uint32_t id)
{
    known_of(s, id)->is_held = false;
    for (struct touch *t = touches_of(s, id); t; t = touch_at(s, t->next))
        if (t->is_held) {
            t->is_held = false;
            send_release(s, request_of(s, t));
        }
}

/* It ceases to be synchronized. */
static int break_off(struct shadow *s, struct known *k, uint32_t id, uint64_t since,
                     struct err *err)
{
    struct known_rare *rare = known_rare_get(s, id, err);

    if (!rare)
        return -err->code;
    k->epoch++;
    rare->broken = since;
    rare->left = loop_clock() + send_wall_clock_ahead();
    dispatch_unhold(s, id);
    return 0;
}

int dispatch_unplayed(struct shadow *s, uint32_t id, struct err *err)
{
    return break_off(s, known_of(s, id), id, 0, err);
}

static bool is_followed(const struct mirror_object *object)
{
    return object->state == MIRROR_SYNCHRONIZED || object->state == MIRROR_COPYING ||
           object->state == MIRROR_DIVERGED;
}

static int leave(struct shadow *s, struct mirror_object *object, enum mirror_state state,
                 uint64_t since, struct err *err)
{
    struct known *k = known_get(s, object->id, err);

    if (!k)
        return -err->code;
    if (break_off(s, k, object->id, since, err) < 0)
        return -err->code;
    return mirror_set_state(s->mirror, object, state, err);
}

/* The request that made it is under way to the SUT, whose answer will have its handle. */
static bool is_being_made(const struct shadow *s, const struct mirror_object *object)
{
    for (const struct touch *t = touches_of(s, object->id); t; t = touch_at(s, t->next))
        if (t->bit == OVERLAP_NEW && touch_changes(t) && request_is_queued(request_of(s, t)))
            return true;
    return false;
}

int dispatch_again(struct shadow *s, struct mirror_object *object, uint64_t since, struct err *err)
{
    gaps_clear(s, object);
    if (object && object->state == MIRROR_GONE)
        return dispatch_unplayed(s, object->id, err);
    /* What the SUT has no handle for is found by its directory, or waits for it: dispatch_made. */
    while (object && is_followed(object) && !object->sut_handle_len && !object->is_root) {
        if (leave(s, object, MIRROR_UNKNOWN, since, err) < 0)
            return -err->code;
        if (is_being_made(s, object))
            return 0;
        object = object->parent ? mirror_at(s->mirror, object->parent) : NULL;
        gaps_clear(s, object);
    }
    if (!object || !is_followed(object)) {
        if (object && object->id < s->known_end && rare_of(s, object->id)->broken > since)
            known_rare_find(s, object->id)->broken = since;
        return 0;
    }
    copy_wake(s->copy);
    return leave(s, object, MIRROR_QUEUED, since, err);
}

/* An EXCLUSIVE create that was sent again: the reference knows its verifier from the first time.
 * The SUT does not, if the object was copied meanwhile (RFC 1813 s3.3.8). */
static bool is_made_again(const struct shadow *s, const struct effect *e)
{
    return effect_makes_name(e) && e->succeeded && e->asked.bits & ASKED_HOW &&
           e->asked.how == EXCLUSIVE && e->new_object && known_of(s, e->new_object)->was_copied;
}

/* It was there when the request came, which therefore changed nothing. */
static bool was_there(const struct shadow *s, const struct request *r)
{
    const struct effect *e = effect_of(r);

    return is_made_again(s, e) && known_of(s, e->new_object)->copied < r->begin &&
           mirror_at(s->mirror, e->new_object)->state == MIRROR_SYNCHRONIZED;
}

int dispatch_mend(struct shadow *s, struct request *r, struct err *err)
{
    bool is_known = effect_of(r)->rpc_status != STATUS_NONE && !rest_of(r)->is_partial;

    if (is_known && was_there(s, r))
        return 0;
    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further)) {
        struct mirror_object *object = mirror_at(s->mirror, t->object);

        if (!object || !touch_changes(t))
            continue;
        if (object->state == MIRROR_COPYING && is_known)
            continue; /* it was noted */
        s->counts.mended += is_followed(object);
        if (dispatch_again(s, object, r->end, err) < 0)
            return -err->code;
    }
    return 0;
}

int dispatch_leave_out(struct shadow *s, struct request *r, enum shadow_fate fate, struct err *err)
{
    rest_of(r)->fate = (uint8_t)fate;
    r->stage = STAGE_ENDED;
    requests_append(s, &s->recent, r);
    requests_shorten(s, r);
    loop_idle(s->loop, &s->judge);
    return dispatch_mend(s, r, err);
}

int dispatch_all_again(struct shadow *s, uint64_t since, struct err *err)
{
    for (struct mirror_object *o = mirror_next(s->mirror, NULL); o; o = mirror_next(s->mirror, o)) {
        const struct known *k = known_get(s, o->id, err);
        uint64_t before = k ? gaps_same_before(s, o) : 0;

        if (!k || dispatch_again(s, o, since, err) < 0)
            return -err->code;
        if (gaps_suspect(s, o, before, err) < 0)
            return -err->code;
    }
    return 0;
}

/* --- what becomes of it */

/* The object was synchronized when the reference answered.  A later request has removed it there,
 * and on the SUT waits behind |r|. */
static bool is_removed_later(const struct shadow *s, const struct request *r, uint32_t which,
                             const struct mirror_object *object)
{
    return object->state == MIRROR_GONE && r->stage == STAGE_WAITING && rest_of(r)->known[which] &&
           known_of(s, object->id)->epoch == rest_of(r)->epochs[which];
}

static enum shadow_fate fate_of_object(const struct shadow *s, const struct request *r,
                                       uint32_t which, bool needs_all)
{
    uint32_t id = rest_of(r)->objects[which];
    const struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;

    if (!object)
        return FATE_NOT_SYNCHRONIZED;
    if (object->state == MIRROR_SYNCHRONIZED || is_removed_later(s, r, which, object) ||
        (!needs_all && object->sut_handle_len))
        return FATE_COMPARED;
    return object->state == MIRROR_EXCLUDED ? FATE_EXCLUDED : FATE_NOT_SYNCHRONIZED;
}

/* No name at all (RFC 1813 s3.2): a server that takes it for a path may leave its export. */
static bool is_path(struct bytes name)
{
    return name.len && !bytes_are_name(name);
}

enum shadow_fate dispatch_fate(struct shadow *s, const struct request *r)
{
    const struct reading *reading = reading_of(r);
    const struct rpc_header *h = &reading->header;
    const struct effect *e = &reading->effect;
    bool is_link = action_makes_name2(effect_action(e)) && !e->parent;
    enum shadow_fate fate;

    if (rest_of(r)->is_partial || e->rpc_status == STATUS_NONE)
        return FATE_GAP;
    if (e->program != NFS3_PROGRAM && e->program != NFSACL_PROGRAM)
        return FATE_NOT_NFS;
    if (h->body_protected || h->credential.flavor == RPC_GSS)
        return FATE_SECURED;
    if (!e->procedure || !e->object_role || e->arguments != WALK_OK)
        return FATE_WITHOUT_OBJECT;
    if (is_path(e->name) || is_path(e->name2))
        return FATE_WITHOUT_OBJECT;
    if (is_made_again(s, e))
        return FATE_NOT_SYNCHRONIZED;
    if (effect_action(e) == ACTION_WRITE && s->setup.sut.wtmax && e->count > s->setup.sut.wtmax)
        return FATE_TOO_LONG; /* servers close the connection at such a message */
    fate = fate_of_object(s, r, TEE_OBJECT, !is_link);
    if (fate == FATE_COMPARED && effect_action(e) == ACTION_LIST &&
        mirror_at(s->mirror, e->object)->is_root && copy_counts(s->copy).has_scratch)
        return FATE_LISTING; /* the SUT's has a name more */
    if (fate == FATE_COMPARED && e->parent2_role)
        fate = fate_of_object(s, r, TEE_PARENT2, true);
    if (fate != FATE_COMPARED && r->overlap & (CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME))
        return FATE_OVERLAPPING;
    return fate;
}

/* What the request has made is known to be the same on both sides, as it was nowhere before. */
static int take_new(struct shadow *s, struct request *r, struct err *err)
{
    const struct effect *e = effect_of(r);
    struct mirror_object *object = e->new_object ? mirror_at(s->mirror, e->new_object) : NULL;
    bool wants;

    if (!object || !e->succeeded || !effect_makes_name(e) || r->overlap & OVERLAP_NAME ||
        object->state != MIRROR_UNKNOWN || object->sut_handle_len || !known_is_new(s, object->id))
        return 0;
    if (paths_decide(s, object, NULL, (struct bytes){ 0 }, &wants, err) < 0)
        return -err->code;
    if (!wants)
        return mirror_set_state(s->mirror, object, MIRROR_EXCLUDED, err);
    teelog_remade(s->log, object->id);
    r->has_made = true;
    return mirror_set_state(s->mirror, object, MIRROR_SYNCHRONIZED, err);
}

int dispatch_made(struct shadow *s, const struct request *r, struct err *err)
{
    const struct effect *e = effect_of(r);
    bool is_made = e->succeeded && effect_makes_name(e) && e->new_object;
    struct mirror_object *object = is_made ? mirror_at(s->mirror, e->new_object) : NULL;
    struct mirror_object *parent =
        object && object->parent ? mirror_at(s->mirror, object->parent) : NULL;

    if (!parent || parent->state != MIRROR_SYNCHRONIZED || object->state != MIRROR_UNKNOWN ||
        !paths_want(s, object))
        return 0;
    if (!object->sut_handle_len)
        return dispatch_again(s, parent, r->end, err);
    if (!object->type)
        return 0;
    copy_wake(s->copy);
    return mirror_set_state(s->mirror, object, MIRROR_QUEUED, err);
}

static void note_objects(struct shadow *s, struct request *r)
{
    for (uint32_t i = 0; i < TEE_OBJECTS; i++) {
        const struct mirror_object *object =
            rest_of(r)->objects[i] ? mirror_at(s->mirror, rest_of(r)->objects[i]) : NULL;

        rest_of(r)->known[i] = object && object->state == MIRROR_SYNCHRONIZED;
        rest_of(r)->epochs[i] = object ? known_of(s, object->id)->epoch : 0;
    }
    for (struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further)) {
        const struct mirror_object *object = mirror_at(s->mirror, t->object);

        t->epoch = known_of(s, t->object)->epoch;
        t->was_same = object && object->state == MIRROR_SYNCHRONIZED;
    }
}

int dispatch(struct shadow *s, struct request *r, struct err *err)
{
    enum shadow_fate fate = dispatch_fate(s, r);

    rest_of(r)->fate = (uint8_t)fate;
    if (fate == FATE_COMPARED && take_new(s, r, err) < 0)
        return -err->code;
    if (notes_take(s, r, err) < 0)
        return -err->code;
    note_objects(s, r);
    return fate == FATE_COMPARED ? send_queue(s, r, err) : dispatch_leave_out(s, r, fate, err);
}
