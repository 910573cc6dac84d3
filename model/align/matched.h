/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/matched.h
 *
 * Matches objects of one side with objects of the other.  An object is a handle: if a name is used
 * again, it stands for another object.  A match never changes, even if a later operation
 * contradicts it.  But an object can turn out to be another handle of a matched one.
 *
 * Memory: 4 bytes for each object of both sides, 12 for each pair.
 */
#ifndef NFSDIGEST_ALIGN_MATCHED_H
#define NFSDIGEST_ALIGN_MATCHED_H

#include "align/codes.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct object_pair {
    uint32_t object[SIDES]; /* ids */
    uint8_t how;
    bool has_others; /* one side has several handles of it */
};

struct objects {
    uint32_t *row[SIDES]; /* by id: row of table object; 0: not matched */
    uint32_t limit[SIDES];
    struct object_pair *pairs; /* pairs[0] is row 1 */
    uint32_t count, cap;
};

/* Prepares for object ids below |limit| on each side. */
int matched_init(struct objects *o, const uint32_t limit[SIDES], struct err *err);
void matched_free(struct objects *o);

/* Matches two objects.  Returns 1, 0 if one of them is already matched, or a negative code. */
int matched_match(struct objects *o, uint32_t ref, uint32_t sut, enum match_how how,
                  struct err *err);

/* Adds |object| to |row| as another handle.  It must not be matched yet. */
void matched_add(struct objects *o, int side, uint32_t object, uint32_t row);

/* Returns the row of an object, or 0. */
static inline uint32_t matched_row(const struct objects *o, int side, int64_t object)
{
    return object > 0 && object < o->limit[side] ? o->row[side][object] : 0;
}

#endif
