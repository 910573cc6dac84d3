/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/fs_same.h
 *
 * Whether two file systems are the same: numbers, generations, attributes, names, cookies, texts,
 * contents, access lists.  It asks them as any user would.
 */
#ifndef NFSDIGEST_TESTS_FS_SAME_H
#define NFSDIGEST_TESTS_FS_SAME_H

#include "fs/changes.h"
#include "fs/fs_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 65536 };

static char fs_same_text[256];

static const char *differ(const char *what, uint32_t object)
{
    snprintf(fs_same_text, sizeof(fs_same_text), "%s of object %u", what, object);
    return fs_same_text;
}

struct listing {
    struct buf bytes;
};

static int same_entry(void *ctx, const struct fs_entry *entry)
{
    struct listing *l = ctx;

    buf_append(&l->bytes, &entry->object, sizeof(entry->object));
    buf_append(&l->bytes, &entry->fileid, sizeof(entry->fileid));
    buf_append(&l->bytes, &entry->cookie, sizeof(entry->cookie));
    buf_append(&l->bytes, entry->name.data, entry->name.len);
    return 0;
}

static const struct fs_caller same_root = { 0 };

static bool same_listing(struct fs *a, struct fs *b, uint32_t object)
{
    struct listing x = { 0 }, y = { 0 };
    bool eof, same;

    same = fs_list(a, &same_root, object, 0, same_entry, &x, &eof) ==
               fs_list(b, &same_root, object, 0, same_entry, &y, &eof) &&
           x.bytes.len == y.bytes.len &&
           (!x.bytes.len || !memcmp(x.bytes.data, y.bytes.data, x.bytes.len));
    buf_free(&x.bytes);
    buf_free(&y.bytes);
    return same;
}

/* The first and the last bytes of a file, and those at powers of two. */
static bool same_contents(struct fs *a, struct fs *b, uint32_t object, uint64_t size)
{
    static uint8_t x[PIECE], y[PIECE];
    uint64_t step = PIECE;

    for (uint64_t at = 0; at < size; at += step, step *= at > 4 * PIECE ? 2 : 1) {
        uint32_t n = PIECE, m = PIECE;
        bool eof;

        if (fs_read(a, &same_root, object, at, x, &n, &eof) != NFS3_OK ||
            fs_read(b, &same_root, object, at, y, &m, &eof) != NFS3_OK || n != m || memcmp(x, y, n))
            return false;
    }
    return true;
}

static bool same_lists(struct fs *a, struct fs *b, uint32_t object, bool defaults)
{
    static struct fs_acl_entry x[FS_ACL_MAX], y[FS_ACL_MAX];
    uint32_t n = 0, m = 0;

    return fs_acl(a, &same_root, object, defaults, x, &n) ==
               fs_acl(b, &same_root, object, defaults, y, &m) &&
           n == m && !memcmp(x, y, n * sizeof(*x));
}

static bool same_time(struct nfstime3 a, struct nfstime3 b)
{
    return a.seconds == b.seconds && a.nseconds == b.nseconds;
}

static bool same_attributes(const struct fattr3 *a, const struct fattr3 *b)
{
    return a->type == b->type && a->mode == b->mode && a->nlink == b->nlink && a->uid == b->uid &&
           a->gid == b->gid && a->size == b->size && a->used == b->used &&
           a->rdev.specdata1 == b->rdev.specdata1 && a->rdev.specdata2 == b->rdev.specdata2 &&
           a->fsid == b->fsid && a->fileid == b->fileid && same_time(a->atime, b->atime) &&
           same_time(a->mtime, b->mtime) && same_time(a->ctime, b->ctime);
}

static const char *objects_differ(struct fs *a, struct fs *b, uint32_t object)
{
    struct fattr3 x, y;
    struct bytes s = { 0 }, t = { 0 };

    fs_attributes(a, object, &x);
    fs_attributes(b, object, &y);
    if (!same_attributes(&x, &y))
        return differ("attributes", object);
    if (fs_parent(a, object) != fs_parent(b, object))
        return differ("the parent", object);
    if (x.type == NF3DIR && !same_listing(a, b, object))
        return differ("the listing", object);
    if (x.type == NF3REG && !same_contents(a, b, object, x.size))
        return differ("the contents", object);
    if (x.type == NF3LNK && (fs_readlink(a, &same_root, object, &s) != NFS3_OK ||
                             fs_readlink(b, &same_root, object, &t) != NFS3_OK || s.len != t.len ||
                             memcmp(s.data, t.data, s.len)))
        return differ("the text", object);
    if (!same_lists(a, b, object, false) || !same_lists(a, b, object, true))
        return differ("an access list", object);
    return NULL;
}

static const char *all_differ(struct fs *a, struct fs *b)
{
    struct fs_caller nobody = { .uid = 12345 };
    struct fs_space x, y;

    if (a->inodes.count != b->inodes.count)
        return "how many objects there were";
    for (uint32_t object = 1; object < a->inodes.count; object++) {
        uint32_t g = fs_generation(a, object), found = fs_find(a, object, g);
        const char *what;

        if (fs_generation(b, object) != g || fs_find(b, object, g) != found)
            return differ("the generation", object);
        what = found ? objects_differ(a, b, object) : NULL;
        if (what)
            return what;
    }
    fs_space(a, &nobody, &x);
    fs_space(b, &nobody, &y);
    return memcmp(&x, &y, sizeof(x)) ? "the space" : NULL;
}

/* NULL: they are the same; else what differs, in a static text. */
static inline const char *fs_differ(struct fs *a, struct fs *b)
{
    bool x = a->config.no_atime, y = b->config.no_atime;
    const char *what;

    a->config.no_atime = b->config.no_atime = true; /* looking must not change anything */
    what = all_differ(a, b);
    a->config.no_atime = x;
    b->config.no_atime = y;
    return what;
}

/* Applies |from|'s changes to |to| and forgets them.  NULL, or what went wrong. */
static inline const char *fs_mirror(struct fs *from, struct fs *to)
{
    static struct err err;
    struct buf bytes = { 0 };
    int status = fs_changes_encode(from, &bytes, &err);

    if (!status)
        status = fs_changes_apply(to, (struct bytes){ bytes.data, (uint32_t)bytes.len }, &err);
    fs_changes_clear(from);
    buf_free(&bytes);
    return status ? err.text : NULL;
}

#endif
