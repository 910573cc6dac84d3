/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/sync.c
 *
 * Keeps track of what may differ between the sides: after changes whose order is undetermined, and
 * after changes on one side only.  Attributes are synchronized again when all of them compare
 * equal; bytes, when they were read with equal contents or written again.  sync_names.c does the
 * same for names.
 */
#include "judge/sync.h"

#include <string.h>
#include <xxhash.h>

static uint32_t row_of(const struct judge_half *half, enum whose whose)
{
    return whose == OF_NEW_OBJECT ? half->row.new_object
           : whose == OF_PARENT2  ? half->row.parent2
                                  : half->row.object;
}

uint32_t sync_object(const struct judge *j, enum whose whose)
{
    int side = j->pair->half[REF].effect.id ? REF : SUT;

    return whose == OF_PARENT2 || whose == OF_NEW_OBJECT ? row_of(&j->pair->half[side], whose)
                                                         : j->pair->object;
}

uint32_t sync_row(const struct judge *j, int side, enum whose whose)
{
    return whose == OF_ENTRY ? 0 : row_of(&j->pair->half[side], whose);
}

static bool is_lost(const struct judge *j, uint32_t row, int what)
{
    return row && j->states[row].lost & 1 << what;
}

/* How far the changes before, of the object that an attribute is of, are from being the same. */
static int64_t state_of(const struct judge *j, enum whose whose)
{
    return j->pair->change[whose == OF_PARENT2      ? CHANGES_PARENT2
                           : whose == OF_NEW_OBJECT ? CHANGES_NEW
                                                    : CHANGES_OBJECT];
}

/* There is no state of rights for the second directory of RENAME and LINK. */
static int64_t rights_of(const struct judge *j, enum whose whose)
{
    return whose == OF_PARENT2
               ? j->states[sync_object(j, whose)].rights
               : j->pair->change[whose == OF_NEW_OBJECT ? RIGHTS_NEW : RIGHTS_OBJECT];
}

int sync_order(const struct judge *j, uint32_t row)
{
    return j->states[row].because ? j->states[row].because : WITHHELD_ORDER;
}

bool sync_is_other(const struct judge *j, enum whose whose)
{
    return whose == OF_NEW_OBJECT && j->pair->kind == ALIGN_PAIR &&
           sync_object(j, whose) != j->pair->half[SUT].row.new_object;
}

static int why_attributes(const struct judge *j, enum whose whose, uint32_t overlap)
{
    uint32_t bit = whose == OF_PARENT2      ? OVERLAP_PARENT2
                   : whose == OF_NEW_OBJECT ? OVERLAP_NEW
                                            : OVERLAP_OBJECT;
    uint32_t row = sync_object(j, whose);

    if (j->partly && row && row == j->pair->object) /* LOOKUP of "." */
        bit |= OVERLAP_OBJECT;
    if (overlap & bit)
        return WITHHELD_OVERLAP;
    if (j->pair->not_same & 1u << (whose == OF_PARENT ? OF_OBJECT : whose))
        return WITHHELD_NOT_SAME;
    if (sync_is_other(j, whose))
        return WITHHELD_OUTCOME; /* which is reported */
    if (is_lost(j, row, UNSYNC_ATTRIBUTES))
        return j->states[row].reason;
    return row && (state_of(j, whose) != j->states[row].accepted ||
                   rights_of(j, whose) != j->states[row].rights)
               ? sync_order(j, row)
               : 0;
}

int sync_attributes(const struct judge *j, enum whose whose)
{
    return why_attributes(j, whose, j->pair->overlap);
}

int sync_listed(const struct judge *j)
{
    return why_attributes(j, OF_OBJECT, j->partly ? 0 : j->pair->overlap);
}

int sync_rights(const struct judge *j)
{
    if (j->pair->overlap & OVERLAP_RIGHTS)
        return WITHHELD_OVERLAP;
    return j->pair->object && j->pair->change[RIGHTS_OBJECT] != j->states[j->pair->object].rights
               ? sync_order(j, j->pair->object)
               : 0;
}

/* Pairs have reads of these only. */
static const int64_t *reads_of(const struct judge *j, enum whose whose)
{
    return whose == OF_NEW_OBJECT                     ? &j->pair->change[READS_NEW]
           : whose == OF_OBJECT || whose == OF_PARENT ? &j->pair->change[READS_OBJECT]
                                                      : NULL;
}

bool sync_reads_differ(const struct judge *j, enum whose whose, uint32_t row)
{
    const int64_t *reads = reads_of(j, whose);

    return row && (j->states[row].read_alone || (reads && *reads != j->states[row].reads));
}

void sync_reads_known(struct judge *j, enum whose whose, uint32_t row)
{
    const int64_t *reads = reads_of(j, whose);

    if (!row)
        return;
    j->states[row].read_alone = false;
    if (reads)
        j->states[row].reads = *reads;
}

int sync_data(struct judge *j, struct err *err)
{
    const struct effect *e = &j->pair->half[REF].effect;
    const struct object_state *s = &j->states[j->pair->object];
    int lost = sync_extent(s, e->offset, range_end(e->offset, e->count));
    bool other = j->pair->object && j->pair->change[CHANGES_OBJECT] != s->accepted;
    enum sync_written written;

    if (j->pair->overlap & OVERLAP_DATA)
        return WITHHELD_OVERLAP;
    if (lost == WITHHELD_CONFLICT)
        return WITHHELD_CONFLICT; /* either write may have come last */
    if (!j->pair->object)
        return 0;
    if (sync_written(j, &written, err) < 0)
        return -err->code;
    if (written == WRITTEN_ALIKE || (written == WRITTEN_UNKNOWN && !lost && !other))
        return 0;
    return lost ? lost : sync_order(j, j->pair->object);
}

/* --- calls of the host */

int sync_lose(struct judge *j, const struct judge_loss *loss, int64_t *id, struct err *err)
{
    return j->host->lost(j->ctx, j->pair, loss, id, err);
}

int sync_count(struct judge *j, enum whose whose, struct err *err)
{
    uint32_t row = sync_object(j, whose);
    struct object_state *s = &j->states[row];
    struct judge_loss loss = { .object = row, .what = UNSYNC_ATTRIBUTES };

    if (!row)
        return 0;
    if (is_lost(j, row, UNSYNC_ATTRIBUTES))
        return j->host->count(j->ctx, s->id, 1, err);
    loss.reason = (enum withheld_reason)sync_order(j, row);
    if (!s->order && sync_lose(j, &loss, &s->order, err) < 0)
        return -err->code;
    return j->host->count(j->ctx, s->order, 1, err);
}

static int lose_attributes(struct judge *j, uint32_t row, enum withheld_reason reason,
                           struct err *err)
{
    struct object_state *s = &j->states[row];
    struct judge_loss loss = { .object = row, .what = UNSYNC_ATTRIBUTES, .reason = reason };

    if (!row || s->lost & 1 << UNSYNC_ATTRIBUTES)
        return 0;
    s->lost |= 1 << UNSYNC_ATTRIBUTES;
    s->reason = (uint8_t)reason;
    return sync_lose(j, &loss, &s->id, err);
}

/* --- after an operation */

/* What an operation set out to change.  That attributes are not the same after a change of one
 * side only, the difference of states tells (request_sequences.c). */
static int lose(struct judge *j, const struct effect *e, enum withheld_reason reason,
                struct err *err)
{
    uint32_t row = j->pair->object, row2 = sync_object(j, OF_PARENT2);
    bool named = e->name_role && e->roles & ROLE_PARENT;
    struct judge_loss data = { .object = row,
                               .what = UNSYNC_DATA,
                               .reason =
                                   j->pair->overlap & CONFLICT_DATA ? WITHHELD_CONFLICT : reason,
                               .end = UINT64_MAX };

    j->states[row].because = j->states[row2].because = (uint8_t)reason;
    for (int side = 0; side < SIDES; side++) /* one side alone may have made it */
        j->states[j->pair->half[side].row.new_object].because = (uint8_t)reason;
    if (e->object_role & ROLE_MODIFIES || (named && e->name_role & ROLE_MODIFIES)) {
        if (reason == WITHHELD_CONFLICT && lose_attributes(j, row, reason, err) < 0)
            return -err->code;
        if (named && sync_lose_name(j, row, reason, e->name, err) < 0)
            return -err->code;
        if (!named && e->roles & ROLE_RANGE_START) {
            data.start = e->offset;
            data.end = range_end(e->offset, e->count);
            if (sync_lose_extent(j, &data, err) < 0)
                return -err->code;
        }
        if (!named && e->asked.bits & ASKED_SIZE) {
            data.start = 0;
            data.end = UINT64_MAX;
            if (sync_lose_extent(j, &data, err) < 0)
                return -err->code;
        }
    }
    return e->name2_role & ROLE_MODIFIES ? sync_lose_name(j, row2, reason, e->name2, err) : 0;
}

static int know_attributes(struct judge *j, enum whose whose, struct err *err)
{
    uint32_t row = sync_object(j, whose);
    struct object_state *s = &j->states[row];

    if (row && !(j->pair->overlap & (OVERLAP_OBJECT | OVERLAP_PARENT2 | OVERLAP_NEW))) {
        s->accepted = state_of(j, whose);
        s->because = 0;
        s->rights = rights_of(j, whose);
    }
    if (row && s->order) {
        if (j->host->known(j->ctx, j->pair, s->order, err) < 0)
            return -err->code;
        s->order = 0;
    }
    if (!is_lost(j, row, UNSYNC_ATTRIBUTES))
        return 0;
    s->lost &= (uint8_t)~(1 << UNSYNC_ATTRIBUTES);
    return j->host->known(j->ctx, j->pair, s->id, err);
}

/* As many bytes as both sides wrote or read. */
static int know_data(struct judge *j, struct err *err)
{
    const struct judge_half *half = j->pair->half;
    uint64_t start = half[REF].effect.offset, end = UINT64_MAX;

    for (int side = 0; side < SIDES; side++) {
        const struct effect *e = &half[side].effect;
        uint64_t to = range_end(start, e->has_done ? e->done : e->count);

        if (!(e->has_eof && e->eof) && to < end)
            end = to;
    }
    return sync_know_extent(j, j->pair->object, start, end, err);
}

static uint64_t verifier_of(const struct body *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i].place->field->cls == CLASS_VERIFIER)
            return XXH3_64bits(b->items[i].data, b->items[i].len);
    return 0;
}

/* Servers may keep the verifier of an exclusive create in the times of the file until these are set
 * (RFC 1813 s3.3.8); where the two verifiers differ, so do the times. */
int sync_before(struct judge *j, struct err *err)
{
    uint64_t verifiers[SIDES];
    uint32_t row = sync_object(j, OF_NEW_OBJECT);

    if (!row || !(j->pair->half[REF].effect.asked.bits & ASKED_HOW))
        return 0;
    for (int side = 0; side < SIDES; side++) {
        if (judge_read_arguments(j, side, err) < 0)
            return -err->code;
        verifiers[side] = verifier_of(&j->arguments);
    }
    j->states[row].verifier = verifiers[REF] != verifiers[SUT];
    return 0;
}

/* Notes the times that clients set, as both sides were asked to. */
static int note_times(struct judge *j, struct err *err)
{
    const struct effect *e = &j->pair->half[REF].effect;
    uint32_t row = sync_object(j, e->roles & ROLE_PARENT ? OF_NEW_OBJECT : OF_OBJECT);
    const struct body *b = &j->arguments;

    if (!row || !(e->asked.bits & ASKED_TIMES))
        return 0;
    j->states[row].set = 0;
    j->states[row].verifier = false;
    for (int side = 0; side < SIDES; side++) {
        if (judge_read_arguments(j, side, err) < 0)
            return -err->code;
        for (uint32_t i = 0; i < b->count; i++) {
            int which = b->items[i].place->stamp == STAMP_ATIME   ? 0
                        : b->items[i].place->stamp == STAMP_MTIME ? 1
                                                                  : -1;

            if (which >= 0) {
                j->states[row].times[which][side] = (int64_t)b->items[i].value;
                j->states[row].set |= (uint8_t)(1 << which);
            }
        }
    }
    return 0;
}

void judge_note_change(struct judge *j, uint32_t row, const int64_t times[SIDES][2])
{
    if (row && row <= j->rows)
        memcpy(j->states[row].touched, times, sizeof(j->states[row].touched));
}

/* A request that succeeds need not change anything: a SETATTR without settings, a RENAME to the
 * name of another link.  True if the reference's change time may be that of the request.  (Where
 * both trees were made before the trace, it does no harm.) */
static bool may_have_changed(const struct judge *j, enum whose whose, bool *is_sure)
{
    const struct judge_half *half = &j->pair->half[REF];
    const struct judge_side *side = &j->side[REF];
    int64_t slack = side->granularity + side->clock_error, time;
    struct attributes_before before;
    struct attributes a;

    *is_sure = !j->partly || effect_attributes(&half->effect, whose, &a);
    if (!j->partly)
        return true;
    if (*is_sure && effect_before(&half->effect, whose, &before) && before.ctime == a.ctime)
        return false;
    time = *is_sure ? a.ctime - side->clock_offset : 0;
    return !*is_sure || (time >= half->call_time - slack && time <= half->reply_time + slack);
}

static void note_change_of(struct judge *j, uint32_t row, enum whose whose, bool modifies)
{
    const struct judge_half *half = j->pair->half;
    const int64_t times[SIDES][2] = { { half[REF].call_time, half[REF].reply_time },
                                      { half[SUT].call_time, half[SUT].reply_time } };
    bool is_sure;

    if (!row || !may_have_changed(j, whose, &is_sure))
        return;
    judge_note_change(j, row, times);
    if (!is_sure)
        return;
    j->states[row].remade = false;
    memcpy(j->states[row].change, times, sizeof(j->states[row].change));
    if (modifies)
        memcpy(j->states[row].modified, times, sizeof(j->states[row].modified));
}

/* When both sides changed something by the same request. */
static void note_change(struct judge *j)
{
    const struct effect *e = &j->pair->half[REF].effect;
    bool names = effect_changes_names(e), writes = e->roles & ROLE_RANGE_START;

    if ((e->object_role | e->name_role) & ROLE_MODIFIES)
        note_change_of(j, j->pair->object, e->roles & ROLE_PARENT ? OF_PARENT : OF_OBJECT,
                       (names && e->roles & ROLE_PARENT) || writes || e->asked.bits & ASKED_SIZE);
    if (e->name2_role & ROLE_MODIFIES)
        note_change_of(j, sync_object(j, OF_PARENT2), OF_PARENT2, true);
    if (effect_makes_name(e))
        note_change_of(j, sync_object(j, OF_NEW_OBJECT), OF_NEW_OBJECT, true);
}

static bool sets_out_to_change(const struct effect *e)
{
    return (e->object_role | e->name_role | e->name2_role | e->parent2_role) & ROLE_MODIFIES;
}

static int after_one(struct judge *j, const struct judge_half *half, struct err *err)
{
    const struct effect *e = &half->effect;
    bool refused = half->answered && !e->succeeded;

    if (!refused && effect_reads_contents(e))
        j->states[j->pair->object].read_alone = true;
    return sets_out_to_change(e) && !refused ? lose(j, e, WITHHELD_ONE_SIDED, err) : 0;
}

/* CREATE is an operation on the directory, but may cut a file that was there. */
static void note_cut(struct judge *j, int side)
{
    const struct judge_half *half = &j->pair->half[side];
    const struct effect *e = &half->effect;
    uint32_t row = half->row.new_object;

    if (!row || !(e->asked.bits & ASKED_SIZE) || !(e->roles & ROLE_PARENT) ||
        (half->answered && !e->succeeded))
        return;
    j->states[row].cut[side].operation = e->id;
    j->states[row].cut[side].size = e->asked.size;
}

int sync_after(struct judge *j, bool status_equal, bool data_equal, struct err *err)
{
    const struct judge_half *half = j->pair->half;
    const struct effect *e = &half[REF].effect;

    note_cut(j, REF);
    note_cut(j, SUT);
    if (j->pair->kind != ALIGN_PAIR)
        return after_one(j, e->id ? &half[REF] : &half[SUT], err);
    for (int whose = 0; whose < OF_ENTRY; whose++)
        if (j->compared[whose] && !j->differs[whose] &&
            know_attributes(j, (enum whose)whose, err) < 0)
            return -err->code;
    if (status_equal && sync_names_known(j, err) < 0)
        return -err->code;
    if (e->succeeded && half[SUT].effect.succeeded) {
        bool writes = e->roles & ROLE_RANGE_START && e->object_role & ROLE_MODIFIES;

        if ((writes || data_equal) && !(j->pair->overlap & OVERLAP_DATA) && know_data(j, err) < 0)
            return -err->code;
        note_change(j);
        if (note_times(j, err) < 0)
            return -err->code;
        open_times_after(j);
    }
    if (!sets_out_to_change(e))
        return 0;
    if ((half[REF].answered && half[SUT].answered && e->succeeded != half[SUT].effect.succeeded) ||
        half[REF].answered != half[SUT].answered)
        return lose(j, e, WITHHELD_OUTCOME, err);
    if (j->pair->overlap & (CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME) &&
        (e->succeeded || half[SUT].effect.succeeded))
        return lose(j, e, WITHHELD_CONFLICT, err);
    return 0;
}
