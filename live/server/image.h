/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/image.h
 *
 * Makes the tree that an image describes: the tree before the first operation of a replay dump
 * (schemas/rdump.md sections 4 and 9), or an mtree file, as mtree(5) says.  Contents are made up
 * (docs/contents.md); they take no memory until somebody writes.
 *
 * Memory, until the tree is made: of a dump 160 bytes for each object and 24 for each entry, and
 * the names; of an mtree file all of it, and 100 bytes for each directory and hard link.
 */
#ifndef NFSDIGEST_SERVER_IMAGE_H
#define NFSDIGEST_SERVER_IMAGE_H

#include "fs/fs.h"

struct image_counts {
    uint64_t objects;
    uint64_t bytes;   /* made up */
    uint64_t roots;   /* objects of a dump without an entry, which got one: root-N */
    uint64_t further; /* links that no entry of a dump shows: scratch/link-N-K */
};

/* Makes the tree in |fs|, which is empty.  Only the tree's part of a dump is read, and checked like
 * "nfsdigest rdump --check" does.  -ERR_INPUT: |path| cannot be read, or is neither, or damaged, or
 * has something that cannot be; -ERR_SYSTEM: |fs| is full.  After an error |fs| has a part of it.
 */
int image_load(struct fs *fs, const char *path, struct image_counts *counts, struct err *err);

#endif
