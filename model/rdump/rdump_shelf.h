/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_shelf.h
 *
 * Keeps the records of a dump until all of them are there.  Only then is it known after which
 * operation an object is not used any more, and which objects and credentials are used at all.
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

/* Operations have in |forget| all objects that they use, in any order, some of them several times.
 */
int rdump_shelf_put(struct rdump_shelf *shelf, enum rdump_kind kind, const void *record,
                    struct err *err);

/* Puts them all, with what is known now: |object.used|, |operation.forget|.  Once. */
int rdump_shelf_write(struct rdump_shelf *shelf, struct rdump_writer *to, struct err *err);

#endif
