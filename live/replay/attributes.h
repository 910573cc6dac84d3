/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/attributes.h
 *
 * An object's attributes: as the dump wants them, and as a server has them.
 */
#ifndef NFSDIGEST_REPLAY_ATTRIBUTES_H
#define NFSDIGEST_REPLAY_ATTRIBUTES_H

#include "rdump/rdump.h"
#include "wire/nfs3_structs.h"

enum {
    ATTRIBUTE_TYPE = 1 << 0,
    ATTRIBUTE_MODE = 1 << 1, /* not of symbolic links */
    ATTRIBUTE_UID = 1 << 2,
    ATTRIBUTE_GID = 1 << 3,
    ATTRIBUTE_SIZE = 1 << 4,  /* of files */
    ATTRIBUTE_ATIME = 1 << 5, /* only set: looking at something changes it */
    ATTRIBUTE_MTIME = 1 << 6,
    ATTRIBUTE_RDEV = 1 << 7,  /* of devices */
    ATTRIBUTE_NLINK = 1 << 8, /* not of directories; if the dump knows it */
    ATTRIBUTES_OWNER = ATTRIBUTE_UID | ATTRIBUTE_GID,
    ATTRIBUTES_TIMES = ATTRIBUTE_ATIME | ATTRIBUTE_MTIME,
    /* those that SETATTR sets */
    ATTRIBUTES_SET = ATTRIBUTE_MODE | ATTRIBUTES_OWNER | ATTRIBUTE_SIZE | ATTRIBUTES_TIMES,
    ATTRIBUTES_TEXT = 256,
};

/* The type to make: a file if the dump does not know it. */
uint32_t attributes_type(const struct rdump_object *object);

/* Which attributes differ.  |delta|: times closer than this (ns) are the same. */
uint32_t attributes_differ(const struct rdump_object *object, const struct fattr3 *there,
                           int64_t delta);
/* Those of |which| that are to be set; the others stay. */
struct sattr3 attributes_set(const struct rdump_object *object, uint32_t which);
/* "mode 0644, there 0600; uid 1, there 0" for those of |which|.  Returns where it begins in |text|.
 */
const char *attributes_words(const struct rdump_object *object, const struct fattr3 *there,
                             uint32_t which, char text[ATTRIBUTES_TEXT]);

struct nfstime3 attributes_time(int64_t ns);
int64_t attributes_ns(const struct nfstime3 *time);

#endif
