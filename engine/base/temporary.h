/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/temporary.h
 *
 * Stores bytes in a file without a name in TMPDIR (/tmp), to be read from their beginning, once or
 * several times.
 *
 * Memory: a buffer of TEMPORARY_BUFFER bytes.
 */
#ifndef NFSDIGEST_BASE_TEMPORARY_H
#define NFSDIGEST_BASE_TEMPORARY_H

#include "base/err.h"

#include <stddef.h>

enum { TEMPORARY_BUFFER = 128 << 10 };

struct temporary;

/* |what| names the stored bytes in messages; it must outlive the result.  Returns NULL with |err|
 * filled on failure. */
struct temporary *temporary_new(const char *what, struct err *err);
void temporary_free(struct temporary *temporary);

/* Appends bytes.  Returns 0 or -ERR_SYSTEM. */
int temporary_write(struct temporary *temporary, const void *data, size_t len, struct err *err);
/* Goes to the beginning.  After this the bytes can only be read, and this may be called again. */
int temporary_rewind(struct temporary *temporary, struct err *err);
/* Reads |len| bytes.  Returns 1, or 0 if there are no more bytes.  Returns -ERR_SYSTEM on failure,
 * also if only a part of the |len| bytes is left. */
int temporary_read(struct temporary *temporary, void *data, size_t len, struct err *err);

#endif
