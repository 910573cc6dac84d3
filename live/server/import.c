/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/import.c
 *
 * Walks the tree by fts(3), which keeps our object's number in each of its entries.  Files with
 * several links are found again by device and inode.
 */
#include "server/import.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { BUFFER = 256 << 10 };

struct linked {
    dev_t device;
    ino_t inode;
    uint32_t object;
};

struct import {
    struct fs *fs;
    struct import_counts *counts;
    struct table table; /* of |linked|, by inode */
    struct linked *linked;
    uint32_t linked_count, linked_cap;
    uint8_t *buffer;
    struct err *err;
};

static const struct fs_caller root = { 0, 0, 0, NULL };

static int refuse(struct import *i, const FTSENT *entry, int errno_value)
{
    return err_set(i->err, ERR_INPUT, "%s: %s", entry->fts_path, strerror(errno_value));
}

static int full(struct import *i, const FTSENT *entry, enum nfsstat3 status)
{
    if (status == NFS3_OK)
        return 0;
    return err_set(i->err, ERR_SYSTEM, "%s: the file system in memory %s", entry->fts_path,
                   status == NFS3ERR_NOSPC ? "is full" : "does not take it");
}

static enum ftype3 type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return NF3DIR;
    case S_IFLNK:
        return NF3LNK;
    case S_IFBLK:
        return NF3BLK;
    case S_IFCHR:
        return NF3CHR;
    case S_IFSOCK:
        return NF3SOCK;
    case S_IFIFO:
        return NF3FIFO;
    default:
        return NF3REG;
    }
}

/* Times before 1970 and behind 2106 are not to be said in NFSv3 (nfstime3). */
static struct nfstime3 time_of(const struct timespec *t)
{
    struct nfstime3 to = { 0, 0 };

    if (t->tv_sec >= 0 && t->tv_sec <= UINT32_MAX)
        to = (struct nfstime3){ (uint32_t)t->tv_sec, (uint32_t)t->tv_nsec };
    return to;
}

static int set_attributes(struct import *i, const FTSENT *entry, uint32_t object)
{
    const struct stat *s = entry->fts_statp;
    struct fattr3 to;

    fs_attributes(i->fs, object, &to);
    to.mode = s->st_mode & MODE_ALL;
    to.uid = s->st_uid;
    to.gid = s->st_gid;
    to.atime = time_of(&s->st_atim);
    to.mtime = time_of(&s->st_mtim);
    to.ctime = time_of(&s->st_ctim);
    if (llistxattr(entry->fts_accpath, NULL, 0) > 0)
        i->counts->extended++;
    return full(i, entry, fs_set_all(i->fs, object, &to));
}

/* --- contents */

static int copy_range(struct import *i, const FTSENT *entry, uint32_t object, int fd,
                      off_t range[2])
{
    for (off_t at = range[0]; at < range[1];) {
        size_t want = range[1] - at < BUFFER ? (size_t)(range[1] - at) : BUFFER;
        ssize_t got = pread(fd, i->buffer, want, at);
        int result;

        if (got < 0)
            return refuse(i, entry, errno);
        if (got == 0)
            break; /* it became shorter meanwhile */
        result = full(i, entry,
                      fs_write(i->fs, &root, object, (uint64_t)at,
                               (struct bytes){ i->buffer, (uint32_t)got }, FILE_SYNC));
        if (result < 0)
            return result;
        i->counts->bytes += (uint64_t)got;
        at += got;
    }
    return 0;
}

static int copy_data(struct import *i, const FTSENT *entry, uint32_t object, int fd)
{
    off_t size = entry->fts_statp->st_size, range[2] = { 0, 0 };
    struct sattr3 whole = { .set_size = true, .size = (uint64_t)size };
    int result = 0;

    while (result == 0 && range[1] < size) {
        range[0] = lseek(fd, range[1], SEEK_DATA);
        if (range[0] < 0 && errno == ENXIO)
            break;          /* nothing but a hole follows */
        if (range[0] < 0) { /* the file system knows no holes */
            range[0] = range[1];
            range[1] = size;
        } else {
            range[1] = lseek(fd, range[0], SEEK_HOLE);
            if (range[1] < 0 || range[1] > size)
                range[1] = size;
        }
        result = copy_range(i, entry, object, fd, range);
    }
    if (result < 0)
        return result;
    return full(i, entry, fs_setattr(i->fs, &root, object, &whole, NULL));
}

static int copy_contents(struct import *i, const FTSENT *entry, uint32_t object)
{
    int fd = open(entry->fts_accpath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), result;

    if (fd < 0)
        return refuse(i, entry, errno);
    result = copy_data(i, entry, object, fd);
    close(fd);
    return result;
}

/* --- hard links */

static uint64_t hash_of(const struct stat *s)
{
    return XXH3_64bits(&s->st_ino, sizeof(s->st_ino));
}

static uint32_t find_link(const struct import *i, const struct stat *s)
{
    uint32_t place;

    for (uint32_t slot = table_first(&i->table, hash_of(s), &place); slot != TABLE_NONE;
         slot = table_next(&i->table, hash_of(s), &place))
        if (i->linked[slot].inode == s->st_ino && i->linked[slot].device == s->st_dev)
            return i->linked[slot].object;
    return 0;
}

static int keep_link(struct import *i, const struct stat *s, uint32_t object)
{
    if (GROW(i->linked, i->linked_count, i->linked_cap) < 0 ||
        table_add(&i->table, hash_of(s), i->linked_count) < 0)
        return err_memory(i->err, "hard links");
    i->linked[i->linked_count++] = (struct linked){ s->st_dev, s->st_ino, object };
    return 0;
}

/* --- objects */

static struct bytes name_of(const FTSENT *entry)
{
    return (struct bytes){ (const uint8_t *)entry->fts_name, entry->fts_namelen };
}

static int make(struct import *i, const FTSENT *entry, uint32_t *object)
{
    const struct stat *s = entry->fts_statp;
    struct fs_new new_object = { .type = type_of(s->st_mode) };
    char text[FS_LINK_TEXT_MAX + 1];

    if (new_object.type == NF3LNK) {
        ssize_t len = readlink(entry->fts_accpath, text, sizeof(text));

        if (len < 0 || len > FS_LINK_TEXT_MAX)
            return refuse(i, entry, len < 0 ? errno : ENAMETOOLONG);
        new_object.link_text = (struct bytes){ (uint8_t *)text, (uint32_t)len };
    }
    if (new_object.type == NF3BLK || new_object.type == NF3CHR)
        new_object.rdev = (struct specdata3){ major(s->st_rdev), minor(s->st_rdev) };
    i->counts->objects++;
    return full(i, entry,
                fs_make(i->fs, &root, (uint32_t)entry->fts_parent->fts_number, name_of(entry),
                        &new_object, object));
}

static int add_other(struct import *i, const FTSENT *entry)
{
    const struct stat *s = entry->fts_statp;
    uint32_t object = s->st_nlink > 1 ? find_link(i, s) : 0;
    int result;

    if (object)
        return full(
            i, entry,
            fs_link(i->fs, &root, object, (uint32_t)entry->fts_parent->fts_number, name_of(entry)));
    result = make(i, entry, &object);
    if (result == 0 && S_ISREG(s->st_mode))
        result = copy_contents(i, entry, object);
    if (result == 0 && s->st_nlink > 1)
        result = keep_link(i, s, object);
    return result < 0 ? result : set_attributes(i, entry, object);
}

static int add(struct import *i, FTSENT *entry)
{
    uint32_t object = 0;
    int result;

    switch (entry->fts_info) {
    case FTS_D:
        result = entry->fts_level ? make(i, entry, &object) : 0;
        entry->fts_number = entry->fts_level ? object : fs_root(i->fs);
        return result;
    case FTS_DP: /* its times are set when all of its entries are there */
        return set_attributes(i, entry, (uint32_t)entry->fts_number);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return refuse(i, entry, entry->fts_errno);
    default:
        if (!entry->fts_level)
            return refuse(i, entry, ENOTDIR);
        return add_other(i, entry);
    }
}

/* A link count grows with each name, and so does ctime: both are right at the end only because
 * set_attributes comes last for files with one name.  For others ctime is that of the last link. */
int import_tree(struct fs *fs, const char *directory, struct import_counts *counts, struct err *err)
{
    struct import i = { .fs = fs, .counts = counts, .err = err, .buffer = malloc(BUFFER) };
    char *paths[] = { (char *)directory, NULL };
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int result = 0;

    memset(counts, 0, sizeof(*counts));
    if (!tree)
        result = err_set(err, ERR_INPUT, "%s: %s", directory, strerror(errno));
    else if (!i.buffer)
        result = err_memory(err, "copying a tree");
    while (result == 0) {
        FTSENT *entry = fts_read(tree);

        if (!entry && errno)
            result = err_set(err, ERR_INPUT, "%s: %s", directory, strerror(errno));
        if (!entry)
            break;
        result = add(&i, entry);
    }
    if (tree)
        fts_close(tree);
    table_free(&i.table);
    free(i.linked);
    free(i.buffer);
    return result;
}
