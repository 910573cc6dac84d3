/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/hierarchy.c
 *
 * Nodes and entries of the tree, their lifetimes, and what is looked up of them.  Contract:
 * hierarchy.h.
 */
#include "tree/hierarchy.h"
#include "base/digest.h"
#include "base/grow.h"
#include "record/record.h"

#include <stdlib.h>

enum { GONE = UINT32_MAX };

static int no_memory(struct err *err)
{
    return err_memory(err, "the hierarchy");
}

int hierarchy_init(struct hierarchy *h, int64_t moment, const struct hierarchy_host *host,
                   struct err *err)
{
    memset(h, 0, sizeof(*h));
    h->moment = moment;
    if (host)
        h->host = *host;
    h->absent = calloc(ABSENT_PLACES, sizeof(*h->absent));
    return h->absent && pool_init(&h->nodes, sizeof(struct node)) &&
                   pool_init(&h->entries, sizeof(struct entry))
               ? 0
               : no_memory(err);
}

void hierarchy_free(struct hierarchy *h)
{
    for (uint32_t i = 1; i < h->entries.count; i++)
        if (entry_at(h, i)->is_used)
            free(entry_at(h, i)->name);
    for (uint32_t i = 1; i < h->nodes.count; i++)
        if (node_at(h, i)->flags & NODE_USED)
            free(node_at(h, i)->link);
    for (uint32_t i = 0; i < h->root_count; i++)
        free(h->roots[i].path);
    pool_free(&h->nodes);
    pool_free(&h->entries);
    table_free(&h->by_name);
    table_free(&h->by_root);
    free(h->node_of);
    free(h->dying);
    free(h->absent);
    free(h->roots);
    memset(h, 0, sizeof(*h));
}

uint32_t node_final(const struct hierarchy *h, uint32_t id)
{
    while (node_at(h, id)->flags & NODE_MERGED)
        id = node_at(h, id)->merged_into;
    return id;
}

int64_t node_number(const struct hierarchy *h, uint32_t id)
{
    const struct node *n = node_at(h, node_final(h, id));

    return n->flags & NODE_NAMELESS ? -(int64_t)n->object : (int64_t)n->object;
}

static void count(struct hierarchy *h, uint32_t id, uint64_t by)
{
    const struct node *n = node_at(h, id);

    if (!node_at_moment(h, n))
        return;
    if (!(n->flags & NODE_KEPT_NAME))
        h->counts.subtrees += by;
    if (node_is_directory(n))
        h->counts.directories += by;
    else
        h->counts.files += by;
    if (n->knows & KNOWS_SIZE && !node_is_directory(n))
        h->counts.bytes += by * n->size; /* modulo 2^64 it comes out right */
}

void node_count(struct hierarchy *h, uint32_t id)
{
    count(h, id, 1);
}

void node_uncount(struct hierarchy *h, uint32_t id)
{
    count(h, id, UINT64_MAX);
}

static uint32_t node_new(struct hierarchy *h, int64_t born, int64_t done, int64_t id)
{
    uint32_t new = pool_new(&h->nodes);
    struct node *n;

    if (!new)
        return NODE_NONE;
    n = node_at(h, new);
    n->flags = NODE_USED;
    n->born = born;
    n->died = TO_THE_END;
    n->first_done = done;
    n->first_id = id;
    n->changed = INT64_MAX;
    node_count(h, new);
    h->live_nodes++;
    if (h->live_nodes > h->peak_nodes)
        h->peak_nodes = h->live_nodes;
    return new;
}

uint32_t node_find(const struct hierarchy *h, uint32_t object)
{
    uint32_t id = object < h->object_cap ? h->node_of[object] : NODE_NONE;

    return id == GONE ? NODE_NONE : id;
}

bool node_is_gone(const struct hierarchy *h, uint32_t object)
{
    return object < h->object_cap && h->node_of[object] == GONE;
}

static bool hold_object(struct hierarchy *h, uint32_t object)
{
    return GROW_ZERO(h->node_of, (uint64_t)object + 1, h->object_cap) == 0;
}

uint32_t node_get(struct hierarchy *h, uint32_t object, int64_t born, int64_t done, int64_t id)
{
    uint32_t node = node_find(h, object);

    if (node || !object || object == UINT32_MAX || !hold_object(h, object))
        return node;
    if (born == BEGINNING && h->node_of[object] == GONE)
        born = done; /* it was made here, so another name of it lives on */
    node = node_new(h, born, done, id);
    if (!node)
        return NODE_NONE;
    node_at(h, node)->object = object;
    h->node_of[object] = node;
    return node;
}

uint32_t node_nameless(struct hierarchy *h, int64_t born, int64_t done, int64_t id)
{
    uint32_t node = node_new(h, born, done, id);

    if (node) {
        node_at(h, node)->object = ++h->nameless;
        node_at(h, node)->flags |= NODE_NAMELESS;
    }
    return node;
}

int node_is(struct hierarchy *h, uint32_t id, uint32_t object, uint32_t *is, struct err *err)
{
    struct node *n = node_at(h, id), *to;
    int64_t from = node_number(h, id);
    uint32_t known = node_find(h, object);

    *is = known ? known : id;
    if (!hold_object(h, object))
        return no_memory(err);
    if (!known) {
        n->object = object;
        n->flags &= (uint8_t)~NODE_NAMELESS;
        h->node_of[object] = id;
    } else { /* it was used by its handle already: all names go there */
        to = node_at(h, known);
        node_uncount(h, id);
        node_uncount(h, known);
        while (n->names) {
            struct entry *e = entry_at(h, n->names);
            uint32_t next = e->next, at = n->names;

            e->node = known;
            e->previous = 0;
            e->next = to->names;
            if (to->names)
                entry_at(h, to->names)->previous = at;
            to->names = at;
            n->names = next;
        }
        to->flags |= n->flags & NODE_KEPT_NAME;
        if (n->born > to->born)
            to->born = n->born; /* a name that was made, and is its first */
        if (!to->type)
            to->type = n->type;
        n->flags |= NODE_MERGED;
        n->merged_into = known;
        node_count(h, known);
        if (to->names)
            node_revive(h, known);
        h->live_nodes--;
    }
    return h->host.named ? h->host.named(h->host.ctx, from, object, err) : 0;
}

uint64_t name_hash(uint32_t parent, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, parent);
}

uint32_t entry_find(const struct hierarchy *h, uint32_t parent, struct bytes name)
{
    uint64_t hash = name_hash(parent, name);
    uint32_t at, id;

    for (id = table_first(&h->by_name, hash, &at); id != TABLE_NONE;
         id = table_next(&h->by_name, hash, &at)) {
        const struct entry *e = entry_at(h, id);
        struct bytes text = text_bytes(e->name);

        if (e->parent == parent && text.len == name.len &&
            memcmp(text.data, name.data, name.len) == 0)
            return id;
    }
    return ENTRY_NONE;
}

void entry_hang(struct hierarchy *h, uint32_t id)
{
    struct entry *e = entry_at(h, id);
    struct node *n = node_at(h, e->node), *p = node_at(h, e->parent);

    e->next = n->names;
    if (n->names)
        entry_at(h, n->names)->previous = id;
    n->names = id;
    e->after = p->children;
    if (p->children)
        entry_at(h, p->children)->before = id;
    p->children = id;
}

static void unhang(struct hierarchy *h, uint32_t id)
{
    struct entry *e = entry_at(h, id);

    if (e->next)
        entry_at(h, e->next)->previous = e->previous;
    if (e->previous)
        entry_at(h, e->previous)->next = e->next;
    else
        node_at(h, e->node)->names = e->next;
    if (e->after)
        entry_at(h, e->after)->before = e->before;
    if (e->before)
        entry_at(h, e->before)->after = e->after;
    else
        node_at(h, e->parent)->children = e->after;
    e->next = e->previous = e->after = e->before = ENTRY_NONE;
}

int entry_open(struct hierarchy *h, uint32_t parent, struct bytes name, uint32_t node,
               int64_t start, int64_t changed, int64_t by, uint32_t *id, struct err *err)
{
    uint32_t new = pool_new(&h->entries);
    struct node *n = node_at(h, node), *p = node_at(h, parent);
    struct entry *e;

    if (!new)
        return no_memory(err);
    e = entry_at(h, new);
    e->name = text_new(name);
    if (!e->name || table_add(&h->by_name, name_hash(parent, name), new) < 0) {
        free(e->name);
        pool_give(&h->entries, new);
        return no_memory(err);
    }
    node_revive(h, node);
    node_revive(h, parent);
    if (start < n->born)
        start = n->born;
    if (start < p->born)
        start = p->born;
    e->is_used = true;
    e->serial = ++h->serial;
    e->parent = parent;
    e->node = node;
    e->start = start;
    e->stop = TO_THE_END;
    e->changed = changed;
    e->start_id = e->seen_id = by;
    entry_hang(h, new);
    if (start <= h->moment) {
        p->flags |= NODE_PINNED;
        node_uncount(h, node);
        n->flags |= NODE_KEPT_NAME;
        node_count(h, node);
    }
    if (id)
        *id = new;
    return 0;
}

static bool is_needed(const struct hierarchy *h, uint32_t id)
{
    const struct node *n = node_at(h, id);

    return n->died == TO_THE_END || n->names || n->children || n->inference ||
           n->flags & (NODE_KEPT_NAME | NODE_PINNED | NODE_MERGED) || node_at_moment(h, n) ||
           root_path(h, id);
}

void hierarchy_sweep(struct hierarchy *h)
{
    while (h->dying_count) {
        uint32_t id = h->dying[--h->dying_count];
        struct node *n = node_at(h, id);

        if (!(n->flags & NODE_USED) || is_needed(h, id))
            continue;
        if (n->object && !(n->flags & NODE_NAMELESS))
            h->node_of[n->object] = GONE;
        free(n->link);
        pool_give(&h->nodes, id);
    }
}

/* The node's last name is gone. */
static int die(struct hierarchy *h, uint32_t id, int64_t stop, struct err *err)
{
    struct node *n = node_at(h, id);

    node_uncount(h, id);
    n->died = stop;
    node_count(h, id);
    h->live_nodes--;
    if (is_needed(h, id))
        return 0;
    if (GROW(h->dying, h->dying_count, h->dying_cap) < 0)
        return no_memory(err);
    h->dying[h->dying_count++] = id;
    return 0;
}

void node_revive(struct hierarchy *h, uint32_t id)
{
    struct node *n = node_at(h, id);

    if (n->died == TO_THE_END)
        return;
    node_uncount(h, id);
    n->died = TO_THE_END;
    node_count(h, id);
    h->live_nodes++;
}

void node_was_made(struct hierarchy *h, uint32_t id, int64_t born)
{
    node_uncount(h, id);
    node_at(h, id)->born = born;
    node_count(h, id);
}

int entry_close(struct hierarchy *h, uint32_t id, int64_t stop, int64_t by, bool moves,
                struct err *err)
{
    struct entry *e = entry_at(h, id);
    uint32_t node = e->node;
    bool kept;

    e->stop = stop;
    e->stop_id = by;
    kept = entry_at_moment(h, e);
    if (h->host.entry && h->host.entry(h->host.ctx, h, e, err) < 0)
        return -err->code;
    table_remove(&h->by_name, name_hash(e->parent, text_bytes(e->name)), id);
    unhang(h, id);
    if (!kept) {
        if (stop <= h->moment && node_at(h, node)->flags & NODE_KEPT_NAME) {
            bool others = false; /* names that were there before the moment, and still are */

            for (uint32_t i = node_at(h, node)->names; i && !others; i = entry_at(h, i)->next)
                others = true;
            if (!others) {
                node_uncount(h, node);
                node_at(h, node)->flags &= (uint8_t)~NODE_KEPT_NAME;
                node_count(h, node);
            }
        }
        free(e->name);
        pool_give(&h->entries, id);
    }
    return node_at(h, node)->names || moves ? 0 : die(h, node, stop, err);
}

int hierarchy_end(struct hierarchy *h, struct err *err)
{
    for (uint32_t i = 1; h->host.entry && i < h->entries.count; i++) {
        const struct entry *e = entry_at(h, i);

        if (e->is_used && e->stop == TO_THE_END && h->host.entry(h->host.ctx, h, e, err) < 0)
            return -err->code;
    }
    return 0;
}

/* Four places for each hash; the oldest goes. */
void absent_note(struct hierarchy *h, uint32_t parent, struct bytes name, int64_t since, int64_t id)
{
    uint64_t hash = name_hash(parent, name);
    struct absent *set = &h->absent[(hash >> 20) % (ABSENT_PLACES / 4) * 4], *to = set;

    for (int i = 0; i < 4; i++) {
        if (set[i].id && set[i].hash == hash) {
            to = &set[i];
            break;
        }
        if (!set[i].id || (to->id && set[i].since < to->since))
            to = &set[i];
    }
    *to = (struct absent){ hash, since, id };
}

const struct absent *absent_find(const struct hierarchy *h, uint32_t parent, struct bytes name)
{
    uint64_t hash = name_hash(parent, name);
    const struct absent *set = &h->absent[(hash >> 20) % (ABSENT_PLACES / 4) * 4];

    for (int i = 0; i < 4; i++)
        if (set[i].id && set[i].hash == hash)
            return &set[i];
    return NULL;
}

const char *root_path(const struct hierarchy *h, uint32_t node)
{
    uint32_t at, slot;

    for (slot = table_first(&h->by_root, (uint64_t)node << 32 | node, &at); slot != TABLE_NONE;
         slot = table_next(&h->by_root, (uint64_t)node << 32 | node, &at))
        if (h->roots[slot].node == node)
            return h->roots[slot].path;
    return NULL;
}

int hierarchy_root(struct hierarchy *h, uint32_t node, struct bytes path, struct err *err)
{
    char *text;

    if (root_path(h, node))
        return 0;
    if (GROW(h->roots, h->root_count, h->root_cap) < 0)
        return no_memory(err);
    text = text_new(path);
    if (!text || table_add(&h->by_root, (uint64_t)node << 32 | node, h->root_count) < 0) {
        free(text);
        return no_memory(err);
    }
    h->roots[h->root_count++] = (struct root){ node, text };
    return 0;
}
