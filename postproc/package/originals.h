/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/originals.h
 *
 * Joins the captures of a package into one for the audit, which takes one original.  Their packets
 * are put one after the other into a pcapng file without a name: no other process can open it, and
 * it ends with the process.  pcapng files become sections of it as they are, with everything in
 * them.
 */
#ifndef NFSDIGEST_PACKAGE_ORIGINALS_H
#define NFSDIGEST_PACKAGE_ORIGINALS_H

#include "base/err.h"

#include <stdbool.h>

struct originals {
    int fd; /* of the nameless file; -1: there is only one capture */
    char text[64];
    const char *path; /* the path to read it */
};

/* Checks that all are regular files, because a package reads its captures more than once. */
int originals_check(int count, char **paths, struct err *err);

/* Joins the captures.  |folder|: the folder whose file system holds the file. */
int originals_join(struct originals *originals, const char *folder, int count, char **paths,
                   struct err *err);
void originals_close(struct originals *originals);

#endif
