/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/sync_data.c
 *
 * Keeps track of the byte ranges that may differ between the sides.  The rest of a file is still
 * compared: for example, after conflicts at the beginning and at the end of a large file.
 */
#include "judge/sync.h"

#include <stdlib.h>
#include <string.h>

static bool meets(const struct extent *x, uint64_t start, uint64_t end)
{
    return x->start < end && x->end > start;
}

int sync_extent(const struct object_state *s, uint64_t start, uint64_t end)
{
    int reason = 0;

    for (uint32_t i = 0; i < s->data.count; i++) {
        const struct extent *x = &s->data.extents[i];

        if (meets(x, start, end) && reason != WITHHELD_CONFLICT)
            reason = !reason || x->reason == WITHHELD_CONFLICT ? x->reason : reason;
    }
    return reason;
}

/* The two that are next to each other become one. */
static void join_nearest(struct extents *e)
{
    uint32_t nearest = 0;

    for (uint32_t i = 1; i + 1 < e->count; i++)
        if (e->extents[i + 1].start - e->extents[i].end <
            e->extents[nearest + 1].start - e->extents[nearest].end)
            nearest = i;
    e->extents[nearest].end = e->extents[nearest + 1].end;
    if (e->extents[nearest + 1].reason == WITHHELD_CONFLICT)
        e->extents[nearest].reason = WITHHELD_CONFLICT;
    e->count--;
    memmove(e->extents + nearest + 1, e->extents + nearest + 2,
            (e->count - nearest - 1) * sizeof(*e->extents));
}

/* Puts one at its place. */
static int put(struct extents *e, struct extent new, struct err *err)
{
    uint32_t at = e->count;
    void *grown;

    if (e->count == EXTENTS_MAX) {
        join_nearest(e);
        for (uint32_t i = 0; i < e->count; i++) /* the gap may have been where it belongs */
            if (meets(&e->extents[i], new.start, new.end))
                return 0;
        at = e->count;
    }
    grown = realloc(e->extents, (e->count + 1) * sizeof(*e->extents));
    if (!grown)
        return err_memory(err, "byte ranges");
    e->extents = grown;
    for (; at && e->extents[at - 1].start > new.start; at--)
        e->extents[at] = e->extents[at - 1];
    e->extents[at] = new;
    e->count++;
    return 0;
}

/* Takes [start, end) out, but for what two changes at once left when |but_conflicts|. */
static int cut(struct extents *e, uint64_t start, uint64_t end, bool but_conflicts, struct err *err)
{
    uint32_t kept = 0;
    struct extent behind = { 0, 0, 0, 0 };

    for (uint32_t i = 0; i < e->count; i++) {
        struct extent x = e->extents[i];

        if (meets(&x, start, end) && !(but_conflicts && x.reason == WITHHELD_CONFLICT)) {
            if (x.start < start && x.end > end) { /* the only one that is met */
                behind = x;
                behind.start = end;
            }
            if (x.start < start)
                x.end = start;
            else
                x.start = end;
        }
        if (x.start < x.end)
            e->extents[kept++] = x;
    }
    e->count = kept;
    return behind.end ? put(e, behind, err) : 0;
}

static bool has_id(const struct extents *e, int64_t id)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (e->extents[i].id == id)
            return true;
    return false;
}

int sync_lose_extent(struct judge *j, const struct judge_loss *loss, struct err *err)
{
    struct extents *e = &j->states[loss->object].data;
    uint64_t end = loss->end;
    struct extent new = { loss->start, end, 0, (uint8_t)loss->reason };

    if (!loss->object)
        return 0;
    if (loss->reason == WITHHELD_CONFLICT && cut(e, new.start, end, true, err) < 0)
        return -err->code;
    while (new.start < end) { /* what is not there already */
        uint32_t i = 0;

        while (i < e->count && e->extents[i].end <= new.start)
            i++;
        if (i < e->count && e->extents[i].start <= new.start) {
            new.start = e->extents[i].end;
            continue;
        }
        new.end = i < e->count && e->extents[i].start < end ? e->extents[i].start : end;
        if (!new.id && sync_lose(j, loss, &new.id, err) < 0)
            return -err->code;
        if (put(e, new, err) < 0)
            return -err->code;
        new.start = new.end;
    }
    return 0;
}

int sync_know_extent(struct judge *j, uint32_t row, uint64_t start, uint64_t end, struct err *err)
{
    struct extents *e = &j->states[row].data;
    int64_t ids[EXTENTS_MAX];
    uint32_t count = 0;

    if (!row || start >= end)
        return 0;
    for (uint32_t i = 0; i < e->count; i++)
        if (meets(&e->extents[i], start, end))
            ids[count++] = e->extents[i].id;
    if (count && cut(e, start, end, false, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < count; i++)
        if (!has_id(e, ids[i]) && (!i || ids[i] != ids[i - 1]) &&
            j->host->known(j->ctx, j->pair, ids[i], err) < 0)
            return -err->code;
    return 0;
}
