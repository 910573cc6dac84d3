/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/scrub.c
 *
 * Which object is compared next, when there is time for it, and what becomes of the comparison.
 * The contract is in scrub.h.
 */
#include "shadow/paths.h"
#include "shadow/scrub.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define QUIET (SECOND / 10) /* so long no client has asked for anything */
#define STUCK (2 * SECOND)  /* a call without a reply does not count after this time */
#define BURST (SECOND / 10) /* what the rate allows at once */
#define PATIENCE (10 * SECOND)
#define LOOK (SECOND / 20)
#define OBJECTS_EACH 4096 /* looked at in a round */

void scrub_pay(struct scrub *scrub, int64_t now, uint64_t bytes)
{
    if (scrub->next < now - BURST)
        scrub->next = now - BURST;
    if (scrub->rate)
        scrub->next += (int64_t)((double)bytes / (double)scrub->rate * (double)SECOND);
}

/* --- is it the same, is there time? */

static bool is_idle(const struct shadow *s)
{
    const struct copy_counts c = copy_counts(s->copy);
    int64_t since = loop_now(s->loop) - s->client_seen;

    return since >= QUIET && (!s->called.first || since >= STUCK) && !s->pending.first &&
           !s->is_down && !s->is_given_up && !s->is_checking && !s->is_ending && !c.at_work &&
           !c.has_scratch && !mirror_count_state(s->mirror, MIRROR_QUEUED);
}

/* Nobody has it in hand, and it is the same on both servers, for all that is known. */
static bool is_steady(const struct shadow *s, uint32_t id)
{
    const struct mirror_object *object = mirror_at(s->mirror, id);
    const struct known *k = known_of(s, id);

    return object && object->state == MIRROR_SYNCHRONIZED && object->sut_handle_len &&
           !k->is_held && !touches_of(s, id);
}

/* It was steady from the question to the answers. */
static bool was_steady(const struct scrub_lane *lane)
{
    const struct shadow *s = lane->shadow;
    const struct known *k = known_of(s, lane->object);
    bool depends_on_names = k->was_linked;

    if (!is_steady(s, lane->object))
        return false;
    depends_on_names |= mirror_at(s->mirror, lane->object)->is_root;
    return k->epoch == lane->epoch && rare_of(s, lane->object)->changed <= lane->begin &&
           known_played(k) <= lane->started && !(depends_on_names && s->unsettled >= lane->started);
}

/* --- lanes */

/* Reading can change the access times, on either server. */
static void tell_reads(const struct scrub_lane *lane)
{
    const struct shadow *s = lane->shadow;
    const int64_t now = loop_now(s->loop) + send_wall_clock_ahead();
    const int64_t until[SIDES] = { now, now };

    teelog_accessed(s->log, lane->object, until);
}

static void leave(struct scrub_lane *lane)
{
    tell_reads(lane);
    scrub_clear_parts(lane);
    lane->object = 0;
    loop_idle(lane->shadow->loop, &lane->shadow->scrub->idle);
}

static void begin(struct scrub_lane *lane, uint32_t id)
{
    struct shadow *s = lane->shadow;
    struct known *k = known_of(s, id);

    lane->object = id;
    lane->epoch = k->epoch;
    lane->procedure = 0;
    lane->begin = s->position;
    lane->started = loop_now(s->loop) + send_wall_clock_ahead();
    lane->offset = 0;
    lane->calls = 0;
    lane->wants_operation = lane->is_lost = false;
    lane->is_ready = true;
    tell_reads(lane);
    for (int i = 0; i < SIDES; i++)
        lane->sides[i] = (struct scrub_side){ .lane = lane };
}

/* --- what both have answered */

static struct bytes bytes_of(const struct buf *b)
{
    return (struct bytes){ b->data, (uint32_t)b->len };
}

static int judge_part(struct scrub_lane *lane, const struct scrub_part *part, uint64_t listing,
                      struct tee_verdict *verdict, struct err *err)
{
    struct shadow *s = lane->shadow;
    const struct tee_pair pair = { .reference = part->operation,
                                   .contents = bytes_of(&part->contents),
                                   .sut = { .own = &s->copy_sut_own,
                                            .server = &s->setup.sut.nfs,
                                            .call = bytes_of(&part->call),
                                            .reply = bytes_of(&part->reply),
                                            .called = part->called,
                                            .arrived = part->arrived },
                                   .object = { [TEE_OBJECT] = lane->object },
                                   .known = { [TEE_OBJECT] = !paths_hide_links(s, lane->object) },
                                   .scrubs = true,
                                   .listing = listing,
                                   .listing_ends = part == &lane->parts[lane->count - 1] };

    s->judged = NULL;
    return teelog_pair(s->log, &pair, verdict, err);
}

static int judge(struct scrub_lane *lane, struct tee_verdict *verdict, struct err *err)
{
    struct scrub *scrub = lane->shadow->scrub;
    bool has_parts = lane->count > 1;
    uint64_t listing = has_parts ? ++scrub->listings : 0;

    for (uint32_t i = 0; i < lane->count; i++)
        if (judge_part(lane, &lane->parts[i], listing, verdict, err) < 0)
            return -err->code;
    return 0;
}

/* They differ, although nobody has changed them through the relay. */
static int take_difference(struct scrub_lane *lane, struct err *err)
{
    struct shadow *s = lane->shadow;
    struct known_rare *rare = known_rare_get(s, lane->object, err);

    if (!rare)
        return -err->code;
    s->counts.scrub.differ++;
    if (rare->scrub_found && rare->changed <= rare->scrub_found) {
        s->counts.scrub.incurable++;
        rare->scrub_left = true;
        return 0;
    }
    rare->scrub_found = s->position;
    return dispatch_again(s, mirror_at(s->mirror, lane->object), s->position, err);
}

/* All of the object, or a piece of a file, was answered. */
static int conclude(struct scrub_lane *lane, struct err *err)
{
    struct shadow *s = lane->shadow;
    const struct scrub_side *reference = &lane->sides[REF];
    bool has_ended = lane->parts[0].contents.len == 0 || reference->has_ended;
    struct tee_verdict verdict = { .what = TEE_AGREES };

    if (reference->status) {
        bool is_gone = reference->status == NFS3ERR_STALE;
        int result =
            is_gone ? learn_behind(s, mirror_at(s->mirror, lane->object), lane->begin, err) : 0;

        leave(lane);
        return result;
    }
    if (judge(lane, &verdict, err) < 0)
        return -err->code;
    scrub_clear_parts(lane);
    if (verdict.what != TEE_DIFFERS && !has_ended) {
        lane->is_ready = true;
        loop_idle(s->loop, &s->scrub->idle);
        return 0;
    }
    s->counts.scrub.objects++;
    if (verdict.what == TEE_DIFFERS && take_difference(lane, err) < 0)
        return -err->code;
    leave(lane);
    return 0;
}

int scrub_settle(struct scrub_lane *lane, struct err *err)
{
    struct shadow *s = lane->shadow;
    bool is_list = lane->sides[REF].cookie || lane->sides[SUT].cookie;

    if (lane->calls || (lane->wants_operation && !lane->is_lost))
        return 0;
    s->counts.scrub.unanswered += lane->is_lost;
    if (!lane->is_lost && !was_steady(lane)) {
        s->counts.scrub.disturbed++;
        lane->is_lost = true;
    }
    if (!lane->is_lost && is_list && lane->bytes > SCRUB_LISTING) {
        s->counts.scrub.too_long++;
        lane->is_lost = true;
    }
    if (lane->is_lost) {
        leave(lane);
        return 0;
    }
    if (is_list && !lane->sides[REF].status && !lane->sides[SUT].status &&
        !(lane->sides[REF].has_ended && lane->sides[SUT].has_ended)) {
        lane->is_ready = true;
        loop_idle(s->loop, &s->scrub->idle);
        return 0;
    }
    return conclude(lane, err);
}

int scrub_replied(struct shadow *s, const struct record_operation *op, struct err *err)
{
    for (int i = 0; s->scrub && i < SCRUB_LANES; i++) {
        struct scrub_lane *lane = &s->scrub->lanes[i];

        if (!lane->object || !lane->wants_operation || lane->sides[REF].call.xid != op->xid)
            continue;
        lane->parts[lane->count - 1].operation = tee_operation_keep(op);
        if (!lane->parts[lane->count - 1].operation)
            return err_memory(err, "scrubbing");
        lane->wants_operation = false;
        return scrub_settle(lane, err);
    }
    return 0;
}

/* --- the next one */

/* The next object that can be compared; 0: there is none left in this round or pass. */
static uint32_t next_object(struct shadow *s)
{
    struct scrub *scrub = s->scrub;
    int64_t now = loop_now(s->loop);

    if (!scrub->pass_began) {
        scrub->pass_began = now;
        scrub->cursor = 0;
    }
    for (uint32_t i = 0; i < OBJECTS_EACH && scrub->cursor + 1 < s->known_end; i++) {
        const struct known_rare *rare = rare_of(s, ++scrub->cursor);

        if (known_of(s, scrub->cursor)->is_there &&
            (!rare->scrub_left || rare->changed > rare->scrub_found) && is_steady(s, scrub->cursor))
            return scrub->cursor;
    }
    if (scrub->cursor + 1 >= s->known_end && now - scrub->pass_began >= SECOND) {
        s->counts.scrub.passes++;
        scrub->pass_began = 0;
    }
    return 0;
}

/* Returns 1 if the lane has nothing to do. */
static int go_on(struct scrub_lane *lane, struct err *err)
{
    struct shadow *s = lane->shadow;
    uint32_t id;

    if (!lane->object && (id = next_object(s)))
        begin(lane, id);
    if (!lane->object)
        return 1;
    if (!was_steady(lane)) {
        s->counts.scrub.disturbed++;
        leave(lane);
        return 0;
    }
    scrub_pay(s->scrub, loop_now(s->loop), SCRUB_CALL_COST);
    return scrub_ask(lane, err);
}

/* Questions whose answers the ring did not show. */
static void give_up(struct shadow *s)
{
    for (int i = 0; i < SCRUB_LANES; i++) {
        struct scrub_lane *lane = &s->scrub->lanes[i];

        if (lane->object && !lane->is_ready && !lane->calls &&
            loop_now(s->loop) - lane->asked > PATIENCE) {
            s->counts.scrub.unanswered++;
            leave(lane);
        }
    }
}

static int run(void *ctx, struct err *err)
{
    struct shadow *s = ctx;
    struct scrub *scrub = s->scrub;
    int64_t now = loop_now(s->loop), at = now + LOOK;
    int result = 0;

    give_up(s);
    for (int i = 0; i < SCRUB_LANES && result >= 0 && is_idle(s) && now >= scrub->next; i++)
        if (!scrub->lanes[i].object || scrub->lanes[i].is_ready)
            result = go_on(&scrub->lanes[i], err);
    if (scrub->next > now && scrub->next < at)
        at = scrub->next;
    return result < 0 ? result : loop_set(s->loop, &scrub->timer, at, err);
}

/* --- owners */

int scrub_begin(struct shadow *s, struct err *err)
{
    if (!s->setup.scrubs)
        return 0;
    s->scrub = calloc(1, sizeof(*s->scrub));
    if (!s->scrub)
        return err_memory(err, "scrubbing");
    s->scrub->rate = s->setup.scrub_bytes;
    s->scrub->idle = (struct idle){ .run = run, .ctx = s };
    s->scrub->timer = (struct timer){ .due = run, .ctx = s };
    for (int i = 0; i < SCRUB_LANES; i++)
        s->scrub->lanes[i].shadow = s;
    return loop_set(s->loop, &s->scrub->timer, loop_clock() + LOOK, err);
}

void scrub_free(struct shadow *s)
{
    if (!s->scrub)
        return;
    loop_unset(s->loop, &s->scrub->timer);
    loop_unidle(s->loop, &s->scrub->idle);
    for (int i = 0; i < SCRUB_LANES; i++) {
        scrub_clear_parts(&s->scrub->lanes[i]);
        free(s->scrub->lanes[i].parts);
    }
    free(s->scrub);
}
