/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/access.c
 *
 * What an operation reads and changes, at two granularities, from what it met when it was played:
 * the input of depend.h.  Contract: access.h.
 */
#include "depend/access.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
    USES_MOST = 48, /* of an operation without |above| and |entries| */
    USES_EACH = 4,  /* attributes of an object */
    SETTINGS = ASKED_MODE | ASKED_UID | ASKED_GID | ASKED_SIZE | ASKED_TIMES,
};

/* An operation with what its roles say of it. */
struct act {
    struct access *access;
    const struct played *p;
    const struct effect *e;
    uint32_t result_roles;  /* of the procedure, whatever came */
    bool reached, reached2; /* the handles were those of live objects */
    enum action action;
    bool removes, has_handle; /* success takes |name| away, tells its handle */
    bool alive_only;
    bool is_exclusive, sets_list;
};

const char *granularity_name(enum granularity granularity)
{
    return granularity == ACCESS_OBJECT ? "object" : "fine";
}

bool granularity_find(const char *name, enum granularity *granularity)
{
    for (int g = ACCESS_FINE; g <= ACCESS_OBJECT; g++)
        if (strcmp(name, granularity_name((enum granularity)g)) == 0) {
            *granularity = (enum granularity)g;
            return true;
        }
    return false;
}

void access_free(struct access *access)
{
    free(access->uses);
    *access = (struct access){ 0 };
}

static int reserve(struct access *access, const struct played *p, struct err *err)
{
    uint64_t need = USES_MOST + (uint64_t)p->above_count + (uint64_t)p->entry_count * USES_EACH;

    access->count = 0;
    if (GROW_TO(access->uses, need, access->cap) < 0)
        return err_memory(err, "the uses of an operation");
    return 0;
}

/* Who sets ctime does not care who else does, but who asks for it does: see depend.h. */
static void put(struct act *a, enum thing thing, bool changes, uint32_t object)
{
    if (thing == THING_TIME)
        changes = !changes;
    a->access->uses[a->access->count++] =
        (struct use){ .thing = (uint8_t)thing, .changes = changes, .object = object };
}

static void reads(struct act *a, enum thing thing, uint32_t object)
{
    put(a, thing, false, object);
}

static void changes(struct act *a, enum thing thing, uint32_t object)
{
    put(a, thing, true, object);
}

static void put_name(struct act *a, bool change, uint32_t object, struct bytes name)
{
    put(a, THING_NAME, change, object);
    a->access->uses[a->access->count - 1].name = XXH3_64bits(name.data, name.len);
}

static void put_data(struct act *a, bool change, uint32_t object, uint64_t start, uint64_t end)
{
    put(a, THING_DATA, change, object);
    a->access->uses[a->access->count - 1].start = start;
    a->access->uses[a->access->count - 1].end = end;
}

/* What an object's fattr3 shows, times apart. */
static void reads_attributes(struct act *a, const struct played_object *o)
{
    reads(a, THING_LIFE, o->object);
    reads(a, THING_MODE, o->object);
    reads(a, THING_NLINK, o->object);
    if (o->type == OBJECT_REG || o->type == OBJECT_UNKNOWN)
        reads(a, THING_SIZE, o->object);
}

static bool may_be_directory(const struct played_object *o)
{
    return o->type == OBJECT_DIR || o->type == OBJECT_UNKNOWN;
}

static bool is_dot_dot(struct bytes name)
{
    return name.len == 2 && name.data[0] == '.' && name.data[1] == '.';
}

static bool reached(const struct played_object *o)
{
    return o->object && !o->gone;
}

static void describe(struct act *a, struct access *access, const struct played *p)
{
    const struct effect *e = p->effect;

    *a = (struct act){ .access = access, .p = p, .e = e };
    a->result_roles = e->procedure->result->roles;
    a->reached = reached(&p->object);
    /* a server that does not know the first handle does not look at the second one */
    a->reached2 = a->reached && reached(&p->object2);
    a->action = effect_action(e);
    a->removes = effect_takes_name(e);
    a->has_handle = a->result_roles & ROLE_NEW_OBJECT;
    a->alive_only = a->action == ACTION_ASK_FILE_SYSTEM;
    a->is_exclusive = e->asked.bits & ASKED_HOW && e->asked.how == 2;
    a->sets_list = a->action == ACTION_SET_OTHER;
}

/* Handles of objects that existed once, also where the server does not look at them: a client
 * cannot send the handle of an object that is not made yet. */
static void reads_gone(struct act *a)
{
    if (a->p->object.gone)
        reads(a, THING_LIFE, a->p->object.object);
    if (a->p->object2.object && !a->reached2)
        reads(a, THING_LIFE, a->p->object2.object);
}

/* Moving a directory depends on where its new place is (RFC 1813 s3.3.14: not below itself). */
static void reads_above(struct act *a)
{
    if (a->removes && a->p->found.type == OBJECT_DIR)
        for (uint32_t i = 0; i < a->p->above_count; i++)
            reads(a, THING_PLACE, a->p->above[i]);
}

/* An object behind a name. */
static void fine_met(struct act *a, const struct played_object *o)
{
    const struct played *p = a->p;
    bool is_rmdir = a->removes && a->e->procedure->type == OBJECT_DIR;
    bool is_replaced = a->action == ACTION_RENAME && o->object == p->target.object;

    if (!o->object)
        return;
    reads(a, THING_LIFE, o->object);
    if (a->removes) /* sticky directories; moves of directories */
        reads(a, THING_MODE, o->object);
    if (o->type == OBJECT_DIR && (is_rmdir || is_replaced))
        reads(a, THING_NAMES, o->object);
    if (a->has_handle && p->succeeded)
        reads_attributes(a, o);
    if (a->is_exclusive) { /* servers keep the verifier in times */
        reads(a, THING_SIZE, o->object);
        reads(a, THING_TIME, o->object);
    } else if (a->e->asked.bits & ASKED_HOW && !p->succeeded) {
        reads(a, THING_MODE, o->object);
    }
}

static void fine_reads(struct act *a)
{
    const struct played *p = a->p;
    const struct effect *e = a->e;

    if (a->reached && a->alive_only)
        reads(a, THING_LIFE, p->object.object);
    else if (a->reached)
        reads_attributes(a, &p->object);
    if (a->reached2)
        reads_attributes(a, &p->object2);
    if (!a->reached)
        return;
    if (e->name_role && may_be_directory(&p->object)) {
        if (is_dot_dot(e->name))
            reads(a, THING_PLACE, p->object.object);
        else
            put_name(a, false, p->object.object, e->name);
    }
    if (e->name2_role && a->reached2 && may_be_directory(&p->object2))
        put_name(a, false, p->object2.object, e->name2);
    fine_met(a, &p->found);
    fine_met(a, &p->target);
    reads_above(a);
    if (e->asked.bits & ASKED_GUARD)
        reads(a, THING_TIME, p->object.object);
}

static void changes_size(struct act *a, uint32_t object)
{
    const struct played *p = a->p;
    uint64_t start = a->e->asked.size;

    if (p->resized)
        start = p->size_before < p->size_after ? p->size_before : p->size_after;
    changes(a, THING_SIZE, object);
    put_data(a, true, object, start, UINT64_MAX);
    changes(a, THING_TIME, object);
}

static void fine_range(struct act *a, uint32_t object)
{
    const struct effect *e = a->e;
    bool writes = a->action == ACTION_WRITE;
    uint64_t length = e->has_done ? e->done : e->count;
    uint64_t end = e->offset + length < e->offset ? UINT64_MAX : e->offset + length;

    if (length)
        put_data(a, writes, object, e->offset, end);
    if (writes && e->count)
        changes(a, THING_TIME, object);
    if (writes && a->p->resized && a->p->size_before != a->p->size_after)
        changes(a, THING_SIZE, object);
}

static void fine_set(struct act *a, uint32_t object)
{
    changes(a, THING_TIME, object);
    if (a->e->asked.bits & (ASKED_MODE | ASKED_UID | ASKED_GID))
        changes(a, THING_MODE, object);
    if (a->e->asked.bits & ASKED_SIZE)
        changes_size(a, object);
}

/* A name was made for something new, or what it stood for was taken. */
static void fine_made(struct act *a, uint32_t object)
{
    static const enum thing of_made[] = { THING_LIFE, THING_MODE, THING_NLINK, THING_SIZE,
                                          THING_TIME };
    const struct played_object *made = &a->p->made;

    if (!made->object && a->p->found.object) {
        if (a->e->asked.bits & ASKED_SIZE)
            changes_size(a, a->p->found.object);
        return;
    }
    put_name(a, true, object, a->e->name);
    changes(a, THING_TIME, object);
    if (!made->object)
        return;
    if (made->type == OBJECT_DIR) {
        changes(a, THING_NLINK, object);
        changes(a, THING_PLACE, made->object);
    }
    for (size_t i = 0; i < sizeof(of_made) / sizeof(*of_made); i++)
        changes(a, of_made[i], made->object);
}

static void fine_dropped(struct act *a, const struct played_object *o)
{
    if (!o->object)
        return;
    changes(a, THING_NLINK, o->object);
    changes(a, THING_TIME, o->object);
    if (o->gone)
        changes(a, THING_LIFE, o->object);
}

static void fine_removed(struct act *a, uint32_t object)
{
    put_name(a, true, object, a->e->name);
    changes(a, THING_TIME, object);
    if (a->e->procedure->type == OBJECT_DIR)
        changes(a, THING_NLINK, object);
    fine_dropped(a, &a->p->found);
}

static void fine_linked(struct act *a, uint32_t object, uint32_t into)
{
    put_name(a, true, into, a->e->name2);
    changes(a, THING_TIME, into);
    changes(a, THING_NLINK, object);
    changes(a, THING_TIME, object);
}

static void fine_renamed(struct act *a, uint32_t from, uint32_t into)
{
    const struct played *p = a->p;
    bool is_moved = from != into;

    put_name(a, true, from, a->e->name);
    put_name(a, true, into, a->e->name2);
    changes(a, THING_TIME, from);
    changes(a, THING_TIME, into);
    fine_dropped(a, &p->target);
    if (!p->found.object)
        return;
    changes(a, THING_TIME, p->found.object);
    if (p->found.type != OBJECT_DIR)
        return;
    if (is_moved) {
        changes(a, THING_PLACE, p->found.object);
        changes(a, THING_NLINK, from);
    }
    if (is_moved != (p->target.object != 0))
        changes(a, THING_NLINK, into);
}

static void fine_listed(struct act *a, uint32_t object)
{
    reads(a, THING_NAMES, object);
    for (uint32_t i = 0; i < a->p->entry_count; i++)
        if (a->p->entries[i].object)
            reads_attributes(a, &a->p->entries[i]);
}

static void fine_success(struct act *a)
{
    const struct effect *e = a->e;
    uint32_t object = a->p->object.object, object2 = a->p->object2.object;

    switch (a->action) {
    case ACTION_LIST:
        fine_listed(a, object);
        break;
    case ACTION_READ:
    case ACTION_WRITE:
        fine_range(a, object);
        break;
    case ACTION_RENAME:
        if (!a->p->idle && a->reached2)
            fine_renamed(a, object, object2);
        break;
    case ACTION_REMOVE:
        fine_removed(a, object);
        break;
    case ACTION_MAKE:
        fine_made(a, object);
        break;
    case ACTION_LINK:
        if (a->reached2)
            fine_linked(a, object, object2);
        break;
    case ACTION_SET:
        if (e->asked.bits & SETTINGS)
            fine_set(a, object);
        break;
    case ACTION_SET_OTHER:
        changes(a, THING_TIME, object);
        changes(a, THING_MODE, object);
        break;
    default:
        break;
    }
}

static void fine(struct act *a)
{
    reads_gone(a);
    fine_reads(a);
    if (a->p->succeeded && a->reached)
        fine_success(a);
}

static void coarse_met(struct act *a, const struct played_object *o, bool change)
{
    if (!o->object)
        return;
    reads(a, THING_LIFE, o->object);
    if (a->alive_only)
        return;
    /* what RENAME moves stays as it is */
    if (a->action == ACTION_RENAME && o->object == a->p->found.object)
        change = false;
    put(a, THING_OBJECT, change, o->object);
}

static void coarse(struct act *a)
{
    const struct played *p = a->p;
    const struct effect *e = a->e;
    /* a result has a wcc_data wherever the server may have changed something: COMMIT, too */
    bool change = p->succeeded && (a->result_roles & ROLE_BEFORE || a->sets_list) && !p->idle;
    bool is_rename = a->action == ACTION_RENAME;

    reads_gone(a);
    if (!a->reached)
        return;
    coarse_met(a, &p->object, change);
    if (a->reached2)
        coarse_met(a, &p->object2, change);
    coarse_met(a, &p->found, change);
    coarse_met(a, &p->target, change);
    coarse_met(a, &p->made, change);
    for (uint32_t i = 0; i < p->entry_count; i++)
        coarse_met(a, &p->entries[i], change);
    if (change && p->found.gone)
        changes(a, THING_LIFE, p->found.object);
    if (change && p->target.gone)
        changes(a, THING_LIFE, p->target.object);
    if (p->made.object)
        changes(a, THING_LIFE, p->made.object);
    if (p->made.object && p->made.type == OBJECT_DIR)
        changes(a, THING_PLACE, p->made.object);
    if (a->action == ACTION_FIND && is_dot_dot(e->name))
        reads(a, THING_PLACE, p->object.object);
    reads_above(a);
    if (is_rename && change && p->found.object) {
        changes(a, THING_TIME, p->found.object);
        if (p->found.type == OBJECT_DIR && p->object.object != p->object2.object)
            changes(a, THING_PLACE, p->found.object);
    }
    if (e->asked.bits & ASKED_GUARD)
        reads(a, THING_TIME, p->object.object);
    if (a->is_exclusive && p->found.object)
        reads(a, THING_TIME, p->found.object);
}

int access_of(struct access *access, const struct played *played, enum granularity granularity,
              struct err *err)
{
    struct act a;

    if (reserve(access, played, err) < 0)
        return -ERR_SYSTEM;
    if (!played->effect->procedure)
        return 0;
    describe(&a, access, played);
    if (granularity == ACCESS_OBJECT)
        coarse(&a);
    else
        fine(&a);
    if (played->after)
        access->uses[access->count++] =
            (struct use){ .thing = THING_AFTER, .start = played->after };
    return 0;
}
