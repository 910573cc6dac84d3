/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/order.c
 *
 * Which requests wait for which, on their way to the SUT.  Nobody writes that down: if thousands of
 * requests change one object, each of them waits for all before it.  order_release finds out again
 * what order_find has found: nothing that must_wait looks at changes meanwhile.
 */
#include "shadow/shadow_parts.h"

/* Others see what it does with the object; reading can change the access time. */
static bool matters(const struct touch *t)
{
    return touch_may_change(t) || request_reads(t->request);
}

/* |x| came to the SUT's queue before |r|, and has to be answered by the SUT before |r| is sent:
 * they share an object that one of them changes, and the reference had answered |x| before |r| was
 * called; or they were under way at the same time, but are about the same name or bytes, so the
 * order of the replies is the best guess.  A listing that goes on needs the SUT's part before it.
 */
static bool must_wait(const struct touch *r, const struct touch *x)
{
    const uint32_t free = OVERLAP_OBJECT | OVERLAP_PARENT2 | OVERLAP_NEW;

    if (r->request->goes_on && x->request->action == ACTION_LIST)
        return true;
    if (x->request->end <= r->request->begin)
        return matters(r) || matters(x);
    return (overlap_meet(&r->what, &x->what) | overlap_meet(&x->what, &r->what)) & ~free;
}

/* No other two touches of these requests say so, too: so that one waits for another one once. */
static bool is_first_reason(const struct touch *r, const struct touch *x)
{
    for (const struct touch *a = r->request->touches; a <= r; a++)
        for (uint32_t i = 0; i < x->request->touch_count; i++) {
            const struct touch *b = &x->request->touches[i];

            if (a == r && b == x)
                return true;
            if (a->what.object == b->what.object && must_wait(a, b))
                return false;
        }
    return true;
}

void order_find(struct shadow *s, struct request *r)
{
    for (uint32_t i = 0; i < r->touch_count; i++) {
        struct touch *mine = &r->touches[i];
        struct known *k = known_of(s, mine->what.object);

        if (k->is_held) {
            mine->is_held = true;
            r->waits++;
        }
        for (struct touch *t = k->touches; t; t = t->next)
            if (t->request != r && request_is_queued(t->request) && must_wait(mine, t) &&
                is_first_reason(mine, t)) {
                t->request->is_awaited = true;
                r->waits++;
            }
    }
}

void order_release(struct shadow *s, struct request *x)
{
    for (uint32_t i = 0; x->is_awaited && i < x->touch_count; i++) {
        const struct touch *done = &x->touches[i];

        for (struct touch *t = known_of(s, done->what.object)->touches; t; t = t->next)
            if (t->request->stage == STAGE_WAITING && t->request->waits &&
                (int32_t)(t->request->number - x->number) > 0 && must_wait(t, done) &&
                is_first_reason(t, done))
                send_release(s, t->request);
    }
    x->is_awaited = false;
}
