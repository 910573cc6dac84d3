/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/mounts.h
 *
 * The list of mounts for MOUNT's DUMP (RFC 1813 s5.2.2).  It has no other use.
 *
 * Memory: MOUNTS_MAX entries and their texts.  Further mounts are not in the list.
 */
#ifndef NFSDIGEST_SERVER_MOUNTS_H
#define NFSDIGEST_SERVER_MOUNTS_H

#include "base/bytes.h"

enum { MOUNTS_MAX = 1024 };

struct mount {
    char *host, *path; /* path: any bytes but NUL */
};

struct mounts {
    struct mount list[MOUNTS_MAX];
    uint32_t count;
};

/* Adds a mount, unless the host and path are already in the list. */
void mounts_add(struct mounts *mounts, const char *host, struct bytes path);
/* Removes a mount.  |path|.data NULL: removes all of this host. */
void mounts_remove(struct mounts *mounts, const char *host, struct bytes path);
void mounts_free(struct mounts *mounts);

#endif
