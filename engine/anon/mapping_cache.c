/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/mapping_cache.h"
#include "base/digest.h"

void number_cache_put(struct number_cache *c, uint64_t in, uint64_t out)
{
    struct number_set *set;

    if (!c->sets)
        return;
    set = number_set(c, in);
    memmove(set->in + 1, set->in, sizeof(set->in) - sizeof(*set->in));
    memmove(set->out + 1, set->out, sizeof(set->out) - sizeof(*set->out));
    set->in[0] = in;
    set->out[0] = out;
}

/* A usual handle and its pseudonym lie in one line of the processor's cache: fetching it is most of
 * what a look-up costs. */
enum { LINE = 64 };

static uint32_t place_size(uint32_t max)
{
    return (uint32_t)(sizeof(struct bytes_place) + 2 * max + LINE - 1) & ~(LINE - 1u);
}

size_t bytes_cache_size(uint32_t sets, uint32_t max)
{
    return (size_t)sets * CACHE_WAYS * (sizeof(uint32_t) + place_size(max)) + LINE;
}

void bytes_cache_init(struct bytes_cache *c, void *memory, uint32_t sets, uint32_t max)
{
    memset(c, 0, sizeof(*c));
    c->tags = memory;
    if (memory) {
        uintptr_t places = (uintptr_t)(c->tags + (size_t)sets * CACHE_WAYS);

        c->places = (uint8_t *)((places + LINE - 1) & ~(uintptr_t)(LINE - 1));
    }
    c->set_mask = sets - 1;
    c->max = max;
    c->place_size = place_size(max);
}

static uint64_t hash_of(uint8_t kind, const uint8_t *key, uint32_t len)
{
    return XXH3_64bits_withSeed(key, len, kind);
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32) | 1;
}

static struct bytes_place *place_at(const struct bytes_cache *c, size_t i)
{
    return (struct bytes_place *)(c->places + i * c->place_size);
}

void bytes_cache_expect(const struct bytes_cache *c, uint8_t kind, const uint8_t *key, uint32_t len)
{
    size_t first;

    if (!c->tags || len > c->max)
        return;
    first = (size_t)((uint32_t)hash_of(kind, key, len) & c->set_mask) * CACHE_WAYS;
    __builtin_prefetch(&c->tags[first]);
    for (size_t i = first; i < first + CACHE_WAYS; i++)
        __builtin_prefetch(place_at(c, i));
}

bool bytes_cache_get(const struct bytes_cache *c, uint8_t kind, const uint8_t *key, uint32_t len,
                     struct bytes *out)
{
    uint64_t hash;
    uint32_t tag;
    size_t first;

    if (!c->tags || len > c->max)
        return false;
    hash = hash_of(kind, key, len);
    tag = tag_of(hash);
    first = (size_t)((uint32_t)hash & c->set_mask) * CACHE_WAYS;
    for (size_t i = first; i < first + CACHE_WAYS; i++) /* beside the tags, not behind them */
        __builtin_prefetch(place_at(c, i));
    for (size_t i = first; i < first + CACHE_WAYS; i++) {
        const struct bytes_place *place = place_at(c, i);

        if (c->tags[i] != tag || place->kind != kind || place->len != len ||
            memcmp(place->bytes, key, len) != 0)
            continue;
        *out = (struct bytes){ place->bytes + len, place->out_len };
        return true;
    }
    return false;
}

void bytes_cache_put(struct bytes_cache *c, uint8_t kind, const uint8_t *key, uint32_t len,
                     const struct bytes *value)
{
    struct bytes_place *place;
    uint64_t hash;
    size_t first, i;

    if (!c->tags || len > c->max || value->len > c->max)
        return;
    hash = hash_of(kind, key, len);
    first = (size_t)((uint32_t)hash & c->set_mask) * CACHE_WAYS;
    for (i = first; i < first + CACHE_WAYS && c->tags[i]; i++)
        ;
    if (i == first + CACHE_WAYS)
        i = first + c->next++ % CACHE_WAYS;
    c->tags[i] = tag_of(hash);
    place = place_at(c, i);
    place->kind = kind;
    place->len = (uint8_t)len;
    place->out_len = (uint8_t)value->len;
    memcpy(place->bytes, key, len);
    memcpy(place->bytes + len, value->data, value->len);
}
