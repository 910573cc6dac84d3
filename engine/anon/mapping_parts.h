/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_parts.h
 *
 * Shared by the files of mapping.h only.
 */
#ifndef NFSDIGEST_ANON_MAPPING_PARTS_H
#define NFSDIGEST_ANON_MAPPING_PARTS_H

#include "anon/address_map.h"
#include "anon/ff1.h"
#include "anon/mapping.h"
#include "anon/mapping_cache.h"
#include "anon/mapping_same.h"
#include "anon/mapping_wide.h"

/* Numbers of one class (or extra) and width. */
struct numbers {
    struct number_cache cache;
    uint16_t *table; /* of ff1_fill_table; for 32 bits, once there are enough misses */
    uint32_t misses;
};

struct address_place {
    struct address in, out;
};

/* The policy's suffixes or prefixes, the longest first. */
struct affixes {
    struct bytes *texts;
    uint32_t count;
};

struct mapping {
    const struct policy *policy;
    size_t memory; /* of caches */
    int64_t shift;
    uint64_t overflows;
    bool first; /* a key of KEY_VERSION_1 */

    struct ff1 *permutations[CLASS_MAX]; /* of bytes: 256 is the radix */
    struct ff1 *bits[CLASS_MAX];         /* of single bytes: 8 digits of radix 2 */
    struct ff1 *extras[EXTRA_MAX];
    struct ff1 *halves; /* of verifiers: 30 binary digits; NULL with |first| */
    gcry_md_hd_t hmacs[CLASS_MAX];
    struct wide wide;
    struct same *names, *hosts, *texts;
    struct address_map addresses;
    struct affixes suffixes, prefixes;

    struct numbers numbers[CLASS_MAX][2]; /* 32, 64 bits */
    struct numbers extra_numbers[EXTRA_MAX];
    struct number_cache half_cache;
    struct address_place *address_cache;
    struct bytes_cache handle_cache, name_cache;

    /* results of the last call, and buffers to make them; |zeros| is only read */
    struct buf out, part, digits, zeros;
};

/* The functions that can fail do so only if there is no memory, or if |back| is true. */

/* Makes the token, TOKEN_LEN letters, of |len| bytes of this class. */
void map_token(struct mapping *m, enum field_class cls, const uint8_t *data, uint32_t len,
               uint8_t token[TOKEN_LEN]);

/* Each of these maps |data| into m->out. */
int map_permuted(struct mapping *m, enum field_class cls, bool back, const uint8_t *data,
                 uint32_t len, struct err *err);
int map_name(struct mapping *m, enum rule rule, bool back, const uint8_t *data, uint32_t len,
             struct err *err);
int map_path(struct mapping *m, enum rule rule, bool back, uint32_t max, const uint8_t *data,
             uint32_t len, struct err *err);
int map_host(struct mapping *m, enum rule rule, bool back, const uint8_t *data, uint32_t len,
             struct err *err);
int map_universal(struct mapping *m, bool back, const uint8_t *data, uint32_t len, struct err *err);

/* Opens a cache of |sets|, a power of 2, if the mapping's memory allows it. */
void number_cache_open(struct mapping *m, struct number_cache *cache, unsigned sets);

/* Maps both halves of a verifier by m->halves. */
uint64_t map_verifier(const struct mapping *m, bool back, uint64_t verifier);

/* Maps a name.  Takes it from the cache, or maps it and puts it there. */
int map_name_cached(struct mapping *m, enum rule rule, const uint8_t *data, uint32_t len,
                    struct bytes *out, struct err *err);

/* map_set sets m->out to |data|; map_append appends |data| to it. */
int map_set(struct mapping *m, const void *data, uint32_t len, struct err *err);
int map_append(struct mapping *m, const void *data, uint32_t len, struct err *err);

int affixes_open(struct mapping *m, struct err *err);

#endif
