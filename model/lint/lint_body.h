/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_body.h
 *
 * What the bodies of an operation say that struct effect does not have: how stable contents are,
 * write verifiers, limits.  For the rules of lint, and for others that follow what servers promise.
 */
#ifndef NFSDIGEST_LINT_LINT_BODY_H
#define NFSDIGEST_LINT_LINT_BODY_H

#include "effect/effect.h"

struct lint_body {
    uint32_t stable, committed; /* enum stable_how */
    bool has_stable, has_committed, has_verifier, has_guard, has_limit;
    bool has_sent, has_returned, has_made_by;
    bool has_wanted, has_wtmax;
    uint32_t wanted, wtmax;  /* of ACCESS and FSINFO */
    uint64_t largest;        /* maxfilesize, with |wtmax| */
    uint64_t made_by;        /* verifier of an exclusive CREATE */
    uint32_t sent, returned; /* bytes of contents in the messages */
    uint64_t limit;          /* of a listing */
    int64_t guard;           /* ns */
    const uint8_t *verifier;
};

/* Reads them.  |verifier| lives as long as the effect. */
void lint_body_read(const struct effect *effect, struct lint_body *body);

#endif
