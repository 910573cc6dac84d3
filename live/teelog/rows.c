/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "teelog/teelog_parts.h"

#include <stdlib.h>

static uint64_t hash_of(uint32_t object)
{
    return object * UINT64_C(0x9e3779b97f4a7c15);
}

static void take_out(struct tee_rows *r, const struct tee_row *row)
{
    *(row->newer ? &r->rows[row->newer].older : &r->newest) = row->older;
    *(row->older ? &r->rows[row->older].newer : &r->oldest) = row->newer;
}

static void put_first(struct tee_rows *r, uint32_t at)
{
    struct tee_row *row = &r->rows[at];

    row->newer = 0;
    row->older = r->newest;
    *(r->newest ? &r->rows[r->newest].newer : &r->oldest) = at;
    r->newest = at;
}

uint32_t tee_row_find(const struct teelog *log, uint32_t object)
{
    uint32_t at, row = table_first(&log->rows.by_object, hash_of(object), &at);

    return row == TABLE_NONE ? 0 : row; /* different objects have different hashes */
}

static void forget(struct teelog *log, uint32_t at)
{
    struct tee_rows *r = &log->rows;

    judge_forget(log->judge, at);
    take_out(r, &r->rows[at]);
    table_remove(&r->by_object, hash_of(r->rows[at].object), at);
    r->rows[at] = (struct tee_row){ .older = r->free };
    r->free = at;
    log->counts.objects--;
}

void tee_row_forget(struct teelog *log, uint32_t object)
{
    uint32_t at = tee_row_find(log, object);

    if (at)
        forget(log, at);
}

static uint32_t new_row(struct teelog *log)
{
    struct tee_rows *r = &log->rows;
    uint32_t at;

    if (!r->free && r->count == r->most) {
        forget(log, r->oldest);
        log->counts.forgotten++;
    }
    if (r->free) {
        at = r->free;
        r->free = r->rows[at].older;
        return at;
    }
    if (GROW_TO(r->rows, (uint64_t)r->count + 2, r->cap) < 0)
        return 0;
    return ++r->count;
}

uint32_t tee_row_of(struct teelog *log, uint32_t object, struct err *err)
{
    static const struct judge_object made = { .remade = true };
    struct tee_rows *r = &log->rows;
    uint32_t at = tee_row_find(log, object);

    if (at) {
        take_out(r, &r->rows[at]);
        put_first(r, at);
        return at;
    }
    at = new_row(log);
    if (!at || table_add(&r->by_object, hash_of(object), at) < 0) {
        err_memory(err, "objects that are compared");
        return 0;
    }
    r->rows[at] = (struct tee_row){ .object = object };
    put_first(r, at);
    log->counts.objects++;
    return judge_add_object(log->judge, at, &made, err) < 0 ? 0 : at;
}

void tee_rows_logged(struct teelog *log, const uint32_t objects[TEE_OBJECTS])
{
    for (int i = 0; i < TEE_OBJECTS; i++) {
        uint32_t row = objects[i] ? tee_row_find(log, objects[i]) : 0;

        if (row)
            log->rows.rows[row].is_logged = true;
    }
}

void teelog_remade(struct teelog *log, uint32_t object)
{
    tee_listings_drop(log, object);
    tee_row_forget(log, object);
}

void teelog_accessed(struct teelog *log, uint32_t object, const int64_t until[SIDES])
{
    judge_note_access(log->judge, tee_row_find(log, object), until);
}

int teelog_read(struct teelog *log, uint32_t object, const int64_t until[SIDES], bool waits,
                struct err *err)
{
    if (waits && !tee_row_of(log, object, err))
        return -err->code;
    teelog_accessed(log, object, until);
    return 0;
}

void teelog_unsettled(struct teelog *log, int64_t time)
{
    judge_note_unsettled(log->judge, time);
}

void teelog_changed(struct teelog *log, uint32_t object, const int64_t times[SIDES][2])
{
    judge_note_change(log->judge, tee_row_find(log, object), times);
}

int teelog_open_times(struct teelog *log, uint32_t object, struct err *err)
{
    uint32_t row = tee_row_of(log, object, err);

    if (!row)
        return -err->code;
    judge_note_open_times(log->judge, row);
    return 0;
}

bool teelog_has_open_times(const struct teelog *log, uint32_t object)
{
    return judge_has_open_times(log->judge, tee_row_find(log, object));
}

void teelog_forget(struct teelog *log, uint32_t object)
{
    tee_listings_drop(log, object);
    tee_row_forget(log, object);
}

void tee_rows_free(struct tee_rows *r)
{
    free(r->rows);
    table_free(&r->by_object);
}
