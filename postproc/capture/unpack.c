/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct unpack {
    struct archive *archive;
    unpack_source *source;
    void *ctx;
    struct err failed; /* of the source */
    bool end;
};

static const struct filter {
    const char *name;
    uint8_t magic[UNPACK_MAGIC_MAX];
    uint8_t magic_len;
    int (*support)(struct archive *archive);
} filters[] = {
    { "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, archive_read_support_filter_xz },
    { "lz4", { 0x04, 0x22, 0x4d, 0x18 }, 4, archive_read_support_filter_lz4 },
    { "bzip2", { 'B', 'Z', 'h' }, 3, archive_read_support_filter_bzip2 },
};

const char *unpack_recognize(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
        if (len >= filters[i].magic_len &&
            memcmp(head, filters[i].magic, filters[i].magic_len) == 0)
            return filters[i].name;
    return NULL;
}

static la_ssize_t on_read(struct archive *archive, void *ctx, const void **data)
{
    struct unpack *u = ctx;
    const uint8_t *bytes = NULL;
    ssize_t n = u->source(u->ctx, &bytes, &u->failed);

    *data = bytes;
    if (n >= 0)
        return n;
    archive_set_error(archive, EIO, "%s", u->failed.text);
    return ARCHIVE_FATAL;
}

/* After a call that failed. */
static int refuse(struct unpack *u, struct err *err)
{
    const char *why = archive_error_string(u->archive);

    if (u->failed.code) {
        *err = u->failed;
        return -err->code;
    }
    return err_set(err, archive_errno(u->archive) == ENOMEM ? ERR_SYSTEM : ERR_INPUT, "%s",
                   why ? why : "damaged");
}

static int open_archive(struct unpack *u, const char *name, struct err *err)
{
    struct archive_entry *entry;
    int result = ARCHIVE_FATAL;

    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
        if (strcmp(filters[i].name, name) == 0)
            result = filters[i].support(u->archive);
    if (result != ARCHIVE_OK)
        return err_set(err, ERR_SYSTEM, "this libarchive cannot read %s", name);
    if (archive_read_support_format_raw(u->archive) != ARCHIVE_OK ||
        archive_read_support_format_empty(u->archive) != ARCHIVE_OK ||
        archive_read_open(u->archive, u, NULL, on_read, NULL) != ARCHIVE_OK)
        return refuse(u, err);
    result = archive_read_next_header(u->archive, &entry);
    u->end = result == ARCHIVE_EOF; /* compressed nothing */
    return result == ARCHIVE_OK || u->end ? 0 : refuse(u, err);
}

struct unpack *unpack_new(const char *name, unpack_source *source, void *ctx, struct err *err)
{
    struct unpack *u = calloc(1, sizeof(*u));

    if (u) {
        u->source = source;
        u->ctx = ctx;
        u->archive = archive_read_new();
    }
    if (!u || !u->archive) {
        free(u);
        err_memory(err, "an archive");
        return NULL;
    }
    if (open_archive(u, name, err) < 0) {
        unpack_free(u);
        return NULL;
    }
    return u;
}

void unpack_free(struct unpack *u)
{
    if (!u)
        return;
    archive_read_free(u->archive);
    free(u);
}

ssize_t unpack_read(struct unpack *u, void *data, size_t len, struct err *err)
{
    la_ssize_t n = u->end ? 0 : archive_read_data(u->archive, data, len);

    return n < 0 ? refuse(u, err) : (ssize_t)n;
}
