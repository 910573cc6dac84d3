/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/places.h
 *
 * Finds in the arguments of a step what fill_in.h replaces.  A dump's arguments are hostile: they
 * are walked to their end, and what has been found lies within them.
 */
#ifndef NFSDIGEST_PLAYER_PLACES_H
#define NFSDIGEST_PLAYER_PLACES_H

#include "base/err.h"
#include "player/step.h"

/* What all steps of a procedure have in common. */
struct places {
    struct {
        const struct procedure *procedure;
        uint32_t program;
        uint8_t has; /* STEP_ bits that all its steps have */
    } of[256];       /* by rdump's number */
};

/* Call wire_init before. */
void places_init(struct places *places);

/* Sets procedure, program, has, second_at, value_at and data_len of a step from its |number| and
 * |arguments|.  An unplayable step loses its arguments.  -ERR_INPUT: there is no such procedure, or
 * the arguments are not its own. */
int places_find(const struct places *places, struct step *step, struct err *err);

#endif
