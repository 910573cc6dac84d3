/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_paths.c
 *
 * Notes what each number of the plan is in the database, and goes up from there, from name to name
 * at the time of the operation, at most DEPTH_MAX of them.  A path that does not reach the root
 * begins with [#object], or with [@place] of the inferred operation that made the object.  For
 * cmd_deps.c.  The contract is in plan_paths.h.
 */
#include "plan/plan_paths.h"
#include "base/escape.h"
#include "base/grow.h"
#include "effect/effect.h"
#include "store/sql.h"
#include "wire/rpc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 256 };

struct plan_number {
    enum { NOTHING, OBJECT, MADE_BY, MADE_AT } kind;
    int64_t value; /* object or operation of the database, or place */
};

static int no_memory(struct err *err)
{
    return err_memory(err, "paths");
}

int plan_paths_init(struct plan_paths *p, sqlite3 *db, struct err *err)
{
    *p = (struct plan_paths){ .db = db };
    if (sql_prepare(db,
                    "SELECT parent, name FROM name_event WHERE object = ?1"
                    " AND event NOT IN (3, 5) ORDER BY ifnull(time, 0) <= ?2 DESC, id DESC LIMIT 1",
                    &p->name, err) < 0)
        return -err->code;
    return sql_prepare(db, "SELECT new_object FROM operation WHERE id = ?", &p->made, err);
}

void plan_paths_free(struct plan_paths *p)
{
    sqlite3_finalize(p->name);
    sqlite3_finalize(p->made);
    free(p->numbers);
    *p = (struct plan_paths){ 0 };
}

void plan_about_free(struct plan_about *about)
{
    buf_free(&about->path);
    buf_free(&about->path2);
}

static int note(struct plan_paths *p, uint32_t number, struct plan_number what, struct err *err)
{
    if (GROW_ZERO(p->numbers, (uint64_t)number + 1, p->number_cap) < 0)
        return no_memory(err);
    p->numbers[number] = what;
    return 0;
}

int plan_paths_object(struct plan_paths *p, const struct rdump_object *object, struct err *err)
{
    return note(p, object->number, (struct plan_number){ OBJECT, object->source }, err);
}

int plan_paths_made(struct plan_paths *p, const struct rdump_operation *operation, uint64_t place,
                    struct err *err)
{
    struct plan_number what = { MADE_BY, operation->source };

    if (!operation->made)
        return 0;
    if (!operation->source)
        what = (struct plan_number){ MADE_AT, (int64_t)place };
    return note(p, operation->made, what, err);
}

/* What a number stands for in the database; or, with 0, at which place it was made. */
static int find(struct plan_paths *p, uint32_t number, int64_t *object, int64_t *place,
                struct err *err)
{
    const struct plan_number *n = number < p->number_cap ? &p->numbers[number] : NULL;
    int step;

    *object = 0;
    *place = -1;
    if (!n || n->kind == NOTHING)
        return 0;
    if (n->kind == OBJECT)
        *object = n->value;
    else if (n->kind == MADE_AT)
        *place = n->value;
    if (n->kind != MADE_BY)
        return 0;
    sqlite3_bind_int64(p->made, 1, n->value);
    step = sqlite3_step(p->made);
    if (step == SQLITE_ROW)
        *object = sqlite3_column_int64(p->made, 0);
    sqlite3_reset(p->made);
    return step == SQLITE_ROW || step == SQLITE_DONE
               ? 0
               : err_set(err, ERR_SYSTEM, "operations: %s", sqlite3_errmsg(p->db));
}

static bool put(struct buf *to, const char *text)
{
    return buf_append(to, text, strlen(text)) == 0;
}

/* The names above an object, from it upwards, each behind a slash. */
struct climb {
    int64_t top; /* where they end: 0 behind a MOUNT path, which then has no slash */
    char *names[DEPTH_MAX];
    int count;
};

/* From |c->top|, which is the object at first. */
static int climb(struct plan_paths *p, int64_t time, struct climb *c, struct err *err)
{
    while (c->top > 0 && c->count < DEPTH_MAX) {
        const char *name;
        int step;

        sqlite3_bind_int64(p->name, 1, c->top);
        sqlite3_bind_int64(p->name, 2, time);
        step = sqlite3_step(p->name);
        name = step == SQLITE_ROW ? (const char *)sqlite3_column_text(p->name, 1) : NULL;
        if (name) {
            c->top = sqlite3_column_int64(p->name, 0);
            c->names[c->count] = strdup(name);
            if (!c->names[c->count]) {
                sqlite3_reset(p->name);
                return no_memory(err);
            }
            c->count++;
        }
        sqlite3_reset(p->name);
        if (!name)
            break;
    }
    return 0;
}

/* What an operation is about: an object, or a name in it. */
struct target {
    struct bytes handle, name;
    int64_t time; /* names that are known by then go before others */
};

/* |object|: the number in the database. */
static int put_object(struct plan_paths *p, const struct target *t, struct buf *to, int64_t *object,
                      struct err *err)
{
    uint32_t number = t->handle.len == 4 ? load_be32(t->handle.data) : 0;
    struct climb c;
    int64_t place;
    char text[32];
    bool good;

    if (find(p, number, object, &place, err) < 0)
        return -err->code;
    c.top = *object;
    c.count = 0;
    good = climb(p, t->time, &c, err) == 0;
    if (place >= 0)
        snprintf(text, sizeof(text), "[@%" PRId64 "]", place);
    else if (c.top)
        snprintf(text, sizeof(text), "[#%" PRId64 "]", c.top);
    else
        snprintf(text, sizeof(text), "[?]");
    good = good && (c.count && !c.top ? true : put(to, text));
    for (int i = c.count; i-- > 0;) {
        good = good && (i == c.count - 1 && !c.top ? true : put(to, "/")) && put(to, c.names[i]);
        free(c.names[i]);
    }
    return good ? 0 : no_memory(err);
}

static int put_one(struct plan_paths *p, const struct target *t, struct buf *to, int64_t *object,
                   struct err *err)
{
    to->len = 0;
    *object = 0;
    if (t->handle.data && put_object(p, t, to, object, err) < 0)
        return -err->code;
    if ((t->name.data && (!put(to, "/") || escape_name(t->name, false, to) < 0)) ||
        buf_append(to, "", 1) < 0)
        return no_memory(err);
    return 0;
}

int plan_paths_of(struct plan_paths *p, const struct rdump_operation *o, int64_t time,
                  struct plan_about *about, struct err *err)
{
    struct effect e = { .procedure = rdump_procedure(o->procedure),
                        .arguments_body = o->arguments,
                        .arguments_length = o->arguments.len,
                        .rpc_status = -1 };
    struct target one, other;

    effect_decode(&e);
    one = (struct target){ e.handle, e.name, time };
    other = (struct target){ e.handle2, e.name2, time };
    if (put_one(p, &one, &about->path, &about->objects[0], err) < 0)
        return -err->code;
    return put_one(p, &other, &about->path2, &about->objects[1], err);
}
