/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/tree_walk.c
 *
 * tree_walk: depth first, with a stack of its own.
 */
#include "plan/tree.h"
#include "base/escape.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

struct level {
    uint32_t at, end; /* of tree->entries: what is still to come */
    uint32_t node, entry;
    size_t path, way; /* lengths before this directory's name */
};

/* The first name that was shown of a node that has several. */
struct first {
    uint32_t node, root;
    uint8_t *way;
    uint32_t len;
};

struct walker {
    struct tree *tree;
    struct hierarchy *h;
    const char *under;
    size_t under_len;
    int (*visit)(void *ctx, const struct tree_item *item, struct err *err);
    void *ctx;
    struct err *err;
    struct level *levels;
    uint32_t depth, cap;
    struct buf path, way;
    uint32_t root;
    struct first *firsts;
    uint32_t first_count, first_cap;
    struct table by_node;
    bool found;
    size_t base_way; /* where |under|'s own way ends */
    uint32_t base_depth;
};

static int no_memory(struct walker *w)
{
    return err_memory(w->err, "the tree");
}

/* The first of the tree's entries that are in |parent| or a later one. */
static uint32_t lower_bound(const struct walker *w, uint64_t parent)
{
    uint32_t low = 0, high = w->tree->entry_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (entry_at(w->h, w->tree->entries[middle])->parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct first *find_first(const struct walker *w, uint32_t node)
{
    uint64_t hash = (uint64_t)node << 32 | node;
    uint32_t at, i;

    for (i = table_first(&w->by_node, hash, &at); i != TABLE_NONE;
         i = table_next(&w->by_node, hash, &at))
        if (w->firsts[i].node == node)
            return &w->firsts[i];
    return NULL;
}

static int add_first(struct walker *w, uint32_t node, struct bytes way)
{
    struct first *f;

    if (GROW(w->firsts, w->first_count, w->first_cap) < 0)
        return no_memory(w);
    f = &w->firsts[w->first_count];
    *f = (struct first){ node, w->root, malloc(way.len + 1), way.len };
    if (!f->way || table_add(&w->by_node, (uint64_t)node << 32 | node, w->first_count) < 0) {
        free(f->way);
        return no_memory(w);
    }
    memcpy(f->way, way.data, way.len);
    w->first_count++;
    return 0;
}

/* Whether the current path is to be shown: it is |under|, or below it. */
static bool is_shown(const struct walker *w)
{
    size_t len = w->path.len;

    if (!w->under)
        return true;
    return len >= w->under_len && memcmp(w->path.data, w->under, w->under_len) == 0 &&
           (len == w->under_len || w->path.data[w->under_len] == '/');
}

static int show(struct walker *w, uint32_t node, uint32_t entry, bool leaves)
{
    struct tree_item item = {
        .node = node_at(w->h, node), .id = node, .entry = entry, .root = w->root, .leaves = leaves
    };
    const struct first *first;
    int result;

    if (!is_shown(w))
        return 0;
    if (w->under && !w->found) {
        w->found = true;
        w->base_way = w->way.len;
        w->base_depth = w->depth;
        w->root = item.root = node;
    }
    item.depth = w->depth - w->base_depth;
    if (item.depth) {
        item.name = text_bytes(entry_at(w->h, entry)->name);
        size_t skip = w->base_way + (w->base_way ? 1 : 0);

        item.way = (struct bytes){ w->way.data + skip, (uint32_t)(w->way.len - skip) };
    }
    if (buf_append(&w->path, "", 1) < 0)
        return no_memory(w);
    w->path.len--;
    item.path = (const char *)w->path.data;
    first = find_first(w, node);
    if (first) {
        item.first = (struct bytes){ first->way, first->len };
        item.first_root = first->root;
    }
    result = w->visit(w->ctx, &item, w->err);
    if (result == 0 && !leaves && !item.first.data && item.depth && item.node->nlink != 1 &&
        !node_is_directory(item.node))
        result = add_first(w, node, item.way);
    return result;
}

static int push(struct walker *w, uint32_t node, uint32_t entry, size_t path, size_t way)
{
    if (GROW(w->levels, w->depth, w->cap) < 0)
        return no_memory(w);
    w->levels[w->depth++] = (struct level){
        lower_bound(w, node), lower_bound(w, (uint64_t)node + 1), node, entry, path, way
    };
    return 0;
}

/* Shows an entry, and goes into it when it is a directory that was not shown before. */
static int enter(struct walker *w, uint32_t entry)
{
    const struct entry *e = entry_at(w->h, entry);
    uint32_t node = node_final(w->h, e->node);
    struct node *n = node_at(w->h, node);
    size_t path = w->path.len, way = w->way.len;
    struct bytes name = text_bytes(e->name);
    int result;

    if (buf_append(&w->path, "/", 1) < 0 || escape_name(name, false, &w->path) < 0 ||
        (way && buf_append(&w->way, "/", 1) < 0) || buf_append(&w->way, name.data, name.len) < 0)
        return no_memory(w);
    result = show(w, node, entry, false);
    if (result == 0 && node_is_directory(n) && !(n->flags & NODE_VISITED)) {
        n->flags |= NODE_VISITED;
        return push(w, node, entry, path, way);
    }
    n->flags |= NODE_VISITED;
    w->path.len = path;
    w->way.len = way;
    return result;
}

static int walk_root(struct walker *w, uint32_t root)
{
    struct node *n = node_at(w->h, root);
    const char *mount = root_path(w->h, root);
    char label[32];
    int result;

    w->path.len = w->way.len = 0;
    w->root = root;
    snprintf(label, sizeof(label), "[#%lld]", (long long)node_number(w->h, root));
    if ((mount ? escape_name(text_bytes(mount), true, &w->path)
               : buf_append(&w->path, label, strlen(label))) < 0)
        return no_memory(w);
    while (w->path.len > 1 && w->path.data[w->path.len - 1] == '/')
        w->path.len--;
    n->flags |= NODE_VISITED;
    result = show(w, root, ENTRY_NONE, false);
    if (w->path.len == 1 && w->path.data[0] == '/')
        w->path.len = 0; /* what is below it begins with a slash of its own */
    if (result == 0 && node_is_directory(n))
        result = push(w, root, ENTRY_NONE, w->path.len, 0);
    while (result == 0 && w->depth) {
        struct level *l = &w->levels[w->depth - 1];

        if (l->at < l->end) {
            result = enter(w, w->tree->entries[l->at++]);
            continue;
        }
        w->depth--;
        result = show(w, l->node, l->entry, true);
        w->path.len = l->path;
        w->way.len = l->way;
    }
    return result;
}

/* Roots, and then what is in circles, which only an unseen RENAME can make. */
static int walk_all(struct walker *w)
{
    int result = 0;

    for (int circles = 0; circles < 2; circles++)
        for (uint32_t i = 1; result == 0 && i < w->h->nodes.count; i++) {
            const struct node *n = node_at(w->h, i);

            if (!(n->flags & NODE_USED) || n->flags & NODE_VISITED || !node_at_moment(w->h, n) ||
                (!circles && n->flags & NODE_KEPT_NAME))
                continue;
            if (circles && !node_is_directory(n))
                continue;
            result = walk_root(w, i);
        }
    return result;
}

int tree_walk(struct tree *t, const char *under,
              int (*visit)(void *ctx, const struct tree_item *item, struct err *err), void *ctx,
              struct err *err)
{
    struct walker w = { .tree = t,
                        .h = &t->learn.hierarchy,
                        .under = under,
                        .under_len = under ? strlen(under) : 0,
                        .visit = visit,
                        .ctx = ctx,
                        .err = err };
    int result;

    while (w.under_len > 1 && under[w.under_len - 1] == '/')
        w.under_len--;
    for (uint32_t i = 1; i < w.h->nodes.count; i++)
        node_at(w.h, i)->flags &= (uint8_t)~NODE_VISITED;
    result = walk_all(&w);
    for (uint32_t i = 0; i < w.first_count; i++)
        free(w.firsts[i].way);
    free(w.firsts);
    free(w.levels);
    table_free(&w.by_node);
    buf_free(&w.path);
    buf_free(&w.way);
    return result ? result : under && !w.found;
}
