/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn_apply.c
 *
 * Applies successful operations to names.
 */
#include "tree/learn_parts.h"

int learn_close_entry(struct step *s, uint32_t id, bool moves)
{
    const struct entry *e = entry_at(s->h, id);

    absent_note(s->h, e->parent, text_bytes(e->name), s->e->done_time, s->e->id);
    return entry_close(s->h, id, s->e->done_time, s->e->id, moves, s->err);
}

/* CREATE that may have found the file there: |node| is what it was given. */
static bool was_there(const struct step *s, uint32_t node)
{
    const struct effect *e = s->e;
    struct attributes a;

    if (!(e->asked.bits & ASKED_HOW) || e->asked.how != UNCHECKED)
        return false;
    if (node && node_at(s->h, node)->died == TO_THE_END &&
        node_at(s->h, node)->first_done < e->call_time)
        return true;
    if (!effect_attributes(e, OF_NEW_OBJECT, &a))
        return false;
    return a.nlink > 1 || a.size > (e->asked.bits & ASKED_SIZE ? e->asked.size : 0);
}

/* The node of what was made: it is new from now on, whatever its handle was before. */
static uint32_t made_node(struct step *s)
{
    struct effect *e = s->e;
    uint32_t id = e->new_object ? node_get(s->h, e->new_object, e->done_time, e->done_time, e->id)
                                : node_nameless(s->h, e->done_time, e->done_time, e->id);
    struct node *n;

    if (!id)
        return NODE_NONE;
    n = node_at(s->h, id);
    if (n->born == BEGINNING && !n->names && overlaps(s, n->first_done))
        node_was_made(s->h, id, e->done_time);
    if (!n->type) {
        node_uncount(s->h, id);
        n->type = e->procedure->type ? e->procedure->type : (uint8_t)e->asked.type;
        node_count(s->h, id);
    }
    return id;
}

/* CREATE that found a file, which was removed before the reply came. */
static bool found_and_gone(const struct step *s, uint32_t parent)
{
    const struct absent *a = absent_find(s->h, parent, s->e->name);
    uint32_t node = node_find(s->h, s->e->new_object);

    if (!s->e->new_object || !a || !overlaps(s, a->since))
        return false;
    return node ? node_at(s->h, node)->died != TO_THE_END : node_is_gone(s->h, s->e->new_object);
}

/* The name of the entry stands for something that was made since. */
static int give_way(struct step *s, uint32_t id)
{
    return overlaps(s, entry_at(s->h, id)->changed) ? learn_close_entry(s, id, false)
                                                    : learn_infer_removal(s, id, REPAIR_MADE_AGAIN);
}

static int apply_made(struct step *s, uint32_t parent)
{
    struct effect *e = s->e;
    struct attributes a;
    uint32_t id, node;
    int result;

    do {
        id = entry_find(s->h, parent, e->name);
        node = node_find(s->h, e->new_object);
        if (id && node && entry_at(s->h, id)->node == node) {
            entry_at(s->h, id)->seen_id = e->id;
            return 0;
        }
        if ((id && node_at(s->h, entry_at(s->h, id)->node)->flags & NODE_NAMELESS &&
             e->new_object) ||
            (e->new_object && !id && was_there(s, node)))
            return prove_found(s, parent, e->name, e->new_object,
                               effect_attributes(e, OF_NEW_OBJECT, &a) ? &a : NULL);
        result = id ? learn_explain(s, parent, e->name, IT_REMOVES, 0) : 0;
    } while (result > 0);
    if (result < 0)
        return result;
    if (id && give_way(s, id) < 0)
        return -s->err->code;
    if (!id && found_and_gone(s, parent))
        return 0;
    node = made_node(s);
    if (!node)
        return learn_no_node(s->err);
    return entry_open(s->h, parent, e->name, node, e->done_time, e->done_time, e->id, NULL, s->err);
}

int64_t learn_entry_taken(struct step *s, uint32_t parent, struct bytes name)
{
    struct absence absence;
    uint32_t id, node;
    int64_t start;
    int result;

    do {
        id = entry_find(s->h, parent, name);
        if (id)
            return id;
        result = learn_explain(s, parent, name, IT_BINDS, 0);
    } while (result > 0);
    if (result < 0)
        return result;
    absence = learn_absence_of(s, parent, name);
    if (absence.known && overlaps(s, absence.since))
        return ENTRY_NONE;
    start = absence.known ? s->e->done_time : BEGINNING;
    node = node_nameless(s->h, start, s->e->done_time, s->e->id);
    if (!node)
        return learn_no_node(s->err);
    node_uncount(s->h, node);
    node_at(s->h, node)->type = s->e->procedure->type;
    node_count(s->h, node);
    if (absence.known &&
        learn_infer(s, &(struct unseen){ .reason = REPAIR_REMOVED_ABSENT,
                                         .procedure = learn_making_procedure(s->e->procedure->type),
                                         .node = node,
                                         .parent = parent,
                                         .name = name,
                                         .witness = absence.id,
                                         .precedes = s->e->id }) < 0)
        return -s->err->code;
    if (entry_open(s->h, parent, name, node, start, s->e->done_time, s->e->id, &id, s->err) < 0)
        return -s->err->code;
    return id;
}

void learn_note_taker(const struct step *s, uint32_t node)
{
    struct node *n = node_at(s->h, node);

    if (!(n->knows & KNOWS_UID) && !n->uid)
        n->uid = s->e->credential;
}

static int apply_removed(struct step *s, uint32_t parent)
{
    int64_t id = learn_entry_taken(s, parent, s->e->name);
    uint32_t node;

    if (id < 0)
        return (int)id;
    if (!id) {
        absent_note(s->h, parent, s->e->name, s->e->done_time, s->e->id);
        return 0;
    }
    node = entry_at(s->h, (uint32_t)id)->node;
    learn_note_taker(s, node);
    initial_taint(s->h, node, s->e, KNOWS_CTIME | KNOWS_NLINK);
    return learn_replace(s, (uint32_t)id);
}

static int apply_moved(struct step *s, uint32_t parent, uint32_t parent2)
{
    struct effect *e = s->e;
    int64_t id = learn_entry_taken(s, parent, e->name);
    uint32_t old = entry_find(s->h, parent2, e->name2), node, serial;

    if (id <= 0 || old == id)
        return (int)(id < 0 ? id : 0);
    node = entry_at(s->h, (uint32_t)id)->node;
    if (old && entry_at(s->h, old)->node == node)
        return 0; /* both names are of one object: nothing happens, RFC 1813 s3.3.14 */
    learn_note_taker(s, node);
    if (old) {
        learn_note_taker(s, entry_at(s->h, old)->node);
        initial_taint(s->h, entry_at(s->h, old)->node, e, KNOWS_CTIME | KNOWS_NLINK);
    }
    initial_taint(s->h, node, e, KNOWS_CTIME);
    serial = entry_at(s->h, (uint32_t)id)->serial;
    if (old && learn_replace(s, old) < 0)
        return -s->err->code;
    if (!entry_is(s->h, (uint32_t)id, serial) || entry_find(s->h, parent2, e->name2))
        return 0;
    if (learn_close_entry(s, (uint32_t)id, true) < 0)
        return -s->err->code;
    return entry_open(s->h, parent2, e->name2, node, e->done_time, e->done_time, e->id, NULL,
                      s->err);
}

static int apply_linked(struct step *s, uint32_t parent2)
{
    struct effect *e = s->e;
    uint32_t id, node = node_get(s->h, e->object, BEGINNING, e->done_time, e->id);
    int result;

    if (!node)
        return learn_no_node(s->err);
    do {
        id = entry_find(s->h, parent2, e->name2);
        if (id && entry_at(s->h, id)->node == node)
            return 0;
        result = id ? learn_explain(s, parent2, e->name2, IT_REMOVES, 0) : 0;
    } while (result > 0);
    if (result < 0)
        return result;
    if (id && give_way(s, id) < 0)
        return -s->err->code;
    return entry_open(s->h, parent2, e->name2, node, e->done_time, e->done_time, e->id, NULL,
                      s->err);
}

uint32_t learn_directory(struct step *s, uint32_t object)
{
    uint32_t id = node_get(s->h, object, BEGINNING, s->e->done_time, s->e->id);

    if (!id) {
        learn_no_node(s->err);
    } else if (!node_at(s->h, id)->type) {
        node_uncount(s->h, id);
        node_at(s->h, id)->type = OBJECT_DIR;
        node_count(s->h, id);
    }
    return id;
}

int learn_apply(struct step *s)
{
    struct effect *e = s->e;
    uint32_t parent = e->parent && e->name.data ? learn_directory(s, e->parent) : NODE_NONE;
    uint32_t parent2 = e->parent2 && e->name2.data ? learn_directory(s, e->parent2) : NODE_NONE;
    int result;

    if ((e->parent && e->name.data && !parent) || (e->parent2 && e->name2.data && !parent2))
        return -s->err->code;
    if ((parent && !is_entry_name(e->name)) || (parent2 && !is_entry_name(e->name2)))
        return 0;
    do
        result = (parent ? learn_explain(s, parent, e->name, IT_PRECEDES, 0) : 0) |
                 (parent2 ? learn_explain(s, parent2, e->name2, IT_PRECEDES, 0) : 0);
    while (result > 0);
    if (result < 0)
        return result;
    switch (effect_action(e)) {
    case ACTION_RENAME:
        if (parent && parent2)
            return apply_moved(s, parent, parent2);
        return parent ? apply_removed(s, parent) : 0;
    case ACTION_REMOVE:
        return parent ? apply_removed(s, parent) : 0;
    case ACTION_MAKE:
        return parent ? apply_made(s, parent) : 0;
    case ACTION_LINK:
        return parent2 && e->object ? apply_linked(s, parent2) : 0;
    default:
        return 0;
    }
}
