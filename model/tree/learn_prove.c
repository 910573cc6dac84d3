/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn_prove.c
 *
 * Finds what an operation's result proves about names: that they are as known, that they existed
 * from the beginning, or that they changed by an operation that was not captured.
 */
#include "tree/learn_parts.h"

enum { NAMES_COUNTED = 64, DEPTH_MAX = 4096, INFERENCES_SEARCHED = 4096 };

int64_t learn_infer(struct step *s, const struct unseen *u)
{
    struct inference i = { .precedes = u->precedes,
                           .witness = u->witness,
                           .object = u->node ? node_number(s->h, u->node) : 0,
                           .parent = u->parent ? node_number(s->h, u->parent) : 0,
                           .parent2 = u->parent2 ? node_number(s->h, u->parent2) : 0,
                           .reason = (uint8_t)u->reason,
                           .procedure = (uint8_t)u->procedure };
    uint32_t index;

    if (u->parent)
        i.explained = learn_doubtful_id(s, u->parent, u->name);
    if (!i.explained && u->parent2)
        i.explained = learn_doubtful_id(s, u->parent2, u->name2);
    if (i.explained <= u->witness)
        i.explained = 0;
    index = repair_add(&s->l->repair, &i, u->name, u->name2);
    return index ? (int64_t)index : err_memory(s->err, "inferences");
}

int learn_making_procedure(uint8_t type)
{
    switch (type) {
    case OBJECT_DIR:
        return NFS3_MKDIR;
    case OBJECT_LNK:
        return NFS3_SYMLINK;
    case OBJECT_UNKNOWN:
    case OBJECT_REG:
        return NFS3_CREATE;
    default:
        return NFS3_MKNOD;
    }
}

static int64_t infer_removal_of(struct step *s, const struct entry *e, enum repair_reason reason)
{
    bool directory = node_is_directory(node_at(s->h, e->node));

    return learn_infer(s, &(struct unseen){ .reason = reason,
                                            .procedure = directory ? NFS3_RMDIR : NFS3_REMOVE,
                                            .node = e->node,
                                            .parent = e->parent,
                                            .name = text_bytes(e->name),
                                            .witness = e->seen_id,
                                            .precedes = s->e->id });
}

int learn_infer_removal(struct step *s, uint32_t id, enum repair_reason reason)
{
    struct entry *e = entry_at(s->h, id);
    struct node *n = node_at(s->h, e->node);
    uint32_t serial = e->serial;
    int64_t index;

    if (learn_empty_directory(s, e->node) < 0)
        return -s->err->code;
    if (!entry_is(s->h, id, serial))
        return 0; /* what was in there took it along */
    index = infer_removal_of(s, e, reason);
    if (index < 0)
        return -s->err->code;
    if (n->names == id && !e->next)
        n->inference = (uint32_t)index; /* it may turn up under another name */
    return learn_close_entry(s, id, false);
}

/* The last of the entries below |node|, or none. */
static uint32_t leaf(const struct hierarchy *h, uint32_t node)
{
    uint32_t id = node_at(h, node)->children;

    for (int depth = 0; id && depth < DEPTH_MAX; depth++) {
        const struct node *n = node_at(h, entry_at(h, id)->node);

        if (!n->children || entry_at(h, id)->next || entry_at(h, id)->previous)
            break;
        id = n->children;
    }
    return id;
}

int learn_empty_directory(struct step *s, uint32_t node)
{
    uint32_t id;

    while ((id = leaf(s->h, node)) != ENTRY_NONE) {
        struct entry *e = entry_at(s->h, id);
        int done = learn_explain(s, e->parent, text_bytes(e->name), IT_REMOVES, 0);

        if (done < 0)
            return done;
        if (done)
            continue;
        if (overlaps(s, e->changed)) {
            if (learn_close_entry(s, id, false) < 0)
                return -s->err->code;
            continue;
        }
        if (infer_removal_of(s, e, REPAIR_NOT_EMPTY) < 0 || learn_close_entry(s, id, false) < 0)
            return -s->err->code;
    }
    return 0;
}

int learn_replace(struct step *s, uint32_t id)
{
    uint32_t serial = entry_at(s->h, id)->serial;

    if (learn_empty_directory(s, entry_at(s->h, id)->node) < 0)
        return -s->err->code;
    return entry_is(s->h, id, serial) ? learn_close_entry(s, id, false) : 0;
}

/* What is known of a name that is found, before it is judged. */
struct found {
    uint32_t parent, node, old; /* |old|: entry of that name, or none */
    struct bytes name;
    const struct attributes *attributes;
    struct absence absence;
    uint32_t names; /* others of the node */
};

static uint32_t count_names(const struct hierarchy *h, const struct node *n)
{
    uint32_t count = 0;

    for (uint32_t id = n->names; id && count < NAMES_COUNTED; id = entry_at(h, id)->next)
        count++;
    return count;
}

/* Whether the order of this operation and of what it may contradict is unknown. */
static bool found_overlaps(const struct step *s, const struct found *f)
{
    const struct node *n = node_at(s->h, f->node);

    if (f->old && overlaps(s, entry_at(s->h, f->old)->changed))
        return true;
    if (!f->old && f->absence.known && overlaps(s, f->absence.since))
        return true;
    if (n->died != TO_THE_END && overlaps(s, n->died))
        return true;
    return n->names && overlaps(s, entry_at(s->h, n->names)->changed) &&
           entry_at(s->h, n->names)->start != BEGINNING;
}

static int open_found(struct step *s, const struct found *f, int64_t start)
{
    return entry_open(s->h, f->parent, f->name, f->node, start, s->e->done_time, s->e->id, NULL,
                      s->err);
}

/* It was known under another name, which it has no more. */
static int found_moved(struct step *s, const struct found *f)
{
    uint32_t from = node_at(s->h, f->node)->names;
    const struct entry *e = entry_at(s->h, from);
    const struct unseen unseen = {
        .reason = f->old || !f->absence.known ? REPAIR_OTHER : REPAIR_APPEARED,
        .procedure = NFS3_RENAME,
        .node = f->node,
        .parent = e->parent,
        .name = text_bytes(e->name),
        .parent2 = f->parent,
        .name2 = f->name,
        .witness = f->old             ? entry_at(s->h, f->old)->seen_id
                   : f->absence.known ? f->absence.id
                                      : e->seen_id,
        .precedes = s->e->id,
    };
    uint32_t serial;

    if (learn_infer(s, &unseen) < 0)
        return -s->err->code;
    serial = e->serial;
    if (f->old && learn_replace(s, f->old) < 0)
        return -s->err->code;
    if (!entry_is(s->h, from, serial) || entry_find(s->h, f->parent, f->name))
        return 0;
    if (learn_close_entry(s, from, true) < 0)
        return -s->err->code;
    return open_found(s, f, s->e->done_time);
}

/* Its removal was inferred, and was a RENAME. */
static int found_again(struct step *s, const struct found *f)
{
    struct node *n = node_at(s->h, f->node);
    struct inference *i = &s->l->repair.inferences[n->inference];

    i->name2 = text_new(f->name);
    if (!i->name2)
        return err_memory(s->err, "inferences");
    i->parent2 = node_number(s->h, f->parent);
    i->procedure = NFS3_RENAME;
    n->inference = 0;
    return open_found(s, f, n->died);
}

/* It was made or linked unseen, or comes from where nobody looked. */
static int found_new(struct step *s, const struct found *f)
{
    struct node *n = node_at(s->h, f->node);
    struct unseen unseen = {
        .reason = f->old ? REPAIR_OTHER : REPAIR_APPEARED,
        .node = f->node,
        .witness = f->old ? entry_at(s->h, f->old)->seen_id : f->absence.id,
        .precedes = s->e->id,
    };
    int64_t since = f->old ? entry_at(s->h, f->old)->changed : f->absence.since;
    bool linked, made;

    if (f->old && learn_infer_removal(s, f->old, unseen.reason) < 0)
        return -s->err->code;
    linked = f->names || n->died != TO_THE_END;
    made = !linked && n->first_done > since;
    if (made) {
        unseen.procedure = learn_making_procedure(n->type);
        unseen.parent = f->parent;
        unseen.name = f->name;
        unseen.precedes = n->first_id;
    } else {
        unseen.procedure = linked ? NFS3_LINK : NFS3_RENAME;
        unseen.parent2 = f->parent;
        unseen.name2 = f->name;
    }
    if (learn_infer(s, &unseen) < 0)
        return -s->err->code;
    if (made && n->born == BEGINNING)
        node_was_made(s->h, f->node, n->first_done);
    return open_found(s, f, s->e->done_time);
}

/* A nameless node that was inferred to have been made turns out to be an object: so it was made as
 * what that is, and before it was used by its handle.  Of late inferences only. */
static void made_as(struct step *s, uint32_t nameless, const struct found *f)
{
    const struct node *n = node_at(s->h, nameless);
    const struct node *used = f->node ? node_at(s->h, f->node) : NULL;
    struct repair *repair = &s->l->repair;
    int64_t number = node_number(s->h, nameless);
    uint8_t type = f->attributes ? f->attributes->type : used ? used->type : OBJECT_UNKNOWN;

    if (n->born == BEGINNING)
        return;
    for (uint32_t k = 0; k < repair->count && k < INFERENCES_SEARCHED; k++) {
        struct inference *i = &repair->inferences[repair->count - k];

        if (i->object != number || i->procedure < NFS3_CREATE || i->procedure > NFS3_MKNOD)
            continue;
        if (type)
            i->procedure = (uint8_t)learn_making_procedure(type);
        if (used && used->born == BEGINNING && !used->names && used->first_done < n->first_done &&
            i->witness < used->first_id)
            i->precedes = used->first_id;
        return;
    }
}

/* What an entry of a nameless node turns out to stand for. */
static int found_handle(struct step *s, struct found *f, uint32_t object)
{
    struct entry *e = entry_at(s->h, f->old);

    e->seen_id = s->e->id;
    made_as(s, e->node, f);
    return node_is(s->h, e->node, object, &f->node, s->err);
}

static int judge_found(struct step *s, struct found *f)
{
    struct node *n = node_at(s->h, f->node);
    bool contradicts = f->old || f->absence.known, moved;

    f->names = count_names(s->h, n);
    if (f->attributes && f->attributes->type && !n->type) {
        node_uncount(s->h, f->node);
        n->type = f->attributes->type;
        node_count(s->h, f->node);
    }
    moved = f->names && (node_is_directory(n) ||
                         (f->attributes ? f->attributes->nlink <= f->names : contradicts));
    if (moved)
        return found_moved(s, f);
    if (n->inference && n->died != TO_THE_END && !f->old &&
        (!f->absence.known || f->absence.since <= n->died))
        return found_again(s, f);
    if (contradicts || (n->born != BEGINNING && f->names))
        return found_new(s, f);
    return open_found(s, f, BEGINNING);
}

int prove_found(struct step *s, uint32_t parent, struct bytes name, uint32_t object,
                const struct attributes *attributes)
{
    struct found f = { .parent = parent, .name = name, .attributes = attributes };
    int result;

    if (!is_entry_name(name))
        return 0;
    do {
        f.old = entry_find(s->h, parent, name);
        f.node = node_find(s->h, object);
        if (f.old && f.node && entry_at(s->h, f.old)->node == f.node) {
            entry_at(s->h, f.old)->seen_id = s->e->id;
            return 0;
        }
        if (f.old && node_at(s->h, entry_at(s->h, f.old)->node)->flags & NODE_NAMELESS)
            return found_handle(s, &f, object);
        result = learn_explain(s, parent, name, IT_BINDS, object);
    } while (result > 0);
    if (result < 0)
        return result;
    f.absence = learn_absence_of(s, parent, name);
    if (!f.node)
        f.node = node_get(s->h, object, BEGINNING, s->e->done_time, s->e->id);
    if (!f.node)
        return learn_no_node(s->err);
    if (f.node == parent || found_overlaps(s, &f))
        return 0;
    return judge_found(s, &f);
}

int prove_exists(struct step *s, uint32_t parent, struct bytes name, uint8_t type)
{
    struct absence absence;
    uint32_t id, node;
    int result;

    if (!is_entry_name(name))
        return 0;
    do {
        id = entry_find(s->h, parent, name);
        if (id) {
            node = entry_at(s->h, id)->node;
            entry_at(s->h, id)->seen_id = s->e->id;
            if (!node_at(s->h, node)->type) {
                node_uncount(s->h, node);
                node_at(s->h, node)->type = type;
                node_count(s->h, node);
            }
            return 0;
        }
        result = learn_explain(s, parent, name, IT_BINDS, 0);
    } while (result > 0);
    if (result < 0)
        return result;
    absence = learn_absence_of(s, parent, name);
    if (absence.known && overlaps(s, absence.since))
        return 0;
    node =
        node_nameless(s->h, absence.known ? s->e->done_time : BEGINNING, s->e->done_time, s->e->id);
    if (!node)
        return learn_no_node(s->err);
    node_uncount(s->h, node);
    node_at(s->h, node)->type = type;
    node_count(s->h, node);
    if (absence.known && learn_infer(s, &(struct unseen){ .reason = REPAIR_EXISTS,
                                                          .procedure = learn_making_procedure(type),
                                                          .node = node,
                                                          .parent = parent,
                                                          .name = name,
                                                          .witness = absence.id,
                                                          .precedes = s->e->id }) < 0)
        return -s->err->code;
    return entry_open(s->h, parent, name, node, absence.known ? s->e->done_time : BEGINNING,
                      s->e->done_time, s->e->id, NULL, s->err);
}

int prove_absent(struct step *s, uint32_t parent, struct bytes name)
{
    uint32_t id;
    int result;

    if (!is_entry_name(name))
        return 0;
    do {
        id = entry_find(s->h, parent, name);
        if (!id) {
            absent_note(s->h, parent, name, s->e->done_time, s->e->id);
            return 0;
        }
        if (overlaps(s, entry_at(s->h, id)->changed) && entry_at(s->h, id)->start != BEGINNING)
            return 0;
        result = learn_explain(s, parent, name, IT_REMOVES, 0);
    } while (result > 0);
    return result < 0 ? result : learn_infer_removal(s, id, REPAIR_GONE);
}

int prove_gone(struct step *s, uint32_t object)
{
    uint32_t id = node_find(s->h, object);
    const struct node *n = id ? node_at(s->h, id) : NULL;

    if (!n || !n->names || n->children || root_path(s->h, id))
        return 0;
    for (uint32_t i = n->names; i; i = entry_at(s->h, i)->next)
        if (overlaps(s, entry_at(s->h, i)->changed) && entry_at(s->h, i)->start != BEGINNING)
            return 0;
    while (node_find(s->h, object) == id && node_at(s->h, id)->names)
        if (learn_infer_removal(s, node_at(s->h, id)->names, REPAIR_STALE) < 0)
            return -s->err->code;
    return 0;
}
