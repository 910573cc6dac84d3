/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_same.c
 *
 * Makes texts of the same length and alphabet as their originals.  For mapping_text.c.  The
 * contract is in mapping_same.h.
 */
#include "anon/mapping_same.h"
#include "anon/ff1.h"

#include <stdlib.h>
#include <string.h>

enum { ALPHABETS = 6, FF1_LETTERS = 128 };

/* By byte: the least alphabet that has it, its number there; and the way back.  An alphabet has all
 * of those before it. */
struct alphabets {
    uint8_t least[256];
    uint16_t size[ALPHABETS];
    uint8_t number[ALPHABETS][256], letter[ALPHABETS][256];
};

struct same {
    struct ff1 *permutations[ALPHABETS];
    struct ff1 *bits; /* for single letters, which are too few for FF1 */
    const struct wide *wide;
    uint32_t domain;
    struct buf digits;
    struct alphabets alphabets;
};

static bool is_control(int c)
{
    return c < 0x20 || c == 0x7f;
}

static uint8_t least_alphabet(int c, enum same_kinds kinds)
{
    static const char more[] = "._-+=,@~";
    uint8_t controls = kinds == SAME_CONTROLS_APART ? 3 : 2;

    if (c == '/')
        return (uint8_t)(controls + 2);
    if (c == 0)
        return (uint8_t)(controls + 1);
    if (is_control(c))
        return controls;
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
        strchr(more, c))
        return 0;
    return c < 0x80 ? 1 : 2;
}

static void fill(struct alphabets *a, enum same_kinds kinds)
{
    for (int c = 0; c < 256; c++)
        a->least[c] = least_alphabet(c, kinds);
    for (int i = 0; i < ALPHABETS; i++)
        for (int c = 0; c < 256; c++)
            if (a->least[c] <= i) {
                a->number[i][c] = (uint8_t)a->size[i];
                a->letter[i][a->size[i]++] = (uint8_t)c;
            }
}

struct same *same_new(const uint8_t key[SAME_KEY_LEN], const struct wide *wide, uint32_t domain,
                      enum same_kinds kinds, struct err *err)
{
    struct same *s = calloc(1, sizeof(*s));
    bool made = s != NULL;

    if (!s) {
        err_memory(err, "texts of the same length");
        return NULL;
    }
    s->wide = wide;
    s->domain = domain;
    fill(&s->alphabets, kinds);
    for (int i = 0; i < ALPHABETS && made; i++) {
        s->permutations[i] = ff1_new(key, SAME_KEY_LEN, s->alphabets.size[i], NULL, 0, err);
        made = s->permutations[i] != NULL;
    }
    if (made)
        s->bits = ff1_new(key, SAME_KEY_LEN, 2, NULL, 0, err);
    if (made && s->bits)
        return s;
    same_free(s);
    return NULL;
}

void same_free(struct same *s)
{
    if (!s)
        return;
    for (int i = 0; i < ALPHABETS; i++)
        ff1_free(s->permutations[i]);
    ff1_free(s->bits);
    buf_free(&s->digits);
    free(s);
}

static unsigned alphabet_of(const struct same *s, const uint8_t *text, uint32_t len)
{
    unsigned alphabet = 0;

    for (uint32_t i = 0; i < len; i++)
        if (s->alphabets.least[text[i]] > alphabet)
            alphabet = s->alphabets.least[text[i]];
    return alphabet;
}

/* The eight binary digits of a single letter. */
static void permute_letter(struct same *s, uint8_t *letter, bool back)
{
    uint16_t digits[8];
    unsigned value = 0;

    for (unsigned i = 0; i < 8; i++)
        digits[i] = *letter >> (7 - i) & 1;
    (back ? ff1_decrypt : ff1_encrypt)(s->bits, digits, 8);
    for (unsigned i = 0; i < 8; i++)
        value = value << 1 | digits[i];
    *letter = (uint8_t)value;
}

static void permute(struct same *s, unsigned alphabet, uint8_t *text, uint32_t len, bool back)
{
    const uint8_t *number = s->alphabets.number[alphabet], *letter = s->alphabets.letter[alphabet];
    uint16_t *digits = (uint16_t *)(void *)s->digits.data;

    if (len == 1) {
        permute_letter(s, text, back);
        return;
    }
    for (uint32_t i = 0; i < len; i++)
        digits[i] = number[text[i]];
    if (len <= FF1_LETTERS)
        (back ? ff1_decrypt : ff1_encrypt)(s->permutations[alphabet], digits, len);
    else
        (back ? wide_decrypt : wide_encrypt)(s->wide, s->domain, s->alphabets.size[alphabet],
                                             digits, len);
    for (uint32_t i = 0; i < len; i++)
        text[i] = letter[digits[i]];
}

int same_permute(struct same *s, uint8_t *text, uint32_t len, uint32_t stem, uint32_t stem_len,
                 bool back, same_fits *fits, const void *ctx, struct err *err)
{
    unsigned alphabet = alphabet_of(s, text + stem, stem_len);

    if (!stem_len)
        return 0;
    s->digits.len = 0;
    if (buf_reserve(&s->digits, (size_t)stem_len * sizeof(uint16_t)) < 0)
        return err_memory(err, "a text");
    do
        permute(s, alphabet, text + stem, stem_len, back);
    while (alphabet_of(s, text + stem, stem_len) != alphabet || (fits && !fits(ctx, text, len)));
    return 0;
}
