/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <zstd.h>

const char *archive_made_with(void)
{
    static char text[200];
    const int libarchive = archive_version_number();

    snprintf(text, sizeof(text),
             "nfsdigest " NFSDIGEST_VERSION ", libarchive %d.%d.%d, libzstd %s, "
             "SQLite %s",
             libarchive / 1000000, libarchive / 1000 % 1000, libarchive % 1000,
             ZSTD_versionString(), sqlite3_libversion());
    return text;
}

enum { PIECE = 1 << 18 };

struct packer {
    const struct stage *stage;
    const struct archive_folder *folder;
    struct archive *archive;
    output_writer *write;
    void *ctx;
    struct err error; /* of |write| */
};

static la_ssize_t on_write(struct archive *archive, void *ctx, const void *data, size_t len)
{
    struct packer *p = ctx;

    if (p->write(p->ctx, data, len, &p->error) < 0) {
        archive_set_error(archive, EIO, "%s", p->error.text);
        return -1;
    }
    return (la_ssize_t)len;
}

static int fail(const struct packer *p, struct err *err)
{
    if (p->error.code) {
        *err = p->error;
        return -err->code;
    }
    return err_set(err, ERR_SYSTEM, "the archive cannot be made: %s",
                   archive_error_string(p->archive));
}

static int put_data(struct packer *p, FILE *file, const struct member *member, struct err *err)
{
    uint64_t left = member->size;
    char *piece = malloc(PIECE);
    int result = piece ? 0 : err_memory(err, "an archive");

    while (result == 0 && left) {
        size_t len = fread(piece, 1, left < PIECE ? left : PIECE, file);

        if (!len)
            result = err_set(err, ERR_SYSTEM, "%s: cannot be read again", member->path);
        else if (archive_write_data(p->archive, piece, len) != (la_ssize_t)len)
            result = fail(p, err);
        left -= len;
    }
    free(piece);
    return result;
}

static int put_member(struct packer *p, const struct member *member, struct err *err)
{
    char path[STAGE_PATH_MAX], inside[PACKAGE_NAME_MAX + MEMBER_PATH_MAX + 2];
    struct archive_entry *entry = archive_entry_new();
    FILE *file = NULL;
    int result = entry ? 0 : err_memory(err, "an archive");

    if (result == 0)
        result = stage_path(p->stage, member->path, path, err);
    if (result == 0 && !(file = fopen(path, "re")))
        result = err_set(err, ERR_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    if (result == 0) {
        snprintf(inside, sizeof(inside), "%s/%s", p->folder->name, member->path);
        archive_entry_set_pathname(entry, inside);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)member->size);
        archive_entry_set_mtime(entry, (time_t)p->folder->date, 0);
        archive_entry_set_uid(entry, 0);
        archive_entry_set_gid(entry, 0);
        result = archive_write_header(p->archive, entry) == ARCHIVE_OK
                     ? put_data(p, file, member, err)
                     : fail(p, err);
    }
    if (file)
        fclose(file);
    archive_entry_free(entry);
    return result;
}

static int begin(struct packer *p, struct err *err)
{
    struct archive *a = p->archive;

    if (archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
        archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
        archive_write_set_filter_option(a, "zstd", "compression-level", ARCHIVE_LEVEL) !=
            ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
        archive_write_open(a, p, NULL, on_write, NULL) != ARCHIVE_OK)
        return fail(p, err);
    return 0;
}

int archive_pack(const struct stage *stage, const struct archive_folder *folder,
                 output_writer *write, void *ctx, struct err *err)
{
    struct packer p = {
        .stage = stage, .folder = folder, .archive = archive_write_new(), .write = write, .ctx = ctx
    };
    int result;

    if (!p.archive)
        return err_memory(err, "an archive");
    result = begin(&p, err);
    for (uint32_t i = 0; result == 0 && i < stage->count; i++)
        result = put_member(&p, &stage->members[i], err);
    if (result == 0 && archive_write_close(p.archive) != ARCHIVE_OK)
        result = fail(&p, err);
    archive_write_free(p.archive);
    return result;
}
