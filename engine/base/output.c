/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/output.c
 *
 * Files that appear under their names only when they are complete.  For all code that writes files.
 * The contract is in output.h.
 */
#include "base/output.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    int fd;
    bool failed; /* a write was incomplete: never commit */
    bool must_be_new;
    char *name;             /* for messages */
    char *path;             /* final name, symbolic links followed; NULL: written in place */
    char *temporary;        /* until commit; NULL: written in place */
    struct cleanup cleanup; /* of |temporary| */
};

static int fail(struct output *out, const char *what, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: cannot %s: %s", out->name, what, strerror(errno));
}

/* Makes a new file beside |out->path|; the name says what it is should the process be killed. */
static int open_temporary(struct output *out, struct err *err)
{
    size_t size = strlen(out->path) + 48;

    out->temporary = malloc(size);
    if (!out->temporary)
        return fail(out, "open", err);
    for (unsigned n = 0; n < 1000; n++) {
        snprintf(out->temporary, size, "%s.%ld-%u.part", out->path, (long)getpid(), n);
        cleanup_hold();
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0)
            cleanup_enter(&out->cleanup, cleanup_unlink, out->temporary);
        cleanup_release();
        if (out->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    free(out->temporary);
    out->temporary = NULL;
    return fail(out, "create", err);
}

static int open_path(struct output *out, const char *path, struct err *err)
{
    struct stat st;

    if (!strcmp(path, "-")) {
        /* a descriptor of its own: the caller may point the usual one elsewhere */
        out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return out->fd < 0 ? fail(out, "open", err) : 0;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? fail(out, "open", err) : 0;
    }
    out->path = realpath(path, NULL);
    if (!out->path)
        out->path = strdup(path);
    return out->path ? open_temporary(out, err) : fail(out, "open", err);
}

static int exists(const struct output *out, struct err *err)
{
    return err_set(err, ERR_USAGE, "%s: exists already", out->name);
}

/* What is written in place is never new, and a folder is refused anyway. */
static int check_new(struct output *out, const char *path, struct err *err)
{
    struct stat st;

    if (!strcmp(path, "-") || lstat(path, &st) != 0)
        return 0;
    if (S_ISLNK(st.st_mode) && stat(path, &st) != 0)
        return exists(out, err);
    return S_ISREG(st.st_mode) ? exists(out, err) : 0;
}

static struct output *open_output(const char *path, bool must_be_new, struct err *err)
{
    struct output *out = calloc(1, sizeof(*out));

    if (out) {
        out->fd = -1;
        out->must_be_new = must_be_new;
        out->name = strdup(strcmp(path, "-") ? path : "standard output");
    }
    if (!out || !out->name)
        err_set(err, ERR_SYSTEM, "%s: out of memory to open it", path);
    else if ((!must_be_new || check_new(out, path, err) == 0) && open_path(out, path, err) == 0)
        return out;
    output_close(out);
    return NULL;
}

struct output *output_open(const char *path, struct err *err)
{
    return open_output(path, false, err);
}

struct output *output_open_new(const char *path, struct err *err)
{
    return open_output(path, true, err);
}

int output_write(void *ctx, const void *data, size_t len, struct err *err)
{
    struct output *out = ctx;
    const uint8_t *at = data;

    while (len) {
        ssize_t n = write(out->fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            out->failed = true;
            return fail(out, "write", err);
        }
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Never in the place of another file, even one that came while this one was written. */
int output_put_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    /* a file system that cannot do it in one step, as NFS */
    if (link(from, to) < 0)
        return -1;
    unlink(from);
    return 0;
}

static int put_in_place(struct output *out)
{
    int result, why;

    cleanup_hold();
    result = out->must_be_new ? output_put_new(out->temporary, out->path)
                              : rename(out->temporary, out->path);
    why = errno;
    if (result == 0)
        cleanup_drop(&out->cleanup);
    cleanup_release();
    errno = why;
    return result;
}

int output_commit(struct output *out, struct err *err)
{
    if (out->failed)
        return err_set(err, ERR_SYSTEM, "%s: not written in full", out->name);
    out->failed = true; /* until the end of this */
    /* Not synced: waiting for the disk costs more than the rest of a run, and a stream that a crash
     * of the machine cut says so to its reader. */
    if (out->temporary) {
        int fd = out->fd;

        out->fd = -1;
        if (close(fd) < 0)
            return fail(out, "write", err);
        if (put_in_place(out) < 0)
            return out->must_be_new && errno == EEXIST
                       ? exists(out, err)
                       : fail(out, "rename its temporary file to it", err);
        free(out->temporary);
        out->temporary = NULL;
    }
    out->failed = false;
    return 0;
}

void output_close(struct output *out)
{
    if (!out)
        return;
    if (out->fd >= 0)
        close(out->fd);
    cleanup_hold();
    if (out->temporary)
        unlink(out->temporary);
    cleanup_drop(&out->cleanup);
    cleanup_release();
    free(out->temporary);
    free(out->path);
    free(out->name);
    free(out);
}
