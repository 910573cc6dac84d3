/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/exports.h
 *
 * Which export of its server an operation belongs to, as far as a trace shows it.  An export is
 *
 * - the MOUNT path that the path of the operation begins with;
 * - for a handle whose way from a MOUNT path is unknown: the MOUNT path whose root is that handle,
 *   or the only one of the server whose root has the same fsid;
 * - else that file system of the server.
 *
 * What names neither a path nor an object, and objects without attributes or a MOUNT path, are in
 * no export.  So a directory below an export that a client mounts by its own path counts as an
 * export, and exports that share a file system are one if no client mounted them in the trace.
 *
 * Memory: about 60 bytes for each path and object that operations name, up to a million of each,
 * 16 MiB, and the texts and roots of MOUNT paths.  What is beyond is read again and again.
 */
#ifndef NFSDIGEST_STORE_EXPORTS_H
#define NFSDIGEST_STORE_EXPORTS_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdint.h>

#define EXPORT_NONE (UINT32_MAX - 1) /* the operation is in no export */

struct exports;

/* Reads the MOUNT roots of a trace.  Returns NULL with |err| filled on failure.  Close it with
 * exports_free before the database. */
struct exports *exports_new(sqlite3 *db, struct err *err);
void exports_free(struct exports *e);

/* What an operation names; ids of the database, 0: none. */
struct export_of {
    int64_t flow, path, object, new_object;
};

/* Returns the number of an operation's export, counted from 0, EXPORT_NONE, or UINT32_MAX with
 * |err| filled. */
uint32_t exports_find(struct exports *e, const struct export_of *of, struct err *err);

/* Returns the text of an export, which the caller frees: "10.0.0.1:/srv/exp", or
 * "10.0.0.1 fsid 0x1f".  NULL: no memory. */
char *exports_label(const struct exports *e, uint32_t number);

#endif
