/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/popularity.h
 *
 * Which object is synchronized next: the one whose subtree is used most.
 *
 * An access counts 1 for the object and for each directory above it, up to MIRROR_DEPTH_MAX.  What
 * it counts decays: to a half after each half-life, and on a straight line in between.  All
 * popularities decay alike, so time alone changes no order.  That is why they are stored as if
 * later accesses weighed more, and need no work until the next access.  They are integers: every
 * machine finds the same order.
 *
 * An access is counted with an error of at most 1 in 2^32 of the sum.  Times before 1970 count as
 * 1970.
 */
#ifndef NFSDIGEST_MIRROR_POPULARITY_H
#define NFSDIGEST_MIRROR_POPULARITY_H

#include "mirror/objects.h"

/* |time|: ns since 1970.  Times may go back.  Takes O(log n) for each object that is queued. */
void mirror_accessed(struct mirror *mirror, struct mirror_object *object, int64_t time);

/* Its accesses, decayed until |time|; 1: one just now; 0 below 2^-63. */
double mirror_popularity(const struct mirror *mirror, const struct mirror_object *object,
                         int64_t time);

/* Without |by_popularity|, the queue is one: who waits longest is first.  Accesses are counted in
 * any case. */
void mirror_set_order(struct mirror *mirror, bool by_popularity);

/* The most popular one of the queue, the one that waits longest among equals.  NULL: none. */
struct mirror_object *mirror_first(const struct mirror *mirror);
/* The same; its state is MIRROR_COPYING then. */
struct mirror_object *mirror_take_first(struct mirror *mirror);

#endif
