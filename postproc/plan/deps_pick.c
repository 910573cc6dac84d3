/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/deps_pick.c
 *
 * Chooses operations by range, object and path, and reads from the database what is shown of them.
 * An inferred operation waits until the captured one behind it tells whether it is in the range.
 * For cmd_deps.c.  The contract is in deps_pick.h.
 */
#include "plan/deps_pick.h"
#include "base/grow.h"
#include "store/sql.h"
#include "store/store.h"
#include "wire/rpc.h"

#include <stdlib.h>

struct deps_past {
    int64_t operation;
    const char *procedure;
};

static int no_memory(struct err *err)
{
    return err_memory(err, "operations");
}

int deps_pick_begin(struct deps_pick *p, sqlite3 *db, struct err *err)
{
    p->db = db;
    p->past = calloc(DEPEND_HORIZON, sizeof(*p->past));
    if (!p->past)
        return no_memory(err);
    if (sql_prepare(db,
                    "SELECT object, object2, new_object,"
                    " (SELECT text FROM path WHERE id = o.path),"
                    " (SELECT text FROM path WHERE id = o.path2) FROM operation o WHERE id = ?",
                    &p->test, err) < 0 ||
        sql_prepare(db,
                    "SELECT call_source, call_frame, reply_source, reply_frame, path, path2,"
                    " status FROM op WHERE id = ?",
                    &p->look, err) < 0)
        return -err->code;
    return sql_prepare(db,
                       "SELECT ifnull(call_source, reply_source), ifnull(call_frame,"
                       " reply_frame) FROM operation WHERE id = ?",
                       &p->frame, err);
}

void deps_item_free(struct deps_item *item)
{
    if (!item)
        return;
    free(item->path);
    free(item->path2);
    free(item->status);
    free(item);
}

static void forget(struct deps_pick *p)
{
    for (uint32_t i = 0; i < p->pending_count; i++)
        deps_item_free(p->pending[i]);
    p->pending_count = 0;
}

void deps_pick_end(struct deps_pick *p)
{
    sqlite3_finalize(p->test);
    sqlite3_finalize(p->look);
    sqlite3_finalize(p->frame);
    forget(p);
    free(p->pending);
    free(p->past);
}

/* 1: there is a row, which is read before the statement is reset; 0: none; or negative. */
static int row_of(sqlite3_stmt *stmt, int64_t operation, struct err *err)
{
    sqlite3_bind_int64(stmt, 1, operation);
    return sql_row(stmt, err);
}

static bool is_below(const char *path, const char *above)
{
    size_t len = strlen(above);

    return path && strncmp(path, above, len) == 0 && (!path[len] || path[len] == '/');
}

static const char *text_of(const struct buf *text)
{
    return text->len > 1 ? (const char *)text->data : NULL;
}

/* Whether object and path are those that were chosen: 1, 0 or negative. */
static int is_about(struct deps_pick *p, int64_t operation, const struct plan_about *about,
                    struct err *err)
{
    const struct deps_choice *c = p->choice;
    bool object = !c->object, path = !c->path;
    int result;

    if (object && path)
        return 1;
    if (about) {
        object = object || about->objects[0] == c->object || about->objects[1] == c->object;
        path = path || is_below(text_of(&about->path), c->path) ||
               is_below(text_of(&about->path2), c->path);
        return object && path;
    }
    result = row_of(p->test, operation, err);
    if (result <= 0)
        return result;
    for (int i = 0; i < 3; i++)
        object = object || sqlite3_column_int64(p->test, i) == c->object;
    for (int i = 3; i < 5; i++)
        path = path || is_below((const char *)sqlite3_column_text(p->test, i), c->path);
    sqlite3_reset(p->test);
    return object && path;
}

static bool copy_text(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return !text || *to;
}

/* What the database says of a captured operation. */
static int look(struct deps_pick *p, struct deps_item *item, struct err *err)
{
    int result = row_of(p->look, item->operation, err);
    bool good;

    if (result <= 0)
        return result;
    item->call_source = sqlite3_column_int64(p->look, 0);
    item->call_frame = sqlite3_column_int64(p->look, 1);
    item->reply_source = sqlite3_column_int64(p->look, 2);
    item->reply_frame = sqlite3_column_int64(p->look, 3);
    good = copy_text(&item->path, (const char *)sqlite3_column_text(p->look, 4)) &&
           copy_text(&item->path2, (const char *)sqlite3_column_text(p->look, 5)) &&
           copy_text(&item->status, (const char *)sqlite3_column_text(p->look, 6));
    sqlite3_reset(p->look);
    return good ? 0 : no_memory(err);
}

static const char *name_of(const struct procedure *procedure)
{
    return procedure ? procedure->name : NULL;
}

static struct deps_item *make(struct deps_pick *p, const struct plan_step *step, struct err *err)
{
    const struct rdump_operation *o = step->operation;
    const struct plan_edges *edges = &step->edges[p->choice->granularity];
    const struct plan_about *about = step->about;
    const struct procedure *procedure = rdump_procedure(o->procedure);
    struct deps_item *item = calloc(1, sizeof(*item) + edges->count * sizeof(item->on[0]));
    int result = 0;

    if (!item) {
        no_memory(err);
        return NULL;
    }
    item->place = step->place;
    item->operation = o->source;
    item->inferred = o->inferred;
    item->unplayable = o->unplayable;
    item->time = step->time;
    item->procedure = name_of(procedure);
    item->count = edges->count;
    for (uint32_t i = 0; i < edges->count; i++) {
        uint64_t other = step->place - edges->distances[i];
        const struct deps_past *past = &p->past[other & (DEPEND_HORIZON - 1)];

        item->on[i] = (struct deps_on){ other, past->operation, past->procedure };
    }
    if (!about)
        result = look(p, item, err);
    else if (!copy_text(&item->path, text_of(&about->path)) ||
             !copy_text(&item->path2, text_of(&about->path2)) ||
             !copy_text(&item->status, procedure ? status_name(procedure, o->status) : NULL))
        result = no_memory(err);
    if (result < 0) {
        deps_item_free(item);
        return NULL;
    }
    return item;
}

static int hold(struct deps_pick *p, struct deps_item *item, struct err *err)
{
    if (GROW(p->pending, p->pending_count, p->pending_cap) < 0) {
        deps_item_free(item);
        return no_memory(err);
    }
    p->pending[p->pending_count++] = item;
    return 0;
}

static int give(struct deps_pick *p, struct deps_item *item, struct err *err)
{
    p->count++;
    return p->picked(p->ctx, item, err);
}

/* What was held back is in the range, too. */
static int give_pending(struct deps_pick *p, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < p->pending_count; i++) {
        struct deps_item *item = p->pending[i];

        p->pending[i] = NULL;
        if (result == 0)
            result = give(p, item, err);
        else
            deps_item_free(item);
    }
    p->pending_count = 0;
    return result;
}

int deps_pick_next(struct deps_pick *p, const struct plan_step *step, struct err *err)
{
    const struct rdump_operation *o = step->operation;
    const struct deps_choice *c = p->choice;
    bool in_range = o->inferred || !c->first || (o->source >= c->first && o->source <= c->last);
    struct deps_item *item = NULL;
    int result = in_range ? is_about(p, o->source, step->about, err) : 0;

    if (result > 0) {
        item = make(p, step, err);
        result = item ? 0 : -err->code;
    }
    p->past[step->place & (DEPEND_HORIZON - 1)] =
        (struct deps_past){ o->source, name_of(rdump_procedure(o->procedure)) };
    if (result < 0)
        return result;
    if (o->inferred && c->first)
        return item ? hold(p, item, err) : 0;
    if (!in_range)
        forget(p);
    else if (give_pending(p, err) < 0) {
        deps_item_free(item);
        return -err->code;
    }
    return item ? give(p, item, err) : 0;
}

int deps_frame(struct deps_pick *p, int64_t operation, int64_t *source, int64_t *frame,
               struct err *err)
{
    int result;

    *source = *frame = 0;
    if (!operation)
        return 0;
    result = row_of(p->frame, operation, err);
    if (result <= 0)
        return result;
    *source = sqlite3_column_int64(p->frame, 0);
    *frame = sqlite3_column_int64(p->frame, 1);
    sqlite3_reset(p->frame);
    return 0;
}
