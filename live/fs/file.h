/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/file.h
 *
 * What setattr.c tells make.c, and both use of files.
 */
#ifndef NFSDIGEST_FS_FILE_H
#define NFSDIGEST_FS_FILE_H

#include "fs/fs_parts.h"

/* NFS3ERR_INVAL: a time that there is not, or a way to set it. */
enum nfsstat3 file_check_times(const struct sattr3 *asked);
/* A file's size; there is room for two changes.  Times are not touched. */
void file_resize(struct fs *fs, uint32_t object, uint64_t size);

#endif
