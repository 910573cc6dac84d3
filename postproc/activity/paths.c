/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/paths.c
 *
 * Operations on each path, from the index of operations by path; the busiest paths, and a tree of
 * the directories with the most operations below.  Paths with the same text are one, though the
 * trace has a path for each object that had that name.  For activity.c.  The contract is in
 * activity_parts.h.
 */
#include "activity/activity_parts.h"
#include "base/digest.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 4096 };

void paths_free(struct paths *p)
{
    sqlite3_finalize(p->find);
    table_free(&p->table);
    free(p->same);
    free(p->parent);
    free(p->own);
    free(p->total);
    free(p->rank);
    free(p->cache);
}

/* Looks for a path by id.  Returns 1 with the row of |find|, 0 or a negative code. */
static int find_id(struct paths *p, int64_t id, struct err *err)
{
    sqlite3_reset(p->find);
    sqlite3_bind_int64(p->find, 1, id);
    return sql_row(p->find, err);
}

/* Finds the place of |text|, TABLE_NONE if it has none. */
static int find_text(struct paths *p, const char *text, uint64_t hash, uint32_t *place,
                     struct err *err)
{
    uint32_t at;
    int result = 0;

    for (*place = table_first(&p->table, hash, &at); *place != TABLE_NONE;
         *place = table_next(&p->table, hash, &at)) {
        result = find_id(p, (int64_t)*place + 1, err);
        if (result <= 0 || strcmp(sql_column_text(p->find, 1), text) == 0)
            break;
    }
    sqlite3_reset(p->find);
    return result < 0 ? result : 0;
}

static int make_room(struct paths *p, sqlite3 *db, struct err *err)
{
    int64_t most;

    if (sql_number(db, "SELECT max(id) FROM path", 0, &most, err) < 0 ||
        sql_prepare(db, "SELECT parent, text FROM path WHERE id = ?1", &p->find, err) < 0)
        return -err->code;
    p->count = most < 0 ? 0 : most < ACTIVITY_PATHS ? (uint32_t)most : ACTIVITY_PATHS;
    p->same = malloc((p->count + 1) * sizeof(*p->same));
    p->parent = malloc((p->count + 1) * sizeof(*p->parent));
    p->own = calloc(p->count + 1, sizeof(*p->own));
    p->total = calloc(p->count + 1, sizeof(*p->total));
    p->rank = malloc(p->count + 1);
    p->cache = calloc(PATHS_CACHE, sizeof(*p->cache));
    if (!p->same || !p->parent || !p->own || !p->total || !p->rank || !p->cache)
        return err_memory(err, "paths");
    memset(p->same, 0xff, (p->count + 1) * sizeof(*p->same)); /* TABLE_NONE */
    memset(p->parent, 0xff, (p->count + 1) * sizeof(*p->parent));
    memset(p->rank, PATHS_NO_RANK, p->count + 1);
    return 0;
}

static int read_path(void *ctx, sqlite3_stmt *row, struct err *err)
{
    struct paths *p = ctx;
    int64_t id = sqlite3_column_int64(row, 0), parent = sql_column(row, 1, 0);
    const char *text = sql_column_text(row, 2);
    uint32_t place = (uint32_t)(id - 1), first;
    uint64_t hash;

    if (id < 1 || id > p->count)
        return 0;
    if (!text)
        return err_memory(err, "paths");
    hash = XXH3_64bits(text, strlen(text));
    if (find_text(p, text, hash, &first, err) < 0)
        return -err->code;
    if (first == TABLE_NONE) {
        first = place;
        if (table_add(&p->table, hash, place) < 0)
            return err_memory(err, "paths");
    }
    p->same[place] = first;
    if (parent > 0 && parent < id) /* parents come first */
        p->parent[place] = p->same[parent - 1];
    return 0;
}

/* The place of a further path, or of the next directory above it that has one: then *|above|. */
static int place_of(struct paths *p, int64_t id, uint32_t *place, bool *above, struct err *err)
{
    *above = false;
    *place = TABLE_NONE;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        const char *text;
        char *copy;
        int result;

        if (id > 0 && id <= p->count) {
            *place = p->same[id - 1];
            return 0;
        }
        result = find_id(p, id, err);
        if (result <= 0)
            return result;
        id = sql_column(p->find, 0, 0);
        text = sql_column_text(p->find, 1);
        copy = text ? strdup(text) : NULL; /* the statement is used again */
        result = copy ? find_text(p, copy, XXH3_64bits(copy, strlen(copy)), place, err)
                      : err_memory(err, "paths");
        free(copy);
        if (result < 0 || *place != TABLE_NONE)
            return result;
        *above = true;
    }
    return 0;
}

static int count_path(void *ctx, sqlite3_stmt *row, struct err *err)
{
    uint64_t operations = (uint64_t)sqlite3_column_int64(row, 1);
    struct paths *p = ctx;
    uint32_t place;
    bool above;

    if (place_of(p, sqlite3_column_int64(row, 0), &place, &above, err) < 0)
        return -err->code;
    if (above || place == TABLE_NONE)
        p->beyond += operations;
    if (place != TABLE_NONE)
        *(above ? &p->total[place] : &p->own[place]) += operations;
    return 0;
}

int paths_read(struct paths *p, sqlite3 *db, struct err *err)
{
    if (make_room(p, db, err) < 0 ||
        sql_each(db, "SELECT id, parent, text FROM path ORDER BY id", read_path, p, err) < 0 ||
        sql_each(db, "SELECT path, count(*) FROM operation WHERE path IS NOT NULL GROUP BY path",
                 count_path, p, err) < 0)
        return -err->code;
    p->busiest.most = ACTIVITY_SHOWN;
    p->tree.most = ACTIVITY_NODES;
    for (uint32_t i = p->count; i-- > 0;) { /* parents stand before children */
        if (p->same[i] != i)
            continue;
        p->total[i] += p->own[i];
        if (p->parent[i] != TABLE_NONE)
            p->total[p->parent[i]] += p->total[i];
        p->groups += p->own[i] > 0;
        if (p->own[i])
            top_offer(&p->busiest, (int64_t)p->own[i], i);
        if (p->total[i])
            top_offer(&p->tree, (int64_t)p->total[i], i);
    }
    top_sort(&p->busiest);
    top_sort(&p->tree);
    for (uint32_t i = 0; i < p->busiest.count; i++)
        p->rank[p->busiest.entries[i].id] = (uint8_t)i;
    return 0;
}

int paths_rank(struct paths *p, int64_t id, struct err *err)
{
    struct paths_known *known = &p->cache[(uint64_t)id % PATHS_CACHE];
    uint32_t place;
    bool above;

    if (id > 0 && id <= p->count)
        return p->same[id - 1] == TABLE_NONE ? PATHS_NO_RANK : p->rank[p->same[id - 1]];
    if (known->id != id || !id) {
        if (place_of(p, id, &place, &above, err) < 0)
            return -err->code;
        *known = (struct paths_known){ id, above || place == TABLE_NONE ? PATHS_NO_RANK
                                                                        : p->rank[place] };
    }
    return known->rank;
}

/* --- the tree */

/* The place in the list of the parent's node, or TABLE_NONE. */
static uint32_t parent_node(const struct paths *p, uint32_t node)
{
    uint32_t parent = p->parent[p->tree.entries[node].id];

    for (uint32_t i = 0; parent != TABLE_NONE && i < p->tree.count; i++)
        if (p->tree.entries[i].id == parent)
            return i;
    return TABLE_NONE;
}

static int make_node(const struct paths *p, sqlite3_stmt *stmt, uint32_t at,
                     struct activity_node *to, struct err *err)
{
    uint32_t place = (uint32_t)p->tree.entries[at].id;
    const char *text;
    int result;

    sqlite3_bind_int64(stmt, 1, (int64_t)place + 1);
    result = sql_row(stmt, err);
    if (result < 0)
        return result;
    text = result > 0 ? sql_column_text(stmt, 0) : NULL;
    *to = (struct activity_node){ .label = strdup(text ? text : "?"),
                                  .operations = p->total[place],
                                  .own = p->own[place],
                                  .unshown = p->total[place] - p->own[place] };
    sqlite3_reset(stmt);
    return to->label ? 0 : err_memory(err, "paths");
}

int paths_tree(const struct paths *p, sqlite3 *db, struct activity *to, struct err *err)
{
    uint32_t above[ACTIVITY_NODES], stack[ACTIVITY_NODES], depths[ACTIVITY_NODES], depth = 0;
    uint32_t placed[ACTIVITY_NODES];
    sqlite3_stmt *stmt;
    int result = 0;

    to->paths = p->groups;
    to->nodes = calloc(ACTIVITY_NODES, sizeof(*to->nodes));
    if (!to->nodes)
        return err_memory(err, "paths");
    if (sql_prepare(db,
                    "SELECT CASE WHEN parent IS NULL THEN text ELSE name END FROM path"
                    " WHERE id = ?1",
                    &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < p->tree.count; i++)
        above[i] = parent_node(p, i);
    for (uint32_t i = p->tree.count; i-- > 0;)
        if (above[i] == TABLE_NONE) {
            depths[depth] = 0;
            stack[depth++] = i;
        }
    while (depth && result == 0) {
        uint32_t node = stack[--depth], deep = depths[depth];
        struct activity_node *made = &to->nodes[to->node_count];

        placed[node] = to->node_count;
        result = make_node(p, stmt, node, made, err);
        if (result < 0)
            break;
        to->node_count++;
        made->depth = deep;
        if (above[node] != TABLE_NONE) {
            to->nodes[placed[above[node]]].unshown -= made->operations;
            to->nodes[placed[above[node]]].children++;
        }
        for (uint32_t i = p->tree.count; i-- > 0;) /* the busiest child comes next */
            if (above[i] == node) {
                depths[depth] = deep + 1;
                stack[depth++] = i;
            }
    }
    return sql_end(stmt, result, err);
}
