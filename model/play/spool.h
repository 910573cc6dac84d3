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

/* An operation that was put aside.  Its effect is whole but for what is said here. */
struct spooled {
    struct effect effect;  /* |server| is NULL; |result_body| is there for listings only; handles in
                            * |arguments_body| are opaque<> of 4 bytes */
    uint8_t *handle_at[2]; /* in |arguments_body|: where the object's and the second directory's
                            * are, or NULL */
    const uint32_t *entries; /* of a listing with handles: objects of the database, or 0, in the
                              * order of the entries that are all there */
    uint32_t entry_count;
    uint8_t inferred;     /* enum repair_reason, of one that was not captured */
    uint8_t unplayable;   /* enum unplayable */
    bool begun;           /* what must have happened before it, has */
    uint32_t node, node2; /* of one that is made up: of the object, of the second directory */
    const struct inference *inference; /* from which it is made up, or NULL */
    uint32_t nameless;                 /* the number of the nameless object that it makes, or 0 */
    struct spooled *next;              /* for whoever holds it */
};

struct spool *spool_new(struct err *err);
void spool_free(struct spool *spool);

/* |entries|: objects behind a listing's handles; |unplayable|: enum unplayable, as far as it is
 * known by then. */
int spool_put(struct spool *spool, const struct effect *effect, const uint32_t *entries,
              uint32_t entry_count, uint8_t unplayable, struct err *err);
/* From here on it is read, from its beginning. */
int spool_rewind(struct spool *spool, struct err *err);
/* Returns the next one; the caller frees it with free().  NULL with |err| empty: no more. */
struct spooled *spool_take(struct spool *spool, struct err *err);

/* One that never was in a spool: arguments in XDR, with |handle_at| from their start (or 0). */
struct spooled *spooled_new(const struct procedure *procedure, struct bytes arguments,
                            const uint32_t handle_at[2], uint32_t object, uint32_t parent2,
                            struct err *err);

#endif
