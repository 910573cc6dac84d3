/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/mirror_parts.h
 *
 * For the files of the table of objects alone.
 */
#ifndef NFSDIGEST_MIRROR_PARTS_H
#define NFSDIGEST_MIRROR_PARTS_H

#include "base/index.h"
#include "base/pool.h"
#include "mirror/objects.h"
#include "mirror/strings.h"

struct mirror {
    struct pool objects;
    struct strings strings;
    struct index by_handle, by_sut_handle;
    uint64_t half_life; /* ns */
    bool in_order;      /* of arrival, whatever is popular */
    uint64_t count, states[MIRROR_STATES];
    /* a heap: the first one is at 0 */
    uint32_t *queue, queued, queue_cap;
    uint32_t arrivals; /* at the queue, since they were numbered anew */
};

/* Of any id that was given out: also of a forgotten directory. */
static inline struct mirror_object *mirror_slot(const struct mirror *mirror, uint32_t id)
{
    return pool_at(&mirror->objects, id);
}

int queue_enter(struct mirror *mirror, struct mirror_object *object, struct err *err);
void queue_leave(struct mirror *mirror, struct mirror_object *object);

#endif
