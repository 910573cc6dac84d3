/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/access.h
 *
 * Finds the things that an operation reads and changes, by the roles of its fields.
 *
 * ACCESS_OBJECT follows table 1 of FEUT, and adds what it lacks: whether objects exist, and which
 * directory a directory is in.  ACCESS_FINE treats attributes, byte ranges and directory entries as
 * separate things.  FSSTAT, FSINFO and PATHCONF depend only on the existence of the object (FEUT):
 * the attributes in their replies do not create dependencies.  Only what a replay can reproduce
 * counts, so times (except guards), cookies and free space do not.
 */
#ifndef NFSDIGEST_DEPEND_ACCESS_H
#define NFSDIGEST_DEPEND_ACCESS_H

#include "depend/depend.h"
#include "effect/played.h"

enum granularity { ACCESS_FINE, ACCESS_OBJECT };

const char *granularity_name(enum granularity granularity); /* "fine", "object" */
/* Finds the granularity of that name.  Returns false if there is none. */
bool granularity_find(const char *name, enum granularity *granularity);

struct access {
    struct use *uses;
    uint32_t count, cap;
};

/* Replaces the uses in |access| by those of |played|.  A struct of zeros is empty.  -ERR_SYSTEM: no
 * memory. */
int access_of(struct access *access, const struct played *played, enum granularity granularity,
              struct err *err);
void access_free(struct access *access);

#endif
