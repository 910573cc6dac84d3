/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/times.c
 *
 * Whether two servers' times are the same, though their clocks are not.
 */
#include "compare/pairs.h"

#include <stdio.h>
#include <string.h>

enum { CLOSE_NS = 5000000 }; /* what a server may take for the time of a request */

/* The time that a client gave both. */
static bool is_client_time(struct fields *f, const struct item *ref, const struct item *sut)
{
    const struct compare_side *sides = f->p->c->side;
    uint32_t row = fields_object(f, ref->place);
    int which = !row                               ? -1
                : ref->place->stamp == STAMP_ATIME ? 0
                : ref->place->stamp == STAMP_MTIME ? 1
                                                   : -1;
    const uint64_t values[SIDES] = { ref->value, sut->value };

    if (which < 0 || !(f->p->states[row].set & 1 << which))
        return false;
    for (int side = 0; side < SIDES; side++) {
        int64_t less = f->p->states[row].times[which][side] - (int64_t)values[side];
        int64_t step = sides[side].has_clock ? sides[side].granularity : 1;

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
    const struct half *half = &f->p->pair.half[side];
    int64_t offset = f->p->c->side[side].clock_offset;

    return half->answered &&
           is_within(time, plus(half->call_time, offset), plus(half->reply_time, offset), slack);
}

/* Both are of the request that changed the object last. */
static bool is_of_change(struct fields *f, const struct item *ref, const struct item *sut,
                         int64_t slack)
{
    const struct compare_side *sides = f->p->c->side;
    uint32_t row = fields_object(f, ref->place);
    const int64_t values[SIDES] = { (int64_t)ref->value, (int64_t)sut->value };

    if (!row || f->p->pair.other_last || !f->p->states[row].change[REF][0])
        return false;
    for (int side = 0; side < SIDES; side++) {
        const int64_t *change = f->p->states[row].change[side];
        int64_t offset = sides[side].clock_offset;

        if (!is_within(values[side], plus(change[0], offset), plus(change[1], offset), slack))
            return false;
    }
    return true;
}

int times_equal(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                const struct item *sut, char what[COMPARE_TEXT_MAX])
{
    const struct compare_side *s = f->p->c->side;
    int64_t a = (int64_t)ref->value, b = (int64_t)sut->value;
    int64_t step =
        s[REF].granularity > s[SUT].granularity ? s[REF].granularity : s[SUT].granularity;
    int64_t errors = plus(plus(step, s[REF].clock_error), s[SUT].clock_error);
    int64_t amount = rule->amount < INT64_MAX ? (int64_t)rule->amount : INT64_MAX;
    int64_t slack = plus(errors, amount), tight = plus(errors, CLOSE_NS), carried;
    enum before_kind kind[SIDES] = { BEFORE_ANY, BEFORE_ANY };
    bool now[SIDES], before[SIDES];

    if (ref->place->of_before) {
        now[REF] = is_of_request(f, REF, a, tight);
        now[SUT] = is_of_request(f, SUT, b, tight);
        before_judge(f, ref, sut, now, kind);
        if ((kind[REF] == BEFORE_OWN) != (kind[SUT] == BEFORE_OWN)) {
            snprintf(what, COMPARE_TEXT_MAX, "%s",
                     kind[REF] == BEFORE_OWN ? "ref of this request, sut earlier"
                                             : "sut of this request, ref earlier");
            return 0;
        }
    }
    if (a == b || (step > 1 && a / step == b / step) || is_client_time(f, ref, sut))
        return 1;
    /* where one server took longer over the same requests, the other's clock tells */
    carried = clock_carry(&f->p->clock, SUT, b);
    if (apart(a, carried) <= slack || apart(b, clock_carry(&f->p->clock, REF, a)) <= slack)
        return 1;
    now[REF] = is_of_request(f, REF, a, tight);
    now[SUT] = is_of_request(f, SUT, b, tight);
    if ((now[REF] && now[SUT]) || is_of_change(f, ref, sut, tight))
        return 1;
    if (ref->place->of_before) /* what was told before it is not of it, whatever clocks say */
        for (int side = 0; side < SIDES; side++)
            now[side] =
                kind[side] != BEFORE_KEPT && is_of_request(f, side, side == REF ? a : b, errors);
    before[REF] = a < plus(plus(s[REF].first_time, s[REF].clock_offset), -tight);
    before[SUT] = b < plus(plus(s[SUT].first_time, s[SUT].clock_offset), -tight);
    snprintf(what, COMPARE_TEXT_MAX, "%s",
             now[REF] && !now[SUT]        ? "ref of this request, sut earlier"
             : now[SUT] && !now[REF]      ? "sut of this request, ref earlier"
             : before[REF] && before[SUT] ? "both from before the trace"
             : before[REF]                ? "ref from before the trace, sut not"
             : before[SUT]                ? "sut from before the trace, ref not"
             : carried > a                ? "sut later"
                                          : "sut earlier");
    return 0;
}
