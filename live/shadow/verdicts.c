/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/verdicts.c
 *
 * Gives pairs of answers to the log, in the order of the reference's replies, when all calls that
 * were under way on the reference at the same time have ended: then it is known what overlapped.
 * Nothing waits longer for them than PATIENCE.
 */
#include "shadow/shadow_parts.h"

#define PATIENCE INT64_C(1000000000) /* ns */

/* True if no call can still turn out to have been under way with |r|. */
static bool is_settled(const struct shadow *s, const struct request *r)
{
    return !s->called.first || s->called.first->begin >= r->end || s->is_ending ||
           loop_now(s->loop) - r->ended >= PATIENCE;
}

/* |r| is about to be dropped.  A call that was under way with it, and still is, will not meet it.
 */
static void forget(struct shadow *s, const struct request *r)
{
    if (s->called.first && s->called.first->begin < r->end && r->end > s->forgotten)
        s->forgotten = r->end;
}

/* An object that was not the same before the request says nothing about the SUT. */
static bool is_stale(const struct shadow *s, const struct request *r)
{
    for (uint32_t i = 0; i < TEE_OBJECTS; i++)
        if (r->known[i]) {
            const struct known *k = known_of(s, r->objects[i]);

            if (k->epoch > r->epochs[i] + 1 || (k->epoch != r->epochs[i] && k->broken < r->end))
                return true;
        }
    return false;
}

/* What one server has changed and the other has not differs now, whatever the rules say. */
static bool is_one_sided(const struct request *r)
{
    return r->has_sut_reply && r->sut_succeeded != r->effect.succeeded &&
           (effect_changes_names(&r->effect) || r->effect.object_role & ROLE_MODIFIES);
}

/* The servers differ now in what the request is about. */
static int take_difference(struct shadow *s, struct request *r, struct err *err)
{
    for (uint32_t i = 0; i < TEE_OBJECTS; i++) {
        struct mirror_object *object = r->known[i] ? mirror_at(s->mirror, r->objects[i]) : NULL;

        if (!object)
            continue;
        s->counts.diverged += object->state == MIRROR_SYNCHRONIZED;
        if (dispatch_again(s, object, r->end, err) < 0)
            return -err->code;
    }
    return 0;
}

/* The SUT may have names of a file, in directories that are not synchronized yet, that the
 * reference has not, or the other way around; and the copy has a directory of its own in the root
 * for a while.  So the attributes are not the same. */
static bool has_other_names(const struct shadow *s, const struct request *r, uint32_t id)
{
    const struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;

    return object && s->unsettled >= r->sut_called &&
           (known_of(s, id)->was_linked || object->is_root);
}

/* A file whose last name was removed on one server, while it has another one on the other server in
 * a directory that is not synchronized yet. */
static bool has_lost_names(const struct shadow *s, const struct request *r)
{
    const struct mirror_object *object =
        r->effect.object ? mirror_at(s->mirror, r->effect.object) : NULL;

    return (r->sut_status == NFS3ERR_STALE) != (r->effect.status == NFS3ERR_STALE) && object &&
           (!object->names || has_other_names(s, r, object->id)) && !object->is_root;
}

/* The outcome may depend on what the name stands for, which may not be synchronized yet: its owner,
 * its type. */
static bool depends_on_named(const struct shadow *s, const struct request *r)
{
    return r->has_sut_reply && r->sut_status != r->effect.status && s->unsettled >= r->sut_called &&
           (r->effect.name.data || r->effect.name2.data);
}

/* From when on the answer that is judged speaks: a listing, from its first part on. */
static void begin_of(const struct shadow *s, const struct request *r, uint64_t *begin,
                     int64_t *called)
{
    struct known *k = known_of(s, r->effect.object);
    bool is_list = effect_action(&r->effect) == ACTION_LIST;

    if (!is_list || !r->effect.asked.cookie) {
        *begin = r->begin;
        *called = r->sut_called;
    }
    if (is_list && !r->effect.asked.cookie) {
        k->list_begin = *begin;
        k->list_called = *called;
    } else if (is_list) {
        *begin = k->list_begin;
        *called = k->list_called;
    }
}

bool verdicts_steady(const struct shadow *s, uint32_t object)
{
    const struct request *r = s->judged;
    const struct known *k;
    uint64_t begin;
    int64_t called;

    if (object >= s->known_cap)
        return false;
    k = known_of(s, object);
    begin_of(s, r, &begin, &called);
    if (k->is_held || k->played > called || has_other_names(s, r, object))
        return false;
    if (k->changed > begin || k->sut_changed > called)
        return false;
    for (const struct touch *t = k->first; t; t = t->next) {
        const struct request *x = t->request;

        if (x == r || !touch_changes(t))
            continue;
        if (x->begin < r->end || x->stage == STAGE_SENT ||
            (x->stage == STAGE_ANSWERED && x->sut_called < r->sut_arrived))
            return false;
    }
    return true;
}

static struct bytes bytes_of(const struct buf *b)
{
    return (struct bytes){ b->data, (uint32_t)b->len };
}

static int judge(struct shadow *s, struct request *r, struct err *err)
{
    const struct effect *e = &r->effect;
    struct mirror_object *made =
        e->succeeded && e->new_object ? mirror_at(s->mirror, e->new_object) : NULL;
    struct tee_verdict verdict = { .what = TEE_AGREES };
    struct tee_pair pair = { .reference = r->operation,
                             .contents = e->contents.len ? e->contents : notes_contents(r),
                             .overlap = r->overlap,
                             .sut = { .own = &s->sut_own,
                                      .server = &s->setup.sut.nfs,
                                      .call = bytes_of(&r->sut_call),
                                      .called = r->sut_called,
                                      .arrived = r->sut_arrived } };

    if (r->has_sut_reply)
        pair.sut.reply = bytes_of(&r->sut_reply);
    for (uint32_t i = 0; i < TEE_OBJECTS; i++) {
        pair.object[i] = r->objects[i];
        pair.known[i] = r->known[i] && !has_other_names(s, r, r->objects[i]);
        pair.read_by_copy |= r->objects[i] && known_of(s, r->objects[i])->read_by_copy;
    }
    s->judged = r;
    if (e->object)
        verdicts_steady(s, e->object); /* notes where a listing begins */
    if (teelog_pair(s->log, &pair, &verdict, err) < 0)
        return -err->code;
    if ((verdict.state_differs || is_one_sided(r)) && take_difference(s, r, err) < 0)
        return -err->code;
    /* what the SUT gave no handle for cannot be followed */
    return made && !made->sut_handle_len ? dispatch_again(s, made, r->end, err) : 0;
}

static int finish(struct shadow *s, struct request *r, struct err *err)
{
    bool is_judged = r->fate == FATE_COMPARED || r->fate == FATE_UNANSWERED;
    int result;

    if (r->fate == FATE_COMPARED && is_stale(s, r)) {
        r->fate = r->overlap & (CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME)
                      ? FATE_OVERLAPPING
                      : FATE_NOT_SYNCHRONIZED;
        is_judged = false;
    }
    if (is_judged && (has_lost_names(s, r) || depends_on_named(s, r))) {
        r->fate = FATE_NOT_SYNCHRONIZED;
        is_judged = false;
        if (take_difference(s, r, err) < 0)
            return -err->code;
    }
    /* one of its objects left, but others are the same for all that anybody else knows */
    if (!is_judged && is_one_sided(r) && take_difference(s, r, err) < 0)
        return -err->code;
    forget(s, r);
    requests_take_out(&s->pending, r);
    if (is_judged && judge(s, r, err) < 0) {
        requests_free(s, r);
        return -err->code;
    }
    result = dispatch_made(s, r, err);
    requests_drop(s, r);
    return result;
}

static int run(struct shadow *s, struct err *err)
{
    struct request *r;

    send_note_unsettled(s);
    while ((r = s->pending.first) && r->stage == STAGE_ANSWERED && is_settled(s, r) &&
           !s->is_checking)
        if (finish(s, r, err) < 0)
            return -err->code;
    while ((r = s->recent.first) && is_settled(s, r)) {
        forget(s, r);
        requests_take_out(&s->recent, r);
        requests_drop(s, r);
    }
    return 0;
}

int verdicts_look(void *ctx, struct err *err)
{
    struct shadow *s = ctx;

    if (run(s, err) < 0)
        return -err->code;
    while (s->gone_count)
        learn_forget(s, s->gone[--s->gone_count]);
    return loop_set(s->loop, &s->look, loop_now(s->loop) + PATIENCE / 4, err);
}

int verdicts_run(void *ctx, struct err *err)
{
    return run(ctx, err);
}

int verdicts_all(struct shadow *s, struct err *err)
{
    struct request *r;

    s->is_ending = true;
    for (r = s->pending.first; r; r = r->next)
        if (r->stage != STAGE_ANSWERED) {
            r->stage = STAGE_ANSWERED;
            r->fate = FATE_SUT_SLOW;
        }
    s->is_checking = false;
    return run(s, err);
}
