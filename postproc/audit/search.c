/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/search.h"
#include "base/bytes.h"

#include <stdlib.h>

enum { FIRST = 3, WORD = 6, LONG = 8, BLOOM_BITS = 24, ROW = 6 };
#define BYTES(n) ((UINT64_C(1) << (n) * 8) - 1)

struct search {
    const struct secrets *secrets;
    struct table first, word, whole; /* by their first 3, 6, 8 bytes: the first secret of each */
    uint32_t *next;                  /* the next one with the same bytes, or TABLE_NONE */
    size_t zeros;                    /* so many zeros, and something else behind, may begin one */
    uint64_t firsts[(1 << 24) / 64]; /* the first 3 bytes of all */
    uint64_t shorts[(1 << 24) / 64]; /* of those below SECRET_LONG */
    uint64_t bloom[(1 << BLOOM_BITS) / 64]; /* the first 6 bytes of the others */
};

/* One to one, so that equal hashes are equal keys. */
static inline uint64_t mix(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool bit(const uint64_t *bits, uint64_t key)
{
    return bits[key / 64] >> key % 64 & 1;
}

/* Two bits of one word. */
static inline uint64_t bloom_bits(uint64_t hash)
{
    return UINT64_C(1) << (hash >> 34 & 63) | UINT64_C(1) << (hash >> 28 & 63);
}

static inline uint64_t bloom_word(uint64_t hash)
{
    return hash >> (64 - BLOOM_BITS + 6);
}

/* Puts secret |i| before those with the same first |n| bytes. */
static int add(struct search *search, struct table *table, unsigned n, uint32_t i)
{
    uint8_t key[8] = { 0 };
    uint64_t hash;
    uint32_t at, head;

    memcpy(key, search->secrets->all[i].data, n);
    hash = mix(load_le64(key));
    head = table_first(table, hash, &at);
    search->next[i] = head;
    if (head == TABLE_NONE)
        return table_add(table, hash, i);
    table_move(table, hash, head, i);
    return 0;
}

/* Secrets that are nothing but zeros may begin anywhere in zeros. */
static void note_zeros(struct search *search, const struct secret *s)
{
    size_t zeros = 0;

    while (zeros < s->len && !s->data[zeros])
        zeros++;
    if (zeros == s->len)
        search->zeros = SIZE_MAX;
    else if (zeros > search->zeros)
        search->zeros = zeros;
}

struct search *search_new(const struct secrets *secrets, struct err *err)
{
    struct search *search = calloc(1, sizeof(*search));
    int rc = search ? 0 : -1;

    if (search) {
        search->secrets = secrets;
        search->next = malloc((secrets->count + 1) * sizeof(*search->next));
        rc = search->next ? 0 : -1;
    }
    for (uint32_t i = secrets->count; rc == 0 && i--;) {
        const struct secret *s = &secrets->all[i];
        uint8_t key[8] = { 0 };
        uint64_t first, hash;

        note_zeros(search, s);
        memcpy(key, s->data, s->len < WORD ? FIRST : WORD);
        hash = mix(load_le64(key));
        first = load_le64(key) & BYTES(FIRST);
        search->firsts[first / 64] |= UINT64_C(1) << first % 64;
        if (s->len < SECRET_LONG) {
            search->shorts[first / 64] |= UINT64_C(1) << first % 64;
            rc = add(search, &search->first, FIRST, i);
        } else {
            search->bloom[bloom_word(hash)] |= bloom_bits(hash);
            rc = s->len < LONG ? add(search, &search->word, WORD, i)
                               : add(search, &search->whole, LONG, i);
        }
    }
    if (rc == 0)
        return search;
    search_free(search);
    err_set(err, ERR_SYSTEM, "out of memory for the search");
    return NULL;
}

void search_free(struct search *search)
{
    if (!search)
        return;
    table_free(&search->first);
    table_free(&search->word);
    table_free(&search->whole);
    free(search->next);
    free(search);
}

static bool is_address_part(uint8_t c, bool before)
{
    return (c >= '0' && c <= '9') || (before && c == '.');
}

struct seeking {
    const struct search *search;
    const uint8_t *data;
    size_t len;
    search_hit *hit;
    void *ctx;
    struct err *err;
};

static uint32_t head_of(const struct table *table, uint64_t key)
{
    uint32_t place;

    return table_first(table, mix(key), &place);
}

static int compare(const struct seeking *k, uint32_t index, size_t at)
{
    const struct secret *s = &k->search->secrets->all[index];

    if (k->len - at < s->len || memcmp(k->data + at, s->data, s->len) != 0)
        return 0;
    if (s->bounded && ((at && is_address_part(k->data[at - 1], true)) ||
                       (at + s->len < k->len && is_address_part(k->data[at + s->len], false))))
        return 0;
    return k->hit(k->ctx, index, at, k->err);
}

static inline bool may_be_long(const struct search *search, uint64_t word)
{
    uint64_t hash = mix(word & BYTES(WORD)), bits = bloom_bits(hash);

    return (search->bloom[bloom_word(hash)] & bits) == bits;
}

/* Secrets that begin at |at|, with these 8 bytes, as they were gathered. */
static int look_up_long(const struct seeking *k, uint64_t word, size_t at)
{
    const struct search *search = k->search;
    uint32_t a = head_of(&search->word, word & BYTES(WORD)), b = head_of(&search->whole, word);
    int rc = 0;

    while (rc == 0 && (a != TABLE_NONE || b != TABLE_NONE)) { /* TABLE_NONE is above all */
        uint32_t *lower = a < b ? &a : &b;

        rc = compare(k, *lower, at);
        *lower = search->next[*lower];
    }
    return rc;
}

static int look_up_short(const struct seeking *k, uint64_t word, size_t at)
{
    uint32_t i = head_of(&k->search->first, word & BYTES(FIRST));
    int rc = 0;

    for (; rc == 0 && i != TABLE_NONE; i = k->search->next[i])
        rc = compare(k, i, at);
    return rc;
}

static inline int look_up(const struct seeking *k, uint64_t word, size_t at)
{
    int rc = may_be_long(k->search, word) ? look_up_long(k, word, at) : 0;

    return rc < 0 || !bit(k->search->shorts, word & BYTES(FIRST)) ? rc : look_up_short(k, word, at);
}

/* How many zeros stand at |at|, where there are 8, in eights. */
static size_t zeros_at(const uint8_t *data, size_t at, size_t len)
{
    size_t from = at;

    while (len - at >= 8 && !load_le64(data + at))
        at += 8;
    return at - from;
}

int search_bytes(const struct search *search, const uint8_t *data, size_t len, size_t from,
                 size_t to, search_hit *hit, void *ctx, struct err *err)
{
    const struct seeking k = { search, data, len, hit, ctx, err };
    size_t at = from;
    int rc = 0;

    /* ROW places of 3 bytes are in 8; where any may begin a secret each is looked at */
    while (rc == 0 && at < to && to - at >= ROW && len - at >= ROW + 7) {
        uint64_t word = load_le64(data + at);
        bool any = false;
        size_t zeros;

        if (!word && (zeros = zeros_at(data, at, len)) > search->zeros) {
            at += zeros - search->zeros;
            continue;
        }
#pragma GCC unroll 6
        for (unsigned i = 0; i < ROW; i++)
            any |= bit(search->firsts, word >> 8 * i & BYTES(FIRST));
        for (unsigned i = 0; any && rc == 0 && i < ROW; i++)
            if (bit(search->firsts, word >> 8 * i & BYTES(FIRST)))
                rc = look_up(&k, load_le64(data + at + i), at + i);
        at += ROW;
    }
    for (; rc == 0 && at < to && len - at >= SECRET_SHORTEST; at++) {
        uint8_t last[8] = { 0 };

        memcpy(last, data + at, len - at < 8 ? len - at : 8);
        if (bit(search->firsts, load_le64(last) & BYTES(FIRST)))
            rc = look_up(&k, load_le64(last), at);
    }
    return rc;
}
