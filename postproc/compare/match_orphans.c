/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match_orphans.c
 *
 * Matches objects by their first requests, if roots, requests and names do not lead to them.
 */
#include "base/grow.h"
#include "compare/match_parts.h"

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

int match_orphans(struct match *m, struct err *err)
{
    struct orphan *o[2] = { NULL, NULL };
    uint32_t count[2] = { 0, 0 };
    int result = 0;

    for (int i = 0; result == 0 && i < 2; i++)
        result = read_orphans(m, i, &o[i], &count[i], err);
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
