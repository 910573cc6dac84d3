/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/search.c
 *
 * Looks at six places at once.  Filters of bits say at which of them a secret may begin; a table by
 * first bytes gives the candidates, and these are compared.  A secret is in one of three tables, by
 * its length.  The last bytes of the input are copied, so that nothing behind it is read.  For
 * leak.c, leak_file.c and encoded.c.  The contract is in search.h.
 */
#include "audit/search.h"
#include "base/bytes.h"

#include <stdlib.h>

enum { FIRST = 3, WORD = 6, LONG = 8, BLOOM_BITS = 24, ROW = 6 };
/* Places of the filter for 5 bytes: about PER_GRAM for each, and at least and at most so many. */
enum { GRAM = 5, GRAM_BITS_LEAST = 15, GRAM_BITS_MOST = 24, PER_GRAM = 6 };
#define BYTES(n) ((UINT64_C(1) << (n) * 8) - 1)

struct search {
    const struct secrets *secrets;
    struct table first, word, whole; /* by their first 3, 6, 8 bytes: the first secret of each */
    uint32_t *next;                  /* the next one with the same bytes, or TABLE_NONE */
    size_t zeros;                    /* so many zeros, and something else behind, may begin one */
    /* Of those below SECRET_LONG: their first 2 bytes, which a processor has at hand, then 3. */
    uint64_t pairs[(1 << 16) / 64];
    uint64_t shorts[(1 << 24) / 64];
    /* Of the others: their first 5 bytes and the 5 from the second on, so that a look at every
     * other place is enough; then their first 6. */
    uint64_t *grams;
    unsigned gram_bits; /* 2 to this of them */
    uint64_t bloom[(1 << BLOOM_BITS) / 64];
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

/* Two bits of one word, of the 5 first bytes of |word|. */
static inline uint64_t gram_hash(uint64_t word)
{
    return mix(word << (64 - GRAM * 8));
}

static inline bool has_gram(const uint64_t *grams, unsigned gram_bits, uint64_t word)
{
    uint64_t hash = gram_hash(word), both = bloom_bits(hash);

    return (grams[hash >> (64 - gram_bits + 6)] & both) == both;
}

static void add_gram(struct search *search, const uint8_t *data)
{
    uint8_t bytes[8] = { 0 };
    uint64_t hash;

    memcpy(bytes, data, GRAM);
    hash = gram_hash(load_le64(bytes));
    search->grams[hash >> (64 - search->gram_bits + 6)] |= bloom_bits(hash);
}

static uint64_t *grams_new(uint32_t secrets, unsigned *bits)
{
    *bits = GRAM_BITS_LEAST;
    while (*bits < GRAM_BITS_MOST && UINT64_C(1) << *bits < (uint64_t)secrets * 2 * PER_GRAM)
        ++*bits;
    return calloc((size_t)1 << (*bits - 6), sizeof(uint64_t));
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
        search->grams = grams_new(secrets->count, &search->gram_bits);
        rc = search->next && search->grams ? 0 : -1;
    }
    for (uint32_t i = secrets->count; rc == 0 && i--;) {
        const struct secret *s = &secrets->all[i];
        uint8_t key[8] = { 0 };
        uint64_t first, hash;

        note_zeros(search, s);
        memcpy(key, s->data, s->len < WORD ? FIRST : WORD);
        hash = mix(load_le64(key));
        first = load_le64(key) & BYTES(FIRST);
        if (s->len < SECRET_LONG) {
            uint64_t pair = first & BYTES(2);

            search->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
            search->shorts[first / 64] |= UINT64_C(1) << first % 64;
            rc = add(search, &search->first, FIRST, i);
        } else {
            search->bloom[bloom_word(hash)] |= bloom_bits(hash);
            add_gram(search, s->data);
            add_gram(search, s->data + 1);
            rc = s->len < LONG ? add(search, &search->word, WORD, i)
                               : add(search, &search->whole, LONG, i);
        }
    }
    if (rc == 0)
        return search;
    search_free(search);
    err_memory(err, "the search");
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
    free(search->grams);
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

    if (k->len < at + s->len || memcmp(k->data + at, s->data, s->len) != 0)
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

/* Any secrets that begin at |at|. */
static inline int look_up(const struct seeking *k, uint64_t word, size_t at, bool may_be_short)
{
    const struct search *search = k->search;
    int rc = 0;

    if (has_gram(search->grams, search->gram_bits, word) && may_be_long(search, word))
        rc = look_up_long(k, word, at);
    if (rc == 0 && may_be_short && bit(search->shorts, word & BYTES(FIRST)))
        rc = look_up_short(k, word, at);
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
    const uint64_t *grams = search->grams;
    unsigned gram_bits = search->gram_bits;
    uint8_t last[ROW + 8];
    int rc = 0;

    /* in a row each place is looked at where one may begin a secret */
    for (size_t at = from; rc == 0 && at < to && len - at >= SECRET_SHORTEST; at += ROW) {
        const uint8_t *row = data + at;
        unsigned shorts = 0, longs = 0; /* a bit for each place */
        uint64_t word;
        size_t zeros;

        if (len - at < ROW + 7) { /* what stands behind the end is no secret's */
            memset(last, 0, sizeof(last));
            row = memcpy(last, row, len - at);
        }
        word = load_le64(row);
        if (!word && (zeros = zeros_at(data, at, len)) > search->zeros) {
            at += zeros - search->zeros - ROW;
            continue;
        }
#pragma GCC unroll 6
        for (unsigned i = 0; i < ROW; i++)
            shorts |= (unsigned)bit(search->pairs, word >> 8 * i & BYTES(2)) << i;
#pragma GCC unroll 3
        for (unsigned i = 0; i < ROW; i += 2)
            longs |= (unsigned)has_gram(grams, gram_bits, load_le64(row + i + 1)) << i;
        longs *= 3;
        for (unsigned left = shorts | longs; left && rc == 0; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);

            if (i < to - at)
                rc = look_up(&k, load_le64(row + i), at + i, shorts >> i & 1);
        }
    }
    return rc;
}
