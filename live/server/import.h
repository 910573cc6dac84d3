/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/import.h
 *
 * Copies a directory's tree into a file system of ours: types, contents with their holes, modes,
 * owners, times, hard links, devices.  Access lists and extended attributes are not copied, but
 * counted.
 */
#ifndef NFSDIGEST_SERVER_IMPORT_H
#define NFSDIGEST_SERVER_IMPORT_H

#include "fs/fs.h"

struct import_counts {
    uint64_t objects, bytes;
    uint64_t extended; /* objects with extended attributes or access lists, which were left out */
};

/* Copies what is below |directory| into the root of |fs|, which is empty; the root gets its mode,
 * owner and times.  Symbolic links are not followed.  -ERR_INPUT names the file that cannot be
 * read; -ERR_SYSTEM: |fs| is full. */
int import_tree(struct fs *fs, const char *directory, struct import_counts *counts,
                struct err *err);

#endif
