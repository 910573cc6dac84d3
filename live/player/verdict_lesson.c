/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_lesson.c
 *
 * Lessons are written where a reply was judged, and learned by the players of other ranks.  They
 * come from a socket: every length is checked.  The contract and the form are in verdict_lesson.h.
 */
#include "player/verdict_lesson.h"
#include "base/grow.h"
#include "player/verdict_parts.h"

enum { PLACE = 33, HAS_BEHIND = 1, NO_HANDLES = 2 };

/* --- writing */

static uint8_t *put32(uint8_t *to, uint32_t value)
{
    store_be32(to, value);
    return to + 4;
}

static uint8_t *put64(uint8_t *to, uint64_t value)
{
    store_be64(to, value);
    return to + 8;
}

static uint8_t *put_place(uint8_t *to, const struct listing_place *place)
{
    to = put32(to, place->entries);
    to = put64(to, place->cookie);
    to = put32(to, place->names.sums.count);
    to = put64(to, place->names.sums.sum);
    to = put64(to, place->names.sums.behind);
    *to++ = (uint8_t)((place->names.sums.has_behind ? HAS_BEHIND : 0) |
                      (place->names.no_handles ? NO_HANDLES : 0));
    return to;
}

static uint8_t *put_listing(uint8_t *to, const struct listing *listing)
{
    memcpy(to, listing->verifier, sizeof(listing->verifier));
    to = put32(to + sizeof(listing->verifier), listing->count);
    for (uint32_t i = 0; i < listing->count; i++)
        to = put_place(to, &listing->places[i]);
    return to;
}

int verdict_lesson(struct verdicts *v, uint64_t number, const struct step *step,
                   const struct verdict *verdict, struct bytes *lesson, struct err *err)
{
    const struct object *object =
        verdict->learned ? objects_find(v->setup.objects, verdict->found) : NULL;
    const struct listing *listing =
        step->more && step->more->cookie_count ? by_number_find(&v->listings, number) : NULL;
    bool contents = verdict->learned_contents && step->has & STEP_CHANGES;
    size_t most =
        1 + 8 + 2 + OBJECT_HANDLE_MAX + 12 + (listing ? (size_t)listing->count : 0) * PLACE;
    uint8_t *to;

    *lesson = (struct bytes){ 0 };
    if (object && !object->handle_len)
        object = NULL;
    if (!object && !contents && !listing)
        return 0;
    v->lesson.len = 0;
    if (most > UINT32_MAX || buf_reserve(&v->lesson, most) < 0)
        return err_memory(err, "what other ranks have to know");
    to = v->lesson.data;
    *to++ = (uint8_t)((object ? LESSON_HANDLE : 0) | (contents ? LESSON_CONTENTS : 0) |
                      (listing ? LESSON_COOKIES : 0));
    if (object || contents) {
        to = put32(to, verdict->found);
        to = put32(to, verdict->bytes);
    }
    if (object) {
        *to++ = object->type;
        *to++ = object->handle_len;
        memcpy(to, object->handle, object->handle_len);
        to += object->handle_len;
    }
    if (listing)
        to = put_listing(to, listing);
    *lesson = (struct bytes){ v->lesson.data, (uint32_t)(to - v->lesson.data) };
    return 0;
}

/* --- learning */

/* Takes |len| bytes off the front, or returns NULL. */
static const uint8_t *take(struct bytes *left, uint32_t len)
{
    const uint8_t *at = left->data;

    if (len > left->len)
        return NULL;
    left->data += len;
    left->len -= len;
    return at;
}

static int refuse(struct err *err)
{
    return err_set(err, ERR_INPUT, "what another rank says of an operation is not of its kind");
}

static int learn_handle(struct verdicts *v, const struct step *step, uint32_t number,
                        struct bytes *left, struct err *err)
{
    const uint8_t *head = take(left, 2), *handle = head ? take(left, head[1]) : NULL;
    struct object *object;

    if (!handle || !number || !head[1] || head[1] > OBJECT_HANDLE_MAX)
        return refuse(err);
    object = objects_add(v->setup.objects, number, err);
    if (!object)
        return -ERR_SYSTEM;
    if (head[0])
        object->type = head[0];
    return objects_set_handle(v->setup.objects, step->server, object,
                              (struct bytes){ handle, head[1] }, err);
}

static void learn_contents(struct verdicts *v, const struct step *step, uint32_t object,
                           uint32_t done)
{
    effect_clear_reply(&v->effect);
    v->effect.procedure = step->procedure;
    v->effect.succeeded = v->effect.has_done = true;
    v->effect.done = done;
    verdict_contents_learn(v, step, object);
}

static int learn_places(struct listing *listing, struct bytes places, struct err *err)
{
    uint32_t before = 0;
    const uint8_t *at;

    while ((at = take(&places, PLACE))) {
        struct listing_place place = {
            .entries = load_be32(at),
            .cookie = load_be64(at + 4),
            .names = { .sums = { .count = load_be32(at + 12),
                                 .sum = load_be64(at + 16),
                                 .behind = load_be64(at + 24),
                                 .has_behind = at[32] & HAS_BEHIND },
                       .no_handles = at[32] & NO_HANDLES },
        };

        if (listing->count && place.entries < before)
            return refuse(err);
        before = place.entries;
        if (GROW(listing->places, listing->count, listing->cap) < 0)
            return err_memory(err, "cookies of a listing");
        listing->places[listing->count++] = place;
    }
    return 0;
}

static int learn_cookies(struct verdicts *v, uint64_t number, const struct step *step,
                         struct bytes *left, struct err *err)
{
    const uint8_t *verifier = take(left, 8), *word = verifier ? take(left, 4) : NULL;
    uint32_t count = word ? load_be32(word) : 0;
    const uint8_t *places;
    struct listing *listing;

    if (!word || !step->more || count > step->more->cookie_count || count > left->len / PLACE ||
        by_number_find(&v->listings, number))
        return refuse(err);
    places = take(left, count * PLACE);
    listing = by_number_add(&v->listings, number);
    if (!listing)
        return err_memory(err, "cookies of a listing");
    memcpy(listing->verifier, verifier, sizeof(listing->verifier));
    return learn_places(listing, (struct bytes){ places, count * PLACE }, err);
}

int verdict_taught(struct verdicts *v, uint64_t number, const struct step *step,
                   struct bytes lesson, struct err *err)
{
    const uint8_t *flags = take(&lesson, 1), *words = NULL;
    int result = 0;

    if (!flags || !step->procedure || *flags & ~(LESSON_HANDLE | LESSON_CONTENTS | LESSON_COOKIES))
        return refuse(err);
    if (*flags & (LESSON_HANDLE | LESSON_CONTENTS) && !(words = take(&lesson, 8)))
        return refuse(err);
    if (*flags & LESSON_CONTENTS && (!(step->has & STEP_CHANGES) || step->unplayable))
        return refuse(err);
    if (*flags & LESSON_HANDLE)
        result = learn_handle(v, step, load_be32(words), &lesson, err);
    if (result == 0 && *flags & LESSON_CONTENTS)
        learn_contents(v, step, load_be32(words), load_be32(words + 4));
    if (result == 0 && *flags & LESSON_COOKIES)
        result = learn_cookies(v, number, step, &lesson, err);
    return result == 0 && lesson.len ? refuse(err) : result;
}
