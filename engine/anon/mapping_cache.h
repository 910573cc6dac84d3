/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_cache.h
 *
 * Caches of computed pseudonyms, in arrays of fixed size, in sets of four.  A new value replaces an
 * older one of its set.  Keys are compared in full.  A struct of zeros is an empty cache that keeps
 * nothing; a cache without memory is such a one.
 */
#ifndef NFSDIGEST_ANON_MAPPING_CACHE_H
#define NFSDIGEST_ANON_MAPPING_CACHE_H

#include "base/bytes.h"

#include <stdbool.h>

enum { CACHE_WAYS = 4 };

/* --- numbers, except 0 --- */

struct number_set {
    uint64_t in[CACHE_WAYS], out[CACHE_WAYS];
};

struct number_cache {
    struct number_set *sets;
    unsigned shift; /* 64 less the bits of a set's number */
};

static inline struct number_set *number_set(const struct number_cache *c, uint64_t in)
{
    return &c->sets[in * 0x9e3779b97f4a7c15u >> c->shift];
}

static inline bool number_cache_get(const struct number_cache *c, uint64_t in, uint64_t *out)
{
    const struct number_set *set;

    if (!c->sets)
        return false;
    set = number_set(c, in);
    for (unsigned i = 0; i < CACHE_WAYS; i++)
        if (set->in[i] == in) {
            *out = set->out[i];
            return true;
        }
    return false;
}

void number_cache_put(struct number_cache *c, uint64_t in, uint64_t out);

/* --- byte strings, each with a byte that says of which kind --- */

enum { BYTES_CACHE_MAX = 64 }; /* of keys and values */

struct bytes_place {
    uint8_t kind, len, out_len;
    uint8_t bytes[]; /* key, and behind it the value */
};

struct bytes_cache {
    uint32_t *tags; /* of the hash, never 0; 0: free */
    uint8_t *places;
    uint32_t set_mask, place_size, max; /* bytes of a key, and of a value */
    uint32_t next;                      /* which of a set makes room */
};

/* Returns the memory in bytes that |sets| (a power of 2) sets need. */
size_t bytes_cache_size(uint32_t sets, uint32_t max);
/* Makes a cache in |memory|, which has that size and is all zeros. */
void bytes_cache_init(struct bytes_cache *c, void *memory, uint32_t sets, uint32_t max);

/* Prefetches the memory for bytes_cache_get. */
void bytes_cache_expect(const struct bytes_cache *c, uint8_t kind, const uint8_t *key,
                        uint32_t len);
/* Returns true if the key is there.  |*out| points into the cache, and is valid until the next
 * put. */
bool bytes_cache_get(const struct bytes_cache *c, uint8_t kind, const uint8_t *key, uint32_t len,
                     struct bytes *out);
void bytes_cache_put(struct bytes_cache *c, uint8_t kind, const uint8_t *key, uint32_t len,
                     const struct bytes *value);

#endif
