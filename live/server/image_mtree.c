/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/image_mtree.c
 *
 * The tree of an mtree file, for image.h; libarchive reads it.  Files with more than one link are
 * the same when their inode numbers are (keywords nlink, inode, resdevice).  Directories that the
 * file does not list are made.  Attributes of directories are set at the end, because each name
 * that is made changes times; so are those of files with several links.
 */
#include "base/digest.h"
#include "base/grow.h"
#include "base/table.h"
#include "server/image_parts.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10, DIRECTORY_MODE = 0755, NSEC = 1000000000 };

struct attributes {
    uint32_t object, mode, uid, gid;
    bool has_time;
    struct nfstime3 time;
};

struct linked {
    uint64_t device, inode;
    uint32_t object;
};

struct listing {
    const struct image *image;
    struct archive *archive;
    struct attributes *late; /* set at the end */
    struct linked *linked;
    uint32_t late_count, late_cap, linked_count, linked_cap;
    struct table table; /* of |linked|, by inode */
    struct buf path;    /* of the current entry: names with one '/' between them */
};

/* --- paths */

static int bad_path(const struct listing *l, const char *path)
{
    return err_set(l->image->err, ERR_INPUT, "%s: the path \"%.100s\" cannot be used",
                   l->image->path, path);
}

/* Puts the names of |text| into |path|: "./a//b/" is "a/b", "." is "". */
static int take_path(struct listing *l, const char *text)
{
    l->path.len = 0;
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "/");

        if (len == 2 && at[0] == '.' && at[1] == '.')
            return bad_path(l, text);
        if (len && !(len == 1 && *at == '.') &&
            ((l->path.len && buf_append(&l->path, "/", 1) < 0) ||
             buf_append(&l->path, at, len) < 0))
            return err_memory(l->image->err, "a path");
        at += len + (at[len] == '/');
    }
    return buf_reserve(&l->path, 1) < 0 ? err_memory(l->image->err, "a path") : 0;
}

static const char *path_text(const struct listing *l)
{
    l->path.data[l->path.len] = 0;
    return (const char *)l->path.data;
}

/* The directory of the path's last name, which goes to |name|; makes those that are not there. */
static int find_directory(struct listing *l, uint32_t *dir, struct bytes *name)
{
    const struct image *image = l->image;
    struct bytes path = { l->path.data, (uint32_t)l->path.len };
    enum nfsstat3 status = NFS3_OK;

    *dir = fs_root(image->fs);
    for (;;) {
        const uint8_t *slash = memchr(path.data, '/', path.len);
        struct image_object o = { .dir = *dir,
                                  .name = path,
                                  .new_object = { .type = NF3DIR,
                                                  .attributes = { .set_mode = true,
                                                                  .mode = DIRECTORY_MODE } } };

        *name = path;
        if (!slash || status != NFS3_OK)
            return image_done(image, status, "%s", path_text(l));
        o.name.len = (uint32_t)(slash - path.data);
        status = fs_lookup(image->fs, &image_root, *dir, o.name, dir);
        if (status == NFS3ERR_NOENT)
            status = image_make(image, &o, dir);
        path.len -= o.name.len + 1;
        path.data = slash + 1;
    }
}

/* --- objects */

static enum ftype3 type_of(struct archive_entry *entry)
{
    switch (archive_entry_filetype(entry)) {
    case AE_IFDIR:
        return NF3DIR;
    case AE_IFLNK:
        return NF3LNK;
    case AE_IFBLK:
        return NF3BLK;
    case AE_IFCHR:
        return NF3CHR;
    case AE_IFSOCK:
        return NF3SOCK;
    case AE_IFIFO:
        return NF3FIFO;
    default:
        return NF3REG;
    }
}

static uint64_t inode_of(struct archive_entry *entry)
{
    bool several = archive_entry_nlink(entry) > 1 && archive_entry_ino_is_set(entry);

    return several && archive_entry_filetype(entry) != AE_IFDIR
               ? (uint64_t)archive_entry_ino64(entry)
               : 0;
}

static uint64_t hash_of(uint64_t inode)
{
    return XXH3_64bits(&inode, sizeof(inode));
}

static uint32_t find_link(const struct listing *l, uint64_t inode, uint64_t device)
{
    uint32_t place;

    for (uint32_t slot = inode ? table_first(&l->table, hash_of(inode), &place) : TABLE_NONE;
         slot != TABLE_NONE; slot = table_next(&l->table, hash_of(inode), &place))
        if (l->linked[slot].inode == inode && l->linked[slot].device == device)
            return l->linked[slot].object;
    return 0;
}

static int keep_link(struct listing *l, uint64_t inode, uint64_t device, uint32_t object)
{
    if (!inode)
        return 0;
    if (GROW(l->linked, l->linked_count, l->linked_cap) < 0 ||
        table_add(&l->table, hash_of(inode), l->linked_count) < 0)
        return err_memory(l->image->err, "hard links");
    l->linked[l->linked_count++] = (struct linked){ device, inode, object };
    return 0;
}

/* A later line about the same path, or about a directory that was made for one below it. */
static enum nfsstat3 there_already(const struct listing *l, enum ftype3 type, uint32_t dir,
                                   struct bytes name, uint32_t *object)
{
    enum nfsstat3 status = fs_lookup(l->image->fs, &image_root, dir, name, object);

    if (status != NFS3_OK)
        return status;
    return type == NF3DIR && fs_type(l->image->fs, *object) == NF3DIR ? NFS3_OK : NFS3ERR_EXIST;
}

static int make(struct listing *l, struct archive_entry *entry, uint32_t *object)
{
    const struct image *image = l->image;
    const char *text = archive_entry_symlink(entry);
    uint64_t inode = inode_of(entry), device = (uint64_t)archive_entry_dev(entry);
    struct image_object o = { .new_object.type = type_of(entry),
                              .key = XXH3_64bits(l->path.data, l->path.len) };
    uint32_t link = find_link(l, inode, device);
    enum nfsstat3 status;

    if (find_directory(l, &o.dir, &o.name) < 0)
        return -image->err->code;
    if (archive_entry_size(entry) > 0)
        o.size = (uint64_t)archive_entry_size(entry);
    if (o.new_object.type == NF3LNK)
        o.new_object.link_text =
            (struct bytes){ (const uint8_t *)text, text ? (uint32_t)strlen(text) : 0 };
    o.new_object.rdev = (struct specdata3){ (uint32_t)archive_entry_rdevmajor(entry),
                                            (uint32_t)archive_entry_rdevminor(entry) };
    status = there_already(l, o.new_object.type, o.dir, o.name, object);
    if (status == NFS3ERR_NOENT && link) {
        *object = link;
        return image_done(image, fs_link(image->fs, &image_root, link, o.dir, o.name), "%s",
                          path_text(l));
    }
    if (status == NFS3ERR_NOENT)
        status = image_make(image, &o, object);
    if (status != NFS3_OK)
        return image_done(image, status, "%s", path_text(l));
    return keep_link(l, inode, device, *object);
}

/* --- attributes */

/* Times that NFSv3 cannot say (before 1970, behind 2106) are 1970. */
static struct nfstime3 time_of(struct archive_entry *entry)
{
    int64_t seconds = archive_entry_mtime(entry);
    long ns = archive_entry_mtime_nsec(entry);

    if (seconds < 0 || seconds > UINT32_MAX || ns < 0 || ns >= NSEC)
        return (struct nfstime3){ 0 };
    return (struct nfstime3){ (uint32_t)seconds, (uint32_t)ns };
}

static int set_attributes(const struct listing *l, const struct attributes *a)
{
    struct fattr3 to;

    fs_attributes(l->image->fs, a->object, &to);
    to.mode = a->mode;
    to.uid = a->uid;
    to.gid = a->gid;
    if (a->has_time)
        to.atime = to.mtime = to.ctime = a->time;
    return image_done(l->image, fs_set_all(l->image->fs, a->object, &to), "attributes");
}

static int take_entry(struct listing *l, struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    struct attributes a = { .object = fs_root(l->image->fs),
                            .mode = archive_entry_perm(entry) & MODE_ALL,
                            .uid = (uint32_t)archive_entry_uid(entry),
                            .gid = (uint32_t)archive_entry_gid(entry),
                            .has_time = archive_entry_mtime_is_set(entry),
                            .time = time_of(entry) };

    if (!path)
        return bad_path(l, "");
    if (take_path(l, path) < 0)
        return -l->image->err->code;
    if (!l->path.len && type_of(entry) != NF3DIR)
        return bad_path(l, path);
    if (l->path.len && make(l, entry, &a.object) < 0)
        return -l->image->err->code;
    if (type_of(entry) != NF3DIR && !inode_of(entry))
        return set_attributes(l, &a);
    if (GROW(l->late, l->late_count, l->late_cap) < 0)
        return err_memory(l->image->err, "an mtree file");
    l->late[l->late_count++] = a;
    return 0;
}

/* --- the file */

static int archive_error(const struct listing *l)
{
    const char *why = l->archive ? archive_error_string(l->archive) : NULL;
    bool memory = !l->archive || archive_errno(l->archive) == ENOMEM;

    if (memory)
        return err_memory(l->image->err, "an mtree file");
    return err_set(l->image->err, ERR_INPUT, "%s: not a replay dump, and as an mtree file: %s",
                   l->image->path, why ? why : "no reason given");
}

static int read_entries(struct listing *l)
{
    struct archive_entry *entry;
    int result = 0, got;

    l->archive = archive_read_new();
    if (!l->archive || archive_read_support_format_mtree(l->archive) != ARCHIVE_OK ||
        archive_read_support_filter_gzip(l->archive) != ARCHIVE_OK ||
        archive_read_open_fd(l->archive, l->image->fd, BLOCK) != ARCHIVE_OK)
        return archive_error(l);
    while (result == 0 && (got = archive_read_next_header(l->archive, &entry)) != ARCHIVE_EOF) {
        if (got != ARCHIVE_OK) /* also what libarchive only warns of: no type, unknown keywords */
            return archive_error(l);
        result = take_entry(l, entry);
    }
    for (uint32_t i = 0; i < l->late_count && result == 0; i++)
        result = set_attributes(l, &l->late[i]);
    return result;
}

int image_mtree(struct image *image)
{
    struct listing l = { .image = image };
    int result = read_entries(&l);

    archive_read_free(l.archive);
    table_free(&l.table);
    free(l.linked);
    free(l.late);
    buf_free(&l.path);
    return result;
}
