/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/originals.h
 *
 * The captures that a package is made of as one, for the audit, which takes one original: their
 * packets one after the other in a pcapng file without a name, which nobody else can open and which
 * is gone with the process.  pcapng files become sections of it as they are, with everything that
 * is in them.
 */
#ifndef NFSDIGEST_PACKAGE_ORIGINALS_H
#define NFSDIGEST_PACKAGE_ORIGINALS_H

#include "base/err.h"

#include <stdbool.h>

struct originals {
    int fd; /* of the nameless file; -1: there is one capture, which is its own */
    char text[64];
    const char *path; /* to read it by */
};

/* All are regular files: a package reads its captures more than once. */
int originals_check(int count, char **paths, struct err *err);

/* |folder|: where the file takes its space. */
int originals_join(struct originals *originals, const char *folder, int count, char **paths,
                   struct err *err);
void originals_close(struct originals *originals);

#endif
