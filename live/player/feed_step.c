/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/feed_step.c
 *
 * Turns the records of a dump into steps, in the feed's thread.  A record that step_check.h refuses
 * is damage.
 */
#include "player/feed_parts.h"

#include <stdlib.h>

enum { LAPS = 32 /* of the least part of the ring that is gone round */ };

static inline uint64_t padded(uint64_t len)
{
    return (len + 7) & ~UINT64_C(7);
}

/* Bytes for all steps are in the ring; one that is longer gets its own, when no other step is held.
 * NULL: the feed ends, or |err|. */
static uint8_t *make_own(struct feed *f, uint64_t size, struct err *err)
{
    while (f->seen_released != f->made)
        if (!feed_sees_releases(f) && !feed_wait_for_releases(f))
            return NULL;
    f->own = malloc(size);
    f->own_step = f->made;
    if (!f->own)
        err_memory(err, "an operation of a dump");
    return f->own;
}

/* The ring's begin has room for a step of |size| bytes, and the part that was gone round is twice
 * what is held.  So a run touches, and keeps in the cache, no more of the ring than it needs. */
static bool may_turn(struct feed *f, uint64_t size)
{
    uint64_t at = f->head & (f->ring_size - 1);

    if (at < f->ring_size / LAPS)
        return false;
    if (f->head - f->tail > at / 2)
        feed_sees_releases(f);
    return f->head - f->tail <= at / 2 && at - (f->head - f->tail) >= size;
}

/* The end of the ring comes, or some of it may not be free. */
static __attribute__((noinline)) uint8_t *find_room(struct feed *f, uint64_t size, struct err *err)
{
    for (;;) {
        uint64_t to_end = f->ring_size - (f->head & (f->ring_size - 1));
        uint64_t skipped = size > to_end || may_turn(f, size) ? to_end : 0;

        if (size > f->ring_size)
            return make_own(f, size, err);
        if (f->seen_released == f->made) /* nobody needs what was skipped */
            f->tail = f->head += skipped;
        else if (f->head + skipped + size - f->tail <= f->ring_size)
            f->head += skipped;
        else if (feed_sees_releases(f) || feed_wait_for_releases(f))
            continue;
        else
            return NULL;
        f->head += size;
        return f->ring + ((f->head - size) & (f->ring_size - 1));
    }
}

/* Once in a batch is often enough to ask if the ring may turn. */
static inline uint8_t *make_room(struct feed *f, uint64_t size, struct err *err)
{
    uint64_t at = f->head & (f->ring_size - 1);

    if (f->made % FEED_BATCH == 0 || at + size > f->ring_size ||
        f->head + size - f->tail > f->ring_size)
        return find_room(f, size, err);
    f->head += size;
    return f->ring + at;
}

/* What most steps have comes first. */
static inline bool has_more(const struct rdump_operation *o)
{
    return o->results.len || o->dependency_count || o->links.len || o->forget_count ||
           o->cookie_count || o->cookie_from || o->cookie_entries || o->names.len;
}

/* Of what a step with |more| points to, but its arguments. */
static inline uint64_t size_of_more(const struct rdump_operation *o)
{
    uint64_t numbers = (uint64_t)o->dependency_count + o->cookie_count + o->forget_count;

    return sizeof(struct step_more) + numbers * sizeof(uint32_t) + o->links.len +
           (uint64_t)o->results.len + o->names.len;
}

static inline const uint32_t *copy_numbers(uint8_t **to, const uint32_t *from, uint32_t count)
{
    uint32_t *numbers = (uint32_t *)(void *)*to;

    if (!count)
        return NULL;
    if (count == 1) /* most dependencies */
        *numbers = *from;
    else
        memcpy(numbers, from, count * sizeof(*from));
    *to += count * sizeof(*from);
    return numbers;
}

static inline struct bytes copy_bytes(uint8_t **to, struct bytes from)
{
    struct bytes bytes = { *to, from.len };

    if (from.len) {
        memcpy(*to, from.data, from.len);
        *to += from.len;
    }
    return bytes;
}

/* Returns what is behind it.  Numbers first: they have to be aligned. */
static inline uint8_t *copy_more(struct step_more *more, const struct rdump_operation *o)
{
    uint8_t *to = (uint8_t *)(more + 1);

    more->dependencies = copy_numbers(&to, o->dependencies, o->dependency_count);
    more->cookies = copy_numbers(&to, o->cookies, o->cookie_count);
    more->forget = copy_numbers(&to, o->forget, o->forget_count);
    more->dependency_count = o->dependency_count;
    more->cookie_count = o->cookie_count;
    more->forget_count = o->forget_count;
    more->cookie_from = o->cookie_from;
    more->cookie_entries = o->cookie_entries;
    more->links = copy_bytes(&to, o->links);
    more->results = copy_bytes(&to, o->results);
    more->names = copy_bytes(&to, o->names);
    return to;
}

/* Waits until one more step may be held and is not too far ahead.  False: the feed ends. */
static __attribute__((noinline)) bool wait_to_make(struct feed *f)
{
    uint64_t passed;

    while (f->made - f->seen_released > f->mask)
        if (!feed_sees_releases(f) && !feed_wait_for_releases(f))
            return false;
    for (;;) {
        passed = atomic_load_explicit(&f->passed, memory_order_relaxed);
        if (f->made - passed < FEED_AHEAD)
            break;
        if (!feed_wait_until_taken(f))
            return false;
    }
    f->may_make = f->seen_released + f->mask + 1;
    if (f->may_make > passed + FEED_AHEAD)
        f->may_make = passed + FEED_AHEAD;
    return true;
}

/* 1: a step was made; 0: the feed ends; or negative. */
static inline int take_operation(struct feed *f, const struct rdump_operation *o, struct err *err)
{
    bool more = has_more(o);
    struct step *step;
    uint8_t *to;

    if (f->made >= f->may_make && !wait_to_make(f))
        return 0;
    to = make_room(
        f, padded(sizeof(*step) + (more ? size_of_more(o) : 0) + (uint64_t)o->arguments.len), err);
    if (!to)
        return -err->code;
    step = (struct step *)(void *)to;
    to += sizeof(*step);
    if (step_make(&f->check, f->made, o, step, err) < 0)
        return -err->code;
    if (more) {
        step->more = (const struct step_more *)(void *)to;
        to = copy_more((struct step_more *)(void *)to, o);
    }
    step->arguments = copy_bytes(&to, step->arguments);
    f->slots[f->made & f->mask] = step;
    f->made++;
    /* a player that waits takes each step as it comes */
    if (f->made % FEED_BATCH == 0 ||
        atomic_load_explicit(&f->player, memory_order_relaxed) == PLAYER_WAITS)
        feed_show(f);
    return 1;
}

static int take_end(struct feed *f, const struct rdump_end *end, struct err *err)
{
    enum rdump_kind kind;
    const void *record;

    f->end = *end;
    return rdump_next(f->script->reader, &kind, &record, err); /* bytes may follow */
}

static inline int take(struct feed *f, enum rdump_kind kind, const void *record, struct err *err)
{
    if (kind == RDUMP_OPERATION)
        return take_operation(f, record, err);
    return step_check_other(&f->check, f->made, kind, record, err) < 0 ? -err->code
                                                                       : take_end(f, record, err);
}

void feed_read(struct feed *f)
{
    enum rdump_kind kind = f->script->first_kind;
    const void *record = f->script->first;
    int result;

    do {
        result = take(f, kind, record, &f->err);
        if (result <= 0 || f->made >= f->stop_after)
            break;
        result = rdump_next(f->script->reader, &kind, &record, &f->err);
    } while (result > 0);
    f->damaged = f->partial && result == -ERR_INPUT;
    f->result = f->damaged ? 0 : result < 0 ? result : 0;
}
