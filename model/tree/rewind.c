/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/rewind.c
 *
 * hierarchy_rewind: from the end of a trace back to the hierarchy's moment.
 */
#include "tree/hierarchy.h"

#include <stdlib.h>

static bool is_kept(const struct hierarchy *h, uint32_t node)
{
    const struct node *n = node_at(h, node);

    return n->flags & NODE_USED && node_at_moment(h, n);
}

/* Entries of what turned out to be another node are that one's; the others are forgotten. */
static void sort_entries(struct hierarchy *h)
{
    for (uint32_t i = 1; i < h->entries.count; i++) {
        struct entry *e = entry_at(h, i);

        if (!e->is_used)
            continue;
        e->node = node_final(h, e->node);
        e->parent = node_final(h, e->parent);
        if (entry_at_moment(h, e) && is_kept(h, e->node) && is_kept(h, e->parent))
            continue;
        free(e->name);
        pool_give(&h->entries, i);
    }
    for (uint32_t i = 0; i < h->root_count; i++)
        h->roots[i].node = node_final(h, h->roots[i].node);
}

static void reset_nodes(struct hierarchy *h)
{
    if (h->object_cap)
        memset(h->node_of, 0, (size_t)h->object_cap * sizeof(*h->node_of));
    h->live_nodes = 0;
    for (uint32_t i = 1; i < h->nodes.count; i++) {
        struct node *n = node_at(h, i);

        if (!(n->flags & NODE_USED))
            continue;
        if (!is_kept(h, i)) {
            free(n->link);
            pool_give(&h->nodes, i);
            continue;
        }
        n->flags &= NODE_USED | NODE_NAMELESS | NODE_AT_LEAST | NODE_GUESSED;
        n->names = n->children = n->inference = 0;
        n->tainted = 0;
        n->died = TO_THE_END;
        if (!(n->flags & NODE_NAMELESS) && n->object < h->object_cap)
            h->node_of[n->object] = i;
        h->live_nodes++;
    }
}

static int hang_entries(struct hierarchy *h)
{
    table_clear(&h->by_name);
    for (uint32_t i = 1; i < h->entries.count; i++) {
        struct entry *e = entry_at(h, i);

        if (!e->is_used)
            continue;
        if (entry_find(h, e->parent, text_bytes(e->name))) { /* their parents became one */
            free(e->name);
            pool_give(&h->entries, i);
            continue;
        }
        e->next = e->previous = e->after = e->before = ENTRY_NONE;
        e->start = e->changed = BEGINNING;
        e->stop = TO_THE_END;
        if (table_add(&h->by_name, name_hash(e->parent, text_bytes(e->name)), i) < 0)
            return -1;
        entry_hang(h, i);
    }
    return 0;
}

/* A directory has two links and one for each subdirectory, unless its server does not count them.
 */
static uint32_t links_of_directory(const struct hierarchy *h, const struct node *n)
{
    uint32_t count = 2;

    for (uint32_t e = n->children; e; e = entry_at(h, e)->after)
        count += node_is_directory(node_at(h, entry_at(h, e)->node));
    return count;
}

/* A file has at least as many links as names.  If it had two names one after the other, it is
 * unknown whether it moved from one to the other. */
static void count_links(struct hierarchy *h)
{
    for (uint32_t i = 1; i < h->nodes.count; i++) {
        struct node *n = node_at(h, i);
        uint32_t count = 0;

        if (!(n->flags & NODE_USED) || !(n->knows & KNOWS_NLINK))
            continue;
        if (node_is_directory(n))
            count = links_of_directory(h, n);
        for (uint32_t e = node_is_directory(n) ? 0 : n->names; e; e = entry_at(h, e)->next)
            count++;
        if (n->nlink < count) {
            n->nlink = count;
            n->guessed |= KNOWS_NLINK;
        }
    }
}

int hierarchy_rewind(struct hierarchy *h, struct err *err)
{
    sort_entries(h);
    reset_nodes(h);
    if (hang_entries(h) < 0)
        return err_memory(err, "the hierarchy");
    count_links(h);
    free(h->absent);
    h->absent = NULL;
    h->dying_count = 0;
    h->host = (struct hierarchy_host){ 0 };
    /* nothing is at the moment any more, so nothing is kept for it, or counted */
    h->moment = BEGINNING;
    h->counts = (struct hierarchy_counts){ 0 };
    for (uint32_t i = 1; i < h->nodes.count; i++)
        if (node_at(h, i)->flags & NODE_USED)
            node_at(h, i)->born = BEGINNING + 1;
    for (uint32_t i = 1; i < h->entries.count; i++)
        if (entry_at(h, i)->is_used)
            entry_at(h, i)->start = BEGINNING + 1;
    return 0;
}
