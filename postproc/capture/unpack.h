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

/* Gives compressed bytes, which stay until the next call: how many, 0 at the end, or negative. */
typedef ssize_t unpack_source(void *ctx, const uint8_t **data, struct err *err);

/* The name of the compression that the first |len| bytes show: "xz", "lz4", "bzip2"; or NULL. */
const char *unpack_recognize(const uint8_t *head, size_t len);

/* |name| as unpack_recognize gives it. */
struct unpack *unpack_new(const char *name, unpack_source *source, void *ctx, struct err *err);
void unpack_free(struct unpack *unpack);

/* Up to |len| bytes: how many, 0 at the end; -ERR_INPUT for damaged or cut data, of which up to one
 * block of the decompressor's may be missing. */
ssize_t unpack_read(struct unpack *unpack, void *data, size_t len, struct err *err);

#endif
