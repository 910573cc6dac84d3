/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/carry.h
 *
 * An engine that continues where the one before it stopped.  In the same process it is the same
 * engine.  In another process, it gets the database's knowledge and the state that the last capture
 * left.
 */
#ifndef NFSDIGEST_STORE_CARRY_H
#define NFSDIGEST_STORE_CARRY_H

#include "engine.h"
#include "store/store.h"

enum carry_state {
    CARRY_NONE = 0,  /* there is no state */
    CARRY_OPEN = 1,  /* the last capture's tail was not stored yet */
    CARRY_TAIL = 2,  /* the tail was stored */
    CARRY_OTHER = 3, /* the state of an engine with other options: settle it */
};

/* Returns the state that the database carries: an enum carry_state, or a negative code. */
int carry_state(struct store *store, const char *options, struct err *err);

/* Gives the engine all flows, objects, paths, names and credentials.  Call it after store_begin. */
int carry_learn(struct store *store, struct engine *engine, struct err *err);

/* Gives the engine the waiting state, if there is one.  Returns 0, or -ERR_INPUT if the state is
 * not this program's. */
int carry_restore(struct store *store, struct engine *engine, struct err *err);

#endif
