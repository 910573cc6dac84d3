/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/verdicts.c
 *
 * Gives pairs of answers to the log, in the order of the reference's replies, when all calls that
 * were under way on the reference at the same time have ended: then it is known what overlapped.
 * Nothing waits longer for them than PATIENCE: what is still under way then counts as overlapping.
 */
#include "shadow/paths.h"
#include "shadow/shadow_parts.h"

#include <stdlib.h>

#define PATIENCE INT64_C(1000000000)        /* ns */
#define DIFFERED_AGAIN INT64_C(60000000000) /* ns */

/* True if no call can still turn out to have been under way with |r|. */
static bool is_settled(const struct shadow *s, const struct request *r)
{
    const int64_t held = s->ring ? tap_ring_held(s->ring) : 0; /* replies may be in the ring */
    const struct request *first = request_at(s, s->called.first);

    return !first || first->begin >= r->end || s->is_ending ||
           loop_now(s->loop) - (rest_of(r)->ended > held ? rest_of(r)->ended : held) >= PATIENCE;
}

/* |r| is about to be dropped.  A call that was under way with it, and still is, will not meet it.
 */
static void forget(struct shadow *s, const struct request *r)
{
    const struct request *first = request_at(s, s->called.first);

    if (first && first->begin < r->end && r->end > s->forgotten)
        s->forgotten = r->end;
}

/* When the SUT gave its last answer. */
static int64_t end_on_sut(const struct request *r)
{
    const struct exchange *sut = sut_of(r);

    return sut->more && sut->more->last ? sut->more->last->arrived : sut->arrived;
}

/* An object that was not the same before the request says nothing about the SUT. */
static bool is_stale(const struct shadow *s, const struct request *r)
{
    for (uint32_t i = 0; i < TEE_OBJECTS; i++)
        if (rest_of(r)->known[i]) {
            const uint32_t object = rest_of(r)->objects[i];
            const struct known *k = known_of(s, object);

            if (((k->epoch - rest_of(r)->epochs[i]) & KNOWN_EPOCHS) > 1)
                return true;
            if (k->epoch != rest_of(r)->epochs[i] &&
                (rare_of(s, object)->broken < r->end || rare_of(s, object)->left <= end_on_sut(r)))
                return true;
        }
    return false;
}

/* What one server has changed and the other has not differs now, whatever the rules say. */
static bool is_one_sided(const struct request *r)
{
    const struct exchange *sut = sut_of(r);

    return sut->has_reply && sut->succeeded != effect_of(r)->succeeded &&
           (r->changes_names || effect_of(r)->object_role & ROLE_MODIFIES);
}

/* The servers differ now in what the request is about. */
static int take_difference(struct shadow *s, struct request *r, struct err *err)
{
    for (uint32_t i = 0; i < TEE_OBJECTS; i++) {
        struct mirror_object *object =
            rest_of(r)->known[i] ? mirror_at(s->mirror, rest_of(r)->objects[i]) : NULL;

        if (!object)
            continue;
        s->counts.diverged += object->state == MIRROR_SYNCHRONIZED;
        if (dispatch_again(s, object, r->end, err) < 0)
            return -err->code;
    }
    return 0;
}

/* The SUT may have names of a file, in directories that are not synchronized, or not yet, that the
 * reference has not, or the other way around; and the copy has a directory of its own in the root
 * for a while.  So the attributes are not the same. */
static bool has_other_names(const struct shadow *s, const struct request *r, uint32_t id)
{
    const struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;

    return object && ((s->unsettled >= sut_of(r)->called &&
                       (known_of(s, id)->was_linked || object->is_root)) ||
                      paths_hide_links(s, id));
}

/* What lost its last name on one server only: it has another one on the other server, in a
 * directory that is not synchronized, or not yet, or requests for one name came in another
 * order. */
static bool has_lost_names(const struct shadow *s, const struct request *r)
{
    const struct mirror_object *object = rest_of(r)->objects[TEE_OBJECT]
                                             ? mirror_at(s->mirror, rest_of(r)->objects[TEE_OBJECT])
                                             : NULL;
    const struct exchange *sut = sut_of(r);

    return (sut->status == NFS3ERR_STALE) != (effect_of(r)->status == NFS3ERR_STALE) && object &&
           (!object->names || s->unsettled >= sut->called || paths_hide_links(s, object->id)) &&
           !object->is_root;
}

/* What a name stands for was not the same: a directory that goes may not be empty on the SUT. */
static bool names_another(const struct shadow *s, const struct request *r)
{
    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further))
        if (t->flags & TOUCH_NAMED && (!t->was_same || t->epoch != known_of(s, t->object)->epoch))
            return true;
    return rest_of(r)->took_unknown;
}

/* The outcome may depend on what the name stands for, which may not be synchronized yet: its owner,
 * its type. */
static bool depends_on_named(const struct shadow *s, const struct request *r)
{
    const struct effect *e = effect_of(r);
    const struct exchange *sut = sut_of(r);

    return sut->has_reply && sut->status != e->status &&
           (names_another(s, r) ||
            (s->unsettled >= sut->called && (e->name.data || e->name2.data)));
}

/* From when on the answer that is judged speaks: a listing, from its first part on. */
static struct list_begin begin_of(const struct request *r)
{
    const struct exchange *sut = sut_of(r);

    return r->goes_on ? sut->list : (struct list_begin){ r->begin, sut->called };
}

bool verdicts_steady(const struct shadow *s, uint32_t object)
{
    const struct request *r = s->judged;
    const struct known *k;
    struct list_begin from = begin_of(r);

    if (object >= s->known_end)
        return false;
    k = known_of(s, object);
    if (k->is_held || known_played(k) > from.called || has_other_names(s, r, object))
        return false;
    if (k->copied > from.begin) /* the SUT has later changes from the copy */
        return false;
    if (rare_of(s, object)->changed > from.begin || rare_of(s, object)->sut_changed > from.called)
        return false;
    for (const struct touch *t = touches_of(s, object); t; t = touch_at(s, t->next)) {
        const struct request *x = request_of(s, t);

        if (x == r || !touch_may_change(t))
            continue;
        if (x->begin < r->end || x->stage == STAGE_SENT ||
            (x->stage == STAGE_ANSWERED && sut_of(x)->called < end_on_sut(r)))
            return false;
    }
    return true;
}

bool verdicts_placed(const struct shadow *s, const struct mirror_object *object)
{
    const struct request *r = s->judged;

    return r->action != ACTION_LIST || s->unsettled < begin_of(r).called ||
           object->parent == rest_of(r)->objects[TEE_OBJECT] ||
           object->id == rest_of(r)->objects[TEE_OBJECT];
}

/* It was copied again since the request: what the answers say of it is older. */
static bool is_made_anew(const struct shadow *s, const struct request *r, uint32_t which)
{
    const struct mirror_object *object = mirror_at(s->mirror, rest_of(r)->objects[which]);

    return object && object->state == MIRROR_SYNCHRONIZED &&
           known_of(s, object->id)->epoch != rest_of(r)->epochs[which];
}

static struct bytes bytes_of(const struct buf *b)
{
    return (struct bytes){ b->data, (uint32_t)b->len };
}

/* NULL: there are none, or no memory. */
static struct tee_sut *further_parts(const struct request *r, const struct tee_sut *sut)
{
    const struct list_more *more = sut_of(r)->more;
    const struct list_part *part = more ? more->first : NULL;
    struct tee_sut *all = part ? calloc(more->count, sizeof(*all)) : NULL;

    for (uint32_t i = 0; all && part; i++, part = part->next) {
        all[i] = *sut;
        all[i].call = bytes_of(&part->call);
        all[i].reply = bytes_of(&part->reply);
        all[i].called = part->called;
        all[i].arrived = part->arrived;
    }
    return all;
}

/* Others read the object while the request was under way; they are judged later. */
static void tell_readers(struct shadow *s, const struct request *r, uint32_t object)
{
    for (const struct touch *t = object ? touches_of(s, object) : NULL; t;
         t = touch_at(s, t->next)) {
        const struct request *x = request_of(s, t);

        if (x != r && request_reads(x) && x->begin < r->end)
            teelog_accessed(s->log, object,
                            (const int64_t[SIDES]){ effect_of(x)->done_time, sut_of(x)->arrived });
    }
}

/* An object is not the same, though no request that is judged says why: it is copied again, and not
 * reported until then.  A server may not keep what is copied, so not too often. */
static int take_attributes(struct shadow *s, const struct request *r, uint32_t id, struct err *err)
{
    struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;
    struct known_rare *rare;
    int64_t now = loop_now(s->loop);

    if (!object || object->state != MIRROR_SYNCHRONIZED)
        return 0;
    rare = known_rare_get(s, id, err);
    if (!rare)
        return -err->code;
    if (rare->differed && now < rare->differed)
        return 0;
    rare->differed = now + DIFFERED_AGAIN;
    s->counts.diverged++;
    return dispatch_again(s, object, r->end, err);
}

static int judge(struct shadow *s, struct request *r, struct err *err)
{
    const struct effect *e = effect_of(r);
    const struct exchange *sut = sut_of(r);
    struct mirror_object *made =
        e->succeeded && e->new_object ? mirror_at(s->mirror, e->new_object) : NULL;
    struct record_operation operation;
    struct tee_verdict verdict = { .what = TEE_AGREES };
    struct tee_sut *further;
    int result;
    struct tee_pair pair = { .reference = reading_operation(r, &operation) ? &operation : NULL,
                             .contents = e->contents.len ? e->contents : notes_contents(r),
                             .overlap = r->overlap,
                             .names_left = rest_of(r)->names_left,
                             .changing = bytes_of(&sut->changing),
                             .made = r->has_made,
                             .sut = { .own = &s->sut_own,
                                      .server = &s->setup.sut.nfs,
                                      .call = bytes_of(&sut->call),
                                      .called = sut->called,
                                      .arrived = sut->arrived } };

    if (sut->has_reply)
        pair.sut.reply = bytes_of(&sut->reply);
    for (uint32_t i = 0; i < TEE_OBJECTS; i++) {
        pair.object[i] = rest_of(r)->objects[i];
        pair.known[i] = rest_of(r)->known[i] && !has_other_names(s, r, rest_of(r)->objects[i]) &&
                        !is_made_anew(s, r, i);
        tell_readers(s, r, rest_of(r)->objects[i]);
    }
    s->judged = r;
    teelog_unsettled(s->log, s->unsettled);
    further = further_parts(r, &pair.sut);
    pair.further = further;
    pair.further_count = further ? sut->more->count : 0;
    result = teelog_pair(s->log, &pair, &verdict, err);
    free(further);
    if (result < 0)
        return result;
    if ((verdict.state_differs || is_one_sided(r)) && take_difference(s, r, err) < 0)
        return -err->code;
    if (take_attributes(s, r, verdict.differs, err) < 0)
        return -err->code;
    /* what the SUT gave no handle for cannot be followed */
    return made && !made->sut_handle_len ? dispatch_again(s, made, r->end, err) : 0;
}

/* What no pair has told the log: RENAME changes what it moves, REMOVE other names' file. */
static void tell_changes(struct shadow *s, const struct request *r)
{
    const struct effect *e = effect_of(r);
    const struct exchange *sut = sut_of(r);
    const int64_t times[SIDES][2] = {
        [REF] = { e->call_time, e->done_time }, [SUT] = { sut->called, sut->arrived }
    };

    if (!e->succeeded || !sut->succeeded)
        return;
    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further))
        if (touch_changes(t) && !t->bit)
            teelog_changed(s->log, t->object, times);
}

/* Of a request that is not judged. */
static void tell_reads(struct shadow *s, const struct request *r)
{
    const int64_t now = loop_now(s->loop) + send_wall_clock_ahead();
    const int64_t until[SIDES] = { now, sut_of(r)->called ? now : 0 };

    if (request_reads(r))
        teelog_accessed(s->log, rest_of(r)->objects[TEE_OBJECT], until);
}

/* Of a request that is not judged. */
static int tell_names(struct shadow *s, const struct request *r, struct err *err)
{
    const struct exchange *sut = sut_of(r);

    return r->changes_names && sut->has_reply && (effect_of(r)->succeeded || sut->succeeded)
               ? teelog_names(s->log, rest_of(r)->objects, effect_of(r), err)
               : 0;
}

/* What |r| made counted as the same on both sides, as it was nowhere before; nobody looked. */
static int check_made(struct shadow *s, const struct request *r, struct err *err)
{
    struct mirror_object *made = r->has_made && rest_of(r)->objects[TEE_NEW]
                                     ? mirror_at(s->mirror, rest_of(r)->objects[TEE_NEW])
                                     : NULL;

    return made && made->state == MIRROR_SYNCHRONIZED ? dispatch_again(s, made, r->end, err) : 0;
}

static int finish(struct shadow *s, struct request *r, struct err *err)
{
    bool is_judged = rest_of(r)->fate == FATE_COMPARED || rest_of(r)->fate == FATE_UNANSWERED;
    int result;

    if (rest_of(r)->fate == FATE_COMPARED && is_stale(s, r)) {
        rest_of(r)->fate = r->overlap & (CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME)
                               ? FATE_OVERLAPPING
                               : FATE_NOT_SYNCHRONIZED;
        is_judged = false;
    }
    if (is_judged && (has_lost_names(s, r) || depends_on_named(s, r))) {
        rest_of(r)->fate = FATE_NOT_SYNCHRONIZED;
        is_judged = false;
        if (take_difference(s, r, err) < 0)
            return -err->code;
    }
    /* one of its objects left, but others are the same for all that anybody else knows */
    if (!is_judged && is_one_sided(r) && take_difference(s, r, err) < 0)
        return -err->code;
    if (is_judged && touches_meet_called(s, r, err) < 0)
        return -err->code;
    forget(s, r);
    requests_take_first(s, &s->pending);
    if (is_judged && judge(s, r, err) < 0) {
        requests_free(s, r);
        return -err->code;
    }
    if (is_judged)
        tell_changes(s, r);
    else
        tell_reads(s, r);
    result = is_judged ? 0 : tell_names(s, r, err);
    if (result == 0 && !is_judged)
        result = check_made(s, r, err);
    if (result == 0)
        result = dispatch_made(s, r, err);
    if (result == 0)
        result = open_times_tell(s, r, err);
    requests_drop(s, r);
    return result;
}

static int run(struct shadow *s, struct err *err)
{
    struct request *r;

    if (s->packing.failed)
        return err_memory(err, "requests");
    send_note_unsettled(s);
    while ((r = request_at(s, s->pending.first)) && r->stage == STAGE_ANSWERED &&
           is_settled(s, r) && !s->is_checking)
        if (finish(s, r, err) < 0)
            return -err->code;
    while ((r = request_at(s, s->recent.first)) && is_settled(s, r)) {
        forget(s, r);
        requests_take_first(s, &s->recent);
        tell_reads(s, r);
        if (open_times_tell(s, r, err) < 0) {
            requests_free(s, r);
            return -err->code;
        }
        requests_drop(s, r);
    }
    return 0;
}

int verdicts_look(void *ctx, struct err *err)
{
    struct shadow *s = ctx;

    if (gaps_end_calls(s, err) < 0 || run(s, err) < 0 || open_times_look(s, err) < 0 ||
        paths_look(s, err) < 0)
        return -err->code;
    learn_forget_gone(s);
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
    for (r = request_at(s, s->pending.first); r; r = request_at(s, r->next))
        if (r->stage != STAGE_ANSWERED || r->is_unlearnt) {
            s->counts.in_flight -= r->stage == STAGE_SENT || r->stage == STAGE_ASKING;
            s->counts.waiting -= r->stage != STAGE_ANSWERED;
            r->stage = STAGE_ANSWERED;
            rest_of(r)->fate = FATE_SUT_SLOW;
        }
    s->is_checking = false;
    return run(s, err);
}
