/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/changes.h
 *
 * Tracks which changes a server was asked to make so far.  Two sides have the same state if the
 * same changes came before.  The state is kept as sums, and their differences are compared.  Equal
 * requests of both sides have equal keys.
 *
 * Memory: 32 bytes for each object of a database, about 40 for each name that was changed.
 */
#ifndef NFSDIGEST_ALIGN_CHANGES_H
#define NFSDIGEST_ALIGN_CHANGES_H

#include "base/err.h"
#include "effect/effect.h"

#include <stdint.h>

enum change_state {
    CHANGES_OBJECT, /* sum of the keys of requests that changed it, in any order */
    CHANGES_PARENT2,
    CHANGES_NEW,
    READS_OBJECT, /* likewise, of requests that read its contents */
    READS_NEW,
    RIGHTS_OBJECT, /* key of the last request that changed mode or owner, or removed it */
    RIGHTS_NEW,
    CHANGE_NAME, /* key of the last request that changed the object of the name */
    CHANGE_NAME2,
    CHANGE_LAST, /* key of the last request that changed the object */
    CHANGE_STATES
};

struct changes;

/* Allocates the states of objects 1 to |objects|.  NULL: no memory. */
struct changes *changes_new(uint32_t objects, struct err *err);
void changes_free(struct changes *changes);

/* Fills |states| with the states before |effect|. */
void changes_before(const struct changes *changes, const struct effect *effect,
                    int64_t states[CHANGE_STATES]);

/* Notes the changes of |effect|, unless it was refused.  |gone|: the object that it removes, or 0.
 */
int changes_note(struct changes *changes, const struct effect *effect, uint32_t gone, uint64_t key,
                 struct err *err);

#endif
