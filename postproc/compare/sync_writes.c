/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/sync_writes.c
 *
 * Which request wrote the bytes of a READ last.
 */
#include "compare/pairs.h"
#include "compare/row.h"

#include <string.h>

enum { WRITES_SEEN = 1024 }; /* operations on the object that are looked through */

struct last_write {
    bool there;
    uint64_t start, end;
    struct bytes digest; /* of its contents; none: the size was set */
    uint8_t bytes[16];
};

static bool changes_range(const struct effect *e, uint64_t start, uint64_t end,
                          struct last_write *write)
{
    if (!e->procedure || e->rpc_status > 0 || (e->pairing == 0 && !e->succeeded))
        return false;
    if (e->asked.bits & ASKED_SIZE && !(e->roles & ROLE_PARENT))
        *write = (struct last_write){ true, e->asked.size, UINT64_MAX };
    else if (e->procedure->arguments->has_data)
        *write = (struct last_write){ true, e->offset, range_end(e->offset, e->count) };
    else
        return false;
    return write->start < end && write->end > start;
}

/* The last one before the pair's operation, if there was one. */
static int find_last_write(struct pairs *p, int side, struct last_write *write, struct err *err)
{
    static const char *const sql[SIDES] = {
        "SELECT " ROW_COLUMNS("o") " FROM ref.operation o WHERE o.object = ?1 AND o.id < ?2"
                                   " ORDER BY o.id DESC LIMIT ?3",
        "SELECT " ROW_COLUMNS("o") " FROM sut.operation o WHERE o.object = ?1 AND o.id < ?2"
                                   " ORDER BY o.id DESC LIMIT ?3",
    };
    const struct effect *e = &p->pair.half[side].effect;
    sqlite3_stmt *stmt;
    int result = 0;

    *write = (struct last_write){ .there = false };
    if (!p->writes[side] && tables_prepare(p->c->db, sql[side], &p->writes[side], err) < 0)
        return -err->code;
    stmt = p->writes[side];
    sqlite3_bind_int64(stmt, 1, e->object);
    sqlite3_bind_int64(stmt, 2, e->id);
    sqlite3_bind_int(stmt, 3, WRITES_SEEN);
    while (!write->there && (result = db_row(p->c->db, stmt, err)) > 0) {
        struct bytes digest = db_column_bytes(stmt, ROW_DATA_DIGEST);
        struct effect other;

        row_effect(stmt, 0, &other);
        if (!changes_range(&other, e->offset, range_end(e->offset, e->count), write)) {
            write->there = false;
        } else if (digest.len <= sizeof(write->bytes)) {
            memcpy(write->bytes, digest.data, digest.len);
            write->digest = (struct bytes){ write->bytes, digest.len };
        }
    }
    sqlite3_reset(stmt);
    return result < 0 ? result : 0;
}

bool sync_last_writes_differ(struct pairs *p)
{
    struct last_write write[SIDES];
    struct err unseen;

    for (int side = 0; side < SIDES; side++)
        if (find_last_write(p, side, &write[side], &unseen) < 0)
            return false;
    return write[REF].there != write[SUT].there || write[REF].start != write[SUT].start ||
           write[REF].end != write[SUT].end || write[REF].digest.len != write[SUT].digest.len ||
           memcmp(write[REF].bytes, write[SUT].bytes, write[REF].digest.len) != 0;
}
