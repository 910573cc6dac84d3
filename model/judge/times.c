/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/times.c
 *
 * Decides whether two servers' times are the same although their clocks differ.
 */
#include "judge/judge_fields.h"

#include <stdio.h>
#include <string.h>

enum { CLOSE_NS = 5000000 }; /* what a server may take for the time of a request */

int64_t times_step(struct fields *f, int side, const struct item *item)
{
    const struct place *place = item->place;
    struct judge_side *s = &f->j->side[side];
    uint64_t fsid;
    int64_t step = 0, own = step_of_time((int64_t)item->value);

    if (place->has_whose && place->stamp) {
        fsid = place->of_before ? f->j->states[fields_object(f, place)].fsid[side]
                                : f->fsid[place->whose][side]; /* beside it */
        step = steps_find(s->steps, fsid, place->of_before, (enum stamp)place->stamp);
    }
    if (!step)
        return s->granularity;
    step = step < own ? step : own;
    return step > s->granularity ? step : s->granularity;
}

/* The time that a client gave both. */
static bool is_client_time(struct fields *f, const struct item *ref, const struct item *sut)
{
    uint32_t row = fields_object(f, ref->place);
    int which = !row                               ? -1
                : ref->place->stamp == STAMP_ATIME ? 0
                : ref->place->stamp == STAMP_MTIME ? 1
                                                   : -1;
    const struct item *items[SIDES] = { ref, sut };

    if (which < 0 || !(f->j->states[row].set & 1 << which))
        return false;
    for (int side = 0; side < SIDES; side++) {
        int64_t less = f->j->states[row].times[which][side] - (int64_t)items[side]->value;
        int64_t step = times_step(f, side, items[side]);

        if (less && (less < 0 || less >= (step > 1000 ? step : 1000)))
            return false; /* some servers keep no more than microseconds */
    }
    return true;
}

static int64_t apart(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a; /* of files' times, and of times that clock.c gave: in bounds */
}

/* Times of captures, and tolerances, may be anything. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static bool is_within(int64_t time, int64_t from, int64_t to, int64_t slack)
{
    return time >= plus(from, -slack) && time <= plus(to, slack);
}

static bool is_of_request(const struct fields *f, int side, int64_t time, int64_t slack)
{
    const struct judge_half *half = &f->j->pair->half[side];
    int64_t offset = f->j->side[side].clock_offset;

    return half->answered &&
           is_within(time, plus(half->call_time, offset), plus(half->reply_time, offset), slack);
}

static bool are_within(const struct fields *f, const int64_t values[SIDES],
                       const int64_t times[SIDES][2], int64_t slack)
{
    for (int side = 0; side < SIDES; side++) {
        int64_t offset = f->j->side[side].clock_offset;

        if (!times[side][0] || !is_within(values[side], plus(times[side][0], offset),
                                          plus(times[side][1], offset), slack))
            return false;
    }
    return true;
}

/* Both are of the request that changed the object last, or last set this time of it. */
static bool is_of_change(struct fields *f, const struct item *ref, const struct item *sut,
                         int64_t slack)
{
    uint32_t row = fields_object(f, ref->place);
    const int64_t values[SIDES] = { (int64_t)ref->value, (int64_t)sut->value };
    const struct object_state *s = &f->j->states[row];

    if (!row || f->j->pair->change[CHANGE_LAST])
        return false;
    return are_within(f, values, s->change, slack) ||
           (ref->place->stamp == STAMP_CTIME && are_within(f, values, s->touched, slack)) ||
           (f->j->partly && ref->place->stamp == STAMP_MTIME &&
            are_within(f, values, s->modified, slack)) ||
           (ref->place->stamp == STAMP_ATIME && s->access_set &&
            are_within(f, values, s->access, slack));
}

bool times_changed_now(const struct fields *f, const struct item *ref)
{
    const struct judge_half *half = f->j->pair->half;
    const struct judge_side *side = &f->j->side[REF];
    struct attributes_before before;

    return !ref->place->of_before && ref->place->has_whose && ref->place->whose == OF_OBJECT &&
           half[REF].effect.succeeded && half[SUT].effect.succeeded &&
           half[REF].effect.object_role & ROLE_MODIFIES &&
           effect_before(&half[REF].effect, OF_OBJECT, &before) &&
           before.ctime != (int64_t)ref->value &&
           is_of_request(f, REF, (int64_t)ref->value, plus(side->granularity, side->clock_error));
}

int times_equal(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                const struct item *sut)
{
    const struct judge_side *s = f->j->side;
    int64_t a = (int64_t)ref->value, b = (int64_t)sut->value;
    int64_t amount = rule->amount < INT64_MAX ? (int64_t)rule->amount : INT64_MAX;
    int64_t steps[SIDES], step, errors, slack, tight, carried;
    enum before_kind kind[SIDES] = { BEFORE_ANY, BEFORE_ANY };
    bool now[SIDES], before[SIDES];

    if (a == b && !ref->place->of_before)
        return 1;
    steps[REF] = times_step(f, REF, ref);
    steps[SUT] = times_step(f, SUT, sut);
    step = steps[REF] > steps[SUT] ? steps[REF] : steps[SUT];
    errors = plus(plus(step, s[REF].clock_error), s[SUT].clock_error);
    slack = plus(errors, amount);
    tight = plus(errors, CLOSE_NS);
    if (ref->place->of_before) {
        now[REF] = is_of_request(f, REF, a, tight);
        now[SUT] = is_of_request(f, SUT, b, tight);
        before_judge(f, ref, sut, now, kind);
        if ((kind[REF] == BEFORE_OWN) != (kind[SUT] == BEFORE_OWN)) {
            f->j->left_open |= COUNTERPART_BEFORE_OWN;
            snprintf(f->what, sizeof(f->what), "%s",
                     kind[REF] == BEFORE_OWN ? "ref of this request, sut earlier"
                                             : "sut of this request, ref earlier");
            return 0;
        }
    }
    if (a == b || (step > 1 && a / step == b / step) || is_client_time(f, ref, sut))
        return 1;
    /* one server may have taken longer for the same requests: compare on either clock */
    carried = clock_carry(f->j->clock, SUT, b);
    if (f->j->partly && /* by the clocks alone: requests may have waited later, not yet then */
        apart(plus(a, -s[REF].clock_offset), plus(b, -s[SUT].clock_offset)) <= slack)
        return 1;
    if (apart(a, carried) <= slack || apart(b, clock_carry(f->j->clock, REF, a)) <= slack)
        return 1;
    now[REF] = is_of_request(f, REF, a, tight);
    now[SUT] = is_of_request(f, SUT, b, tight);
    if (now[REF] && now[SUT])
        return 1;
    if (is_of_change(f, ref, sut, tight))
        return 1;
    if (ref->place->of_before) /* a time that was sent before the request is not its own */
        for (int side = 0; side < SIDES; side++)
            now[side] =
                kind[side] != BEFORE_KEPT && is_of_request(f, side, side == REF ? a : b, errors);
    before[REF] = a < plus(plus(s[REF].first_time, s[REF].clock_offset), -tight);
    before[SUT] = b < plus(plus(s[SUT].first_time, s[SUT].clock_offset), -tight);
    if (ref->place->stamp == STAMP_CTIME && f->j->states[fields_object(f, ref->place)].remade &&
        !times_changed_now(f, ref))
        return 1;
    if (f->j->remade && ref->place->stamp == STAMP_CTIME &&
        a < plus(plus(s[REF].first_time, s[REF].clock_offset), errors) &&
        b < plus(plus(s[SUT].first_time, s[SUT].clock_offset), errors))
        return 1;
    snprintf(f->what, sizeof(f->what), "%s",
             now[REF] && !now[SUT]        ? "ref of this request, sut earlier"
             : now[SUT] && !now[REF]      ? "sut of this request, ref earlier"
             : before[REF] && before[SUT] ? "both from before the trace"
             : before[REF]                ? "ref from before the trace, sut not"
             : before[SUT]                ? "sut from before the trace, ref not"
             : carried > a                ? "sut later"
                                          : "sut earlier");
    return 0;
}

bool times_are_plain(const struct fields *f, const struct compare_rule *rule,
                     const struct item *ref, const struct item *sut)
{
    const struct judge_side *s = f->j->side;
    int64_t a = (int64_t)ref->value, b = (int64_t)sut->value;
    int64_t near = rule->amount < INT64_MAX ? (int64_t)(rule->amount / 2) : INT64_MAX;

    if (ref->place->of_before && before_is_uneven(f, ref, sut))
        return false;
    return a == b || apart(plus(a, -s[REF].clock_offset), plus(b, -s[SUT].clock_offset)) <= near;
}
