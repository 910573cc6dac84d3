/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/archive_unpack.c
 *
 * Reads a stranger's archive through libarchive, member by member.  Each member is judged before a
 * file is made for it.  The bytes are counted while they are written, so that a small archive
 * cannot fill the disk.  For verify.c; package_finding and archive_shown are for all that verifies.
 * The contract is in archive.h.
 */
#include "package/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdarg.h>

enum { PIECE = 1 << 16 };

struct unpacker {
    const char *path;
    struct archive *archive;
    struct stage *stage;
    const char *needle;
    struct package_check *check;
    uint32_t entries;
};

void package_finding(struct package_check *check, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    check->findings++;
    check->show(check->ctx, text);
}

static int fail(const struct unpacker *u, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: not a package, or damaged%s: %s", u->path,
                   u->entries ? " behind some of its members" : "",
                   archive_error_string(u->archive));
}

const char *archive_shown(const char *name, char text[128])
{
    size_t i = 0;

    for (; name && name[i] && i < 120; i++)
        text[i] = (char)(name[i] < 0x20 || name[i] >= 0x7f ? '?' : name[i]);
    text[i] = '\0';
    return text;
}

/* The path below the archive's folder; NULL: it leads elsewhere, which is a finding. */
static const char *inner_path(struct unpacker *u, const char *whole)
{
    const char *slash = whole ? strchr(whole, '/') : NULL;
    struct package_check *check = u->check;
    char text[128];
    size_t len;

    if (!slash || !member_path_is_safe(slash + 1)) {
        package_finding(check, "unsafe path: \"%s\"", archive_shown(whole, text));
        return NULL;
    }
    len = (size_t)(slash - whole);
    if (!check->name[0] && len && len <= PACKAGE_NAME_MAX) {
        memcpy(check->name, whole, len);
        check->name[len] = '\0';
        if (member_path_is_safe(check->name))
            return slash + 1;
        check->name[0] = '\0';
    }
    if (check->name[0] && strlen(check->name) == len && memcmp(check->name, whole, len) == 0)
        return slash + 1;
    package_finding(check, "path outside of the package's folder: \"%s\"",
                    archive_shown(whole, text));
    return NULL;
}

/* Anything but a plain file of nobody is a finding; whether it may be unpacked. */
static bool judge(struct unpacker *u, struct archive_entry *entry)
{
    char text[128];
    const char *name = archive_shown(archive_entry_pathname(entry), text);
    const char *user = archive_entry_uname(entry), *group = archive_entry_gname(entry);

    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry) ||
        archive_entry_filetype(entry) != AE_IFREG) {
        package_finding(u->check, "not a regular file: \"%s\"", name);
        return false;
    }
    if (archive_entry_uid(entry) || archive_entry_gid(entry) || (user && *user) ||
        (group && *group))
        package_finding(u->check, "has an owner: \"%s\"", name);
    if (archive_entry_perm(entry) != 0644)
        package_finding(u->check, "has the mode %04o in the place of 0644: \"%s\"",
                        (unsigned)archive_entry_perm(entry), name);
    return true;
}

static int copy(struct unpacker *u, FILE *file, struct err *err)
{
    char piece[PIECE];
    la_ssize_t n;

    while ((n = archive_read_data(u->archive, piece, sizeof(piece))) > 0) {
        u->check->bytes += (uint64_t)n;
        if (u->check->bytes > u->check->bytes_max)
            return err_set(err, ERR_INPUT,
                           "%s: more than %llu bytes when unpacked: --max-size allows more",
                           u->path, (unsigned long long)u->check->bytes_max);
        fwrite(piece, (size_t)n, 1, file);
    }
    return n < 0 ? fail(u, err) : 0;
}

static int unpack(struct unpacker *u, struct archive_entry *entry, struct err *err)
{
    const char *path;
    bool found = false;
    FILE *file;
    int result;

    if (++u->entries > MEMBERS_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d members", u->path, MEMBERS_MAX);
    if (!judge(u, entry))
        return 0;
    path = inner_path(u, archive_entry_pathname(entry));
    if (!path)
        return 0;
    if (!member_kind(path)) {
        package_finding(u->check, "not a file of a package: %s", path);
        return 0;
    }
    if (stage_find(u->stage, path)) {
        package_finding(u->check, "there twice: %s", path);
        return 0;
    }
    file = stage_create(u->stage, path, err);
    if (!file)
        return -err->code;
    result = copy(u, file, err);
    if (stage_done(file, path, result == 0 ? err : NULL) < 0 && result == 0)
        result = -err->code;
    if (result == 0)
        result = stage_take(u->stage, path, u->needle, &found, err);
    if (found)
        package_finding(u->check, "%s: holds a key", path);
    return result;
}

int archive_unpack(const char *path, struct stage *stage, const char *needle,
                   struct package_check *check, struct err *err)
{
    struct unpacker u = { path, archive_read_new(), stage, needle, check, 0 };
    struct archive_entry *entry;
    int rc, result = 0;

    if (!u.archive)
        return err_memory(err, "an archive");
    if (archive_read_support_filter_zstd(u.archive) != ARCHIVE_OK ||
        archive_read_support_format_tar(u.archive) != ARCHIVE_OK)
        result = err_set(err, ERR_SYSTEM, "libarchive cannot read tar.zst: %s",
                         archive_error_string(u.archive));
    else if (archive_read_open_filename(u.archive, path, PIECE) != ARCHIVE_OK)
        result = fail(&u, err);
    while (result == 0) {
        rc = archive_read_next_header(u.archive, &entry);
        if (rc == ARCHIVE_EOF)
            break;
        result = rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? unpack(&u, entry, err) : fail(&u, err);
    }
    if (result == 0 && archive_filter_code(u.archive, 0) != ARCHIVE_FILTER_ZSTD)
        result = err_set(err, ERR_INPUT, "%s: not a package: not compressed with zstd", path);
    archive_read_free(u.archive);
    if (result == 0 && u.entries == stage->count)
        result = archive_slack(path, stage, check, err);
    return result;
}
