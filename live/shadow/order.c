/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/order.c
 *
 * Which requests wait for which, on their way to the SUT.  Nobody writes that down: if thousands of
 * requests change one object, each of them waits for all before it.  order_release finds out again
 * what order_find has found: nothing that must_wait looks at changes meanwhile.
 */
#include "shadow/shadow_parts.h"

/* Others see what it does with the object; reading can change the access time. */
static bool matters(const struct touch *t, const struct request *of)
{
    return touch_may_change(t) || request_reads(of);
}

/* |x| came to the SUT's queue before |r|, and has to be answered by the SUT before |r| is sent:
 * they share an object that one of them changes, and the reference had answered |x| before |r| was
 * called; or they were under way at the same time, but are about the same name or bytes, so the
 * order of the replies is the best guess.  A listing that goes on needs the SUT's part before it.
 */
static bool must_wait(const struct shadow *s, const struct touch *r, const struct touch *x)
{
    const uint32_t free = OVERLAP_OBJECT | OVERLAP_PARENT2 | OVERLAP_NEW;
    const struct request *later = request_of(s, r), *earlier = request_of(s, x);
    struct overlap_touch mine, theirs;

    if (later->goes_on && earlier->action == ACTION_LIST)
        return true;
    if (earlier->end <= later->begin)
        return matters(r, later) || matters(x, earlier);
    mine = touch_what(s, r);
    theirs = touch_what(s, x);
    return (overlap_meet(&mine, &theirs) | overlap_meet(&theirs, &mine)) & ~free;
}

/* No other two touches of these requests say so, too: so that one waits for another one once. */
static bool is_first_reason(const struct shadow *s, const struct touch *r, const struct touch *x)
{
    const uint32_t mine = request_of(s, r)->touches, theirs = request_of(s, x)->touches;

    for (const struct touch *a = touch_at(s, mine); a; a = touch_at(s, a->further))
        for (const struct touch *b = touch_at(s, theirs); b; b = touch_at(s, b->further)) {
            if (a == r && b == x)
                return true;
            if (a->object == b->object && must_wait(s, a, b))
                return false;
        }
    return true;
}

void order_find(struct shadow *s, struct request *r)
{
    for (struct touch *mine = touch_at(s, r->touches); mine; mine = touch_at(s, mine->further)) {
        if (known_of(s, mine->object)->is_held) {
            mine->is_held = true;
            r->waits++;
        }
        for (struct touch *t = touches_of(s, mine->object); t; t = touch_at(s, t->next)) {
            struct request *x = request_of(s, t);

            if (x != r && request_is_queued(x) && must_wait(s, mine, t) &&
                is_first_reason(s, mine, t)) {
                x->is_awaited = true;
                r->waits++;
            }
        }
    }
}

void order_release(struct shadow *s, struct request *x)
{
    const uint32_t first = x->is_awaited ? x->touches : 0;

    for (const struct touch *done = touch_at(s, first); done; done = touch_at(s, done->further))
        for (struct touch *t = touches_of(s, done->object); t; t = touch_at(s, t->next)) {
            struct request *r = request_of(s, t);

            if (r->stage == STAGE_WAITING && r->waits && (int32_t)(r->number - x->number) > 0 &&
                must_wait(s, t, done) && is_first_reason(s, t, done))
                send_release(s, r);
        }
    x->is_awaited = false;
}
