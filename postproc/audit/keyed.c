/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/keyed.c
 *
 * Counts the hits of each test, and how many chance has.  A test of two pairs takes the last one of
 * the domain and width, so that no table is needed.  keyed_digest.c computes the digests.
 * audit_compare_text.c chooses the pairs; rules.c asks for the verdicts when all were seen.  The
 * contract is in keyed.h.
 */
#include "audit/keyed.h"
#include "audit/chance.h"
#include "audit/keyed_digest.h"
#include "base/bytes.h"

#include <math.h>

/* so rare must hits be that chance does not explain them, for each of some 200 counts of a file */
#define KEYED_LIMIT 1e-9

enum { START = 4 };
enum { LETTERS_LEAST = 10 }; /* that texts of kept length have at each place */
enum { RUN = 7 };            /* so many bytes that are left in a row tell more than these */

static void hit(struct keyed_row *row, enum keyed_test test, bool is, double by_chance)
{
    row->hits[test] += is;
    row->expected[test] += by_chance;
}

/* --- numbers, and handles as numbers of their first bytes --- */

static uint64_t number_of(struct pair_value v)
{
    uint8_t bytes[8] = { 0 };

    memcpy(bytes, v.data, v.len < 8 ? v.len : 8);
    return v.len == 4 ? load_be32(bytes) : load_be64(bytes);
}

static void test_numbers(struct keyed_row *row, struct pair_value from, struct pair_value to)
{
    unsigned bits = from.len == 4 ? 32 : 64, zeros;
    uint64_t mask = bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t x = number_of(from), y = number_of(to);
    uint64_t step_x = (x - row->from) & mask, step_y = (y - row->to) & mask;

    if (row->pairs && row->len == from.len && step_x) {
        hit(row, KEYED_ORDER, (x > row->from) == (y > row->to), 1);
        /* so many low bits of both products are zeros, whatever the steps */
        zeros = (unsigned)__builtin_ctzll(step_x | row->step_from) +
                (unsigned)__builtin_ctzll(step_y | row->step_to | UINT64_C(1) << 63);
        if (row->step_from && zeros + 32 <= bits)
            hit(row, KEYED_AFFINE,
                ((step_y * row->step_from) & mask) == ((row->step_to * step_x) & mask),
                ldexp(1, (int)zeros - (int)bits));
        row->step_from = step_x;
        row->step_to = step_y;
    }
    row->from = x;
    row->to = y;
    row->len = from.len;
}

static void test_bytes(struct keyed_row *row, struct pair_value from, struct pair_value to)
{
    const uint8_t *x = from.data, *y = to.data;
    bool one = true, as_last = row->xored_len == from.len;
    uint32_t run = 0, longest = 0;

    for (uint32_t i = 0; i < from.len; i++) {
        hit(row, KEYED_LEFT, x[i] == y[i], 1.0 / 256);
        run = x[i] == y[i] ? run + 1 : 0;
        longest = run > longest ? run : longest;
        one = one && (x[i] ^ y[i]) == (x[0] ^ y[0]);
    }
    hit(row, KEYED_ONE_BYTE, one, pow(256, 1 - (double)from.len));
    if (from.len >= RUN)
        hit(row, KEYED_RUN, longest >= RUN, (from.len - RUN + 1) * pow(256, -RUN));
    if (from.len > sizeof(row->xored))
        return;
    for (uint32_t i = 0; i < from.len; i++) {
        as_last = as_last && (x[i] ^ y[i]) == row->xored[i];
        row->xored[i] = x[i] ^ y[i];
    }
    if (row->xored_len == from.len)
        hit(row, KEYED_XOR, as_last, pow(256, -(double)from.len));
    row->xored_len = from.len;
}

static void test_reversed(struct keyed_row *row, struct pair_value from, struct pair_value to)
{
    const uint8_t *x = from.data, *y = to.data;
    bool reversed = true;

    for (uint32_t i = 0; i < from.len; i++)
        reversed = reversed && x[i] == y[from.len - 1 - i];
    hit(row, KEYED_REVERSED, reversed, pow(256, -(double)from.len));
}

/* --- digests --- */

static void add_found(struct keyed_row *row, const struct digest_found *found)
{
    hit(row, KEYED_DIGEST, found->is[0], found->expected[0]);
    hit(row, KEYED_DIGEST_LONG, found->is[1], found->expected[1]);
}

/* |stem|: the original without what may stay of it. */
static void test_digests_of_text(struct keyed_row *row, struct pair_value from,
                                 struct pair_value stem, struct pair_value to)
{
    const struct pair_value inputs[] = { from, stem };
    struct digest_found found;

    digest_find_text(inputs, stem.len == from.len ? 1 : 2, to, &found);
    add_found(row, &found);
}

/* Of numbers all that they may have been digested as; of the first ones, as a function of all is
 * seen in these. */
static void test_digests_of_bytes(struct keyed_row *row, bool is_number, struct pair_value from,
                                  struct pair_value to)
{
    struct digest_inputs inputs = { .all = { from }, .count = 1 };
    struct digest_found found;

    if (is_number && row->pairs < KEYED_NUMBERS)
        digest_number_inputs(from, &inputs);
    digest_find_bytes(inputs.all, inputs.count, to, &found);
    add_found(row, &found);
}

void keyed_address(struct keyed *k, enum domain domain, struct pair_value from,
                   struct pair_value to)
{
    struct keyed_row *row = &k->rows[domain][from.len == 4 ? 1 : 2];
    struct digest_inputs inputs;
    struct digest_found found;

    digest_address_inputs(from, &inputs);
    digest_find_bytes(inputs.all, inputs.count, to, &found);
    add_found(row, &found);
    row->pairs++;
}

void keyed_digests(struct keyed *k, enum domain domain, struct pair_value from,
                   struct pair_value to)
{
    struct keyed_row *row = &k->rows[domain][0];

    test_digests_of_bytes(row, false, from, to);
    row->pairs++;
}

void keyed_pair(struct keyed *k, const struct pair_values *pair, bool is_text,
                const uint32_t kept[2])
{
    unsigned bits = pair->bits;
    struct keyed_row *row = &k->rows[pair->domain][bits == 32 ? 1 : bits ? 2 : 0];
    struct pair_value from = pair->from, to = pair->to, stem = from;

    if (!is_text && from.len >= 4 && from.len == to.len) {
        test_reversed(row, from, to);
        test_bytes(row, from, to);
        test_numbers(row, from, to);
    }
    if (is_text) {
        const uint8_t *x = from.data, *y = to.data;

        if (from.len >= kept[0] + START && to.len >= kept[0] + START)
            hit(row, KEYED_START, memcmp(x + kept[0], y + kept[0], START) == 0,
                pow(LETTERS_LEAST, -START));
        to = (struct pair_value){ y + kept[0], to.len - kept[0] - kept[1] };
        stem = (struct pair_value){ x + kept[0], from.len - kept[0] - kept[1] };
    }
    if (is_text)
        test_digests_of_text(row, from, stem, to);
    else
        test_digests_of_bytes(row, bits, from, to);
    row->pairs++;
}

void keyed_halves(struct keyed *k, enum domain domain, const bool is_new[2], struct pair_value from,
                  struct pair_value to)
{
    struct keyed_row *whole = &k->rows[domain][2], *row = &k->rows[domain][1];

    for (uint32_t i = 0; i < 2; i++) {
        const struct pair_value x = { (const uint8_t *)from.data + 4 * i, 4 },
                                y = { (const uint8_t *)to.data + 4 * i, 4 };

        if (!is_new[i])
            continue;
        test_bytes(row, x, y);
        test_numbers(row, x, y);
        test_digests_of_bytes(row, true, x, y);
        row->pairs++;
    }
    test_reversed(whole, from, to);
    test_digests_of_bytes(whole, true, from, to);
    whole->pairs++;
}

const char *keyed_verdict(const struct keyed_row *row, enum keyed_test test)
{
    static const char *const words[KEYED_TESTS] = {
        [KEYED_AFFINE] = "follow from their originals by a factor and a sum",
        [KEYED_XOR] = "are their originals xored with one number",
        [KEYED_ONE_BYTE] = "are their originals with each byte xored with one",
        [KEYED_REVERSED] = "are their originals reversed",
        [KEYED_LEFT] = "have bytes of their originals in the same places",
        [KEYED_RUN] = "have a row of bytes of their originals in the same place",
        [KEYED_START] = "begin as their originals",
        [KEYED_DIGEST] = "are known digests of their originals, which anybody can compute",
        [KEYED_DIGEST_LONG] = "are known digests of their originals, which anybody can compute",
        [KEYED_ORDER] = "have the order of their originals",
    };
    double n = (double)row->hits[test], expected = row->expected[test];
    bool found = test == KEYED_ORDER ? fabs(n - expected / 2) > 3.5 * sqrt(expected)
                                     : chance_of(row->hits[test], expected) < KEYED_LIMIT;

    return found ? words[test] : NULL;
}
