/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fs/fs_parts.h"

#include <stdio.h>

/* Puts "/|name|" in front of what stands from |start| on. */
static int put_front(struct buf *to, size_t start, struct bytes name)
{
    size_t len = to->len - start;

    if (buf_reserve(to, name.len + 1) < 0)
        return -ERR_SYSTEM;
    memmove(to->data + start + name.len + 1, to->data + start, len);
    to->data[start] = '/';
    memcpy(to->data + start + 1, name.data, name.len);
    to->len += name.len + 1;
    return 0;
}

int fs_path(const struct fs *fs, uint32_t object, struct buf *to)
{
    size_t start = to->len;
    uint32_t at = object;

    if (object == FS_ROOT)
        return buf_append(to, "/", 1);
    while (at != FS_ROOT) {
        const struct inode *i = inode_of(fs, at);
        struct directory_entry entry;
        char text[32];

        if (!i->parent || !directory_at(inode_of(fs, i->parent)->directory, i->cookie, &entry)) {
            to->len = start;
            return buf_append(to, text,
                              (size_t)snprintf(text, sizeof(text), "(object %u)", object));
        }
        if (put_front(to, start, entry.name) < 0) {
            to->len = start;
            return -ERR_SYSTEM;
        }
        at = i->parent;
    }
    return 0;
}
