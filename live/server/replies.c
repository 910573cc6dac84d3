/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/replies.c
 *
 * A table from keys to entries, which stand in two lists: those under way, and the others from the
 * oldest to the newest.
 */
#include "server/replies.h"
#include "base/digest.h"
#include "base/pool.h"
#include "base/table.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct key {
    uint32_t xid, program, version, procedure, length;
    uint16_t port;
    uint8_t family, datagram;
    uint8_t address[16];
    uint64_t digest;
};

struct entry {
    uint32_t next, previous; /* of the list of done ones */
    struct key key;
    uint64_t hash;
    int64_t time;
    uint8_t *reply; /* NULL: under way */
    uint32_t len;
};

struct replies {
    struct replies_limits limits;
    struct pool pool;
    struct table table;
    uint32_t oldest, newest;
    struct replies_counts counts;
};

struct replies *replies_new(const struct replies_limits *limits, struct err *err)
{
    struct replies *r = calloc(1, sizeof(*r));

    if (!r || !pool_init(&r->pool, sizeof(struct entry))) {
        free(r);
        err_memory(err, "the cache of replies");
        return NULL;
    }
    r->limits = *limits;
    return r;
}

static struct entry *at(const struct replies *r, uint32_t slot)
{
    return pool_at(&r->pool, slot);
}

/* --- the list of those that are done */

static void unlink_entry(struct replies *r, uint32_t slot)
{
    struct entry *e = at(r, slot);

    *(e->previous ? &at(r, e->previous)->next : &r->oldest) = e->next;
    *(e->next ? &at(r, e->next)->previous : &r->newest) = e->previous;
    e->next = e->previous = 0;
}

static void link_newest(struct replies *r, uint32_t slot)
{
    struct entry *e = at(r, slot);

    e->previous = r->newest;
    e->next = 0;
    *(r->newest ? &at(r, r->newest)->next : &r->oldest) = slot;
    r->newest = slot;
}

static void forget(struct replies *r, uint32_t slot)
{
    struct entry *e = at(r, slot);

    table_remove(&r->table, e->hash, slot);
    r->counts.entries--;
    r->counts.bytes -= e->len;
    free(e->reply);
    memset(e, 0, sizeof(*e));
    pool_give(&r->pool, slot);
}

static void evict(struct replies *r)
{
    uint32_t slot = r->oldest;

    unlink_entry(r, slot);
    forget(r, slot);
    r->counts.evicted++;
}

void replies_free(struct replies *r)
{
    if (!r)
        return;
    while (r->oldest)
        evict(r);
    table_free(&r->table);
    pool_free(&r->pool);
    free(r);
}

/* --- keys */

static uint64_t make_key(const struct replies_request *request, struct key *key)
{
    const struct rpc_header *h = request->header;
    uint32_t digested = request->arguments.len;

    if (digested > REPLIES_DIGESTED)
        digested = REPLIES_DIGESTED;
    memset(key, 0, sizeof(*key)); /* padding is compared, too */
    key->xid = h->xid;
    key->program = h->program;
    key->version = h->version;
    key->procedure = h->procedure;
    key->length = request->arguments.len;
    key->datagram = request->datagram;
    key->family = (uint8_t)request->peer->sa_family;
    if (request->peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)request->peer;

        key->port = in6->sin6_port;
        memcpy(key->address, &in6->sin6_addr, sizeof(key->address));
    } else if (request->peer->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)request->peer;

        key->port = in->sin_port;
        memcpy(key->address, &in->sin_addr, sizeof(in->sin_addr));
    }
    key->digest = XXH3_64bits(request->arguments.data, digested);
    return XXH3_64bits(key, sizeof(*key));
}

static uint32_t find(const struct replies *r, const struct key *key, uint64_t hash)
{
    uint32_t place;

    for (uint32_t slot = table_first(&r->table, hash, &place); slot != TABLE_NONE;
         slot = table_next(&r->table, hash, &place))
        if (memcmp(&at(r, slot)->key, key, sizeof(*key)) == 0)
            return slot;
    return 0;
}

/* --- */

static uint32_t new_entry(struct replies *r, const struct key *key, uint64_t hash)
{
    uint32_t slot;

    while (r->counts.entries >= r->limits.entries && r->oldest)
        evict(r);
    if (r->counts.entries >= r->limits.entries)
        return 0; /* all are under way */
    slot = pool_new(&r->pool);
    if (!slot)
        return 0;
    if (table_add(&r->table, hash, slot) < 0) {
        pool_give(&r->pool, slot);
        return 0;
    }
    at(r, slot)->key = *key;
    at(r, slot)->hash = hash;
    r->counts.entries++;
    return slot;
}

enum replies_state replies_begin(struct replies *r, const struct replies_request *request,
                                 int64_t now, uint32_t *slot, struct bytes *reply)
{
    struct key key;
    uint64_t hash = make_key(request, &key);
    uint32_t known;

    while (r->oldest && now - at(r, r->oldest)->time >= r->limits.age)
        evict(r);
    known = find(r, &key, hash);
    if (known && !at(r, known)->reply) {
        r->counts.under_way++;
        return REPLIES_UNDER_WAY;
    }
    if (known) {
        *reply = (struct bytes){ at(r, known)->reply, at(r, known)->len };
        r->counts.hits++;
        return REPLIES_DONE;
    }
    r->counts.misses++;
    *slot = new_entry(r, &key, hash);
    if (!*slot)
        return REPLIES_FULL;
    at(r, *slot)->time = now;
    return REPLIES_NEW;
}

void replies_keep(struct replies *r, uint32_t slot, struct bytes reply)
{
    struct entry *e = at(r, slot);
    uint8_t *copy = reply.len <= r->limits.bytes ? malloc(reply.len ? reply.len : 1) : NULL;

    if (!copy) {
        forget(r, slot);
        return;
    }
    memcpy(copy, reply.data, reply.len);
    e->reply = copy;
    e->len = reply.len;
    r->counts.bytes += reply.len;
    link_newest(r, slot);
    while (r->counts.bytes > r->limits.bytes && r->oldest != slot)
        evict(r);
}

void replies_drop(struct replies *r, uint32_t slot)
{
    forget(r, slot);
}

void replies_count(const struct replies *r, struct replies_counts *to)
{
    *to = r->counts;
}
