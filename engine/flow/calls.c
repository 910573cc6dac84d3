/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/calls.c
 *
 * The waiting calls and those answered recently: a pool of slots, two hash tables over it and two
 * lists by age.  For the pairing.  The contract is in calls.h.
 */
#include "flow/calls.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static const struct call_list empty = { CALL_NONE, CALL_NONE, 0 };

void calls_init(struct calls *c, uint32_t limit)
{
    memset(c, 0, sizeof(*c));
    c->limit = limit;
    c->free = CALL_NONE;
    c->waiting = c->done = empty;
}

void calls_free(struct calls *c)
{
    for (uint32_t i = c->waiting.oldest; i != CALL_NONE && c->pool; i = c->pool[i].newer)
        free(c->pool[i].waiting);
    free(c->pool);
    table_free(&c->by_key);
    table_free(&c->by_client);
    memset(c, 0, sizeof(*c));
}

static uint32_t match(const struct calls *c, uint32_t id, const struct call_key *key, uint32_t *at)
{
    for (; id != TABLE_NONE; id = table_next(&c->by_key, key->hash, at)) {
        const struct call *x = &c->pool[id];
        if (x->xid == key->xid && x->server == key->server && x->client == key->client)
            break;
    }
    return id;
}

uint32_t calls_first(const struct calls *c, const struct call_key *key, uint32_t *at)
{
    return match(c, table_first(&c->by_key, key->hash, at), key, at);
}

uint32_t calls_next(const struct calls *c, const struct call_key *key, uint32_t *at)
{
    return match(c, table_next(&c->by_key, key->hash, at), key, at);
}

static uint32_t match_client(const struct calls *c, uint32_t id, const struct call_key *key,
                             uint32_t *at)
{
    for (; id != TABLE_NONE; id = table_next(&c->by_client, key->hash, at)) {
        const struct call *x = &c->pool[id];
        if (x->xid == key->xid && x->client == key->client && x->ports == key->server)
            break;
    }
    return id;
}

uint32_t calls_of_client(const struct calls *c, const struct call_key *key, uint32_t *at)
{
    return match_client(c, table_first(&c->by_client, key->hash, at), key, at);
}

uint32_t calls_of_client_next(const struct calls *c, const struct call_key *key, uint32_t *at)
{
    return match_client(c, table_next(&c->by_client, key->hash, at), key, at);
}

static uint64_t client_hash(uint32_t client, uint32_t ports, uint32_t xid)
{
    return call_hash(ports, client, xid);
}

static struct call_list *list_of(struct calls *c, const struct call *x)
{
    return x->waiting ? &c->waiting : &c->done;
}

static void list_take(struct calls *c, struct call_list *list, uint32_t id)
{
    const struct call *x = &c->pool[id];

    if (x->older == CALL_NONE)
        list->oldest = x->newer;
    else
        c->pool[x->older].newer = x->newer;
    if (x->newer == CALL_NONE)
        list->newest = x->older;
    else
        c->pool[x->newer].older = x->older;
    list->count--;
}

static void list_put(struct calls *c, struct call_list *list, uint32_t id)
{
    struct call *x = &c->pool[id];

    x->older = list->newest;
    x->newer = CALL_NONE;
    if (list->newest == CALL_NONE)
        list->oldest = id;
    else
        c->pool[list->newest].newer = id;
    list->newest = id;
    list->count++;
}

uint32_t calls_add(struct calls *c, const struct call *call)
{
    uint32_t id = c->free;

    if (id == CALL_NONE && GROW(c->pool, c->used, c->cap) < 0)
        return CALL_NONE;
    if (id == CALL_NONE)
        id = c->used;
    if (table_add(&c->by_key, call->hash, id) < 0)
        return CALL_NONE;
    if (call->ports &&
        table_add(&c->by_client, client_hash(call->client, call->ports, call->xid), id) < 0) {
        table_remove(&c->by_key, call->hash, id);
        return CALL_NONE;
    }
    if (id == c->used)
        c->used++;
    else
        c->free = c->pool[id].newer;
    c->pool[id] = *call;
    list_put(c, list_of(c, call), id);
    if (call->waiting)
        c->bytes += call->waiting->size;
    return id;
}

static void drop_waiting(struct calls *c, struct call *x)
{
    if (x->waiting)
        c->bytes -= x->waiting->size;
    free(x->waiting);
    x->waiting = NULL;
}

void calls_remove(struct calls *c, uint32_t id)
{
    struct call *x = &c->pool[id];

    table_remove(&c->by_key, x->hash, id);
    if (x->ports)
        table_remove(&c->by_client, client_hash(x->client, x->ports, x->xid), id);
    list_take(c, list_of(c, x), id);
    drop_waiting(c, x);
    x->newer = c->free;
    c->free = id;
}

void calls_seen(struct calls *c, uint32_t id, int64_t clock)
{
    struct call *x = &c->pool[id];

    x->seen = clock;
    list_take(c, list_of(c, x), id);
    list_put(c, list_of(c, x), id);
}

void calls_answered(struct calls *c, uint32_t id, uint64_t reply_digest)
{
    struct call *x = &c->pool[id];

    list_take(c, &c->waiting, id);
    drop_waiting(c, x);
    x->reply_digest = reply_digest;
    list_put(c, &c->done, id);
}

uint32_t calls_overdue(const struct calls *c, size_t more, int64_t horizon)
{
    const struct call_list *l = &c->waiting;

    if (l->oldest == CALL_NONE)
        return CALL_NONE;
    return l->count + (more > 0) > c->limit || c->bytes + more > WAITING_BYTES_MAX ||
                   c->pool[l->oldest].seen < horizon
               ? l->oldest
               : CALL_NONE;
}

uint32_t calls_outdated(const struct calls *c, int64_t horizon)
{
    const struct call_list *l = &c->done;

    if (l->oldest == CALL_NONE)
        return CALL_NONE;
    return l->count >= DONE_MAX || c->pool[l->oldest].seen < horizon ? l->oldest : CALL_NONE;
}
