/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_marks.h
 *
 * The marks that a relay or a reader of its ring knows (relay/relay_entry.h): the latest ones that
 * were told or found.  More than there are readers, as those of readers that are gone stay.
 */
#ifndef NFSDIGEST_RELAY_RELAY_MARKS_H
#define NFSDIGEST_RELAY_RELAY_MARKS_H

#include "relay/relay_entry.h"

#include <stdbool.h>
#include <string.h>

enum { RELAY_MARKS = 64 };

struct relay_marks {
    uint8_t mark[RELAY_MARKS][RELAY_MARK_SIZE]; /* the latest one is the last */
    uint32_t count;
};

/* Makes a known mark the latest one.  Returns false if it is not known. */
static inline bool relay_marks_find(struct relay_marks *all, const uint8_t *mark)
{
    for (uint32_t i = all->count; i-- > 0;) {
        if (memcmp(all->mark[i], mark, RELAY_MARK_SIZE) != 0)
            continue;
        if (i + 1 < all->count) {
            memmove(all->mark[i], all->mark[i + 1], (all->count - i - 1) * RELAY_MARK_SIZE);
            memcpy(all->mark[all->count - 1], mark, RELAY_MARK_SIZE);
        }
        return true;
    }
    return false;
}

/* Adds a mark, in place of the one that was the latest longest ago.  Returns true if it is new. */
static inline bool relay_marks_add(struct relay_marks *all, const uint8_t *mark)
{
    if (relay_marks_find(all, mark))
        return false;
    if (all->count == RELAY_MARKS) {
        all->count--;
        memmove(all->mark[0], all->mark[1], all->count * RELAY_MARK_SIZE);
    }
    memcpy(all->mark[all->count++], mark, RELAY_MARK_SIZE);
    return true;
}

#endif
