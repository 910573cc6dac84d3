/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/mirror_parts.h
 *
 * For the files of the table of objects alone.
 */
#ifndef NFSDIGEST_MIRROR_PARTS_H
#define NFSDIGEST_MIRROR_PARTS_H

#include "base/compact.h"
#include "base/pool.h"
#include "mirror/objects.h"
#include "mirror/strings.h"

struct queued {
    uint32_t id;
    uint32_t since; /* the order in which it came to the queue */
};

struct changing {
    uint32_t id;
    struct change_set *changes;
};

struct mirror {
    struct pool objects;
    struct strings strings;
    const struct texts *shared; /* NULL: there are none */
    struct compact by_handle, by_sut_handle;
    uint64_t half_life; /* ns */
    bool in_order;      /* of arrival, whatever is popular */
    uint64_t count, states[MIRROR_STATES];
    struct changing *changing; /* those with |has_changes| */
    uint32_t changing_count, changing_cap;
    /* a heap: the first one is at 0 */
    struct queued *queue;
    uint32_t queued, queue_cap;
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
