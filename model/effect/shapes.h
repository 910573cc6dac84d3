/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/shapes.h
 *
 * Reads replies whose form is known without walking over their fields.
 *
 * The form of a body is its length and those of its words that decide what stands where and what is
 * allowed: booleans, discriminants, counts and lengths.  Two bodies of one type and one form have
 * their fields at the same places, and the same result of walk().  So the places that one walk has
 * found are kept with the form, and serve the next body of the same form.  The tables say what the
 * form is; nothing here knows a procedure.
 *
 * Memory: 42 KiB.
 */
#ifndef NFSDIGEST_EFFECT_SHAPES_H
#define NFSDIGEST_EFFECT_SHAPES_H

#include "effect/effect.h"

enum { SHAPES = 256, SHAPE_WORDS = 12 };

/* Where something is in a body; 0: it is not there (a status is at 0). */
typedef uint16_t shape_place;

struct shape {
    const struct procedure *procedure; /* NULL: none */
    const struct procedure *next;      /* of the last body that was walked over, and its length */
    uint16_t next_len, len;
    uint8_t word_count;
    bool others;         /* something of |done| to |contents| is there */
    uint32_t attributes; /* bits: which of |fattr3| and, behind them, |wcc_attr| are there */
    uint32_t result_roles;
    shape_place fattr3[WHOSE_MAX], wcc_attr[WHOSE_MAX];
    shape_place done, granted, eof, link_text, new_handle, contents;
    uint16_t link_text_len, new_handle_len, contents_len;
    struct shape_word {
        shape_place at;
        uint32_t value; /* little-endian, since it is compared only */
    } words[SHAPE_WORDS];
};

/* All zeros: nothing is known yet. */
struct shapes {
    struct shape all[SHAPES];
};

/* Does what effect_decode_reply does.  |effect| is all zeros but for what that wants set. */
void shapes_decode_reply(struct shapes *shapes, struct effect *effect);

#endif
