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

/* All secrets that begin at a place with these 8 bytes: long ones first, as they were gathered. */
static int look_up(const struct seeking *k, uint64_t word, size_t at)
{
    const struct search *search = k->search;
    uint64_t hash = mix(word & BYTES(WORD)), bits = bloom_bits(hash);
    uint32_t a = TABLE_NONE, b = TABLE_NONE;
    int rc = 0;

    if ((search->bloom[bloom_word(hash)] & bits) == bits) {
        a = head_of(&search->word, word & BYTES(WORD));
        b = head_of(&search->whole, word);
    }
    while (rc == 0 && (a != TABLE_NONE || b != TABLE_NONE)) { /* TABLE_NONE is above all */
        uint32_t *lower = a < b ? &a : &b;

        rc = compare(k, *lower, at);
        *lower = search->next[*lower];
    }
    if (rc < 0 || !bit(search->shorts, word & BYTES(FIRST)))
        return rc;
    for (a = head_of(&search->first, word & BYTES(FIRST)); rc == 0 && a != TABLE_NONE;
         a = search->next[a])
        rc = compare(k, a, at);
    return rc;
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
    bool zeros_begin_none = !bit(search->firsts, 0);
    size_t at = from;
    int rc = 0;

    /* ROW places of 3 bytes are in 8; where any may begin a secret each is looked at */
    while (rc == 0 && at < to && to - at >= ROW && len - at >= ROW + 7) {
        uint64_t word = load_le64(data + at);
        bool any = false;

        if (!word && zeros_begin_none) {
            at += zeros_at(data, at, len) - 8 + ROW;
            continue;
        }
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
