/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_fileid.c
 *
 * Objects with the same fsid and fileid.  A server may give several handles for one object (RFC
 * 1813 s2.6 nfs_fh3), and may use a fileid again when its object is gone.  So two handles of one
 * fileid stand for different objects only if both work at the same time, and show what one object
 * cannot. Otherwise neither is judged over time any more: changes through one of them are unknown
 * to the other.  The contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>

enum { SAME_FILEID_MAX = 64 }; /* further objects are not judged over time */

static uint64_t hash_of(const struct lint_object *o)
{
    uint64_t h = (o->fileid ^ o->fsid * UINT64_C(0xd6e8feb86659fd93) ^ o->server) *
                 UINT64_C(0x9e3779b97f4a7c15);

    return h ^ h >> 32;
}

static bool same(const struct lint_object *a, const struct lint_object *b)
{
    return a->fileid == b->fileid && a->fsid == b->fsid && a->server == b->server;
}

void lint_fileid_forget(struct lint *lint, struct lint_object *o)
{
    if (o->filed)
        table_remove(&lint->by_fileid, hash_of(o), (uint32_t)(o - lint->objects));
    o->filed = false;
}

int lint_fileid_learn(struct lint *lint, struct lint_object *o, struct err *err)
{
    uint64_t hash = hash_of(o);
    uint32_t at, others = 0;

    o->elder = false;
    for (uint32_t i = table_first(&lint->by_fileid, hash, &at); i != TABLE_NONE;
         i = table_next(&lint->by_fileid, hash, &at), others++) {
        struct lint_object *other = &lint->objects[i];

        if (!same(other, o))
            continue;
        other->elder |= other->identified_at < o->identified_at;
        o->elder |= o->identified_at < other->identified_at;
    }
    if (others >= SAME_FILEID_MAX) { /* such a table would be slow */
        o->aliased = lint->any_alias = true;
        return 0;
    }
    if (table_add(&lint->by_fileid, hash, (uint32_t)(o - lint->objects)) < 0)
        return err_memory(err, "objects");
    o->filed = true;
    return 0;
}

/* Nobody changed either of them, as far as is known. */
static bool unchanged(const struct lint_object *o)
{
    return !o->unsure && !o->active && o->changed == INT64_MIN;
}

/* |o| works, and did so before |other| was seen first. */
static int judge_pair(struct lint *lint, const struct effect *e, struct lint_object *o,
                      struct lint_object *other, struct err *err)
{
    bool types = o->type != other->type;
    bool sizes = o->known && other->known && unchanged(o) && unchanged(other) &&
                 other->known_at > lint->blind && o->known_at > lint->blind &&
                 o->type == OBJECT_REG && o->size != other->size;

    if (!types && !sizes) {
        o->aliased = other->aliased = true;
        lint->any_alias = true;
        return 0;
    }
    if (o->said)
        return 0;
    o->said = true;
    if (types)
        return LINT_SAY(lint, LINT_FILEID_SHARED, e, other->identified_by, err,
                        "fileid %" PRIu64 " is of type %u here, and of type %u by another handle",
                        o->fileid, o->type, other->type);
    return LINT_SAY(lint, LINT_FILEID_SHARED, e, other->known_by, err,
                    "fileid %" PRIu64 " has %" PRIu64 " bytes here, and %" PRIu64
                    " by another handle",
                    o->fileid, o->size, other->size);
}

int lint_fileid_judge(struct lint *lint, const struct effect *e, struct lint_object *o,
                      struct err *err)
{
    uint64_t hash = hash_of(o);
    uint32_t at;
    int result = 0;

    if (!o->elder || !e->timed) /* the others are not looked at for each operation */
        return 0;
    for (uint32_t i = table_first(&lint->by_fileid, hash, &at); result == 0 && i != TABLE_NONE;
         i = table_next(&lint->by_fileid, hash, &at)) {
        struct lint_object *other = &lint->objects[i];

        if (other != o && same(other, o) && o->identified_at < other->identified_at &&
            other->identified_at < e->call_time)
            result = judge_pair(lint, e, o, other, err);
    }
    return result;
}
