/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/spool.h
 *
 * Keeps operations between two passes over a trace, in a file without a name in TMPDIR (/tmp).  It
 * keeps what a rehearsal needs, with objects instead of handles.
 */
#ifndef NFSDIGEST_PLAY_SPOOL_H
#define NFSDIGEST_PLAY_SPOOL_H

#include "effect/effect.h"

struct spool;
struct inference;

/* An operation that was put aside.  Its effect is complete, with the exceptions noted here. */
struct spooled {
    struct effect effect;  /* |server| is NULL; |result_body| is there for listings only; handles in
                            * |arguments_body| are opaque<> of 4 bytes */
    uint8_t *handle_at[2]; /* where the handles of the object and the second directory are in
                            * |arguments_body|, or NULL */
    const uint32_t *entries; /* for a listing with handles: the database object of each complete
                              * entry, in order, or 0 */
    uint32_t entry_count;
    uint8_t inferred;     /* enum repair_reason if it was not captured, else 0 */
    uint8_t unplayable;   /* enum unplayable */
    bool begun;           /* the operations that must have happened before it were played */
    uint32_t node, node2; /* if it is made up: nodes of the object and the second directory */
    const struct inference *inference; /* the inference that it is made from, or NULL */
    uint32_t nameless;                 /* the number of the nameless object that it makes, or 0 */
    struct spooled *next;              /* for the list of the current owner */
};

struct spool *spool_new(struct err *err);
void spool_free(struct spool *spool);

/* Adds an operation.  |entries|: the objects of a listing's handles; |unplayable|: enum unplayable,
 * as far as it is known now. */
int spool_put(struct spool *spool, const struct effect *effect, const uint32_t *entries,
              uint32_t entry_count, uint8_t unplayable, struct err *err);
/* Switches from writing to reading, at the beginning. */
int spool_rewind(struct spool *spool, struct err *err);
/* Returns the next one; the caller frees it with free().  NULL with |err| empty: no more. */
struct spooled *spool_take(struct spool *spool, struct err *err);

/* Makes an operation that was never in a spool.  |arguments| are XDR; |handle_at| are offsets of
 * the handles in them, or 0. */
struct spooled *spooled_new(const struct procedure *procedure, struct bytes arguments,
                            const uint32_t handle_at[2], uint32_t object, uint32_t parent2,
                            struct err *err);

#endif
