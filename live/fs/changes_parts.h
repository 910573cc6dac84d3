/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/changes_parts.h
 *
 * The bytes of a set of changes (changes.h), in XDR: a header, then for each thing that changed
 *
 *     u32 kind, u32 object, opaque body<>
 *
 * Kinds and their bodies stand below.
 */
#ifndef NFSDIGEST_FS_CHANGES_PARTS_H
#define NFSDIGEST_FS_CHANGES_PARTS_H

#include "fs/changes.h"
#include "fs/fs_parts.h"

enum { CHANGES_MAGIC = 0x66736331 }; /* "fsc1"; then the time of the last change, u32 records */

enum change_kind {
    CHANGED_OBJECT = 1, /* u32 generation, type (0: gone, and that is the next generation), flags,
                         * mode, nlink, uid, gid; u64 size; u32 rdev or verifier [2]; atime, mtime,
                         * ctime; u64 the last cookie */
    CHANGED_NAME,       /* u64 cookie, u32 what it stands for (0: it is gone), opaque name<> */
    CHANGED_SIZE,       /* u64: it was cut to that at least, before it got its size */
    CHANGED_TEXT,       /* opaque<> */
    CHANGED_ACL,        /* u32 entries, default entries; u32 tag, permissions, id each */
    CHANGED_FILL,       /* u64 key, u64 end of what is made up; 0: none */
    CHANGED_PAGE,       /* u64 number, bool there, opaque<> without the zeros at its end */
    CHANGED_END
};

#endif
