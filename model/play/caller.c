/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/caller.h"
#include "base/grow.h"

#include <stdlib.h>

enum { STICKY = 01000, OWNER_KNOWN = KNOWS_MODE | KNOWS_UID | KNOWS_GID };

static bool hold(struct callers *callers, uint32_t id)
{
    return GROW_ZERO(callers->by_id, (uint64_t)id + 1, callers->count) == 0;
}

struct caller *callers_place(struct callers *callers, uint32_t id)
{
    return hold(callers, id) ? &callers->by_id[id] : NULL;
}

int callers_add_root(struct callers *callers, uint32_t id, struct err *err)
{
    if (!hold(callers, id))
        return err_memory(err, "credentials");
    callers->by_id[id] = (struct caller){ .known = true };
    return 0;
}

void callers_free(struct callers *callers)
{
    free(callers->by_id);
    *callers = (struct callers){ 0 };
}

const struct caller *caller_of(const struct callers *callers, uint32_t credential)
{
    return credential < callers->count && callers->by_id[credential].known
               ? &callers->by_id[credential]
               : NULL;
}

static bool in_group(const struct caller *c, uint32_t gid)
{
    if (c->gid == gid)
        return true;
    for (uint8_t i = 0; i < c->gid_count; i++)
        if (c->gids[i] == gid)
            return true;
    return false;
}

/* |bits|: of rwx. */
static enum may may_access(const struct caller *c, const struct node *n, uint32_t bits)
{
    int shift;

    if (!c || c->uid == 0 || (n->knows & OWNER_KNOWN) != OWNER_KNOWN)
        return MAY_BE;
    shift = c->uid == n->uid ? 6 : in_group(c, n->gid) ? 3 : 0;
    return (n->mode >> shift & bits) == bits ? MAY : MAY_NOT;
}

enum may may_write(const struct caller *c, const struct node *file)
{
    return may_access(c, file, 2);
}

enum may may_change(const struct caller *c, const struct node *directory)
{
    return may_access(c, directory, 3);
}

enum may may_take(const struct caller *c, const struct node *directory, const struct node *object)
{
    if (!c || c->uid == 0 || !(directory->knows & KNOWS_MODE))
        return MAY_BE;
    if (!(directory->mode & STICKY))
        return MAY;
    if (!(directory->knows & KNOWS_UID) || !(object->knows & KNOWS_UID))
        return MAY_BE;
    return c->uid == directory->uid || c->uid == object->uid ? MAY : MAY_NOT;
}
