/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match_orphans.c
 *
 * Matches objects by their first requests, if roots, requests and names do not lead to them.
 */
#include "base/grow.h"
#include "compare/match_parts.h"
#include "wire/nfs3_numbers.h"

#include <stdio.h>
#include <stdlib.h>

/* Objects that nothing led to, with their first request. */
struct orphan {
    int64_t time, id;
    uint64_t key;
    uint32_t object, order;
    uint32_t passed; /* of the first one with a key: so many are matched */
};

static int read_orphans(struct match *m, int which, struct orphan **orphans, uint32_t *count,
                        struct err *err)
{
    int side = match_side(m, which);
    uint32_t cap = 0;
    sqlite3_stmt *stmt;
    char sql[256];
    int result;

    *orphans = NULL;
    *count = 0;
    snprintf(
        sql, sizeof(sql),
        "SELECT min(time), id, key, object FROM temp.sequence%d WHERE object <> 0 GROUP BY object"
        " ORDER BY 1, 2",
        db_side(side));
    if (sql_prepare(m->c->db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0) {
        uint32_t object = (uint32_t)sqlite3_column_int64(stmt, 3);

        if (matched_row(&m->objects, side, object))
            continue;
        if (GROW(*orphans, *count, cap) < 0) {
            result = err_memory(err, "objects");
            break;
        }
        (*orphans)[*count] = (struct orphan){ .time = sqlite3_column_int64(stmt, 0),
                                              .id = sqlite3_column_int64(stmt, 1),
                                              .key = (uint64_t)sqlite3_column_int64(stmt, 2),
                                              .object = object,
                                              .order = *count };
        ++*count;
    }
    sqlite3_finalize(stmt);
    return result;
}

static int by_key(const void *a, const void *b)
{
    const struct orphan *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The first with |key|, or where it would be. */
static uint32_t find_key(const struct orphan *o, uint32_t count, uint64_t key)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (o[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- handles that a client made up */

/* ?1: an object.  Its server knew it never; what has its handle on the other side, and the first
 * request on that. */
static const char find_made_up[] =
    "SELECT b.id, (SELECT id FROM temp.sequence%d WHERE object = b.id ORDER BY time, id LIMIT 1)"
    " AS first FROM %s.object a JOIN %s.object b ON b.handle = a.handle WHERE a.id = ?1"
    " AND EXISTS (SELECT 1 FROM %s.operation WHERE object = ?1 AND status = %d)"
    " AND NOT EXISTS (SELECT 1 FROM %s.operation WHERE object = ?1 AND status <> %d)"
    " AND first IS NOT NULL ORDER BY first";

/* |which|: the side of |o|. */
static int match_made_up(struct match *m, int which, const struct orphan *o, sqlite3_stmt *stmt,
                         struct err *err)
{
    struct alike alike = { .how = MATCH_MADE_UP, .path_sql = match_path_of_operation };
    int result = 0;

    sqlite3_bind_int64(stmt, 1, o->object);
    while (!matched_row(&m->objects, match_side(m, which), o->object) &&
           (result = sql_row(stmt, err)) > 0) {
        uint32_t other = (uint32_t)sqlite3_column_int64(stmt, 0);

        if (matched_row(&m->objects, match_side(m, !which), other))
            continue;
        alike.object[which] = o->object;
        alike.object[!which] = other;
        alike.by[which] = o->id;
        alike.by[!which] = sqlite3_column_int64(stmt, 1);
        result = match_objects(m, &alike, err);
        break;
    }
    sqlite3_reset(stmt);
    return result < 0 ? result : 0;
}

static int match_all_made_up(struct match *m, int which, const struct orphan *orphans,
                             uint32_t count, struct err *err)
{
    const int side = match_side(m, which);
    const char *own = m->c->side[side].schema, *other = m->c->side[!side].schema;
    char sql[sizeof(find_made_up) + 64];
    sqlite3_stmt *stmt;
    int result = 0;

    snprintf(sql, sizeof(sql), find_made_up, db_side(!side), own, other, own, NFS3ERR_BADHANDLE,
             own, NFS3ERR_BADHANDLE);
    if (sql_prepare(m->c->db, sql, &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = match_made_up(m, which, &orphans[i], stmt, err);
    sqlite3_finalize(stmt);
    return result == 0 ? match_follow(m, err) : result;
}

/* --- all of them */

int match_orphans(struct match *m, struct err *err)
{
    struct orphan *o[2] = { NULL, NULL };
    uint32_t count[2] = { 0, 0 };
    int result = 0;

    for (int i = 0; result == 0 && i < 2; i++)
        result = read_orphans(m, i, &o[i], &count[i], err);
    for (int i = 0; result == 0 && i < 2; i++)
        result = match_all_made_up(m, i, o[i], count[i], err);
    if (result == 0 && count[OTHER])
        qsort(o[OTHER], count[OTHER], sizeof(*o[OTHER]), by_key);
    for (uint32_t i = 0; result == 0 && i < count[ONE]; i++) {
        const struct orphan *one = &o[ONE][i];
        uint32_t first = find_key(o[OTHER], count[OTHER], one->key), best = first;

        if (first == count[OTHER] || o[OTHER][first].key != one->key ||
            matched_row(&m->objects, match_side(m, ONE), one->object))
            continue;
        best += o[OTHER][first].passed;
        while (best < count[OTHER] && o[OTHER][best].key == one->key &&
               matched_row(&m->objects, match_side(m, OTHER), o[OTHER][best].object))
            best++;
        o[OTHER][first].passed = best - first;
        if (best == count[OTHER] || o[OTHER][best].key != one->key)
            continue;
        const struct alike first_alike = { { one->object, o[OTHER][best].object },
                                           MATCH_FIRST,
                                           match_path_of_operation,
                                           { one->id, o[OTHER][best].id } };

        result = match_objects(m, &first_alike, err);
        if (result == 0)
            result = match_follow(m, err);
    }
    free(o[ONE]);
    free(o[OTHER]);
    return result;
}
