/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/attempt.c
 *
 * Whether the recorded outcome of an operation is the one that a server would give on the tree as
 * it is now (RFC 1813 s3.3).  Contract: attempt.h; what the operation changes is in
 * attempt_predict.c, what its result shows in attempt_result.c.
 */
#include "play/attempt.h"
#include "depend/depend.h"

#include <stdlib.h>

static uint32_t alive(const struct hierarchy *h, uint32_t node)
{
    return node && node_at(h, node)->died == TO_THE_END ? node : NODE_NONE;
}

static const struct image *find_image(const struct attempt *t, uint32_t node)
{
    for (uint32_t k = 0; node && k < t->image_count; k++)
        if (t->images[k].node == node)
            return &t->images[k];
    return NULL;
}

/* Takes an image of a node, if there is none: of what another attempt would leave, or as it is. */
static void take_image(struct attempt *t, uint32_t node)
{
    const struct image *after = t->after ? find_image(t->after, node) : NULL;
    const struct node *n = node_at(t->r->h, node);
    struct image *i = &t->images[t->image_count];

    if (!node || find_image(t, node) || t->image_count == ATTEMPT_IMAGES)
        return;
    t->image_count++;
    if (after) {
        *i = *after;
        i->changed = i->rights_changed = false;
        return;
    }
    *i = (struct image){ .node = node,
                         .type = n->type,
                         .knows = n->knows,
                         .own = play_node_at(&t->r->nodes, node)->own,
                         .mode = n->mode,
                         .uid = n->uid,
                         .gid = n->gid,
                         .nlink = n->nlink,
                         .rdev = { n->rdev[0], n->rdev[1] },
                         .size = n->size };
}

/* "." and "..": NODE_NONE also when it is not known. */
static uint32_t dots(const struct hierarchy *h, uint32_t directory, struct bytes name)
{
    uint32_t entry = node_at(h, directory)->names;

    if (name.len == 1)
        return directory;
    return entry ? entry_at(h, entry)->parent : NODE_NONE;
}

static void meet(struct attempt *t, struct rehearsal *r, const struct attempt *after,
                 struct spooled *op, struct err *err)
{
    const struct hierarchy *h = r->h;
    struct effect *e = &op->effect;

    memset(t, 0, sizeof(*t));
    t->after = after;
    t->r = r;
    t->op = op;
    t->e = e;
    t->err = err;
    t->object = op->node ? op->node : alive(h, node_find(h, e->object));
    t->object2 = op->node2 ? op->node2 : alive(h, node_find(h, e->parent2));
    if (t->object && e->name.data) {
        if (bytes_are_dots(e->name)) {
            t->met_itself = true;
            if (effect_finds_name(e)) /* whoever makes or removes one is refused for its name */
                t->found = dots(h, t->object, e->name);
        } else {
            t->entry = entry_find(h, t->object, e->name);
            t->found = t->entry ? entry_at(h, t->entry)->node : NODE_NONE;
        }
    }
    if (t->object2 && e->name2.data) {
        t->entry2 = entry_find(h, t->object2, e->name2);
        t->target = t->entry2 ? entry_at(h, t->entry2)->node : NODE_NONE;
    }
    t->moves = effect_moves(e);
    t->makes = e->succeeded && effect_makes_name(e) && !t->found;
    t->idle = t->moves && t->found && t->found == t->target;
    take_image(t, t->object);
    take_image(t, t->object2);
    take_image(t, t->found);
    take_image(t, t->target);
}

/* What the attributes of the result are about. */
static uint32_t node_of(const struct attempt *t, enum whose whose)
{
    return whose == OF_PARENT2 ? t->object2 : whose == OF_NEW_OBJECT ? t->found : t->object;
}

const struct image *attempt_image(const struct attempt *t, enum whose whose)
{
    return whose == OF_NEW_OBJECT && t->makes ? t->made : find_image(t, node_of(t, whose));
}

struct image *attempt_image_of(struct attempt *t, enum whose whose)
{
    const struct image *i = attempt_image(t, whose);

    return i ? &t->images[i - t->images] : NULL;
}

void attempt_meet(struct attempt *t, struct rehearsal *r, struct spooled *op, struct err *err)
{
    meet(t, r, NULL, op, err);
}

bool attempt_fits_after(const struct attempt *first, struct spooled *op)
{
    struct attempt t;

    meet(&t, first->r, first, op, first->err);
    attempt_predict(&t);
    return attempt_misfits(&t) == 0;
}

/* Whether the object behind a name is |object| of the database. */
static bool is_object(const struct attempt *t, uint32_t node, uint32_t object)
{
    const struct hierarchy *h = t->r->h;
    uint32_t known = node_find(h, object);

    if (!object || known == node)
        return true;
    return node_at(h, node)->flags & NODE_NAMELESS && !alive(h, known);
}

const struct caller *attempt_caller(const struct attempt *t)
{
    if (!t->r->refuses || t->op->inferred || t->lenient || t->r->overruled > REHEARSAL_OVERRULED)
        return NULL;
    return caller_of(&t->r->callers, t->e->credential);
}

/* CREATE of what is there. */
static enum may may_meet(const struct attempt *t)
{
    if (!(t->e->asked.bits & ASKED_SIZE) || t->e->asked.how != UNCHECKED)
        return MAY_BE;
    return may_write(attempt_caller(t), node_at(t->r->h, t->found));
}

static bool fits_made(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;

    if (t->met_itself)
        return false;
    if (!t->found)
        return !alive(h, node_find(h, e->new_object)) &&
               may_change(attempt_caller(t), node_at(h, t->object)) != MAY_NOT;
    return e->asked.bits & ASKED_HOW && e->asked.how != GUARDED &&
           is_object(t, t->found, e->new_object) && may_meet(t) != MAY_NOT;
}

uint32_t attempt_stuck(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;

    if (!t->e->succeeded || !effect_takes_name(t->e) || t->idle || !t->found)
        return NODE_NONE;
    if (may_take(attempt_caller(t), node_at(h, t->object), node_at(h, t->found)) == MAY_NOT)
        return t->found;
    if (t->target &&
        may_take(attempt_caller(t), node_at(h, t->object2), node_at(h, t->target)) == MAY_NOT)
        return t->target;
    return NODE_NONE;
}

/* Whether the caller may, for sure, do all that the operation needs to change names: then it is not
 * refused. */
static bool is_permitted(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;

    if (t->object && e->name.data && may_change(attempt_caller(t), node_at(h, t->object)) != MAY)
        return false;
    if (t->object2 && may_change(attempt_caller(t), node_at(h, t->object2)) != MAY)
        return false;
    if (effect_makes_name(e) && t->found && may_meet(t) != MAY)
        return false;
    if (effect_takes_name(e) && t->found &&
        may_take(attempt_caller(t), node_at(h, t->object), node_at(h, t->found)) != MAY)
        return false;
    return !t->moves || !t->target ||
           may_take(attempt_caller(t), node_at(h, t->object2), node_at(h, t->target)) == MAY;
}

static bool has_type(const struct hierarchy *h, uint32_t node, bool directory)
{
    const struct node *n = node_at(h, node);

    return !n->type || node_is_directory(n) == directory;
}

bool attempt_needs_empty(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;

    if (!t->e->succeeded || !effect_takes_name(t->e) || t->idle)
        return false;
    if (t->moves)
        return t->target && node_at(h, t->target)->children;
    return t->found && node_at(h, t->found)->children;
}

/* Whether the caller is not refused a change of the directories: of the second one alone, of both.
 */
static bool may_change_second(const struct attempt *t)
{
    return !t->object2 || t->idle ||
           may_change(attempt_caller(t), node_at(t->r->h, t->object2)) != MAY_NOT;
}

static bool may_change_both(const struct attempt *t)
{
    return (!t->object || t->idle ||
            may_change(attempt_caller(t), node_at(t->r->h, t->object)) != MAY_NOT) &&
           may_change_second(t);
}

static bool fits_success(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;

    if ((e->name.data && !has_type(h, t->object, true)) ||
        (e->name2.data && !has_type(h, t->object2, true)))
        return false;
    switch (effect_action(e)) {
    case ACTION_FIND:
        if (!e->name.data || (t->met_itself && !t->found))
            return true; /* what is above a root */
        return t->found && is_object(t, t->found, e->new_object);
    case ACTION_MAKE:
        return fits_made(t);
    case ACTION_RENAME:
        return may_change_both(t) && t->found && t->object2 && !t->met_itself && !attempt_stuck(t);
    case ACTION_REMOVE:
        return may_change_both(t) && t->found && !t->met_itself && !attempt_stuck(t) &&
               has_type(h, t->found, e->procedure->type == OBJECT_DIR);
    case ACTION_LINK:
        return may_change_second(t) && t->object2 && !t->target;
    default:
        return true;
    }
}

/* RFC 1813 s3.3.8 to s3.3.15: what a failure says of names. */
static bool fits_failure(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;
    bool binds = effect_makes_name(e) || effect_makes_name2(e);
    bool removes = effect_takes_name(e);
    uint32_t bound = effect_makes_name2(e) ? t->target : t->found;

    if (t->met_itself && !effect_finds_name(e))
        return true;
    switch (e->status) {
    case NFS3ERR_NOENT:
        return !(removes || effect_finds_name(e)) || !t->found;
    case NFS3ERR_EXIST:
        return !binds || bound || t->met_itself;
    case NFS3ERR_NOTEMPTY:
        bound = t->moves ? t->target : t->found;
        return bound && node_at(h, bound)->children;
    case NFS3ERR_PERM:
        return !removes || (t->found && !is_permitted(t));
    case NFS3ERR_ACCES:
        return !(removes || binds) || !is_permitted(t);
    case NFS3ERR_ISDIR:
        return !removes || (bound && has_type(h, bound, true));
    case NFS3ERR_NOTDIR: /* that, or the directory itself */
        return !removes || !has_type(h, t->object, true) ||
               (t->object2 && !has_type(h, t->object2, true)) ||
               (bound && has_type(h, bound, false));
    default:
        return true;
    }
}

bool attempt_fits(const struct attempt *t)
{
    const struct effect *e = t->e;
    bool gone = (e->handle.data && !t->object) || (e->handle2.data && !t->object2);

    if (e->status == NFS3ERR_STALE || e->status == NFS3ERR_BADHANDLE)
        return gone;
    if (gone)
        return false;
    return e->succeeded ? fits_success(t) : fits_failure(t);
}

const struct cookie_place *attempt_continues(const struct attempt *t)
{
    const struct effect *e = t->e;
    const struct cookie_place *place;

    if (!e->asked.cookie || !e->succeeded || effect_action(e) != ACTION_LIST)
        return NULL;
    place = cookies_find(&t->r->cookies, e->object, e->client_number, e->asked.cookie);
    return place && t->r->placed - place->operation < DEPEND_HORIZON ? place : NULL;
}

bool attempt_is_lost(const struct attempt *t)
{
    const struct effect *e = t->e;

    return e->asked.cookie && e->succeeded && effect_action(e) == ACTION_LIST &&
           !attempt_continues(t);
}
