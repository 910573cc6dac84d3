/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/trial.h"
#include "depend/depend.h"

#include <stdlib.h>

enum { SETGID = 02000, UNCHECKED = 0, GUARDED = 1, EXCLUSIVE = 2, NFS3_OK = 0 };

static uint32_t alive(const struct hierarchy *h, uint32_t node)
{
    return node && node_at(h, node)->died == TO_THE_END ? node : NODE_NONE;
}

static struct image *image_of(struct trial *t, uint32_t node)
{
    const struct node *n = node_at(t->r->h, node);
    struct image *i;

    for (uint32_t k = 0; k < t->image_count; k++)
        if (t->images[k].node == node)
            return &t->images[k];
    i = &t->images[t->image_count++];
    for (uint32_t k = 0; t->after && k < t->after->image_count; k++)
        if (t->after->images[k].node == node) {
            *i = t->after->images[k];
            i->changed = i->mode_changed = false;
            return i;
        }
    *i = (struct image){ .node = node,
                         .type = n->type,
                         .knows = n->knows,
                         .own = n->tainted >> 8,
                         .mode = n->mode,
                         .uid = n->uid,
                         .gid = n->gid,
                         .nlink = n->nlink,
                         .rdev = { n->rdev[0], n->rdev[1] },
                         .size = n->size };
    return i;
}

static bool is_dots(struct bytes name)
{
    return (name.len == 1 || name.len == 2) && name.data[0] == '.' &&
           name.data[name.len - 1] == '.';
}

/* "." and "..": NODE_NONE also when it is not known. */
static uint32_t dots(const struct hierarchy *h, uint32_t directory, struct bytes name)
{
    uint32_t entry = node_at(h, directory)->names;

    if (name.len == 1)
        return directory;
    return entry ? entry_at(h, entry)->parent : NODE_NONE;
}

static void meet(struct trial *t, struct rehearsal *r, const struct trial *after,
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
        if (is_dots(e->name)) {
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
    if (t->object)
        image_of(t, t->object);
    if (t->object2)
        image_of(t, t->object2);
    if (t->found)
        image_of(t, t->found);
    if (t->target)
        image_of(t, t->target);
}

void trial_meet(struct trial *t, struct rehearsal *r, struct spooled *op, struct err *err)
{
    meet(t, r, NULL, op, err);
}

bool trial_fits_after(const struct trial *first, struct spooled *op)
{
    struct trial t;

    meet(&t, first->r, first, op, first->err);
    trial_predict(&t);
    return trial_misfits(&t) == 0;
}

/* Whether the object behind a name is |object| of the database. */
static bool is_object(const struct trial *t, uint32_t node, uint32_t object)
{
    const struct hierarchy *h = t->r->h;
    uint32_t known = node_find(h, object);

    if (!object || known == node)
        return true;
    return node_at(h, node)->flags & NODE_NAMELESS && !alive(h, known);
}

static const struct caller *caller(const struct trial *t)
{
    if (!t->r->refuses || t->op->inferred || t->lenient || t->r->overruled > REHEARSAL_OVERRULED)
        return NULL;
    return caller_of(&t->r->callers, t->e->credential);
}

/* CREATE of what is there. */
static enum may may_meet(const struct trial *t)
{
    if (!(t->e->asked.bits & ASKED_SIZE) || t->e->asked.how != UNCHECKED)
        return MAY_BE;
    return may_write(caller(t), node_at(t->r->h, t->found));
}

static bool fits_made(const struct trial *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;

    if (t->met_itself)
        return false;
    if (!t->found)
        return !alive(h, node_find(h, e->new_object)) &&
               may_change(caller(t), node_at(h, t->object)) != MAY_NOT;
    return e->asked.bits & ASKED_HOW && e->asked.how != GUARDED &&
           is_object(t, t->found, e->new_object) && may_meet(t) != MAY_NOT;
}

uint32_t trial_stuck(const struct trial *t)
{
    const struct hierarchy *h = t->r->h;

    if (!t->e->succeeded || !effect_takes_name(t->e) || t->idle || !t->found)
        return NODE_NONE;
    if (may_take(caller(t), node_at(h, t->object), node_at(h, t->found)) == MAY_NOT)
        return t->found;
    if (t->target && may_take(caller(t), node_at(h, t->object2), node_at(h, t->target)) == MAY_NOT)
        return t->target;
    return NODE_NONE;
}

/* Whether the caller may, for sure, do all that the operation needs to change names: then it is not
 * refused. */
static bool is_permitted(const struct trial *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;

    if (t->object && e->name.data && may_change(caller(t), node_at(h, t->object)) != MAY)
        return false;
    if (t->object2 && may_change(caller(t), node_at(h, t->object2)) != MAY)
        return false;
    if (effect_makes_name(e) && t->found && may_meet(t) != MAY)
        return false;
    if (effect_takes_name(e) && t->found &&
        may_take(caller(t), node_at(h, t->object), node_at(h, t->found)) != MAY)
        return false;
    return !t->moves || !t->target ||
           may_take(caller(t), node_at(h, t->object2), node_at(h, t->target)) == MAY;
}

static bool has_type(const struct hierarchy *h, uint32_t node, bool directory)
{
    const struct node *n = node_at(h, node);

    return !n->type || node_is_directory(n) == directory;
}

bool trial_needs_empty(const struct trial *t)
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
static bool may_change_second(const struct trial *t)
{
    return !t->object2 || t->idle || may_change(caller(t), node_at(t->r->h, t->object2)) != MAY_NOT;
}

static bool may_change_both(const struct trial *t)
{
    return (!t->object || t->idle ||
            may_change(caller(t), node_at(t->r->h, t->object)) != MAY_NOT) &&
           may_change_second(t);
}

static bool fits_success(const struct trial *t)
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
        return may_change_both(t) && t->found && t->object2 && !t->met_itself && !trial_stuck(t);
    case ACTION_REMOVE:
        return may_change_both(t) && t->found && !t->met_itself && !trial_stuck(t) &&
               has_type(h, t->found, e->procedure->type == OBJECT_DIR);
    case ACTION_LINK:
        return may_change_second(t) && t->object2 && !t->target;
    default:
        return true;
    }
}

/* RFC 1813 s3.3.8 to s3.3.15: what a failure says of names. */
static bool fits_failure(const struct trial *t)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;
    bool binds = effect_makes_name(e) || effect_makes_name2(e);
    bool removes = effect_takes_name(e);
    uint32_t bound = effect_makes_name2(e) ? t->target : t->found;

    if (t->met_itself && !effect_finds_name(e))
        return true;
    switch (e->status) {
    case NFS3_NOENT:
        return !(removes || effect_finds_name(e)) || !t->found;
    case NFS3_EXIST:
        return !binds || bound || t->met_itself;
    case NFS3_NOTEMPTY:
        bound = t->moves ? t->target : t->found;
        return bound && node_at(h, bound)->children;
    case NFS3_PERM:
        return !removes || (t->found && !is_permitted(t));
    case NFS3_ACCES:
        return !(removes || binds) || !is_permitted(t);
    case NFS3_ISDIR:
        return !removes || (bound && has_type(h, bound, true));
    case NFS3_NOTDIR: /* that, or the directory itself */
        return !removes || !has_type(h, t->object, true) ||
               (t->object2 && !has_type(h, t->object2, true)) ||
               (bound && has_type(h, bound, false));
    default:
        return true;
    }
}

bool trial_fits(const struct trial *t)
{
    const struct effect *e = t->e;
    bool gone = (e->handle.data && !t->object) || (e->handle2.data && !t->object2);

    if (e->status == NFS3_STALE || e->status == NFS3_BADHANDLE)
        return gone;
    if (gone)
        return false;
    return e->succeeded ? fits_success(t) : fits_failure(t);
}

const struct cookie_place *trial_continues(const struct trial *t)
{
    const struct effect *e = t->e;
    const struct cookie_place *place;

    if (!e->asked.cookie || !e->succeeded || effect_action(e) != ACTION_LIST)
        return NULL;
    place = cookies_find(&t->r->cookies, e->object, e->client_number, e->asked.cookie);
    return place && t->r->placed - place->operation < DEPEND_HORIZON ? place : NULL;
}

bool trial_is_lost(const struct trial *t)
{
    const struct effect *e = t->e;

    return e->asked.cookie && e->succeeded && effect_action(e) == ACTION_LIST &&
           !trial_continues(t);
}

static void drop(struct trial *t, uint32_t node)
{
    struct image *i = image_of(t, node);

    i->changed = true;
    if (i->nlink)
        i->nlink--;
}

static void resize(struct trial *t, uint32_t node, uint64_t size)
{
    struct image *i = image_of(t, node);

    t->size_before = i->size;
    i->changed = true;
    i->size = size;
    i->knows |= KNOWS_SIZE;
    i->own &= (uint16_t)~(1 << EXPECT_SIZE);
    t->resized = i;
}

static void set(struct trial *t, struct image *i)
{
    const struct asked *a = &t->e->asked;

    i->changed = true;
    if (a->bits & (ASKED_MODE | ASKED_UID | ASKED_GID))
        i->mode_changed = true;
    if (a->bits & ASKED_MODE)
        i->mode = a->mode & 07777;
    if (a->bits & ASKED_UID)
        i->uid = a->uid;
    if (a->bits & ASKED_GID)
        i->gid = a->gid;
    i->knows |=
        (uint16_t)((a->bits & ASKED_MODE ? KNOWS_MODE : 0) | (a->bits & ASKED_UID ? KNOWS_UID : 0) |
                   (a->bits & ASKED_GID ? KNOWS_GID : 0));
    i->own &= a->bits & ASKED_MODE ? 0 : 1 << EXPECT_MODE; /* RFC 1813 s3.3.8 */
    /* few servers let symbolic links have modes */
    if (i->type == OBJECT_LNK && a->bits & ASKED_MODE)
        i->knows &= (uint16_t)~KNOWS_MODE;
}

enum { OF_EXCLUSIVE = 1 << EXPECT_MODE | 1 << EXPECT_OWNER | 1 << EXPECT_SIZE };

static void predict_made(struct trial *t)
{
    struct image *directory = image_of(t, t->object), *i;
    const struct caller *c;

    directory->changed = true;
    if (t->found) {
        if (t->e->asked.bits & ASKED_SIZE && t->e->asked.how == UNCHECKED)
            resize(t, t->found, t->e->asked.size);
        return;
    }
    i = &t->images[t->image_count++];
    *i = (struct image){ .nlink = 1, .knows = KNOWS_NLINK | KNOWS_SIZE };
    i->type = t->e->procedure->type ? t->e->procedure->type : (uint8_t)t->e->asked.type;
    set(t, i);
    c = t->op->inferred ? caller_of(&t->r->callers, t->e->credential) : caller(t);
    if (c) {
        i->uid = t->e->asked.bits & ASKED_UID ? i->uid : c->uid;
        if (!(t->e->asked.bits & ASKED_GID))
            i->gid =
                directory->mode & SETGID && directory->knows & KNOWS_MODE ? directory->gid : c->gid;
        i->knows |= KNOWS_UID | KNOWS_GID;
    }
    if (t->e->asked.bits & ASKED_SIZE)
        i->size = t->e->asked.size;
    if (i->type == OBJECT_LNK)
        i->size = t->e->link_text.len;
    if (i->type == OBJECT_DIR) {
        i->nlink = 2;
        directory->nlink++;
    }
    if (t->e->asked.bits & ASKED_HOW && t->e->asked.how == EXCLUSIVE) {
        i->own = OF_EXCLUSIVE;
        i->knows &= (uint16_t)~(KNOWS_MODE | KNOWS_UID | KNOWS_GID | KNOWS_SIZE);
    }
}

static void predict_moved(struct trial *t)
{
    bool directory = image_of(t, t->found)->type == OBJECT_DIR, far = t->object != t->object2;

    if (t->idle)
        return;
    image_of(t, t->object)->changed = image_of(t, t->object2)->changed = true;
    image_of(t, t->found)->changed = true;
    if (t->target)
        drop(t, t->target);
    if (!directory)
        return;
    if (far)
        image_of(t, t->object)->nlink--;
    if (far && !t->target)
        image_of(t, t->object2)->nlink++;
    if (!far && t->target)
        image_of(t, t->object2)->nlink--;
}

static void predict_written(struct trial *t, struct image *object)
{
    const struct effect *e = t->e;
    uint64_t end = e->offset + (e->has_done ? e->done : e->count);

    object->changed = true;
    if (end > e->offset && (end > object->size || !(object->knows & KNOWS_SIZE)))
        resize(t, t->object, end);
}

void trial_predict(struct trial *t)
{
    const struct effect *e = t->e;
    struct image *object = t->object ? image_of(t, t->object) : NULL;

    if (!e->succeeded || !object)
        return;
    switch (effect_action(e)) {
    case ACTION_MAKE:
        predict_made(t);
        break;
    case ACTION_RENAME:
        predict_moved(t);
        break;
    case ACTION_REMOVE:
        object->changed = true;
        if (image_of(t, t->found)->type == OBJECT_DIR)
            object->nlink--;
        drop(t, t->found);
        break;
    case ACTION_LINK:
        object->nlink++;
        object->changed = image_of(t, t->object2)->changed = true;
        break;
    case ACTION_WRITE:
        predict_written(t, object);
        break;
    case ACTION_SET:
        set(t, object);
        if (e->asked.bits & ASKED_SIZE)
            resize(t, t->object, e->asked.size);
        break;
    case ACTION_SET_OTHER: /* the mode comes from an access list */
        object->changed = object->mode_changed = true;
        object->knows &= (uint16_t)~KNOWS_MODE;
        object->own &= (uint16_t)~(1 << EXPECT_MODE);
        break;
    default:
        break;
    }
}

struct image *trial_image(const struct trial *t, enum whose whose)
{
    struct trial *own = (struct trial *)t;
    uint32_t node = whose == OF_PARENT2      ? t->object2
                    : whose == OF_NEW_OBJECT ? t->found
                                             : t->object;

    if (whose == OF_NEW_OBJECT && t->makes)
        return &own->images[t->image_count - 1];
    return node ? image_of(own, node) : NULL;
}

static uint32_t shown_of(const struct attributes *a)
{
    uint32_t bits = 1 << EXPECT_TYPE | 1 << EXPECT_MODE | 1 << EXPECT_OWNER;

    bits |= a->type == OBJECT_DIR ? 1 << EXPECT_LINKS : 1 << EXPECT_NLINK;
    return a->type == OBJECT_REG || a->type == OBJECT_LNK ? bits | 1 << EXPECT_SIZE : bits;
}

static uint32_t differs_from(const struct image *i, const struct attributes *a)
{
    uint32_t bits = 0;

    if (i->type && i->type != a->type)
        bits |= 1 << EXPECT_TYPE;
    if (i->knows & KNOWS_MODE && i->mode != (a->mode & 07777))
        bits |= 1 << EXPECT_MODE;
    if ((i->knows & KNOWS_UID && i->uid != a->uid) || (i->knows & KNOWS_GID && i->gid != a->gid))
        bits |= 1 << EXPECT_OWNER;
    if (i->knows & KNOWS_NLINK && i->nlink != a->nlink)
        bits |= 1 << EXPECT_NLINK | 1 << EXPECT_LINKS;
    if (i->knows & KNOWS_SIZE && i->size != a->size)
        bits |= 1 << EXPECT_SIZE;
    return bits & shown_of(a);
}

static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };

static bool shows_read(const struct effect *e)
{
    return e->succeeded && e->has_eof && e->has_done && e->result_roles & ROLE_DATA;
}

static bool shows_text(const struct effect *e)
{
    return e->succeeded && e->result_roles & ROLE_LINK_TEXT && e->link_text.data;
}

uint32_t trial_shown(const struct trial *t)
{
    struct attributes a;
    uint32_t bits = 0;

    if (effect_action(t->e) == ACTION_ASK_FILE_SYSTEM)
        return 0; /* it depends on no attribute */
    for (int k = 0; k < 4; k++) {
        const struct image *i =
            effect_attributes(t->e, order[k], &a) ? trial_image(t, order[k]) : NULL;

        if (i)
            bits |= (shown_of(&a) & ~(uint32_t)i->own) << k * EXPECT_GROUPS;
    }
    if (shows_read(t->e) && (t->e->eof || t->e->done == t->e->count))
        bits |= EXPECT_READ;
    if (shows_text(t->e))
        bits |= EXPECT_TEXT;
    return bits;
}

static bool read_differs(const struct trial *t)
{
    const struct effect *e = t->e;
    const struct image *i = trial_image(t, OF_OBJECT);
    uint64_t left;

    if (!i || !(i->knows & KNOWS_SIZE))
        return false;
    left = e->offset < i->size ? i->size - e->offset : 0;
    return e->eof ? e->done != (left < e->count ? left : e->count) || e->done < left
                  : e->done >= left;
}

uint32_t trial_differs(const struct trial *t)
{
    struct attributes a;
    uint32_t bits = 0;

    for (int k = 0; k < 4; k++) {
        const struct image *i =
            effect_attributes(t->e, order[k], &a) ? trial_image(t, order[k]) : NULL;

        if (i)
            bits |= differs_from(i, &a) << k * EXPECT_GROUPS;
    }
    if (shows_read(t->e) && read_differs(t))
        bits |= EXPECT_READ;
    if (shows_text(t->e) && t->object) {
        const char *link = node_at(t->r->h, t->object)->link;

        if (!link || pool_text(link).len != t->e->link_text.len ||
            memcmp(pool_text(link).data, t->e->link_text.data, t->e->link_text.len) != 0)
            bits |= EXPECT_TEXT;
    }
    return bits;
}

uint32_t trial_misfits(const struct trial *t)
{
    uint32_t bits = trial_differs(t);

    for (int k = 0; bits && k < 4; k++) {
        const struct image *i = trial_image(t, order[k]);

        if (i && i->node)
            bits &= ~(((uint32_t)node_at(t->r->h, i->node)->tainted & 0xff) << k * EXPECT_GROUPS);
    }
    return bits;
}
