/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/step.h
 *
 * An operation of a dump as the player holds it: compact, with the places in its arguments where
 * something of the target's has to stand.
 */
#ifndef NFSDIGEST_PLAYER_STEP_H
#define NFSDIGEST_PLAYER_STEP_H

#include "base/bytes.h"
#include "rdump/rdump.h"

#include <stdbool.h>

/* What has to be filled in or watched; from the procedure's table (engine/wire/field.h), never from
 * its number. */
enum {
    STEP_HAS_SECOND = 1 << 0, /* a second handle, at |second_at| */
    STEP_CONTINUES = 1 << 1,  /* a listing whose cookie is not 0: cookie u64 at |value_at|, and the
                               * verifier, 8 bytes, behind it */
    STEP_GUARDED = 1 << 2,    /* SETATTR with a guard: its ctime, 8 bytes, at |value_at| */
    STEP_HAS_DATA = 1 << 3,   /* WRITE: |data_len| bytes follow the arguments; their offset, u64,
                               * is at |value_at| */
    STEP_CHANGES = 1 << 4,    /* success changes something (action of the procedure) */
    STEP_LISTS = 1 << 5,      /* READDIR, READDIRPLUS: |value_at| as of STEP_CONTINUES, whatever the
                               * cookie is */
    STEP_WITHOUT_OBJECT = 1 << 6, /* NULL: no handle */
    STEP_SETS_SIZE = 1 << 7,      /* a sattr3 with a size, u64 at |second_at|; never with
                                   * STEP_HAS_SECOND */
};

/* Steps are numbered from 0, as the dump's operations.  Everything behind pointers lives in the
 * feed until the step is released. */
struct step {
    int64_t time, latency, source; /* rdump.h */
    uint64_t digest;
    const struct procedure *procedure; /* NULL: not known; then it is unplayable */
    uint32_t program;                  /* 100003, or 100227; 0 without a procedure */
    uint32_t client, server, copy;
    uint32_t credential; /* of script->credentials: not the number of the dump */
    uint32_t status, made, mask;
    uint8_t inferred, unplayable, number; /* |number|: rdump's number of the procedure */
    uint8_t has;                          /* STEP_ bits; of unplayable steps only STEP_CHANGES,
                                           * STEP_LISTS and STEP_WITHOUT_OBJECT */
    uint32_t second_at, value_at;         /* in |arguments|.  |value_at| without such a bit: of the
                                           * offset, u64, of a READ or COMMIT; or 0 */
    uint32_t data_len;
    struct bytes arguments;       /* as in the dump; the first handle is at 0 */
    const struct step_more *more; /* NULL: a step has none of it */
};

struct step_more {
    struct bytes links, results, names;
    const uint32_t *dependencies, *cookies, *forget; /* rdump.h */
    uint32_t dependency_count, cookie_count, forget_count;
    uint32_t cookie_from, cookie_entries;
};

#endif
