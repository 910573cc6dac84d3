/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/popularity.c
 *
 * A popularity is a floating number of 64 bits: 32 of exponent plus one, 32 after the point of a
 * mantissa from 1 to 2.  So numbers compare as integers do, and 0 is an object that nobody used.
 * The queue is a binary heap; each object knows its place, and each place has the popularity.
 */
#include "mirror/popularity.h"
#include "base/grow.h"
#include "mirror/mirror_parts.h"

#include <stdlib.h>

enum { QUEUE_SHRINKS = 4096 };

static const uint64_t one = UINT64_C(1) << 32;

/* What an access at this time counts: 2^h, h half-lives after 1970, on a line between whole ones.
 */
static uint64_t weight(uint64_t half_life, int64_t time)
{
    uint64_t t = time < 0 ? 0 : (uint64_t)time, whole = t / half_life;

    if (whole >= UINT32_MAX - 1)
        return UINT64_MAX - UINT32_MAX;
    return (whole + 1) << 32 | (uint64_t)(((unsigned __int128)(t % half_life) << 32) / half_life);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t high = a > b ? a : b, low = a > b ? b : a;
    uint64_t exponent = high >> 32, apart = exponent - (low >> 32);
    uint64_t sum = one | (uint32_t)high;

    if (low && apart <= 32)
        sum += (one | (uint32_t)low) >> apart;
    if (sum >> 33) {
        sum >>= 1;
        exponent++;
    }
    return exponent > UINT32_MAX ? UINT64_MAX : exponent << 32 | (uint32_t)sum;
}

double mirror_popularity(const struct mirror *mirror, const struct mirror_object *object,
                         int64_t time)
{
    uint64_t popularity = popularity_of(mirror, object), now = weight(mirror->half_life, time);
    int64_t apart = (int64_t)(popularity >> 32) - (int64_t)(now >> 32);
    double ratio = (double)(one | (uint32_t)popularity) / (double)(one | (uint32_t)now);

    if (!popularity || apart < -63)
        return 0;
    if (apart > 63)
        apart = 63;
    return apart < 0 ? ratio / (double)(UINT64_C(1) << -apart)
                     : ratio * (double)(UINT64_C(1) << apart);
}

static bool goes_before(const struct mirror *m, const struct queued *a, const struct queued *b)
{
    return m->in_order || a->popularity == b->popularity ? a->since < b->since
                                                         : a->popularity > b->popularity;
}

static void put_at(struct mirror *m, uint32_t at, struct queued queued)
{
    m->queue[at] = queued;
    mirror_slot(m, queued.id)->place = at + 1;
}

static void move_up(struct mirror *m, uint32_t at)
{
    const struct queued moved = m->queue[at];

    for (; at > 0; at = (at - 1) / 2) {
        const struct queued above = m->queue[(at - 1) / 2];

        if (!goes_before(m, &moved, &above))
            break;
        put_at(m, at, above);
    }
    put_at(m, at, moved);
}

static void move_down(struct mirror *m, uint32_t at)
{
    const struct queued moved = m->queue[at];

    for (;;) {
        uint64_t below = (uint64_t)at * 2 + 1;

        if (below + 1 < m->queued && goes_before(m, &m->queue[below + 1], &m->queue[below]))
            below++;
        if (below >= m->queued || !goes_before(m, &m->queue[below], &moved))
            break;
        put_at(m, at, m->queue[below]);
        at = (uint32_t)below;
    }
    put_at(m, at, moved);
}

static int compare(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;

    return x->since < y->since ? -1 : x->since > y->since;
}

/* After 2^32 arrivals: those that wait are numbered again, in the same order. */
static void number_anew(struct mirror *m)
{
    qsort(m->queue, m->queued, sizeof(*m->queue), compare);
    for (uint32_t i = 0; i < m->queued; i++)
        put_at(m, i, (struct queued){ m->queue[i].id, i, m->queue[i].popularity });
    m->arrivals = m->queued;
    for (uint32_t i = m->queued / 2; i-- > 0;) /* a heap again */
        move_down(m, i);
}

int queue_enter(struct mirror *m, struct mirror_object *object, struct err *err)
{
    if (GROW(m->queue, m->queued, m->queue_cap) < 0)
        return err_memory(err, "the queue of objects");
    if (m->arrivals == UINT32_MAX)
        number_anew(m);
    put_at(m, m->queued, (struct queued){ object->id, m->arrivals++, object->popularity });
    move_up(m, m->queued++);
    return 0;
}

/* It is long once, when all is found that has to be copied. */
static void shrink(struct mirror *m)
{
    uint32_t cap = m->queue_cap / 2;
    struct queued *queue;

    if (cap < QUEUE_SHRINKS || m->queued > cap / 2)
        return;
    queue = realloc(m->queue, cap * sizeof(*queue));
    if (!queue)
        return;
    m->queue = queue;
    m->queue_cap = cap;
}

void queue_leave(struct mirror *m, struct mirror_object *object)
{
    uint32_t at = object->place - 1, last = --m->queued;

    object->popularity = m->queue[at].popularity;
    if (at != last) {
        const struct queued moved = m->queue[last];

        put_at(m, at, moved);
        move_up(m, at);
        move_down(m, mirror_slot(m, moved.id)->place - 1);
    }
    shrink(m);
}

void mirror_accessed(struct mirror *m, struct mirror_object *object, int64_t time)
{
    uint64_t counts = weight(m->half_life, time);

    /* a loop of hostile parents is longer than this */
    for (int depth = 0; object && depth < MIRROR_DEPTH_MAX; depth++) {
        if (object->state == MIRROR_QUEUED) {
            struct queued *queued = &m->queue[object->place - 1];

            queued->popularity = add(queued->popularity, counts);
            move_up(m, object->place - 1);
        } else {
            object->popularity = add(object->popularity, counts);
        }
        object = mirror_at(m, object->parent);
    }
}

void mirror_set_order(struct mirror *m, bool by_popularity)
{
    m->in_order = !by_popularity;
    for (uint32_t i = m->queued / 2; i-- > 0;)
        move_down(m, i);
}

struct mirror_object *mirror_first(const struct mirror *m)
{
    return m->queued ? mirror_slot(m, m->queue[0].id) : NULL;
}

struct mirror_object *mirror_take_first(struct mirror *m)
{
    struct mirror_object *object = mirror_first(m);

    if (object)
        mirror_set_state(m, object, MIRROR_COPYING, NULL);
    return object;
}
