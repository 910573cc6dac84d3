/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/access.c
 *
 * Access times that a live host's pairs show.  A server updates them with each read, or seldom, or
 * never (strictatime, relatime, noatime): with relatime it depends on the change time, which nobody
 * can set, so it is later on the server whose object the synchronizer made.  The synchronizer reads
 * the objects of one server, too.  And two reads at the same time may have come in another order.
 *
 * So the access time of an object is compared only if a request of a client set it on both servers,
 * or made the object, and nobody read the object since: then no rule of a server changes it.  All
 * other differences are withheld (WITHHELD_READ).
 *
 * Traces of two runs are compared by the numbers of reads instead (sync_reads_differ): all reads
 * are known there, and both trees began alike.
 */
#include "judge/sync.h"

static bool is_open(const struct judge *j, uint32_t row)
{
    return !row || j->states[row].accessed;
}

bool judge_is_accessed(const struct judge *j, uint32_t row)
{
    return row > j->rows || is_open(j, row);
}

void judge_note_access(struct judge *j, uint32_t row, const int64_t until[SIDES])
{
    struct object_state *s = &j->states[row];

    if (!row || row > j->rows)
        return;
    s->accessed = true;
    s->access_set = false;
    for (int side = 0; side < SIDES; side++)
        if (until[side] > s->read_until[side])
            s->read_until[side] = until[side];
}

/* What a listing shows of others is not followed. */
bool access_is_open(const struct judge *j, enum whose whose)
{
    if (!j->partly)
        return false;
    if (whose == OF_ENTRY)
        return true;
    if (whose == OF_OBJECT && j->sets_access_time)
        return false;
    if (whose == OF_NEW_OBJECT && j->pair->made)
        return false;
    if (whose == OF_OBJECT && effect_reads_contents(&j->pair->half[REF].effect))
        return true;
    return j->pair->accessed & 1u << (whose == OF_PARENT ? OF_OBJECT : whose);
}

int access_before(struct judge *j, struct err *err)
{
    const struct judge_half *half = j->pair->half;
    const struct effect *e = &half[REF].effect;

    j->sets_access_time = false;
    if (!(e->asked.bits & ASKED_TIMES) || e->roles & ROLE_PARENT || !e->succeeded ||
        !half[SUT].effect.succeeded || j->pair->overlap & OVERLAP_OBJECT)
        return 0;
    if (judge_read_arguments(j, REF, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < j->arguments.count; i++)
        if (j->arguments.items[i].place->field->role & ROLE_SETS_TIME) {
            j->sets_access_time = j->arguments.items[i].value; /* the first one is this */
            break;
        }
    return 0;
}

static void set(struct judge *j, uint32_t row)
{
    struct object_state *s = &j->states[row];

    if (!row)
        return;
    for (int side = 0; side < SIDES; side++)
        if (j->pair->half[side].call_time < s->read_until[side])
            return; /* the read may have come later */
    s->accessed = false;
    s->access_set = true;
    for (int side = 0; side < SIDES; side++) {
        s->access[side][0] = j->pair->half[side].call_time;
        s->access[side][1] = j->pair->half[side].reply_time;
    }
}

/* One that failed may have read as well, as a listing of which not even one entry fitted. */
static void read(struct judge *j)
{
    int64_t until[SIDES];

    for (int side = 0; side < SIDES; side++)
        until[side] = !j->pair->half[side].effect.id ? 0
                      : j->pair->half[side].answered ? j->pair->half[side].reply_time
                                                     : INT64_MAX;
    judge_note_access(j, j->pair->object, until);
}

void access_after(struct judge *j)
{
    if (effect_reads_contents(&j->pair->half[REF].effect))
        read(j);
    else if (j->sets_access_time)
        set(j, j->pair->object);
    else if (j->pair->made)
        set(j, sync_object(j, OF_NEW_OBJECT));
}
