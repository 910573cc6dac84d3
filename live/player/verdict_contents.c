/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_contents.c
 *
 * What is in the files of the target: byte n of a file is fill(number of the object, n), for files
 * of the tree up to their size and for all that was written.  Bytes that nobody wrote, in the hole
 * of the object or beyond the size that is known, may be 0 as well.
 */
#include "fill/fill.h"
#include "player/verdict_parts.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t end_of(uint64_t from, uint64_t length)
{
    return length > UINT64_MAX - from ? UINT64_MAX : from + length;
}

/* One hole is kept: at most, bytes between two of them may be 0, too. */
static void add_hole(struct object *o, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    if (o->hole_from >= o->hole_to) {
        o->hole_from = from;
        o->hole_to = to;
        return;
    }
    if (from < o->hole_from)
        o->hole_from = from;
    if (to > o->hole_to)
        o->hole_to = to;
}

static void fill_hole(struct object *o, uint64_t from, uint64_t to)
{
    if (from <= o->hole_from && to > o->hole_from)
        o->hole_from = to < o->hole_to ? to : o->hole_to;
    else if (to >= o->hole_to && from < o->hole_to)
        o->hole_to = from > o->hole_from ? from : o->hole_from;
}

static void wrote(struct object *o, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    add_hole(o, o->size, from);
    fill_hole(o, from, to);
    if (to > o->size)
        o->size = to;
}

static void resized(struct object *o, uint64_t size)
{
    add_hole(o, o->size, size);
    if (o->hole_to > size)
        o->hole_to = size;
    o->size = size;
}

void verdict_contents_learn(struct verdicts *v, const struct step *step, uint32_t new_object)
{
    enum action action = effect_action(&v->effect);
    struct object *o;

    if (action != ACTION_WRITE && action != ACTION_SET && action != ACTION_MAKE)
        return;
    o = objects_find(v->setup.objects, action == ACTION_MAKE ? new_object : step_object(step));
    if (!o)
        return;
    if (action == ACTION_WRITE) {
        uint64_t from = load_be64(step->arguments.data + step->value_at);

        wrote(o, from, end_of(from, v->effect.has_done ? v->effect.done : 0));
        return;
    }
    if (step->has & STEP_SETS_SIZE)
        resized(o, load_be64(step->arguments.data + step->second_at));
}

/* How many bytes at the beginning are 0.  Nearly always that is all or none: so all are compared
 * with their neighbours, which memcmp does faster than any loop of ours. */
static uint32_t zero_run(const uint8_t *data, uint64_t len)
{
    uint64_t at = 0, word = 0;

    if (!len || data[0])
        return 0;
    if (memcmp(data, data + 1, len - 1) == 0)
        return (uint32_t)len;
    for (; len - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, data + at, sizeof(word));
        if (word)
            break;
    }
    while (!data[at])
        at++;
    return (uint32_t)at;
}

/* How many of |bytes| from |at| on are zeros that may be there. */
static uint32_t zeros(const struct object *o, uint64_t offset, struct bytes bytes, uint32_t at)
{
    uint32_t begin = at;

    while (at < bytes.len) {
        uint64_t place = offset + at, most = bytes.len - at;
        uint32_t run;

        if (place < o->size) { /* not beyond what is known: only in the hole */
            if (place < o->hole_from || place >= o->hole_to)
                break;
            if (most > o->hole_to - place)
                most = o->hole_to - place;
        }
        run = zero_run(bytes.data + at, most);
        at += run;
        if (run < most)
            break;
    }
    return at - begin;
}

void verdict_contents(struct verdicts *v, const struct step *step, struct verdict *to)
{
    struct bytes bytes = v->effect.contents;
    const struct object *o;
    uint64_t offset;
    uint32_t at = 0;
    bool allowed;
    char *text;

    if (v->effect.has_done && v->effect.done != bytes.len) {
        verdict_difference(to, 0, false);
        to->contents = true;
        snprintf(to->text, sizeof(to->text),
                 "count is %" PRIu64 ", but there are %" PRIu32 " bytes", v->effect.done,
                 bytes.len);
        return;
    }
    o = v->setup.fill && bytes.len ? objects_find(v->setup.objects, step_object(step)) : NULL;
    if (!o || o->type != NF3REG)
        return;
    offset = load_be64(step->arguments.data + step->value_at);
    for (;;) {
        struct bytes rest = { bytes.data + at, bytes.len - at };
        uint32_t skip;

        at += (uint32_t)fill_same(o->number, offset + at, rest);
        if (at == bytes.len)
            return;
        skip = zeros(o, offset, bytes, at);
        if (!skip)
            break;
        at += skip;
        if (at == bytes.len)
            return;
    }
    allowed = verdict_rules_role(v, step, ROLE_DATA, to);
    to->contents |= !allowed;
    text = verdict_difference(to, 0, allowed);
    if (text)
        snprintf(text, VERDICT_TEXT, "byte %" PRIu64 " of the file is 0x%02x, not 0x%02x",
                 offset + at, bytes.data[at], *fill_at(o->number, offset + at));
}
