/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/faces.c
 *
 * What is known of interfaces, and what comes of it from one part of a file to the next one.  For
 * pcapng.c and postproc/pieces.  The contract is in faces.h.
 */
#include "capture/faces.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void faces_free(struct faces *f)
{
    free(f->list);
    *f = (struct faces){ 0 };
}

void faces_span_free(struct faces_span *s)
{
    faces_free(&s->before);
    faces_free(&s->end);
}

int faces_add(struct faces *f, const struct face *face)
{
    if (GROW(f->list, f->count, f->cap) < 0)
        return -ERR_SYSTEM;
    f->list[f->count++] = *face;
    return 0;
}

int faces_copy(struct faces *to, const struct faces *from, uint32_t count, struct err *err)
{
    to->order = from->order;
    to->counted = from->counted;
    for (uint32_t i = 0; i < count; i++)
        if (faces_add(to, &from->list[i]) < 0)
            return err_memory(err, "interfaces");
    return 0;
}

static bool differ(const struct face *a, const struct face *b)
{
    const uint8_t both = a->known & b->known;

    return (both & FACE_PACKETS && (a->link_type != b->link_type ||
                                    a->resolution != b->resolution || a->offset != b->offset)) ||
           (both & FACE_SNAP && a->snap_len != b->snap_len);
}

/* How many there are at least. */
static uint32_t least(const struct faces *f)
{
    uint32_t count = f->count;

    while (count && !f->counted && !f->list[count - 1].known)
        count--;
    return count;
}

const char *faces_differ(const struct faces *is, const struct faces_span *next)
{
    const struct faces *b = &next->before;

    if (is->order && b->order && is->order != b->order)
        return "a section of the other byte order";
    for (uint32_t i = 0; i < b->count; i++) {
        if (!b->list[i].known)
            continue;
        if (i < is->count ? differ(&is->list[i], &b->list[i]) : is->counted != 0)
            return "an interface was not as described before its first packet";
    }
    if (b->counted && (is->counted ? is->count != b->count : least(is) > b->count))
        return "interfaces were described before its first packet";
    return next->strange ? "a packet of none of those that were described" : NULL;
}

/* Takes from |b| what |f| does not know. */
static int learn(struct faces *f, const struct faces *b)
{
    if (!f->order)
        f->order = b->order;
    for (uint32_t i = 0; i < b->count; i++) {
        struct face face = b->list[i];

        if (i < f->count) {
            const uint8_t had = f->list[i].known;

            if (!(had & FACE_PACKETS)) {
                face.snap_len = had & FACE_SNAP ? f->list[i].snap_len : face.snap_len;
                face.known |= had;
                f->list[i] = face;
            } else if (face.known & FACE_SNAP && !(had & FACE_SNAP)) {
                f->list[i].snap_len = face.snap_len;
                f->list[i].known |= FACE_SNAP;
            }
        } else if (f->counted) {
            break; /* |b| is wrong */
        } else if (faces_add(f, &face) < 0) {
            return -ERR_SYSTEM;
        }
    }
    if (b->counted && !f->counted && f->count > b->count)
        f->count = b->count;
    f->counted |= b->counted;
    return 0;
}

int faces_pass(struct faces *is, const struct faces_span *next, struct faces *asked,
               struct err *err)
{
    /* if one was described in between, or a section began there, no more can be asked */
    if (asked && !asked->counted && learn(asked, &next->before) < 0)
        return err_memory(err, "interfaces");
    if (next->renewed) {
        faces_free(is);
        return faces_copy(is, &next->end, next->end.count, err);
    }
    if (learn(is, &next->before) < 0)
        return err_memory(err, "interfaces");
    for (uint32_t i = next->before.count;
         next->before.counted && i < next->end.count && is->count < FACES_MAX; i++)
        if (faces_add(is, &next->end.list[i]) < 0)
            return err_memory(err, "interfaces");
    return 0;
}
