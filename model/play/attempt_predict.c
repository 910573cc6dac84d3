/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/attempt_predict.c
 *
 * Predicts what an operation changes in the objects that it uses, in copies of them.
 */
#include "play/attempt.h"

static struct image *image_of(struct attempt *t, uint32_t node)
{
    for (uint32_t k = 0; k < t->image_count; k++)
        if (t->images[k].node == node)
            return &t->images[k];
    return NULL; /* not of a node that it met */
}

static void drop(struct attempt *t, uint32_t node)
{
    struct image *i = image_of(t, node);

    i->changed = true;
    if (i->nlink)
        i->nlink--;
}

static void resize(struct attempt *t, uint32_t node, uint64_t size)
{
    struct image *i = image_of(t, node);

    t->size_before = i->size;
    i->changed = true;
    i->size = size;
    i->knows |= KNOWS_SIZE;
    i->own &= (uint16_t)~(1 << EXPECT_SIZE);
    t->resized = i;
}

static void set(struct attempt *t, struct image *i)
{
    const struct asked *a = &t->e->asked;

    i->changed = true;
    if (a->bits & (ASKED_MODE | ASKED_UID | ASKED_GID))
        i->rights_changed = true;
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

static void predict_made(struct attempt *t)
{
    struct image *directory = image_of(t, t->object), *i;
    const struct caller *c;

    directory->changed = true;
    if (t->found) {
        if (t->e->asked.bits & ASKED_SIZE && t->e->asked.how == UNCHECKED)
            resize(t, t->found, t->e->asked.size);
        return;
    }
    if (t->image_count == ATTEMPT_IMAGES)
        return;
    i = t->made = &t->images[t->image_count++];
    *i = (struct image){ .nlink = 1, .knows = KNOWS_NLINK | KNOWS_SIZE };
    i->type = t->e->procedure->type ? t->e->procedure->type : (uint8_t)t->e->asked.type;
    set(t, i);
    c = t->op->inferred ? caller_of(&t->r->callers, t->e->credential) : attempt_caller(t);
    if (c) {
        i->uid = t->e->asked.bits & ASKED_UID ? i->uid : c->uid;
        if (!(t->e->asked.bits & ASKED_GID))
            i->gid = directory->mode & MODE_SETGID && directory->knows & KNOWS_MODE ? directory->gid
                                                                                    : c->gid;
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

static void predict_moved(struct attempt *t)
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

static void predict_written(struct attempt *t, struct image *object)
{
    const struct effect *e = t->e;
    uint64_t end = e->offset + (e->has_done ? e->done : e->count);

    object->changed = true;
    if (end > e->offset && (end > object->size || !(object->knows & KNOWS_SIZE)))
        resize(t, t->object, end);
}

void attempt_predict(struct attempt *t)
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
        object->changed = object->rights_changed = true;
        object->knows &= (uint16_t)~KNOWS_MODE;
        object->own &= (uint16_t)~(1 << EXPECT_MODE);
        break;
    default:
        break;
    }
}
