/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/step_check.h
 *
 * Makes steps of a dump's operations.  Whoever plays them relies on what is checked here: hosts,
 * credentials, dependencies and cookies are there, and arguments are those of the procedure
 * (schemas/rdump.md section 10).  A record that is not so is damage.
 *
 *     step_check_init
 *     step_make ... step_make       for each operation, in the dump's order
 *     step_check_other              for the record behind them
 *
 * Memory: that of places.h.
 */
#ifndef NFSDIGEST_PLAYER_STEP_CHECK_H
#define NFSDIGEST_PLAYER_STEP_CHECK_H

#include "player/places.h"
#include "player/script.h"

struct step_check {
    const struct script *script;
    uint32_t last_credential, last_place; /* the one looked up last */
    struct places places;
};

/* |script| must stay.  Call wire_init before. */
void step_check_init(struct step_check *c, const struct script *script);

/* Makes |step| of the operation behind |made| others, but for what |step->more| points to; its
 * arguments are those of |o|.  -ERR_INPUT: it may not be there, or its arguments are not those of
 * its procedure; the message names the dump and the operation. */
int step_make(struct step_check *c, uint64_t made, const struct rdump_operation *o,
              struct step *step, struct err *err);

/* |record|, which is not an operation, stands behind |made| of them.  0: the dump's end; or
 * -ERR_INPUT, as above. */
int step_check_other(const struct step_check *c, uint64_t made, enum rdump_kind kind,
                     const void *record, struct err *err);

#endif
