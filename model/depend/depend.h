/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/depend.h
 *
 * Finds direct dependencies (FEUT).  An operation depends on an earlier one if they use the same
 * thing and one of them changes it, unless other dependencies imply this.
 *
 * access.h says what an operation uses.  Operations are counted from 0 in the order in which they
 * are given.  No operation depends on one that is |horizon| or more operations before it, because a
 * replayer finishes operation n - horizon before it begins with n.
 *
 * If an operation would depend on more than DEPEND_MANY others because of names of a directory or
 * bytes of a file, and an earlier operation already depends on all of these, it depends on that one
 * instead.  Conflicts alone do not require this order: for example, the second listing of a large
 * directory waits for the first one.  Such operations are counted as joined.  A read of more than
 * DEPEND_MANY pieces of a file stands for these pieces: a later operation that uses one of them
 * depends on that read.
 *
 * Memory: 32 bytes for each of the last |horizon| operations.  For what these used: 16 bytes for
 * each object, name and piece of a file in each operation, 190 for each object, 110 for each name,
 * 130 for each piece; and 12 bytes for each of their dependencies and for up to 16 implied ones.
 * Rings double, so it can be twice as much.  Nothing grows with the trace or its objects.
 */
#ifndef NFSDIGEST_DEPEND_DEPEND_H
#define NFSDIGEST_DEPEND_DEPEND_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DEPEND_HORIZON = 1 << 16,
    DEPEND_MANY = 64,
};

enum thing {
    THING_OBJECT, /* an object as a whole (granularity object) */
    THING_LIFE,   /* that it exists */
    THING_MODE,   /* mode, owner and group */
    THING_NLINK,
    THING_SIZE,
    THING_TIME,  /* ctime.  An operation that asks for it, as a guard of SETATTR does, |changes| it.
                  * One that sets it only reads it, because settings can come in any order */
    THING_PLACE, /* the directory that a directory is in */
    THING_DATA,  /* bytes |start| to |end| - 1 */
    THING_NAME,  /* the name with hash |name| in a directory: its object, or that it is absent */
    THING_NAMES, /* all names of a directory.  It is only read, and conflicts with every change of a
                  * THING_NAME there */
    THING_AFTER, /* not a thing: the operation |start| places before this one must come first */
    THING_MAX
};

struct use {
    uint8_t thing; /* enum thing */
    bool changes;  /* false: it is only read */
    uint32_t object;
    uint64_t name; /* THING_NAME: hash; names of one directory with the same hash are one thing */
    uint64_t start, end; /* THING_DATA; |end| UINT64_MAX: everything from |start| on */
};

struct depend;

/* |horizon|: a power of two, at most 1 << 24.  NULL with |err| filled: no memory. */
struct depend *depend_new(uint32_t horizon, struct err *err);
void depend_free(struct depend *depend);

/* Adds the next operation, which uses these things.  A thing may come several times.  Sets
 * *|distances| to the distances back to the operations that it directly depends on, growing; valid
 * until the next call.  Returns their number, or -ERR_SYSTEM.  After an error only depend_free()
 * may be called. */
int64_t depend_next(struct depend *depend, const struct use *uses, uint32_t count,
                    const uint32_t **distances, struct err *err);

struct depend_counts {
    uint64_t operations, edges, joined;
    uint64_t independent; /* operations without dependencies */
    uint64_t most;        /* the most edges of one operation */
    uint64_t kept;        /* edges that others may imply, because the search took too long */
};
const struct depend_counts *depend_counts(const struct depend *depend);

#endif
