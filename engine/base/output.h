/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/output.h
 *
 * A file that appears under its name only when it is complete.  It is written under a temporary
 * name beside the final one, and output_commit renames it.  A pipe, a device or "-" is written
 * directly.
 */
#ifndef NFSDIGEST_BASE_OUTPUT_H
#define NFSDIGEST_BASE_OUTPUT_H

#include "base/err.h"

#include <stddef.h>

/* Writes bytes.  Returns 0 or a negative code with |err| filled. */
typedef int output_writer(void *ctx, const void *data, size_t len, struct err *err);

struct output;

/* Opens |path| for output; "-" is standard output, through a descriptor of its own.  EPIPE is an
 * error like others, so callers must ignore SIGPIPE.  An existing regular file is replaced at the
 * commit. */
struct output *output_open(const char *path, struct err *err);
/* Opens |path| for output, but never replaces a file: if there is one with this name, fails with
 * -ERR_USAGE, here or at the commit. */
struct output *output_open_new(const char *path, struct err *err);
output_writer output_write;                                /* |ctx| is the struct output */
int output_commit(struct output *output, struct err *err); /* closes and renames */
/* Renames the file |from| to |to|, which must be free.  Returns 0, or -1 with errno set. */
int output_put_new(const char *from, const char *to);
void output_close(struct output *output); /* without commit: removes what was written */

#endif
