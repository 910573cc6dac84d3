/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/send.c
 *
 * Requests on their way to the SUT: each waits for those before it that it must not overtake, and
 * for objects whose changes are still being played; at most |in_flight| are there at once.  A SUT
 * that is slow or gone costs comparisons: nothing waits for it without bounds.
 */
#include "shadow/shadow_parts.h"
#include "wire/nfs3_structs.h"

#include <stdlib.h>
#include <time.h>

int64_t send_wall_clock_ahead(void)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    return (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - loop_clock();
}

void send_note_unsettled(struct shadow *s)
{
    if (!shadow_has_copied_all(s) || copy_counts(s->copy).has_scratch)
        s->unsettled = loop_now(s->loop) + send_wall_clock_ahead();
}

enum { GUARDS_MAX = 16 };

static void make_ready(struct shadow *s, struct request *r)
{
    r->ready = 0;
    *(s->last_ready ? &request_at(s, s->last_ready)->ready : &s->ready) = r->id;
    s->last_ready = r->id;
    loop_idle(s->loop, &s->send);
}

void send_release(struct shadow *s, struct request *r)
{
    if (!--r->waits && r->stage == STAGE_WAITING)
        make_ready(s, r);
}

/* --- in and out */

/* What changes an object has to be copied if it is left out, so the last quarter is for such
 * requests. */
static bool has_room(const struct shadow *s, const struct request *r)
{
    uint64_t most = s->limits.queue, bytes = s->limits.queue_bytes;
    bool changes = false;

    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further))
        changes |= touch_changes(t);
    if (!changes) {
        most -= most / 4;
        bytes -= bytes / 4;
    }
    return s->counts.waiting < most && s->counts.waiting_bytes + requests_bytes(r) <= bytes;
}

int send_queue(struct shadow *s, struct request *r, struct err *err)
{
    if (s->is_given_up)
        return dispatch_leave_out(s, r, FATE_SUT_GONE, err);
    if (!has_room(s, r))
        return dispatch_leave_out(s, r, FATE_SUT_SLOW, err);
    order_find(s, r);
    r->number = s->queued++;
    r->stage = STAGE_WAITING;
    requests_append(s, &s->pending, r);
    if (!s->packing.next)
        s->packing.next = r->id;
    s->counts.waiting++;
    requests_count(r);
    if (!r->waits)
        make_ready(s, r);
    packed_pack(s);
    return 0;
}

static int note_changes(struct shadow *s, const struct request *r, struct err *err)
{
    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further)) {
        struct known_rare *rare;

        if (!touch_changes(t) && !(sut_of(r)->succeeded && touch_may_change(t)))
            continue;
        rare = known_rare_get(s, t->object, err);
        if (!rare)
            return -err->code;
        rare->changed = r->end;
        rare->sut_changed = sut_of(r)->arrived;
    }
    return 0;
}

/* The SUT has answered, or never will; then |fate| says why. */
static int done(struct shadow *s, struct request *r, enum shadow_fate fate, struct err *err)
{
    if (r->stage == STAGE_SENT || r->stage == STAGE_ASKING)
        s->counts.in_flight--;
    r->stage = STAGE_ANSWERED;
    rest_of(r)->fate = (uint8_t)fate;
    s->counts.waiting--;
    requests_count(r);
    if (note_changes(s, r, err) < 0)
        return -err->code;
    order_release(s, r);
    loop_idle(s->loop, &s->judge);
    loop_idle(s->loop, &s->send);
    return fate == FATE_COMPARED ? 0 : dispatch_mend(s, r, err);
}

int send_give_up(struct shadow *s, bool anew, struct err *err)
{
    for (struct request *r = request_at(s, s->pending.first); r; r = request_at(s, r->next)) {
        if (r->stage == STAGE_WAITING && done(s, r, FATE_SUT_GONE, err) < 0)
            return -err->code;
        r->is_void |= anew;
        if (anew && r->stage == STAGE_ANSWERED) /* nobody knows by which of them */
            rest_of(r)->fate = FATE_SUT_GONE;
    }
    s->ready = s->last_ready = 0;
    return 0;
}

/* --- answers: when a call is cancelled, its request may be freed already */

static bool is_same(struct bytes a, struct bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* The SUT gave the handle of another object, which the reference still has: there the name stands
 * for that one.  (A handle may be given again when its file is gone.) */
static bool is_another(const struct shadow *s, const struct mirror_object *object,
                       struct bytes sut_handle)
{
    const struct mirror_object *other =
        sut_handle.len ? mirror_find_sut(s->mirror, sut_handle) : NULL;

    return other && other != object && other->state != MIRROR_GONE;
}

/* The SUT's name stands for something else: there, another request made it first. */
static bool is_of_other_type(const struct mirror_object *object, const struct effect *sut)
{
    struct attributes a;

    return object->type && effect_attributes(sut, OF_NEW_OBJECT, &a) && a.type != object->type;
}

static int again_with_directory(struct shadow *s, struct mirror_object *object,
                                const struct request *r, struct err *err)
{
    uint32_t directory = effect_of(r)->parent;
    struct mirror_object *parent = directory ? mirror_at(s->mirror, directory) : NULL;

    if (dispatch_again(s, object, r->end, err) < 0)
        return -err->code;
    return parent ? dispatch_again(s, parent, r->end, err) : 0;
}

/* The SUT's handle of what was found or made. */
static int take_handle(struct shadow *s, struct request *r, const struct effect *sut,
                       struct err *err)
{
    const struct effect *e = effect_of(r);
    struct mirror_object *object = e->new_object ? mirror_at(s->mirror, e->new_object) : NULL;

    if (effect_makes_name(e) && !e->succeeded && sut->succeeded && sut->new_handle.len) {
        object = mirror_find_sut(s->mirror, sut->new_handle); /* it was there, and was changed */
        return object ? dispatch_again(s, object, r->end, err) : 0;
    }
    if (!object || !e->succeeded)
        return 0;
    if (bytes_are_dots(e->name)) /* above the export, maybe; what is in it has another name */
        return 0;
    if (effect_makes_name(e) && object->sut_handle_len && sut->succeeded && sut->new_handle.len &&
        !is_same(mirror_sut_handle(s->mirror, object), sut->new_handle) && e->parent)
        /* the copy has made another name of it meanwhile: two objects on the SUT for one */
        return dispatch_again(s, mirror_at(s->mirror, e->parent), r->end, err);
    if (sut->succeeded && !object->sut_handle_len &&
        (is_another(s, object, sut->new_handle) || is_of_other_type(object, sut)))
        return again_with_directory(s, object, r, err);
    if (sut->succeeded && sut->new_handle.len && sut->new_handle.len <= MIRROR_HANDLE_MAX &&
        !object->sut_handle_len)
        return mirror_set_sut_handle(s->mirror, object, sut->new_handle, err);
    return 0;
}

static struct effect read_answer(const struct request *r, const struct rpc_answer *answer)
{
    struct effect sut = { .procedure = effect_of(r)->procedure,
                          .rpc_status = answer->header->status,
                          .status = STATUS_NONE,
                          .result_body = answer->body };

    if (answer->header->status == RPC_SUCCESS && answer->body.len >= 4)
        sut.status = load_be32(answer->body.data);
    effect_decode_reply(&sut);
    sut.result_length = answer->body.len;
    return sut;
}

/* Another call for the same request. */
static int send_again(struct shadow *s, struct request *r)
{
    r->stage = STAGE_WAITING;
    s->counts.in_flight--;
    requests_count(r);
    make_ready(s, r);
    return 0;
}

/* The guard held on the reference.  On the SUT, another request came between the question for the
 * ctime and this one; it changed nothing, so it can be sent again. */
static bool is_guard_late(struct request *r, const struct effect *sut)
{
    const struct effect *e = effect_of(r);

    if (!(e->asked.bits & ASKED_GUARD) || sut->status != NFS3ERR_NOT_SYNC ||
        e->status == NFS3ERR_NOT_SYNC || rest_of(r)->sut->guards >= GUARDS_MAX)
        return false;
    rest_of(r)->sut->has_ctime = false;
    return true;
}

static int learn_answer(struct shadow *s, struct request *r, const struct effect *answered,
                        struct err *err)
{
    struct effect sut = *answered;

    if (r->action == ACTION_LIST && listings_note(&s->listings, r, &sut, err) < 0)
        return -err->code;
    rest_of(r)->sut->succeeded = sut.succeeded;
    rest_of(r)->sut->status = sut.status;
    learn_links(s, r, &sut);
    return take_handle(s, r, &sut, err);
}

static int on_more(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct request *r = ctx;
    struct effect sut;
    int result = 0;

    if (answer->outcome == RPC_CANCELLED)
        return 0;
    if (r->is_void)
        return done(r->shadow, r, FATE_SUT_GONE, err);
    if (answer->outcome == RPC_ANSWERED && !r->shadow->is_checking) {
        sut = read_answer(r, answer);
        result = list_take(r, answer, &sut, send_wall_clock_ahead(), err);
    }
    if (result < 0)
        return result;
    return result ? send_again(r->shadow, r) : done(r->shadow, r, FATE_COMPARED, err);
}

/* Without room for more. */
static int keep(struct buf *to, struct bytes message)
{
    to->data = malloc(message.len + 1);
    if (!to->data)
        return -ERR_SYSTEM;
    if (message.len)
        memcpy(to->data, message.data, message.len);
    to->len = message.len;
    to->cap = message.len + 1;
    return 0;
}

static int on_answer(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct request *r = ctx;
    struct shadow *s;
    int64_t ahead = send_wall_clock_ahead();
    struct effect sut = { .status = STATUS_NONE };
    int more;

    if (answer->outcome == RPC_CANCELLED)
        return 0;
    s = r->shadow;
    if (r->is_void)
        return done(s, r, FATE_SUT_GONE, err);
    if (answer->outcome == RPC_ANSWERED) {
        sut = read_answer(r, answer);
        if (is_guard_late(r, &sut))
            return send_again(s, r);
    }
    if (keep(&rest_of(r)->sut->call, answer->call) < 0)
        return err_memory(err, "requests");
    rest_of(r)->sut->called = answer->called + ahead;
    send_note_unsettled(s);
    if (answer->outcome != RPC_ANSWERED) {
        if (s->is_down && !s->is_given_up) {
            s->is_given_up = true;
            if (send_give_up(s, false, err) < 0)
                return -err->code;
        }
        return done(s, r, s->is_down ? FATE_SUT_GONE : FATE_UNANSWERED, err);
    }
    rest_of(r)->sut->has_reply = true;
    rest_of(r)->sut->arrived = answer->arrived + ahead;
    latencies_add(s, r, SUT, answer->arrived - answer->called);
    if (keep(&rest_of(r)->sut->reply, answer->message) < 0)
        return err_memory(err, "requests");
    r->is_unlearnt = s->is_checking; /* perhaps another server answered it */
    if (s->is_checking)
        return done(s, r, FATE_COMPARED, err);
    if (learn_answer(s, r, &sut, err) < 0)
        return -err->code;
    more = list_more(r, &sut, err);
    if (more < 0)
        return more;
    return more ? send_again(s, r) : done(s, r, FATE_COMPARED, err);
}

int send_learn(struct shadow *s, struct request *r, struct err *err)
{
    struct bytes reply = { rest_of(r)->sut->reply.data, (uint32_t)rest_of(r)->sut->reply.len };
    struct rpc_header header;
    struct rpc_answer answer = { .header = &header };
    struct effect sut;

    r->is_unlearnt = false;
    if (rpc_parse(reply.data, reply.len, reply.len, &header) != RPC_OK)
        return 0;
    answer.body = (struct bytes){ reply.data + header.body, header.body_len };
    sut = read_answer(r, &answer);
    return learn_answer(s, r, &sut, err);
}

/* --- a guard's ctime */

/* The SUT's ctime for a guard that holds on the reference; for one that does not, a time that no
 * file has. */
static int on_ctime(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct request *r = ctx;
    struct GETATTR3res res = { .status = NFS3ERR_SERVERFAULT };
    struct exchange *sut;

    if (answer->outcome == RPC_CANCELLED)
        return 0;
    sut = rest_of(r)->sut;
    if (r->is_void)
        return done(r->shadow, r, FATE_SUT_GONE, err);
    if (answer->outcome != RPC_ANSWERED)
        return done(r->shadow, r, r->shadow->is_down ? FATE_SUT_GONE : FATE_UNANSWERED, err);
    if (answer->header->status == RPC_SUCCESS &&
        bind_read(nfs3_binding(NFSPROC3_GETATTR)->result, answer->body, &res) != WALK_OK)
        res.status = NFS3ERR_SERVERFAULT;
    sut->ctime = res.status ? (struct nfstime3){ 0 } : res.obj_attributes.ctime;
    if (effect_of(r)->status == NFS3ERR_NOT_SYNC)
        sut->ctime = (struct nfstime3){ sut->ctime.seconds == 1 ? 2 : 1, 999999999 };
    sut->has_ctime = true;
    r->stage = STAGE_WAITING;
    r->shadow->counts.in_flight--;
    make_ready(r->shadow, r);
    return 0;
}

static int ask_ctime(struct shadow *s, struct request *r, struct err *err)
{
    const struct mirror_object *object = mirror_at(s->mirror, rest_of(r)->objects[TEE_OBJECT]);
    const struct rpc_target target = { NFS3_PROGRAM, NFS3_VERSION, NFSPROC3_GETATTR,
                                       s->setup.credential };
    struct xdr_put *put = rpc_client_begin(s->sut, &target);

    if (!put)
        return RPC_CLIENT_FULL;
    xdr_put_opaque(put, object ? mirror_sut_handle(s->mirror, object) : (struct bytes){ 0 });
    r->stage = STAGE_ASKING;
    rest_of(r)->sut->guards++;
    s->counts.in_flight++;
    return rpc_client_end(s->sut, on_ctime, r, NULL, err);
}

/* --- sending */

/* Returns 0, or RPC_CLIENT_FULL. */
static int send_one(struct shadow *s, struct request *r, struct err *err)
{
    const struct reading *reading = reading_of(r);
    const struct rpc_header *h = &reading->header;
    const struct rpc_target target = { h->program, h->version, h->procedure, &h->credential };
    enum shadow_fate fate = dispatch_fate(s, r);
    struct xdr_put *put;

    if (fate != FATE_COMPARED)
        return done(s, r, fate, err);
    if (!requests_exchange(r, err))
        return -err->code;
    if (reading->effect.asked.bits & ASKED_GUARD && !rest_of(r)->sut->has_ctime)
        return ask_ctime(s, r, err);
    put = rpc_client_begin(s->sut, &target);
    if (!put)
        return RPC_CLIENT_FULL;
    fate = rewrite(s, r, put);
    if (fate != FATE_COMPARED) {
        rpc_client_abandon(s->sut);
        return done(s, r, fate, err);
    }
    r->stage = STAGE_SENT;
    s->counts.in_flight++;
    return rpc_client_end(s->sut, rest_of(r)->sut->more ? on_more : on_answer, r, NULL, err);
}

int send_run(void *ctx, struct err *err)
{
    struct shadow *s = ctx;
    int result = s->packing.failed ? err_memory(err, "requests") : 0;

    while (result == 0 && s->ready && s->counts.in_flight < s->limits.in_flight &&
           !s->is_checking && !s->is_ending) {
        struct request *r = request_at(s, s->ready);

        s->ready = r->ready;
        if (!s->ready)
            s->last_ready = 0;
        result = send_one(s, r, err);
        if (result == RPC_CLIENT_FULL) { /* |room| goes on */
            r->ready = s->ready;
            s->ready = r->id;
            if (!s->last_ready)
                s->last_ready = r->id;
            return 0;
        }
        if (result < 0)
            return result;
    }
    return 0;
}

int send_room(void *ctx, struct err *err)
{
    struct shadow *s = ctx;

    (void)err;
    loop_idle(s->loop, &s->send);
    return 0;
}
