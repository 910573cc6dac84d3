/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/image_parts.h
 *
 * What the files of image.h share: image.c (which kind it is), image_dump.c, image_mtree.c.
 */
#ifndef NFSDIGEST_SERVER_IMAGE_PARTS_H
#define NFSDIGEST_SERVER_IMAGE_PARTS_H

#include "server/image.h"

struct image {
    struct fs *fs;
    const char *path;
    int fd;
    struct image_counts *counts;
    struct err *err;
};

extern const struct fs_caller image_root;

int image_dump(struct image *image);
int image_mtree(struct image *image);

/* 0 for NFS3_OK, else an error of |what|. */
__attribute__((format(printf, 3, 4))) int image_done(const struct image *image,
                                                     enum nfsstat3 status, const char *what, ...);

/* Makes |name| in |dir|; a file gets |size| bytes that are made up of |key|. */
struct image_object {
    uint32_t dir;
    struct bytes name;
    struct fs_new new_object; /* without attributes */
    uint64_t key, size;
};
enum nfsstat3 image_make(const struct image *image, const struct image_object *o, uint32_t *object);

#endif
