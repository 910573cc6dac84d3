/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/places.h
 *
 * Finds in the arguments of a step what fill_in.h replaces, and the size that they set.  A dump's
 * arguments are hostile: they are walked to their end, and what has been found lies within them.
 *
 * The form of arguments is their length, and those of their words that decide what stands where:
 * booleans, discriminants, counts and lengths.  Arguments of one procedure and one form have their
 * fields at the same places, so what a walk has found is kept with the form, and serves the next
 * ones of it (model/effect/shapes.h does the same for replies).  The tables say what the form is.
 *
 * Memory: 36 KiB.
 */
#ifndef NFSDIGEST_PLAYER_PLACES_H
#define NFSDIGEST_PLAYER_PLACES_H

#include "base/err.h"
#include "player/step.h"

enum { PLACES_FORMS = 256, PLACES_WORDS = 12 };

struct places_form {
    /* Of a step: its number and the length of its arguments (places.c); 0: there is none. */
    uint64_t key;
    uint64_t next; /* of the last arguments that were walked over */
    uint32_t second_at, value_at, data_max;
    bool has_cookie, has_data; /* the cookie is at |value_at|; the data's length comes last */
    uint8_t has;               /* without STEP_CONTINUES, which depends on the cookie */
    uint8_t word_count;
    /* What stands at |at| is |value|: rounded up by |round|, which is 3 for lengths of names. */
    struct places_word {
        uint16_t at, round;
        uint32_t value;
    } words[PLACES_WORDS];
};

struct places {
    /* What all steps of a procedure have in common. */
    struct places_procedure {
        const struct procedure *procedure;
        uint32_t program;
        uint8_t has; /* STEP_ bits that all its steps have */
    } of[256];       /* by rdump's number */
    struct places_form forms[PLACES_FORMS];
};

/* Call wire_init before. */
void places_init(struct places *places);

/* Sets procedure, program, has, second_at, value_at and data_len of a step from its |number| and
 * |arguments|.  An unplayable step loses its arguments.  -ERR_INPUT: there is no such procedure, or
 * the arguments are not its own. */
int places_find(struct places *places, struct step *step, struct err *err);

#endif
