/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/slab.h
 *
 * Memory for many items that one thread makes and another one frees, in about the same order.  It
 * is allocated in large lumps, so that the threads do not wait for each other as they do in malloc.
 *
 * Memory: the lumps of SLAB_LUMP with an item in them, and SLAB_SPARE others.  An item above
 * SLAB_LUMP / 4 has its own memory.
 */
#ifndef NFSDIGEST_AUDIT_SLAB_H
#define NFSDIGEST_AUDIT_SLAB_H

#include "base/err.h"

#include <stddef.h>

enum { SLAB_LUMP = 128 << 10, SLAB_SPARE = 4 };

struct slab;

struct slab *slab_new(struct err *err);

/* Returns |len| bytes aligned to 8, or NULL if there is no memory.  Called by one thread. */
void *slab_get(struct slab *slab, size_t len);

/* Frees an item; NULL is allowed.  Called by any thread. */
void slab_put(void *item);

/* Call this after all items were put back. */
void slab_free(struct slab *slab);

#endif
