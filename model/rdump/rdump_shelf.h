/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_shelf.h
 *
 * Keeps the records of a dump until all of them are there.  Only then the last use of each object
 * is known, and which objects and credentials are used at all.
 *
 * Memory: 8 bytes for each object, 1 for each credential; about 200 bytes on disk, in TMPDIR, for
 * each operation.
 */
#ifndef NFSDIGEST_RDUMP_SHELF_H
#define NFSDIGEST_RDUMP_SHELF_H

#include "rdump/rdump.h"

struct rdump_shelf;

struct rdump_shelf *rdump_shelf_new(struct err *err);
void rdump_shelf_free(struct rdump_shelf *shelf);

/* Adds a record.  An operation has in |forget| all objects that it uses, in any order; some may
 * come several times. */
int rdump_shelf_put(struct rdump_shelf *shelf, enum rdump_kind kind, const void *record,
                    struct err *err);

/* Writes all records, with |object.used| and |operation.forget| filled in.  Call it only once. */
int rdump_shelf_write(struct rdump_shelf *shelf, struct rdump_writer *to, struct err *err);

#endif
