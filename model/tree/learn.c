/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn.c
 *
 * Finds what operations prove about the tree, when they are called and when they are done.  The
 * contract is in learn.h; learn_parts.h says how the files share the work.
 */
#include "tree/learn_parts.h"

#include <stdio.h>

int learn_no_node(struct err *err)
{
    return err_memory(err, "the hierarchy");
}

int learn_init(struct learn *l, int64_t moment, const struct hierarchy_host *host, struct err *err)
{
    memset(l, 0, sizeof(*l));
    return hierarchy_init(&l->hierarchy, moment, host, err);
}

void learn_free(struct learn *l)
{
    hierarchy_free(&l->hierarchy);
    repair_free(&l->repair);
}

static int learn_entry(void *ctx, const struct effect_entry *entry)
{
    struct step *s = ctx;
    uint32_t parent = node_find(s->h, s->e->object), object = 0, node;
    int result;

    if (!parent)
        return 0;
    if (entry->handle.data &&
        s->l->find(s->l->ctx, s->e->server, entry->handle, &object, s->err) < 0)
        return -s->err->code;
    if (!object)
        return prove_exists(s, parent, entry->name, OBJECT_UNKNOWN);
    result = prove_found(s, parent, entry->name, object,
                         entry->has_attributes ? &entry->attributes : NULL);
    node = result == 0 && entry->has_attributes ? node_find(s->h, object) : NODE_NONE;
    if (node)
        initial_learn(s->h, node, s->e, &entry->attributes);
    return result;
}

/* What a success shows. */
static int show(struct step *s)
{
    struct effect *e = s->e;
    struct attributes a;
    uint32_t id;

    if (e->root_path.len && e->new_object) {
        id = learn_directory(s, e->new_object);
        return id ? hierarchy_root(s->h, id, e->root_path, s->err) : -s->err->code;
    }
    if (effect_finds_name(e) && e->new_object && e->parent)
        return prove_found(s, node_find(s->h, e->parent), e->name, e->new_object,
                           effect_attributes(e, OF_NEW_OBJECT, &a) ? &a : NULL);
    if (effect_action(e) == ACTION_LIST)
        return effect_entries(e, learn_entry, s);
    return 0;
}

/* Objects that were used with success are there. */
static int sight(struct step *s)
{
    const uint32_t objects[] = { s->e->object, s->e->parent2 };

    for (int i = 0; i < 2; i++) {
        uint32_t id;

        if (!objects[i])
            continue;
        id = (i == 1 || s->e->parent)
                 ? learn_directory(s, objects[i])
                 : node_get(s->h, objects[i], BEGINNING, s->e->done_time, s->e->id);
        if (!id)
            return learn_no_node(s->err);
        if (node_at(s->h, id)->died != TO_THE_END && !overlaps(s, node_at(s->h, id)->died))
            node_revive(s->h, id); /* it has another name */
    }
    return 0;
}

/* So are those whose attributes a failure shows. */
static int sight_failed(struct step *s)
{
    const struct effect *e = s->e;
    const uint32_t objects[] = {
        [OF_OBJECT] = e->parent ? 0 : e->object, [OF_PARENT] = e->parent, [OF_PARENT2] = e->parent2
    };

    for (int i = OF_OBJECT; i <= OF_PARENT2; i++)
        if (objects[i] && e->fattr3[i] && !node_is_gone(s->h, objects[i]) &&
            !node_get(s->h, objects[i], BEGINNING, e->done_time, e->id))
            return learn_no_node(s->err);
    return 0;
}

/* A RENAME of which only the first name was captured: what had it goes somewhere else. */
static int apply_half(struct step *s)
{
    struct effect *e = s->e;
    uint32_t parent = learn_directory(s, e->parent), parent2 = parent, node, number = 0;
    char text[64];
    struct bytes name2 = { (const uint8_t *)text, 0 };
    int64_t id;

    if (!parent)
        return -s->err->code;
    if (e->parent2)
        parent2 = learn_directory(s, e->parent2);
    if (!parent2)
        return -s->err->code;
    id = is_entry_name(e->name) ? learn_entry_taken(s, parent, e->name) : 0;
    if (id <= 0)
        return (int)id;
    node = entry_at(s->h, (uint32_t)id)->node;
    do
        name2.len = (uint32_t)snprintf(text, sizeof(text), ".nfsdigest-elsewhere-%u", ++number);
    while (entry_find(s->h, parent2, name2));
    initial_taint(s->h, node, e, KNOWS_CTIME);
    if (learn_infer(s, &(struct unseen){ .reason = REPAIR_CUT,
                                         .procedure = NFS3_RENAME,
                                         .node = node,
                                         .parent = parent,
                                         .name = e->name,
                                         .parent2 = parent2,
                                         .name2 = name2,
                                         .precedes = e->id }) < 0 ||
        learn_close_entry(s, (uint32_t)id, true) < 0)
        return -s->err->code;
    return entry_open(s->h, parent2, name2, node, e->done_time, e->done_time, e->id, NULL, s->err);
}

/* The second name of a RENAME or LINK was not captured: where things went, is not known. */
static bool is_half(const struct effect *e)
{
    return action_makes_name2(effect_action(e)) && !e->name2.data;
}

int learn_called(struct learn *l, struct effect *e, struct err *err)
{
    if (effect_changes_names(e) && e->succeeded && !is_half(e)) {
        if (l->outstanding_count == LEARN_OUTSTANDING)
            memmove(l->outstanding, l->outstanding + 1,
                    --l->outstanding_count * sizeof(*l->outstanding));
        l->outstanding[l->outstanding_count++] = e;
    } else if (effect_changes_names(e) && (e->pairing != PAIRED || e->succeeded)) {
        learn_doubt(l, e);
    }
    return initial_called(&l->hierarchy, e, err);
}

static void forget_outstanding(struct learn *l, const struct effect *e)
{
    for (uint32_t i = 0; i < l->outstanding_count; i++)
        if (l->outstanding[i] == e) {
            memmove(l->outstanding + i, l->outstanding + i + 1,
                    (--l->outstanding_count - i) * sizeof(*l->outstanding));
            return;
        }
}

static bool is_directory(const struct effect *e, enum whose whose)
{
    struct attributes a;

    return effect_attributes(e, whose, &a) && a.type == OBJECT_DIR;
}

/* RENAME of one kind over the other. */
static int both_exist(struct step *s, uint32_t parent, uint32_t parent2, uint8_t type,
                      uint8_t type2)
{
    struct effect *e = s->e;

    if (!parent || !parent2 || !effect_takes_name(e) || !is_directory(e, OF_PARENT) ||
        !is_directory(e, OF_PARENT2))
        return 0;
    if (prove_exists(s, parent, e->name, type) < 0)
        return -s->err->code;
    return prove_exists(s, parent2, e->name2, type2);
}

/* Who was refused for another reason might have taken them. */
static void note_takers(const struct step *s, uint32_t parent, uint32_t parent2)
{
    const struct effect *e = s->e;
    uint32_t entries[] = { parent ? entry_find(s->h, parent, e->name) : ENTRY_NONE,
                           parent2 ? entry_find(s->h, parent2, e->name2) : ENTRY_NONE };

    if (!effect_takes_name(e) || e->status == NFS3ERR_NOENT || e->status == NFS3ERR_ACCES ||
        e->status == NFS3ERR_PERM)
        return;
    for (int i = 0; i < 2; i++)
        if (entries[i])
            learn_note_taker(s, entry_at(s->h, entries[i])->node);
}

/* What a failure says of names: RFC 1813 s3.3.8 to s3.3.15. */
static int learn_failure(struct step *s)
{
    struct effect *e = s->e;
    bool removes = effect_takes_name(e), two = e->name2.data != NULL;
    uint32_t parent = e->name.data ? node_find(s->h, e->parent) : NODE_NONE;
    uint32_t parent2 = two ? node_find(s->h, e->parent2) : NODE_NONE;

    note_takers(s, parent, parent2);
    switch (e->status) {
    case NFS3ERR_NOENT:
        if (parent && (removes || effect_finds_name(e)))
            return prove_absent(s, parent, e->name);
        return 0;
    case NFS3ERR_PERM: /* who may take a name away, depends on what is behind it: a sticky directory
                        */
        return parent && removes ? prove_exists(s, parent, e->name, OBJECT_UNKNOWN) : 0;
    case NFS3ERR_NOTDIR: /* the name, or the directory itself */
        if (parent && removes && !two && is_directory(e, OF_PARENT) &&
            e->procedure->type == OBJECT_DIR)
            return prove_exists(s, parent, e->name, OBJECT_REG);
        return two ? both_exist(s, parent, parent2, OBJECT_DIR, OBJECT_REG) : 0;
    case NFS3ERR_ISDIR:
        if (two)
            return both_exist(s, parent, parent2, OBJECT_REG, OBJECT_DIR);
        return parent && removes && !two ? prove_exists(s, parent, e->name, OBJECT_DIR) : 0;
    case NFS3ERR_NOTEMPTY:
    case NFS3ERR_EXIST:
        if (parent && removes &&
            prove_exists(s, parent, e->name,
                         two && e->status == NFS3ERR_EXIST ? OBJECT_UNKNOWN : OBJECT_DIR) < 0)
            return -s->err->code;
        if (parent2 && effect_makes_name2(e))
            return prove_exists(s, parent2, e->name2,
                                e->status == NFS3ERR_NOTEMPTY ? OBJECT_DIR : OBJECT_UNKNOWN);
        if (parent && effect_makes_name(e))
            return prove_exists(s, parent, e->name, OBJECT_UNKNOWN);
        return 0;
    default:
        return 0;
    }
}

/* A handle is stale: its names may be gone by operations that are under way. */
static int explain_stale(struct step *s, uint32_t object)
{
    uint32_t node = node_find(s->h, object);
    int result = 1;

    while (result > 0 && node && node_at(s->h, node)->names) {
        const struct entry *e = entry_at(s->h, node_at(s->h, node)->names);

        result = learn_explain(s, e->parent, text_bytes(e->name), IT_ENDS, 0);
        node = node_find(s->h, object);
    }
    return result;
}

int learn_done(struct learn *l, struct effect *e, struct err *err)
{
    struct step s = { l, &l->hierarchy, e, err };

    hierarchy_sweep(s.h);
    if (e->status == NFS3ERR_STALE || e->status == NFS3ERR_BADHANDLE) {
        if (explain_stale(&s, e->object) < 0 || explain_stale(&s, e->parent2) < 0)
            return -err->code;
        /* of two handles nobody knows which one it is */
        if (e->status == NFS3ERR_STALE && !e->parent2 && prove_gone(&s, e->object) < 0)
            return -err->code;
    }
    if (!e->procedure)
        return 0;
    if (effect_changes_names(e))
        forget_outstanding(l, e);
    if (e->succeeded) {
        if (sight(&s) < 0 || (!e->applied && !is_half(e) && learn_apply(&s) < 0) || show(&s) < 0)
            return -err->code;
        if (is_half(e) && e->parent && effect_takes_name(e) && apply_half(&s) < 0)
            return -err->code;
    } else if (e->program == 100003 && e->rpc_status == 0 && e->arguments == WALK_OK) {
        if (e->parent &&
            (e->status == NFS3ERR_NOENT || e->status == NFS3ERR_EXIST ||
             e->status == NFS3ERR_NOTEMPTY) &&
            !learn_directory(&s, e->parent))
            return -err->code;
        if (sight_failed(&s) < 0 || learn_failure(&s) < 0)
            return -err->code;
    }
    return initial_done(s.h, e, err);
}
