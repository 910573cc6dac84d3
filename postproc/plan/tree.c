/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/tree.c
 *
 * Gives the operations of a database to the hierarchy in their order (learn.h), and finds for it
 * the objects of handles.  Also notes what was known at equal steps of the trace's time, and sorts
 * the entries.  tree_walk is in tree_walk.c.  For plan.c.  The contract is in tree.h.
 */
#include "base/digest.h"
#include "plan/tree.h"
#include "store/sql.h"

#include <stdlib.h>

/* Handles come again and again: the last ones are remembered by their hash. */
static struct tree_found *remembered(struct tree *t, const char *server, struct bytes handle,
                                     uint64_t *hash)
{
    *hash = XXH3_64bits_withSeed(handle.data, handle.len, (uintptr_t)server);
    return &t->found[*hash % TREE_FOUND];
}

int tree_find(struct tree *t, const char *server, struct bytes handle, uint32_t *object,
              struct err *err)
{
    uint64_t hash;
    struct tree_found *found = remembered(t, server, handle, &hash);
    int step;

    *object = found->object;
    if (found->object && found->hash == hash)
        return 0;
    *object = 0;
    sqlite3_bind_blob(t->find, 1, handle.data, (int)handle.len, SQLITE_STATIC);
    sqlite3_bind_text(t->find, 2, server, -1, SQLITE_STATIC);
    step = sqlite3_step(t->find);
    if (step == SQLITE_ROW)
        *object = (uint32_t)sqlite3_column_int64(t->find, 0);
    else if (step != SQLITE_DONE)
        sql_fail(t->db, err);
    sqlite3_reset(t->find);
    *found = (struct tree_found){ hash, *object };
    return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : -err->code;
}

static int find(void *ctx, const char *server, struct bytes handle, uint32_t *object,
                struct err *err)
{
    return tree_find(ctx, server, handle, object, err);
}

/* Counts at the ends of equal parts of the trace's time, as far as |time| has come. */
static void grow(struct tree *t, int64_t time)
{
    int64_t span = t->last_time - t->first_time;

    while (t->growth_count < TREE_GROWTH) {
        struct tree_growth *g = &t->growth[t->growth_count];
        int64_t end = t->first_time + span / TREE_GROWTH * (t->growth_count + 1);

        if (t->growth_count == TREE_GROWTH - 1)
            end = t->last_time;
        if (time <= end)
            return;
        *g = (struct tree_growth){ end, t->operations, t->learn.hierarchy.counts };
        t->growth_count++;
    }
}

static int address(void *ctx, uint32_t number, const char *text, struct err *err)
{
    const struct tree *t = ctx;

    return t->options->address(t->options->ctx, number, text, err);
}

static int called(void *ctx, struct effect *effect, struct err *err)
{
    struct tree *t = ctx;

    grow(t, effect->call_time);
    t->operations++;
    if (t->options->called && t->options->called(t->options->ctx, effect, err) < 0)
        return -err->code;
    return learn_called(&t->learn, effect, err);
}

static int done(void *ctx, struct effect *effect, struct err *err)
{
    struct tree *t = ctx;

    if (learn_done(&t->learn, effect, err) < 0)
        return err_prefix(err, "operation %lld", (long long)effect->id);
    return t->options->done ? t->options->done(t->options->ctx, effect, err) : 0;
}

static int read_times(struct tree *t, struct err *err)
{
    sqlite3_stmt *stmt;

    if (sql_prepare(t->db, "SELECT min(first_time), max(last_time) FROM source", &stmt, err) < 0)
        return -err->code;
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        t->first_time = sqlite3_column_int64(stmt, 0);
        t->last_time = sqlite3_column_int64(stmt, 1);
    }
    return sql_end(stmt, 0, err);
}

static int by_parent_and_name(const void *left, const void *right, void *ctx)
{
    const struct hierarchy *h = ctx;
    const struct entry *a = entry_at(h, *(const uint32_t *)left);
    const struct entry *b = entry_at(h, *(const uint32_t *)right);
    struct bytes x = text_bytes(a->name), y = text_bytes(b->name);
    int order;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);
    return order ? order : x.len < y.len ? -1 : x.len > y.len;
}

int tree_sort(struct tree *t, struct err *err)
{
    struct hierarchy *h = &t->learn.hierarchy;

    t->entries = malloc(((size_t)h->entries.count + 1) * sizeof(*t->entries));
    if (!t->entries)
        return err_memory(err, "the tree");
    for (uint32_t i = 1; i < h->entries.count; i++)
        if (entry_at(h, i)->is_used && entry_at_moment(h, entry_at(h, i)))
            t->entries[t->entry_count++] = i;
    qsort_r(t->entries, t->entry_count, sizeof(*t->entries), by_parent_and_name, h);
    return 0;
}

int tree_read(struct tree *t, sqlite3 *db, const struct tree_options *options, struct err *err)
{
    const struct effect_visitor visitor = { options->address ? address : NULL, called, done, t,
                                            options->filter };

    memset(t, 0, sizeof(*t));
    t->db = db;
    t->options = options;
    if (learn_init(&t->learn, options->moment, &options->host, err) < 0)
        return -err->code;
    t->learn.find = find;
    t->learn.ctx = t;
    t->found = calloc(TREE_FOUND, sizeof(*t->found));
    if (!t->found)
        return err_memory(err, "the tree");
    if (sql_prepare(db, "SELECT id FROM object WHERE handle = ? AND server = ?", &t->find, err) < 0)
        return -err->code;
    return read_times(t, err) < 0 ? -err->code : effects_read(db, &visitor, err);
}

int tree_end(struct tree *t, struct err *err)
{
    grow(t, INT64_MAX);
    return hierarchy_end(&t->learn.hierarchy, err);
}

void tree_free(struct tree *t)
{
    sqlite3_finalize(t->find);
    learn_free(&t->learn);
    free(t->found);
    free(t->entries);
    memset(t, 0, sizeof(*t));
}
