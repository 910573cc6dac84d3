/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fs/fs_parts.h"

#include <stdio.h>

/* The name of |*at| in its parent, which |*at| becomes.  False: that name is gone. */
static bool step_up(const struct fs *fs, uint32_t *at, struct bytes *name)
{
    const struct inode *i = inode_of(fs, *at);
    struct directory_entry entry;

    if (!i->parent || !directory_at(inode_of(fs, i->parent)->directory, i->cookie, &entry))
        return false;
    *name = entry.name;
    *at = i->parent;
    return true;
}

/* Twice from the object up: for the length, and to write the names from the end on.  A path may
 * have millions of names. */
int fs_path(const struct fs *fs, uint32_t object, struct buf *to)
{
    struct bytes name;
    size_t len = 0;
    uint8_t *end;
    uint32_t at;

    if (object == FS_ROOT)
        return buf_append(to, "/", 1);
    for (at = object; at != FS_ROOT; len += name.len + 1) {
        char text[32];

        if (!step_up(fs, &at, &name))
            return buf_append(to, text,
                              (size_t)snprintf(text, sizeof(text), "(object %u)", object));
    }
    if (buf_reserve(to, len) < 0)
        return -ERR_SYSTEM;
    to->len += len;
    end = to->data + to->len;
    for (at = object; at != FS_ROOT && step_up(fs, &at, &name);) {
        end -= name.len;
        memcpy(end, name.data, name.len);
        *--end = '/';
    }
    return 0;
}
