/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server/image.h"
#include "rdump/rdump_format.h"
#include "server/image_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct fs_caller image_root = { 0, 0, 0, NULL };

int image_done(const struct image *image, enum nfsstat3 status, const char *what, ...)
{
    char text[160];
    const char *why;
    va_list args;

    switch (status) {
    case NFS3_OK:
        return 0;
    case NFS3ERR_NOSPC:
        why = "the file system in memory is full";
        break;
    case NFS3ERR_NAMETOOLONG:
        why = "a name is longer than 255 bytes, or a link's text longer than 4,095";
        break;
    case NFS3ERR_FBIG:
        why = "its size is above 2^63 - 1";
        break;
    case NFS3ERR_MLINK:
        why = "more than 65,000 links";
        break;
    case NFS3ERR_EXIST:
        why = "it is there already";
        break;
    case NFS3ERR_NOTDIR:
        why = "it is below something that is not a directory";
        break;
    default:
        why = "there can be no such name or object";
    }
    va_start(args, what);
    vsnprintf(text, sizeof(text), what, args);
    va_end(args);
    return err_set(image->err, status == NFS3ERR_NOSPC ? ERR_SYSTEM : ERR_INPUT, "%s: %s: %s",
                   image->path, text, why);
}

enum nfsstat3 image_make(const struct image *image, const struct image_object *o, uint32_t *object)
{
    enum nfsstat3 status = fs_make(image->fs, &image_root, o->dir, o->name, &o->new_object, object);

    if (status == NFS3_OK && o->new_object.type == NF3REG) {
        status = fs_set_fill(image->fs, *object, o->key, o->size);
        image->counts->bytes += o->size;
    }
    image->counts->objects += status == NFS3_OK;
    return status;
}

static int no_file(const struct image *image)
{
    return err_set(image->err, ERR_INPUT, "%s: %s", image->path, strerror(errno));
}

/* Pipes cannot be read twice, so they are mtree files: those are text that a program may write. */
static int load(struct image *image)
{
    char magic[sizeof(RDUMP_MAGIC) - 1];
    struct stat s;
    ssize_t got;

    if (fstat(image->fd, &s) < 0)
        return no_file(image);
    got = S_ISREG(s.st_mode) ? pread(image->fd, magic, sizeof(magic), 0) : 0;
    if (got < 0)
        return no_file(image);
    if (got == sizeof(magic) && memcmp(magic, RDUMP_MAGIC, sizeof(magic)) == 0)
        return image_dump(image);
    return image_mtree(image);
}

int image_load(struct fs *fs, const char *path, struct image_counts *counts, struct err *err)
{
    struct image image = { fs, path, open(path, O_RDONLY | O_CLOEXEC), counts, err };
    int result;

    memset(counts, 0, sizeof(*counts));
    if (image.fd < 0)
        return no_file(&image);
    result = load(&image);
    close(image.fd);
    return result;
}
