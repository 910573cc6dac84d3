/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/unpack.h
 *
 * Decompresses data in xz, lz4 or bzip2 by libarchive's filters.  (gzip and zstd have faster ways,
 * which also return every byte before a cut: see input.c.)
 *
 * Memory: that of libarchive and the decompressors.  The dictionary of xz is the largest part; its
 * maximum is in the file's header.
 */
#ifndef NFSDIGEST_CAPTURE_UNPACK_H
#define NFSDIGEST_CAPTURE_UNPACK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { UNPACK_MAGIC_MAX = 6 };

struct unpack;

/* Gives compressed bytes, which stay until the next call.  Returns how many, 0 at the end, or a
 * negative code. */
typedef ssize_t unpack_source(void *ctx, const uint8_t **data, struct err *err);

/* Returns the name of the compression that the first |len| bytes show: "xz", "lz4" or "bzip2".
 * Returns NULL if there is none. */
const char *unpack_recognize(const uint8_t *head, size_t len);

/* |name| is the one that unpack_recognize returned. */
struct unpack *unpack_new(const char *name, unpack_source *source, void *ctx, struct err *err);
void unpack_free(struct unpack *unpack);

/* Reads up to |len| bytes.  Returns how many, or 0 at the end.  Returns -ERR_INPUT for damaged or
 * cut data; then up to one block of the decompressor may be missing. */
ssize_t unpack_read(struct unpack *unpack, void *data, size_t len, struct err *err);

#endif
