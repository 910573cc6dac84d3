/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/cookies.h"
#include "base/err.h"
#include "base/grow.h"

#include <stdlib.h>

void cookies_free(struct cookies *c)
{
    table_free(&c->table);
    free(c->all);
    *c = (struct cookies){ 0 };
}

static uint64_t hash_of(uint32_t directory, uint32_t client, uint64_t cookie)
{
    uint64_t z =
        cookie + ((uint64_t)directory << 32 | client) * 0x9e3779b97f4a7c15; /* SplitMix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static struct cookie *find(const struct cookies *c, uint32_t directory, uint32_t client,
                           uint64_t cookie)
{
    uint64_t hash = hash_of(directory, client, cookie);
    uint32_t at;

    for (uint32_t i = table_first(&c->table, hash, &at); i != TABLE_NONE;
         i = table_next(&c->table, hash, &at)) {
        struct cookie *one = &c->all[i];

        if (one->directory == directory && one->client == client && one->cookie == cookie)
            return one;
    }
    return NULL;
}

static int ask(struct cookies *c, uint32_t directory, uint32_t client, uint64_t cookie)
{
    if (find(c, directory, client, cookie))
        return 0;
    if (GROW(c->all, c->count, c->cap) < 0)
        return -ERR_SYSTEM;
    c->all[c->count] = (struct cookie){ directory, client, cookie, false, { 0 } };
    return table_add(&c->table, hash_of(directory, client, cookie), c->count++);
}

int cookies_ask(struct cookies *c, uint32_t directory, uint32_t client, uint64_t cookie)
{
    return ask(c, directory, client, cookie) < 0 ? -ERR_SYSTEM : ask(c, directory, 0, cookie);
}

bool cookies_give(struct cookies *c, uint32_t directory, uint32_t client, uint64_t cookie,
                  const struct cookie_place *place)
{
    struct cookie *any = c->count ? find(c, directory, 0, cookie) : NULL, *own;

    if (!any)
        return false;
    own = find(c, directory, client, cookie);
    any->place = *place;
    any->is_given = true;
    if (own) {
        own->place = *place;
        own->is_given = true;
    }
    return true;
}

const struct cookie_place *cookies_find(const struct cookies *c, uint32_t directory,
                                        uint32_t client, uint64_t cookie)
{
    const struct cookie *one = find(c, directory, client, cookie);

    if (!one || !one->is_given)
        one = find(c, directory, 0, cookie);
    return one && one->is_given ? &one->place : NULL;
}
