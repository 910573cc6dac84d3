/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/folder.h
 *
 * The files of a folder into which a program writes rotated captures, in the order in which they
 * were written: by the time of their first packet, and those without one last.  Equal times, and
 * files whose time is not known, are in the order of their names, in which 10 comes after 9.  The
 * name of one file instead of a folder stands for the files that have that name one after the
 * other.
 *
 * A file that is renamed stays the same file.  One that begins anew, as in a ring of files, is a
 * new one.
 *
 * Names that begin with a dot, databases, and files that are neither captures nor record streams
 * are passed over.  Memory: one entry for each name in the folder.
 */
#ifndef NFSDIGEST_INGEST_FOLDER_H
#define NFSDIGEST_INGEST_FOLDER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct folder;

/* |path| must outlive the folder.  If nothing has that name yet, it is taken for a file. */
struct folder *folder_new(const char *path, struct err *err);
void folder_free(struct folder *folder);

/* Looks at the folder anew. */
int folder_scan(struct folder *folder, struct err *err);

/* Returns true if there is a file that was not taken yet. */
bool folder_has_more(const struct folder *folder);

/* Takes the first of them.  Its path lives until the next one is taken. */
const char *folder_take(struct folder *folder, struct err *err);

/* |size| bytes of the file that was taken were read. */
void folder_done(struct folder *folder, uint64_t size);

struct folder_losses {
    uint64_t vanished; /* files that went before they were read */
    uint64_t grown;    /* files that grew after they were read */
    uint64_t other;    /* files that are no captures */
    uint64_t left;     /* files that were not taken */
    const char *name;  /* of the last one that vanished or grew, or NULL */
};
const struct folder_losses *folder_losses(const struct folder *folder);

#endif
