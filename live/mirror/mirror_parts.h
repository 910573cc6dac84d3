/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/mirror_parts.h
 *
 * For the files of the table of objects alone.
 */
#ifndef NFSDIGEST_MIRROR_PARTS_H
#define NFSDIGEST_MIRROR_PARTS_H

#include "base/compact.h"
#include "base/index.h"
#include "base/pool.h"
#include "mirror/objects.h"
#include "mirror/strings.h"

struct queued {
    uint32_t id;
    uint32_t since;      /* the order in which it came to the queue */
    uint64_t popularity; /* is here, so that comparing reads nothing else */
};

/* What directories alone have. */
struct directory {
    uint32_t children; /* objects whose |parent| it is */
    uint32_t fileid;   /* half of its bits; 0: not known */
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
    struct pool directories;
    struct index by_directory; /* ids of objects, to theirs */
    struct index many_names;   /* ids of objects with NAMES_MANY and more, to their number */
    uint64_t half_life;        /* ns */
    bool in_order;             /* of arrival, whatever is popular */
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

/* NULL: it has none, and for directory_get: no memory. */
struct directory *directory_of(const struct mirror *mirror, uint32_t id);
struct directory *directory_get(struct mirror *mirror, uint32_t id, struct err *err);
void directory_forget(struct mirror *mirror, uint32_t id);

enum { NAMES_MANY = 7 }; /* what |names| of an object is if they are |many_names| */

/* Sets how many names an object has.  Fails only without memory; fewer names need none. */
int names_set(struct mirror *mirror, struct mirror_object *object, uint32_t names, struct err *err);

static inline uint64_t popularity_of(const struct mirror *mirror,
                                     const struct mirror_object *object)
{
    return object->state == MIRROR_QUEUED ? mirror->queue[object->place - 1].popularity
                                          : object->popularity;
}

int queue_enter(struct mirror *mirror, struct mirror_object *object, struct err *err);
void queue_leave(struct mirror *mirror, struct mirror_object *object);

#endif
