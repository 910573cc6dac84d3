/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/slab.h
 *
 * Memory for many items that one thread makes and another one frees, in about the same order.  It
 * is allocated in lumps, so neither thread waits for the other as in malloc.
 *
 * Memory: lumps of SLAB_LUMP that hold an item, and SLAB_SPARE others.  An item above SLAB_LUMP / 4
 * has its own memory.
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
