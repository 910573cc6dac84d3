/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_values.c
 *
 * Compares the values that a reply shows with those that the dump expects: first their digest as a
 * whole, and group by group if that differs or the reply lacks some (schemas/rdump.md section 5).
 */
#include "player/verdict_parts.h"

#include <stdio.h>

enum { BITS = RDUMP_EXPECT_BITS };

/* The length of the group's value at |at|, of which |left| bytes are there; 0: it is not whole. */
static uint32_t value_len(unsigned bit, const uint8_t *at, uint32_t left)
{
    static const uint8_t attributes[EXPECT_GROUPS] = {
        [EXPECT_MODE] = 4, [EXPECT_OWNER] = 8, [EXPECT_NLINK] = 4, [EXPECT_SIZE] = 8
    };
    static const uint8_t others[] = { 4, 4, 0, 8, 12, 8 }; /* from EXPECT_IDENTITY on */
    uint64_t len =
        bit < 4 * EXPECT_GROUPS ? attributes[bit % EXPECT_GROUPS] : others[bit - 4 * EXPECT_GROUPS];

    if (!len) { /* its first word decides */
        uint32_t first = left < 4 ? 0 : load_be32(at);

        if (bit < 4 * EXPECT_GROUPS)
            len = first == OBJECT_BLK || first == OBJECT_CHR ? 12 : 4;
        else
            len = 4 + (uint64_t)first;
    }
    return len > left ? 0 : (uint32_t)len;
}

/* Finds the values of all groups in step->results.  Returns false if they are not there. */
static bool split(const struct verdicts *v, const struct step *step, struct bytes values[BITS])
{
    uint32_t mask = step->mask & ~EXPECT_BESIDE, at = 0;
    struct bytes results;

    if (!v->results || !step->more)
        return false;
    results = step->more->results;
    if (!results.len)
        return false;
    for (unsigned bit = 0; bit < BITS; bit++) {
        uint32_t len;

        if (!(mask & UINT32_C(1) << bit))
            continue;
        len = value_len(bit, results.data + at, results.len - at);
        if (!len)
            return false;
        values[bit] = (struct bytes){ results.data + at, len };
        at += len;
    }
    return at == results.len;
}

uint32_t verdict_expected_identity(const struct verdicts *v, const struct step *step)
{
    struct bytes values[BITS];
    uint64_t number;

    if (!(step->mask & EXPECT_IDENTITY) || !split(v, step, values))
        return 0;
    number = load_be32(values[4 * EXPECT_GROUPS].data);
    if (number && v->copies > 1)
        number = (number - 1) * v->copies + step->copy + 1;
    return number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* values[0]: of the trace; values[1]: here. */
static void differs(struct verdicts *v, const struct step *step, unsigned bit,
                    const struct bytes values[2], struct verdict *to)
{
    bool allowed = verdict_rules_group(v, step, bit, values, to);
    char *text = verdict_difference(to, UINT32_C(1) << bit, allowed);

    if (text)
        verdict_text_group(bit, values[0], values[1], text);
}

static void by_groups(struct verdicts *v, const struct step *step, struct expect *x,
                      const struct bytes values[BITS], struct verdict *to)
{
    uint32_t mask = step->mask & ~(EXPECT_BESIDE | v->ignore | v->absent);

    for (unsigned bit = 0; bit < BITS; bit++) {
        x->mask = mask & UINT32_C(1) << bit;
        if (!x->mask || expect_values(x, &v->values, &v->links) < 0)
            continue; /* absent */
        if (v->values.len != values[bit].len ||
            memcmp(v->values.data, values[bit].data, v->values.len) != 0)
            differs(v, step, bit,
                    (struct bytes[]){ values[bit], { v->values.data, (uint32_t)v->values.len } },
                    to);
    }
    if (to->groups & EXPECT_NAMES)
        verdict_listing_text(v, step, to);
}

/* Link counts of directories: step->more->links has one for each of their bits. */
static __attribute__((noinline)) void links(struct verdicts *v, const struct step *step,
                                            struct verdict *to)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };
    struct bytes left = step->more->links;

    for (unsigned i = 0; i < 4; i++) {
        unsigned bit = i * EXPECT_GROUPS + EXPECT_LINKS;
        struct attributes a;
        uint8_t got[4];

        if (!(step->mask & UINT32_C(1) << bit) || left.len < 4)
            continue;
        if (effect_attributes(&v->effect, order[i], &a) && a.nlink != load_be32(left.data)) {
            store_be32(got, a.nlink);
            differs(v, step, bit, (struct bytes[]){ { left.data, 4 }, { got, 4 } }, to);
        }
        left.data += 4;
        left.len -= 4;
    }
}

/* The digest is not to be had (not |whole|), or not the expected one. */
static __attribute__((noinline)) void explain(struct verdicts *v, const struct step *step,
                                              struct expect *x, bool whole, struct verdict *to)
{
    uint32_t covered = step->mask & ~EXPECT_BESIDE;
    struct bytes values[BITS];

    bool known = split(v, step, values);

    if (known)
        by_groups(v, step, x, values, to);
    if (!whole || covered & v->ignore || to->groups || to->excused)
        return;
    to->class = VERDICT_DIFFERENT_RESULT;
    to->groups = covered;
    snprintf(to->text, sizeof(to->text), "values differ; %s",
             known ? "the dump's values are not those of its digest"
                   : "a dump made --with-results would say which");
}

void verdict_values(struct verdicts *v, const struct step *step, struct verdict *to)
{
    struct expect x = { &v->effect, step->mask & ~EXPECT_BESIDE, v->identity, &v->names.sums };
    uint64_t digest;
    bool whole;

    if (x.mask) {
        whole = !(v->absent & x.mask) && expect_digest(&x, &v->values, &v->links, &digest) == 0;
        if (!whole || digest != step->digest)
            explain(v, step, &x, whole, to);
    }
    if (v->setup.links && step->more && step->mask & RDUMP_EXPECT_ALL_LINKS & ~v->ignore)
        links(v, step, to);
}
