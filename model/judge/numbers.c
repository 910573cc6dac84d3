/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/numbers.c
 *
 * RFC 1813 s2.6 (fattr3): a file number identifies a file within a file system.  This finds two
 * objects that have one number on one side and two numbers on the other, while both exist.  (Hard
 * links are one object on both sides.)  Servers use numbers again: if one of the two was removed in
 * between, or may have been, nothing is reported until both are seen again.
 */
#include "judge/judge_fields.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static uint64_t hash_number(const struct shown_number *n)
{
    const uint64_t words[2] = { n->fsid, n->fileid };

    return XXH3_64bits(words, sizeof(words));
}

static bool equal(const struct shown_number *a, const struct shown_number *b)
{
    return a->fsid == b->fsid && a->fileid == b->fileid;
}

/* The object that showed the number last, if it is still its own; or 0. */
static uint32_t find_holder(const struct judge *j, int side, const struct shown_number *n)
{
    uint64_t hash = hash_number(n);
    uint32_t at;

    for (uint32_t row = table_first(&j->by_number[side], hash, &at); row != TABLE_NONE;
         row = table_next(&j->by_number[side], hash, &at))
        if (j->states[row].numbered && equal(&j->states[row].number[side], n))
            return row;
    return 0;
}

static int hold(struct judge *j, int side, uint32_t row, const struct shown_number *n,
                struct err *err)
{
    uint64_t hash = hash_number(n);
    uint32_t at, old = table_first(&j->by_number[side], hash, &at);

    if (old != TABLE_NONE) /* one of them is enough, also of several with one hash */
        table_move(&j->by_number[side], hash, old, row);
    else if (table_add(&j->by_number[side], hash, row) < 0)
        return err_memory(err, "objects");
    return 0;
}

/* The object holds its number no more. */
static void leave(struct judge *j, int side, uint32_t row)
{
    uint64_t hash = hash_number(&j->states[row].number[side]);
    uint32_t at, slot = table_first(&j->by_number[side], hash, &at);

    while (slot != TABLE_NONE && slot != row)
        slot = table_next(&j->by_number[side], hash, &at);
    if (slot == row)
        table_remove(&j->by_number[side], hash, row);
}

/* Until the later of the two was seen, on either side: the other capture may have lost it. */
static int may_be_removed(struct judge *j, uint32_t one, uint32_t other, struct err *err)
{
    const uint32_t rows[2] = { one, other };

    if (!j->host->removed)
        return 1;
    for (int side = 0; side < SIDES; side++) {
        const struct shown_number *n[2] = { &j->states[one].number[side],
                                            &j->states[other].number[side] };
        int64_t times[2] = { 0, n[0]->to > n[1]->to ? n[0]->to : n[1]->to };
        int result = 0;

        for (int i = 0; result == 0 && i < 3; i++) { /* what has no object may be any of them */
            times[0] = i < 2 ? n[i]->from : n[n[0]->from > n[1]->from]->from;
            result = j->host->removed(j->ctx, side, i < 2 ? rows[i] : 0, times, err);
        }
        if (result)
            return result;
    }
    return 0;
}

/* Whether |row| has the number of another object. 1: it has; 0; or negative. */
static int check_side(struct judge *j, int side, uint32_t row, uint32_t *other, struct err *err)
{
    struct object_state *s = &j->states[row];
    uint32_t holder = find_holder(j, side, &s->number[side]);
    int result = 0;

    *other = 0;
    if (holder && holder != row && !equal(&j->states[holder].number[!side], &s->number[!side])) {
        result = may_be_removed(j, holder, row, err);
        if (result < 0)
            return result;
        s->doubtful = j->states[holder].doubtful = result > 0;
        if (!result) {
            *other = holder; /* it goes on to hold it */
            return 1;
        }
    }
    return holder == row ? 0 : hold(j, side, row, &s->number[side], err);
}

int numbers_check(struct fields *f, const struct item *ref, const struct item *sut, struct err *err)
{
    const struct place *place = ref->place;
    const uint64_t fileid[SIDES] = { ref->value, sut->value };
    struct judge *j = f->j;
    uint32_t row = fields_object(f, place);
    struct object_state *s = &j->states[row];
    bool is_same = s->numbered;
    uint32_t own;

    for (int side = 0; side < SIDES; side++) {
        const struct judge_half *half = judge_found_in(j, side);
        struct shown_number n = { f->fsid[place->whose][side], fileid[side], half->call_time,
                                  half->reply_time };

        is_same = is_same && equal(&n, &s->number[side]);
        if (!is_same && fields_row(f, side, place, &own, err) < 0)
            return -err->code;
        if (!is_same && own != row) { /* the object is not known */
            s->numbered = false;
            return 1;
        }
        if (!equal(&n, &s->number[side]))
            leave(j, side, row);
        s->number[side] = n;
    }
    s->numbered = true;
    if (is_same && !s->doubtful)
        return 1;
    if (!is_same)
        s->is_shared = false;
    s->doubtful = false;
    for (int side = 0; side < SIDES; side++) {
        int found = check_side(j, side, row, &f->shared[side], err);

        if (found < 0)
            return found;
        if (found && s->is_shared) /* reported before */
            f->shared[side] = 0;
        else if (found)
            snprintf(f->what, sizeof(f->what), "%s the same for two files, %s not",
                     side == REF ? "ref" : "sut", side == REF ? "sut" : "ref");
        s->is_shared = s->is_shared || found;
    }
    return !f->shared[REF] && !f->shared[SUT];
}

void numbers_forget(struct judge *j, uint32_t row)
{
    j->states[row].numbered = false;
}

int numbers_text(struct fields *f, int side, char text[COMPARE_TEXT_MAX], struct err *err)
{
    char path[COMPARE_TEXT_MAX] = "";
    size_t len = strlen(text);

    if (!f->j->host->path_of)
        return 0;
    if (f->j->host->path_of(f->j->ctx, f->shared[side], path, err) < 0)
        return -err->code;
    if (*path)
        snprintf(text + len, COMPARE_TEXT_MAX - len, " (also %.150s)", path);
    return 0;
}

void numbers_drop(struct judge *j, uint32_t row)
{
    leave(j, REF, row);
    leave(j, SUT, row);
}
