/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/changes.h
 *
 * What operations changed, as a set: object descriptors, names, pages, access lists.  It can be
 * written as bytes, and another file system can be made the same by them, in all: handles, fileids,
 * cookies, times, contents.  Nothing comes twice, however many operations a set holds.
 *
 * Only of a file system whose configuration says |changes|.  A set names what changed; its bytes
 * say what that is when they are written.
 *
 * Memory: 24 to 80 bytes for each thing that changed, until the set is cleared.
 */
#ifndef NFSDIGEST_FS_CHANGES_H
#define NFSDIGEST_FS_CHANGES_H

#include "fs/fs.h"

/* How many things changed since the set was cleared. */
uint32_t fs_changes_count(const struct fs *fs);
void fs_changes_clear(struct fs *fs);

/* Everything that there is: for a file system that was just made by fs_new. */
int fs_changes_all(struct fs *fs, struct err *err);

/* Appends the set's bytes; the set stays.  0, -ERR_SYSTEM, or -ERR_USAGE when |to| would be longer
 * than 4 GiB: take sets more often, and copy only file systems that are smaller. */
int fs_changes_encode(const struct fs *fs, struct buf *to, struct err *err);

/* Makes |fs| what the other one was: |fs| had been the same before these changes.  It ignores
 * capacity and quotas of its own, and takes any bytes: -ERR_INPUT, or -ERR_SYSTEM without memory.
 * After an error |fs| is no copy of anything any more, and can only be freed.  It notes no changes
 * of its own. */
int fs_changes_apply(struct fs *fs, struct bytes from, struct err *err);

#endif
