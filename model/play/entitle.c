/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/entitle.c
 *
 * Chooses the caller of an operation that was not captured, so that a server does not refuse it.
 */
#include "play/rehearse_parts.h"

/* Whether he may for sure, by the attributes that are known. */
static bool may_do(const struct attempt *t, const struct caller *c)
{
    const struct hierarchy *h = t->r->h;
    const struct effect *e = t->e;
    const struct node *object = node_at(h, t->object);

    if (c->uid == 0)
        return true;
    if (e->asked.bits & (ASKED_UID | ASKED_GID) || e->asked.bits & ASKED_TYPE)
        return false;                    /* to give things away, and to make devices */
    if (!e->name.data && !e->name2.data) /* SETATTR; the size needs more */
        return object->knows & KNOWS_UID && object->uid == c->uid &&
               (!(e->asked.bits & ASKED_SIZE) || may_write(c, object) == MAY);
    if ((e->name.data && may_change(c, object) != MAY) ||
        (t->object2 && may_change(c, node_at(h, t->object2)) != MAY))
        return false;
    if (effect_takes_name(e) && may_take(c, object, node_at(h, t->found)) != MAY)
        return false;
    if (!e->name2_role)
        return true;
    /* a directory's own ".." changes; systems may protect hard links and what is replaced */
    return t->moves && t->found && !node_is_directory(node_at(h, t->found)) && !t->target;
}

/* The first credential that there is of this user, or 0. */
static uint32_t credential_of(const struct rehearsal *r, uint32_t uid)
{
    for (uint32_t i = 1; i < r->available_count; i++) {
        const struct caller *c = r->available[i] ? caller_of(&r->callers, i) : NULL;

        if (c && c->uid == uid)
            return i;
    }
    return 0;
}

uint32_t rehearse_entitled(const struct attempt *t, const struct spooled *before)
{
    const struct rehearsal *r = t->r;
    const struct node *object = node_at(r->h, t->object);
    uint32_t owners = object->knows & KNOWS_UID ? credential_of(r, object->uid) : 0;
    const struct caller *c = caller_of(&r->callers, before->effect.credential);

    if (c && may_do(t, c))
        return before->effect.credential;
    c = caller_of(&r->callers, owners);
    return c && may_do(t, c) ? owners : r->root_credential;
}
