/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/access.h
 *
 * What an operation reads and what it changes, by the roles of its fields.
 *
 * ACCESS_OBJECT follows FEUT's table 1, with what it leaves out beside it: that objects exist, and
 * what directories are in.  ACCESS_FINE tells attributes, byte ranges and directory entries apart.
 * FSSTAT, FSINFO and PATHCONF depend on nothing but that the object is there (FEUT): the attributes
 * that they show beside are no reason to wait for anybody.
 * Only what a replay can reproduce counts: not times (but for guards), cookies and free space.
 */
#ifndef NFSDIGEST_DEPEND_ACCESS_H
#define NFSDIGEST_DEPEND_ACCESS_H

#include "depend/depend.h"
#include "effect/played.h"

enum granularity { ACCESS_FINE, ACCESS_OBJECT };

const char *granularity_name(enum granularity granularity); /* "fine", "object" */
/* The one of that name; false: there is none. */
bool granularity_find(const char *name, enum granularity *granularity);

struct access {
    struct use *uses;
    uint32_t count, cap;
};

/* Replaces |access|'s uses by those of |played|.  All zeros is an empty one.  -ERR_SYSTEM: no
 * memory. */
int access_of(struct access *access, const struct played *played, enum granularity granularity,
              struct err *err);
void access_free(struct access *access);

#endif
