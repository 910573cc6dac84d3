/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/temporary.h
 *
 * Bytes put aside, to be read once from their beginning: in a file without a name in TMPDIR (/tmp).
 *
 * Memory: a buffer of TEMPORARY_BUFFER bytes.
 */
#ifndef NFSDIGEST_BASE_TEMPORARY_H
#define NFSDIGEST_BASE_TEMPORARY_H

#include "base/err.h"

#include <stddef.h>

enum { TEMPORARY_BUFFER = 128 << 10 };

struct temporary;

/* |what| is put aside, for messages; it stays the caller's.  NULL with |err| filled. */
struct temporary *temporary_new(const char *what, struct err *err);
void temporary_free(struct temporary *temporary);

/* 0 or -ERR_SYSTEM. */
int temporary_write(struct temporary *temporary, const void *data, size_t len, struct err *err);
/* From here on it is read. */
int temporary_rewind(struct temporary *temporary, struct err *err);
/* 1: |len| bytes were read; 0: there are no more; or -ERR_SYSTEM, also when there are fewer. */
int temporary_read(struct temporary *temporary, void *data, size_t len, struct err *err);

#endif
