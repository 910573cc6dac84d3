/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_copies.h
 *
 * Spatial scale-up (FEUT): puts several copies of a dump side by side.  Each copy has its own tree
 * and all operations.  Each further copy begins later, by a random time below a bound.  The
 * operations of all copies are merged in the order of their times.
 *
 * With N copies, object n becomes object (n - 1) N + k + 1 in copy k (0, 1, ...).  Digests are
 * those of the original dump.
 *
 * Memory: a block for each copy, and 16 bytes for each of the last |horizon| operations.
 */
#ifndef NFSDIGEST_RDUMP_RDUMP_COPIES_H
#define NFSDIGEST_RDUMP_RDUMP_COPIES_H

#include "rdump/rdump.h"

enum { RDUMP_COPIES_MAX = 256 };

/* Writes |copies| copies of the dump at |path|, which has one copy, to |to|.  |delay|: the bound of
 * the delays, ns.  Does not write the end record. */
int rdump_copy(const char *path, uint32_t copies, int64_t delay, uint64_t seed,
               struct rdump_writer *to, struct err *err);

#endif
