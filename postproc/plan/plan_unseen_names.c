/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_unseen_names.c
 *
 * Some results prove that a directory had an entry whose name the trace never shows:
 * NFS3ERR_NOTEMPTY, and a LOOKUP of "..".  Pass 1 notes such results.  At its end, each directory
 * that has no known entry gets one with the name ".nfsdigest-unseen-N", so that a replay has the
 * same results.
 */
#include "plan/plan_parts.h"
#include "base/grow.h"

#include <stdio.h>

static int no_memory(struct err *err)
{
    return err_memory(err, "the plan");
}

/* NFS3ERR_NOTEMPTY: notes the directory if no entry of it is known. */
static int not_empty(struct plan *p, const struct effect *e, struct err *err)
{
    const struct hierarchy *h = &p->tree.learn.hierarchy;
    bool two = e->name2.data != NULL;
    uint32_t parent = node_find(h, two ? e->parent2 : e->parent);
    uint32_t entry = parent ? entry_find(h, parent, two ? e->name2 : e->name) : ENTRY_NONE;

    if (!entry || node_at(h, entry_at(h, entry)->node)->children)
        return 0;
    if (GROW(p->full, p->full_count, p->full_cap) < 0)
        return no_memory(err);
    p->full[p->full_count++] = (struct plan_full){ entry_at(h, entry)->node, e->id };
    return 0;
}

/* LOOKUP of "..": notes a directory whose name in the directory above is not known. */
static int is_inside(struct plan *p, const struct effect *e, struct err *err)
{
    const struct hierarchy *h = &p->tree.learn.hierarchy;
    uint32_t node = node_find(h, e->object);

    if (!node || node_at(h, node)->names || e->object == e->new_object)
        return 0;
    if (GROW(p->inside, p->inside_count, p->inside_cap) < 0)
        return no_memory(err);
    p->inside[p->inside_count++] = (struct plan_inside){ e->object, e->new_object, e->id };
    return 0;
}

int plan_note_unseen_name(void *ctx, struct effect *e, struct err *err)
{
    struct plan *p = ctx;

    if (!e->procedure)
        return 0;
    if (e->status == NFS3ERR_NOTEMPTY && effect_takes_name(e) && e->rpc_status == 0)
        return not_empty(p, e, err);
    if (e->succeeded && effect_finds_name(e) && e->new_object && e->name.len == 2 &&
        memcmp(e->name.data, "..", 2) == 0)
        return is_inside(p, e, err);
    return 0;
}

/* Adds an entry to |parent| with a name that no other entry has.  Operation |id| proves it. */
static int open_unseen(struct plan *p, uint32_t parent, uint32_t node, int64_t id, struct err *err)
{
    struct hierarchy *h = &p->tree.learn.hierarchy;
    char text[64];
    struct bytes name = { (const uint8_t *)text, 0 };

    for (uint32_t i = 1;; i++) {
        name.len = (uint32_t)snprintf(text, sizeof(text), ".nfsdigest-unseen-%u", i);
        if (!entry_find(h, parent, name))
            break;
    }
    return entry_open(h, parent, name, node, BEGINNING, BEGINNING, id, NULL, err);
}

int plan_add_unseen_names(struct plan *p, struct err *err)
{
    struct hierarchy *h = &p->tree.learn.hierarchy;

    for (uint32_t i = 0; i < p->full_count; i++) {
        uint32_t directory = node_final(h, p->full[i].node), node;

        if (!(node_at(h, directory)->flags & NODE_USED) ||
            !node_at_moment(h, node_at(h, directory)) || node_at(h, directory)->flags & NODE_PINNED)
            continue;
        if (!node_is_directory(node_at(h, directory))) {
            if (node_at(h, directory)->knows) /* another object with the name of the directory */
                continue;
            node_at(h, directory)->type = OBJECT_DIR; /* its type was only a guess */
        }
        node = node_nameless(h, BEGINNING, BEGINNING, p->full[i].id);
        if (!node)
            return no_memory(err);
        node_at(h, node)->type = OBJECT_REG;
        if (open_unseen(p, directory, node, p->full[i].id, err) < 0)
            return -err->code;
    }
    for (uint32_t i = 0; i < p->inside_count; i++) {
        uint32_t node = node_find(h, p->inside[i].directory);
        uint32_t above = node_find(h, p->inside[i].above);

        if (!node || !above || !node_at_moment(h, node_at(h, node)) ||
            !node_at_moment(h, node_at(h, above)) || node_at(h, node)->flags & NODE_KEPT_NAME)
            continue;
        if (open_unseen(p, above, node, p->inside[i].id, err) < 0)
            return -err->code;
    }
    return hold_named(p, (uint64_t)h->nameless + 1) ? 0 : no_memory(err);
}
