/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/xids.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static const struct address no_server;

static uint64_t hosts_hash(const struct address *client, const struct address *server)
{
    return XXH3_64bits_withSeed(client, sizeof(*client), XXH3_64bits(server, sizeof(*server)));
}

static uint32_t find(const struct xids *x, const struct address *client,
                     const struct address *server)
{
    uint32_t at, i;
    uint64_t hash = hosts_hash(client, server);

    for (i = table_first(&x->by_hosts, hash, &at); i != TABLE_NONE;
         i = table_next(&x->by_hosts, hash, &at))
        if (!memcmp(&x->pairs[i].client, client, sizeof(*client)) &&
            !memcmp(&x->pairs[i].server, server, sizeof(*server)))
            break;
    return i;
}

const struct xids_pair *xids_find(const struct xids *x, const struct address *client,
                                  const struct address *server)
{
    uint32_t i = find(x, client, server ? server : &no_server);

    return i == TABLE_NONE ? NULL : &x->pairs[i];
}

static struct xids_pair *place(struct xids *x, const struct address *client,
                               const struct address *server)
{
    uint32_t i = find(x, client, server);

    if (i != TABLE_NONE)
        return &x->pairs[i];
    if (GROW(x->pairs, x->count, x->cap) < 0 ||
        table_add(&x->by_hosts, hosts_hash(client, server), x->count) < 0)
        return NULL;
    memset(&x->pairs[x->count], 0, sizeof(*x->pairs));
    x->pairs[x->count].client = *client;
    x->pairs[x->count].server = *server;
    return &x->pairs[x->count++];
}

/* Makes one range of |at| and the next one. */
static void join(struct xids_ranges *p, uint32_t at)
{
    p->range[at].last = p->range[at + 1].last;
    p->count--;
    memmove(&p->range[at + 1], &p->range[at + 2], (p->count - at - 1) * sizeof(p->range[0]));
}

static void join_nearest(struct xids_ranges *p)
{
    uint32_t nearest = 0;

    for (uint32_t i = 1; i + 1 < p->count; i++)
        if (p->range[i + 1].first - p->range[i].last <
            p->range[nearest + 1].first - p->range[nearest].last)
            nearest = i;
    join(p, nearest);
}

static bool touches(const struct xids_range *range, uint32_t first)
{
    return (uint64_t)range->last + 1 >= first;
}

static void add(struct xids_ranges *p, struct xids_range new)
{
    uint32_t at = p->count;

    while (at && p->range[at - 1].first > new.first) /* most XIDs are the highest so far */
        at--;
    if (at && p->range[at - 1].last >= new.last)
        return;
    if (at && touches(&p->range[at - 1], new.first)) {
        p->range[--at].last = new.last;
    } else {
        if (p->count == XIDS_RANGES) {
            join_nearest(p);
            add(p, new);
            return;
        }
        memmove(&p->range[at + 1], &p->range[at], (p->count - at) * sizeof(new));
        p->range[at] = new;
        p->count++;
    }
    while (at + 1 < p->count && touches(&p->range[at], p->range[at + 1].first)) {
        uint32_t last = p->range[at].last;

        join(p, at);
        if (p->range[at].last < last)
            p->range[at].last = last;
    }
}

int xids_add(struct xids *x, const struct address *client, const struct address *server,
             uint32_t xid)
{
    struct xids_pair *p = place(x, client, server ? server : &no_server);

    if (!p)
        return -ERR_SYSTEM;
    add(&p->plain, (struct xids_range){ xid, xid });
    xid = __builtin_bswap32(xid);
    add(&p->swapped, (struct xids_range){ xid, xid });
    return 0;
}

int xids_merge(struct xids *x, const struct xids_pair *from)
{
    struct xids_pair *p = place(x, &from->client, &from->server);

    for (uint32_t i = 0; p && i < from->plain.count; i++)
        add(&p->plain, from->plain.range[i]);
    for (uint32_t i = 0; p && i < from->swapped.count; i++)
        add(&p->swapped, from->swapped.range[i]);
    return p ? 0 : -ERR_SYSTEM;
}

void xids_free(struct xids *x)
{
    free(x->pairs);
    table_free(&x->by_hosts);
    memset(x, 0, sizeof(*x));
}

static bool has(const struct xids_ranges *r, uint32_t xid)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (xid >= r->range[i].first && xid <= r->range[i].last)
            return true;
    return false;
}

bool xids_has(const struct xids_pair *p, uint32_t xid)
{
    return has(&p->plain, xid) && has(&p->swapped, __builtin_bswap32(xid));
}

static bool meet(const struct xids_ranges *a, const struct xids_ranges *b)
{
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->range[i].last < b->range[j].first)
            i++;
        else if (b->range[j].last < a->range[i].first)
            j++;
        else
            return true;
    }
    return false;
}

bool xids_meet(const struct xids_pair *a, const struct xids_pair *b)
{
    return meet(&a->plain, &b->plain) && meet(&a->swapped, &b->swapped);
}
