/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/sync.c
 *
 * What is not known to be the same on both sides: after changes whose order nobody knows, after
 * changes of one side only.  Attributes are known again when all of them compare equal, bytes when
 * they were read alike or written anew; names are sync_names.c's.
 */
#include "compare/pairs.h"

#include <stdlib.h>
#include <xxhash.h>

int sync_open(struct pairs *p, struct err *err)
{
    sqlite3 *db = p->c->db;
    sqlite3_stmt *stmt;
    int result;

    p->states = calloc(p->objects.count + 1, sizeof(*p->states));
    if (!p->states)
        return err_set(err, ERR_SYSTEM, "out of memory for objects");
    for (uint32_t row = 0; row <= p->objects.count; row++)
        for (int side = 0; side < SIDES; side++)
            p->states[row].told[side] = (struct told_times){ 0, 0, INT64_MAX, INT64_MIN };
    if (tables_prepare(db,
                       "SELECT m.id, ifnull(m.type, 0), r.fsid, s.fsid FROM main.object m"
                       " JOIN ref.object r ON r.id = m.ref JOIN sut.object s ON s.id = m.sut",
                       &stmt, err) < 0)
        return -err->code;
    while ((result = db_row(db, stmt, err)) > 0) {
        int64_t row = sqlite3_column_int64(stmt, 0);

        if (row <= 0 || row > p->objects.count)
            continue;
        p->states[row].type = (uint32_t)sqlite3_column_int64(stmt, 1);
        for (int side = 0; side < SIDES; side++)
            p->states[row].fsid[side] = (uint64_t)sqlite3_column_int64(stmt, 2 + side);
    }
    sqlite3_finalize(stmt);
    if (result < 0 ||
        tables_prepare(db,
                       "INSERT INTO main.unsynchronized VALUES (NULL,?,?,?,?,?,?,?,?,NULL,NULL,0)",
                       &p->unsync, err) < 0 ||
        tables_prepare(db,
                       "UPDATE main.unsynchronized SET until_ref = ?2, until_sut = ?3,"
                       " withheld = withheld + ?4 WHERE id = ?1",
                       &p->resync, err) < 0)
        return -err->code;
    return 0;
}

void sync_close(struct pairs *p)
{
    sync_data_close(p);
    free(p->states);
    sync_names_close(p);
    sqlite3_finalize(p->unsync);
    sqlite3_finalize(p->resync);
    for (int i = 0; i < 2 * SIDES; i++)
        sqlite3_finalize(p->writes[i / 2][i % 2]);
    table_free(&p->handles_told);
}

uint32_t sync_object(const struct pairs *p, enum whose whose)
{
    int side = p->pair.half[REF].effect.id ? REF : SUT;
    const struct effect *e = &p->pair.half[side].effect;

    switch (whose) {
    case OF_PARENT2:
        return matched_row(&p->objects, side, e->parent2);
    case OF_NEW_OBJECT:
        return matched_row(&p->objects, side, e->new_object);
    default:
        return p->pair.object;
    }
}

uint32_t sync_row(const struct pairs *p, int side, enum whose whose)
{
    const struct effect *e = &p->pair.half[side].effect;
    uint32_t object = whose == OF_NEW_OBJECT ? e->new_object
                      : whose == OF_PARENT2  ? e->parent2
                                             : e->object;

    return whose == OF_ENTRY ? 0 : matched_row(&p->objects, side, object);
}

static bool is_lost(const struct pairs *p, uint32_t row, int what)
{
    return row && p->states[row].lost & 1 << what;
}

/* How far the changes before, of the object that an attribute is of, are from being the same. */
static int64_t state_of(const struct pairs *p, enum whose whose)
{
    return p->pair.state[whose == OF_PARENT2 ? 1 : whose == OF_NEW_OBJECT ? 2 : 0];
}

/* RENAME's and LINK's directory tells nothing of its own. */
static int64_t rights_of(const struct pairs *p, enum whose whose)
{
    return whose == OF_PARENT2 ? p->states[sync_object(p, whose)].rights
                               : p->pair.rights[whose == OF_NEW_OBJECT];
}

int sync_order(const struct pairs *p, uint32_t row)
{
    return p->states[row].because ? p->states[row].because : WITHHELD_ORDER;
}

bool sync_is_other(const struct pairs *p, enum whose whose)
{
    return whose == OF_NEW_OBJECT && p->pair.kind == ALIGN_PAIR &&
           sync_object(p, whose) !=
               matched_row(&p->objects, SUT, p->pair.half[SUT].effect.new_object);
}

int sync_attributes(struct pairs *p, enum whose whose)
{
    uint32_t bit = whose == OF_PARENT2      ? OVERLAP_PARENT2
                   : whose == OF_NEW_OBJECT ? OVERLAP_NEW
                                            : OVERLAP_OBJECT;
    uint32_t row = sync_object(p, whose);

    if (p->pair.overlap & bit)
        return WITHHELD_OVERLAP;
    if (sync_is_other(p, whose))
        return WITHHELD_OUTCOME; /* and that is told */
    if (is_lost(p, row, UNSYNC_ATTRIBUTES))
        return p->states[row].reason;
    return row && (state_of(p, whose) != p->states[row].accepted ||
                   rights_of(p, whose) != p->states[row].rights)
               ? sync_order(p, row)
               : 0;
}

int sync_rights(struct pairs *p)
{
    if (p->pair.overlap & OVERLAP_RIGHTS)
        return WITHHELD_OVERLAP;
    return p->pair.object && p->pair.rights[0] != p->states[p->pair.object].rights
               ? sync_order(p, p->pair.object)
               : 0;
}

/* Of these alone it is told with a pair what was read before (lanes.c). */
static const int64_t *reads_of(const struct pairs *p, enum whose whose)
{
    return whose == OF_NEW_OBJECT                     ? &p->pair.reads[1]
           : whose == OF_OBJECT || whose == OF_PARENT ? &p->pair.reads[0]
                                                      : NULL;
}

bool sync_reads_differ(const struct pairs *p, enum whose whose, uint32_t row)
{
    const int64_t *reads = reads_of(p, whose);

    return row && (p->states[row].read_alone || (reads && *reads != p->states[row].reads));
}

void sync_reads_known(struct pairs *p, enum whose whose, uint32_t row)
{
    const int64_t *reads = reads_of(p, whose);

    if (!row)
        return;
    p->states[row].read_alone = false;
    if (reads)
        p->states[row].reads = *reads;
}

int sync_data(struct pairs *p)
{
    const struct effect *e = &p->pair.half[REF].effect;
    const struct object_state *s = &p->states[p->pair.object];
    int lost = sync_extent(s, e->offset, range_end(e->offset, e->count));
    bool other = p->pair.object && p->pair.state[0] != s->accepted;
    enum sync_written written;

    if (p->pair.overlap & OVERLAP_DATA)
        return WITHHELD_OVERLAP;
    if (lost == WITHHELD_CONFLICT)
        return WITHHELD_CONFLICT; /* which of two writes came last nobody knows */
    if (!p->pair.object)
        return 0;
    written = sync_written(p);
    if (written == WRITTEN_ALIKE || (written == WRITTEN_UNKNOWN && !lost && !other))
        return 0;
    return lost ? lost : sync_order(p, p->pair.object);
}

/* --- rows of unsynchronized */

int sync_put_row(struct pairs *p, uint32_t row, enum unsynchronized_what what,
                 enum withheld_reason reason, struct bytes name, uint64_t start, uint64_t end,
                 int64_t *id, struct err *err)
{
    const struct half *half = p->pair.half;

    sqlite3_bind_int64(p->unsync, 1, row);
    sqlite3_bind_int(p->unsync, 2, (int)what);
    sqlite3_bind_int(p->unsync, 3, (int)reason);
    if (name.data)
        sqlite3_bind_text(p->unsync, 4, (const char *)name.data, (int)name.len, SQLITE_STATIC);
    else
        sqlite3_bind_null(p->unsync, 4);
    tables_bind_unless(p->unsync, 5, what == UNSYNC_DATA ? (int64_t)start : INT64_MIN, INT64_MIN);
    tables_bind_unless(p->unsync, 6, what == UNSYNC_DATA ? (int64_t)(end - start) : INT64_MIN,
                       INT64_MIN);
    tables_bind_unless(p->unsync, 7, half[REF].effect.id, 0);
    tables_bind_unless(p->unsync, 8, half[SUT].effect.id, 0);
    if (tables_step(p->c->db, p->unsync, err) < 0)
        return -err->code;
    *id = sqlite3_last_insert_rowid(p->c->db);
    return 0;
}

int sync_end_row(struct pairs *p, int64_t id, bool known, uint64_t withheld, struct err *err)
{
    sqlite3_bind_int64(p->resync, 1, id);
    tables_bind_unless(p->resync, 2, known ? p->pair.half[REF].effect.id : 0, 0);
    tables_bind_unless(p->resync, 3, known ? p->pair.half[SUT].effect.id : 0, 0);
    sqlite3_bind_int64(p->resync, 4, (int64_t)withheld);
    return tables_step(p->c->db, p->resync, err);
}

void sync_count(struct pairs *p, enum whose whose)
{
    uint32_t row = sync_object(p, whose);
    struct object_state *s = &p->states[row];
    int64_t id = s->row;
    struct err unseen;
    bool lost = is_lost(p, row, UNSYNC_ATTRIBUTES);

    if (row && !lost) {
        if (!s->order && sync_put_row(p, row, UNSYNC_ATTRIBUTES, sync_order(p, row),
                                      (struct bytes){ NULL, 0 }, 0, 0, &s->order, &unseen) < 0)
            return;
        id = s->order;
        lost = true;
    }
    if (lost) {
        sqlite3_bind_int64(p->resync, 1, id);
        sqlite3_bind_null(p->resync, 2);
        sqlite3_bind_null(p->resync, 3);
        sqlite3_bind_int64(p->resync, 4, 1);
        tables_step(p->c->db, p->resync, &unseen);
    }
}

static int lose_attributes(struct pairs *p, uint32_t row, enum withheld_reason reason,
                           struct err *err)
{
    struct object_state *s = &p->states[row];

    if (!row || s->lost & 1 << UNSYNC_ATTRIBUTES)
        return 0;
    s->lost |= 1 << UNSYNC_ATTRIBUTES;
    s->reason = (uint8_t)reason;
    return sync_put_row(p, row, UNSYNC_ATTRIBUTES, reason, (struct bytes){ NULL, 0 }, 0, 0, &s->row,
                        err);
}

/* --- after an operation */

/* What an operation set out to change.  That attributes are not the same after a change of one
 * side only, the difference of states tells (lanes.c). */
static int lose(struct pairs *p, const struct effect *e, enum withheld_reason reason,
                struct err *err)
{
    uint32_t row = p->pair.object, row2 = sync_object(p, OF_PARENT2);
    bool named = e->name_role && e->roles & ROLE_PARENT;
    enum withheld_reason of_data = p->pair.overlap & CONFLICT_DATA ? WITHHELD_CONFLICT : reason;

    p->states[row].because = p->states[row2].because = (uint8_t)reason;
    for (int side = 0; side < SIDES; side++) /* one side alone may have made it */
        p->states[matched_row(&p->objects, side, p->pair.half[side].effect.new_object)].because =
            (uint8_t)reason;
    if (e->object_role & ROLE_MODIFIES || (named && e->name_role & ROLE_MODIFIES)) {
        if (reason == WITHHELD_CONFLICT && lose_attributes(p, row, reason, err) < 0)
            return -err->code;
        if (named && sync_lose_name(p, row, reason, e->name, err) < 0)
            return -err->code;
        if (!named && e->roles & ROLE_RANGE_START &&
            sync_lose_extent(p, row, of_data, e->offset, range_end(e->offset, e->count), err) < 0)
            return -err->code;
        if (!named && e->asked.bits & ASKED_SIZE &&
            sync_lose_extent(p, row, of_data, 0, UINT64_MAX, err) < 0)
            return -err->code;
    }
    return e->name2_role & ROLE_MODIFIES ? sync_lose_name(p, row2, reason, e->name2, err) : 0;
}

static int know_attributes(struct pairs *p, enum whose whose, struct err *err)
{
    uint32_t row = sync_object(p, whose);
    struct object_state *s = &p->states[row];

    if (row && !(p->pair.overlap & (OVERLAP_OBJECT | OVERLAP_PARENT2 | OVERLAP_NEW))) {
        s->accepted = state_of(p, whose);
        s->because = 0;
        s->rights = rights_of(p, whose);
    }
    if (row && s->order) {
        if (sync_end_row(p, s->order, true, 0, err) < 0)
            return -err->code;
        s->order = 0;
    }
    if (!is_lost(p, row, UNSYNC_ATTRIBUTES))
        return 0;
    s->lost &= (uint8_t)~(1 << UNSYNC_ATTRIBUTES);
    return sync_end_row(p, s->row, true, 0, err);
}

/* As many bytes as both sides wrote or read. */
static int know_data(struct pairs *p, struct err *err)
{
    const struct half *half = p->pair.half;
    uint64_t start = half[REF].effect.offset, end = UINT64_MAX;

    for (int side = 0; side < SIDES; side++) {
        const struct effect *e = &half[side].effect;
        uint64_t to = range_end(start, e->has_done ? e->done : e->count);

        if (!(e->has_eof && e->eof) && to < end)
            end = to;
    }
    return sync_know_extent(p, p->pair.object, start, end, err);
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
int sync_before(struct pairs *p, struct err *err)
{
    uint64_t verifiers[SIDES];
    uint32_t row = sync_object(p, OF_NEW_OBJECT);

    if (!row || !(p->pair.half[REF].effect.asked.bits & ASKED_HOW))
        return 0;
    for (int side = 0; side < SIDES; side++) {
        const struct effect *e = &p->pair.half[side].effect;
        struct places *places;

        if (places_get(&p->c->places, e->program, e->version, e->procedure, false, &places, err) <
                0 ||
            body_read(&p->pair.arguments, places, effect_arguments(e), err) < 0)
            return -err->code;
        verifiers[side] = verifier_of(&p->pair.arguments);
    }
    p->states[row].verifier = verifiers[REF] != verifiers[SUT];
    return 0;
}

/* Notes the times that clients set, as both sides were asked to. */
static int note_times(struct pairs *p, struct err *err)
{
    const struct effect *e = &p->pair.half[REF].effect;
    uint32_t row = sync_object(p, e->roles & ROLE_PARENT ? OF_NEW_OBJECT : OF_OBJECT);
    struct body *b = &p->pair.arguments;

    if (!row || !(e->asked.bits & ASKED_TIMES))
        return 0;
    p->states[row].set = 0;
    p->states[row].verifier = false;
    for (int side = 0; side < SIDES; side++) {
        const struct effect *x = &p->pair.half[side].effect;
        struct places *places;

        if (places_get(&p->c->places, x->program, x->version, x->procedure, false, &places, err) <
                0 ||
            body_read(b, places, effect_arguments(x), err) < 0)
            return -err->code;
        for (uint32_t i = 0; i < b->count; i++) {
            const char *path = b->items[i].place->path, *name = strrchr(path, '.');
            int which = !b->items[i].place->is_time || !name ? -1
                        : strcmp(name, ".atime") == 0        ? 0
                        : strcmp(name, ".mtime") == 0        ? 1
                                                             : -1;

            if (which >= 0) {
                p->states[row].times[which][side] = (int64_t)b->items[i].value;
                p->states[row].set |= (uint8_t)(1 << which);
            }
        }
    }
    return 0;
}

static void note_change_of(struct pairs *p, uint32_t row)
{
    for (int side = 0; row && side < SIDES; side++) {
        p->states[row].change[side][0] = p->pair.half[side].call_time;
        p->states[row].change[side][1] = p->pair.half[side].reply_time;
    }
}

/* When both sides changed something by the same request. */
static void note_change(struct pairs *p)
{
    const struct effect *e = &p->pair.half[REF].effect;

    if ((e->object_role | e->name_role) & ROLE_MODIFIES)
        note_change_of(p, p->pair.object);
    if (e->name2_role & ROLE_MODIFIES)
        note_change_of(p, sync_object(p, OF_PARENT2));
    if (e->name_role & ROLE_BINDS)
        note_change_of(p, sync_object(p, OF_NEW_OBJECT));
}

static bool sets_out_to_change(const struct effect *e)
{
    return (e->object_role | e->name_role | e->name2_role | e->parent2_role) & ROLE_MODIFIES;
}

static int after_one(struct pairs *p, const struct half *half, struct err *err)
{
    const struct effect *e = &half->effect;
    bool refused = half->answered && !e->succeeded;

    if (!refused && effect_reads_contents(e))
        p->states[p->pair.object].read_alone = true;
    return sets_out_to_change(e) && !refused ? lose(p, e, WITHHELD_ONE_SIDED, err) : 0;
}

/* CREATE is an operation on the directory, but may cut a file that was there. */
static void note_cut(struct pairs *p, int side)
{
    const struct half *half = &p->pair.half[side];
    const struct effect *e = &half->effect;
    uint32_t row = matched_row(&p->objects, side, e->new_object);

    if (!row || !(e->asked.bits & ASKED_SIZE) || !(e->roles & ROLE_PARENT) ||
        (half->answered && !e->succeeded))
        return;
    p->states[row].cut[side].operation = e->id;
    p->states[row].cut[side].size = e->asked.size;
}

int sync_after(struct pairs *p, bool status_equal, bool data_equal, struct err *err)
{
    const struct half *half = p->pair.half;
    const struct effect *e = &half[REF].effect;

    note_cut(p, REF);
    note_cut(p, SUT);
    if (p->pair.kind != ALIGN_PAIR)
        return after_one(p, e->id ? &half[REF] : &half[SUT], err);
    for (int whose = 0; whose < OF_ENTRY; whose++)
        if (p->pair.compared[whose] && !p->pair.differs[whose] &&
            know_attributes(p, (enum whose)whose, err) < 0)
            return -err->code;
    if (status_equal && sync_names_known(p, err) < 0)
        return -err->code;
    if (e->succeeded && half[SUT].effect.succeeded) {
        bool writes = e->roles & ROLE_RANGE_START && e->object_role & ROLE_MODIFIES;

        if ((writes || data_equal) && !(p->pair.overlap & OVERLAP_DATA) && know_data(p, err) < 0)
            return -err->code;
        note_change(p);
        if (note_times(p, err) < 0)
            return -err->code;
    }
    if (!sets_out_to_change(e))
        return 0;
    if ((half[REF].answered && half[SUT].answered && e->succeeded != half[SUT].effect.succeeded) ||
        half[REF].answered != half[SUT].answered)
        return lose(p, e, WITHHELD_OUTCOME, err);
    if (p->pair.overlap & (CONFLICT_ATTRIBUTES | CONFLICT_DATA | CONFLICT_NAME) &&
        (e->succeeded || half[SUT].effect.succeeded))
        return lose(p, e, WITHHELD_CONFLICT, err);
    return 0;
}

int sync_finish(struct pairs *p, struct err *err)
{
    return sync_names_finish(p, err);
}
