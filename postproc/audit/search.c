/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/search.h"
#include "base/bytes.h"

#include <stdlib.h>

enum { FILTER_BITS = 24 };
#define LONG_MASK UINT64_C(0xffffffffffff)
#define SHORT_MASK UINT64_C(0xffffff)

struct search {
    const struct secrets *secrets;
    struct table long_ones, short_ones;
    uint64_t long_filter[(1 << FILTER_BITS) / 64], short_filter[(1 << FILTER_BITS) / 64];
};

static inline uint64_t mix(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool bit(const uint64_t *filter, uint64_t hash)
{
    hash >>= 64 - FILTER_BITS;
    return filter[hash / 64] >> hash % 64 & 1;
}

static inline void set_bit(uint64_t *filter, uint64_t hash)
{
    hash >>= 64 - FILTER_BITS;
    filter[hash / 64] |= UINT64_C(1) << hash % 64;
}

struct search *search_new(const struct secrets *secrets, struct err *err)
{
    struct search *search = calloc(1, sizeof(*search));
    uint8_t key[8];
    int rc = search ? 0 : -1;

    for (uint32_t i = 0; rc == 0 && i < secrets->count; i++) {
        const struct secret *s = &secrets->all[i];
        bool is_long = s->len >= SECRET_LONG;
        uint64_t hash;

        memset(key, 0, sizeof(key));
        memcpy(key, s->data, is_long ? SECRET_LONG : SECRET_SHORTEST);
        hash = mix(load_le64(key));
        set_bit(is_long ? search->long_filter : search->short_filter, hash);
        rc = table_add(is_long ? &search->long_ones : &search->short_ones, hash, i);
    }
    if (rc == 0) {
        search->secrets = secrets;
        return search;
    }
    search_free(search);
    err_set(err, ERR_SYSTEM, "out of memory for the search");
    return NULL;
}

void search_free(struct search *search)
{
    if (!search)
        return;
    table_free(&search->long_ones);
    table_free(&search->short_ones);
    free(search);
}

static bool is_address_part(uint8_t c, bool before)
{
    return (c >= '0' && c <= '9') || (before && c == '.');
}

static int look_up(const struct search *search, const struct table *table, uint64_t hash,
                   const uint8_t *data, size_t len, size_t at, search_hit *hit, void *ctx,
                   struct err *err)
{
    uint32_t place, slot;
    int rc = 0;

    for (slot = table_first(table, hash, &place); rc == 0 && slot != TABLE_NONE;
         slot = table_next(table, hash, &place)) {
        const struct secret *s = &search->secrets->all[slot];

        if (len - at < s->len || memcmp(data + at, s->data, s->len) != 0)
            continue;
        if (s->bounded && ((at && is_address_part(data[at - 1], true)) ||
                           (at + s->len < len && is_address_part(data[at + s->len], false))))
            continue;
        rc = hit(ctx, slot, at, err);
    }
    return rc;
}

int search_bytes(const struct search *search, const uint8_t *data, size_t len, size_t from,
                 size_t to, search_hit *hit, void *ctx, struct err *err)
{
    uint8_t last[8];
    int rc = 0;

    for (size_t at = from; rc == 0 && at < to && len - at >= SECRET_SHORTEST; at++) {
        uint64_t word, hash;

        if (len - at >= 8) {
            word = load_le64(data + at);
        } else {
            memset(last, 0, sizeof(last));
            memcpy(last, data + at, len - at);
            word = load_le64(last);
        }
        hash = mix(word & LONG_MASK);
        if (bit(search->long_filter, hash))
            rc = look_up(search, &search->long_ones, hash, data, len, at, hit, ctx, err);
        hash = mix(word & SHORT_MASK);
        if (rc == 0 && bit(search->short_filter, hash))
            rc = look_up(search, &search->short_ones, hash, data, len, at, hit, ctx, err);
    }
    return rc;
}
