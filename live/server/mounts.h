/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/mounts.h
 *
 * Who mounted what, as MOUNT's DUMP tells it (RFC 1813 s5.2.2).  The list has no other use.
 *
 * Memory: MOUNTS_MAX entries of their texts; further ones are not in the list.
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

/* Once for each host and path. */
void mounts_add(struct mounts *mounts, const char *host, struct bytes path);
/* |path|.data NULL: all of this host. */
void mounts_remove(struct mounts *mounts, const char *host, struct bytes path);
void mounts_free(struct mounts *mounts);

#endif
