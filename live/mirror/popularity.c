/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/popularity.c
 *
 * A popularity is a floating number of 64 bits: 32 of exponent plus one, 32 after the point of a
 * mantissa from 1 to 2.  So numbers compare as integers do, and 0 is an object that nobody used.
 * The queue is a binary heap of ids; each object knows its place.
 */
#include "mirror/popularity.h"
#include "base/grow.h"
#include "mirror/mirror_parts.h"

#include <stdlib.h>

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
    uint64_t now = weight(mirror->half_life, time);
    int64_t apart = (int64_t)(object->popularity >> 32) - (int64_t)(now >> 32);
    double ratio = (double)(one | (uint32_t)object->popularity) / (double)(one | (uint32_t)now);

    if (!object->popularity || apart < -63)
        return 0;
    if (apart > 63)
        apart = 63;
    return apart < 0 ? ratio / (double)(UINT64_C(1) << -apart)
                     : ratio * (double)(UINT64_C(1) << apart);
}

static bool goes_before(const struct mirror *m, const struct mirror_object *a,
                        const struct mirror_object *b)
{
    return m->in_order || a->popularity == b->popularity ? a->since < b->since
                                                         : a->popularity > b->popularity;
}

static void put_at(struct mirror *m, uint32_t at, struct mirror_object *object)
{
    m->queue[at] = object->id;
    object->place = at + 1;
}

static struct mirror_object *queued_at(const struct mirror *m, uint32_t at)
{
    return mirror_slot(m, m->queue[at]);
}

static void move_up(struct mirror *m, struct mirror_object *object)
{
    uint32_t at = object->place - 1;

    for (; at > 0; at = (at - 1) / 2) {
        struct mirror_object *above = queued_at(m, (at - 1) / 2);

        if (!goes_before(m, object, above))
            break;
        put_at(m, at, above);
    }
    put_at(m, at, object);
}

static void move_down(struct mirror *m, struct mirror_object *object)
{
    uint32_t at = object->place - 1;

    for (;;) {
        uint64_t below = (uint64_t)at * 2 + 1;

        if (below + 1 < m->queued &&
            goes_before(m, queued_at(m, (uint32_t)below + 1), queued_at(m, (uint32_t)below)))
            below++;
        if (below >= m->queued || !goes_before(m, queued_at(m, (uint32_t)below), object))
            break;
        put_at(m, at, queued_at(m, (uint32_t)below));
        at = (uint32_t)below;
    }
    put_at(m, at, object);
}

static int compare(const void *a, const void *b, void *ctx)
{
    const struct mirror *m = ctx;
    uint32_t x = mirror_slot(m, *(const uint32_t *)a)->since;
    uint32_t y = mirror_slot(m, *(const uint32_t *)b)->since;

    return x < y ? -1 : x > y;
}

/* After 2^32 arrivals: those that wait are numbered again, in the same order. */
static void number_anew(struct mirror *m)
{
    qsort_r(m->queue, m->queued, sizeof(*m->queue), compare, m);
    for (uint32_t i = 0; i < m->queued; i++) {
        struct mirror_object *object = queued_at(m, i);

        object->since = i;
        object->place = i + 1;
    }
    m->arrivals = m->queued;
    for (uint32_t i = m->queued / 2; i-- > 0;) /* a heap again */
        move_down(m, queued_at(m, i));
}

int queue_enter(struct mirror *m, struct mirror_object *object, struct err *err)
{
    if (GROW(m->queue, m->queued, m->queue_cap) < 0)
        return err_memory(err, "the queue of objects");
    if (m->arrivals == UINT32_MAX)
        number_anew(m);
    object->since = m->arrivals++;
    put_at(m, m->queued++, object);
    move_up(m, object);
    return 0;
}

void queue_leave(struct mirror *m, struct mirror_object *object)
{
    struct mirror_object *last = queued_at(m, --m->queued);
    uint32_t at = object->place - 1;

    object->place = 0;
    if (last == object)
        return;
    put_at(m, at, last);
    move_up(m, last);
    move_down(m, last);
}

void mirror_accessed(struct mirror *m, struct mirror_object *object, int64_t time)
{
    uint64_t counts = weight(m->half_life, time);

    /* a loop of hostile parents is longer than this */
    for (int depth = 0; object && depth < MIRROR_DEPTH_MAX; depth++) {
        object->popularity = add(object->popularity, counts);
        if (object->place)
            move_up(m, object);
        object = mirror_at(m, object->parent);
    }
}

void mirror_set_order(struct mirror *m, bool by_popularity)
{
    m->in_order = !by_popularity;
    for (uint32_t i = m->queued / 2; i-- > 0;)
        move_down(m, queued_at(m, i));
}

struct mirror_object *mirror_first(const struct mirror *m)
{
    return m->queued ? queued_at(m, 0) : NULL;
}

struct mirror_object *mirror_take_first(struct mirror *m)
{
    struct mirror_object *object = mirror_first(m);

    if (object)
        mirror_set_state(m, object, MIRROR_COPYING, NULL);
    return object;
}
