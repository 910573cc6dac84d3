/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr_file.c
 *
 * A file that appears under its name only when it is whole.  What is no regular file (a pipe, a
 * device, "-") is written in place: there is nothing to put in the place of it.
 */
#include "record/nfsr.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct nfsr_file {
    int fd;
    bool failed;     /* a write was incomplete: never commit */
    char *name;      /* for messages */
    char *path;      /* final name, symbolic links followed; NULL: written in place */
    char *temporary; /* until commit; NULL: written in place */
};

static int fail(struct nfsr_file *file, const char *what, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: cannot %s: %s", file->name, what, strerror(errno));
}

/* Makes a new file beside |file->path|; the name says what it is should the process be killed. */
static int open_temporary(struct nfsr_file *file, struct err *err)
{
    size_t size = strlen(file->path) + 48;

    file->temporary = malloc(size);
    if (!file->temporary)
        return fail(file, "open", err);
    for (unsigned n = 0; n < 1000; n++) {
        snprintf(file->temporary, size, "%s.%ld-%u.part", file->path, (long)getpid(), n);
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    free(file->temporary);
    file->temporary = NULL;
    return fail(file, "create", err);
}

static int open_path(struct nfsr_file *file, const char *path, struct err *err)
{
    struct stat st;

    if (!strcmp(path, "-")) {
        /* a descriptor of its own: the caller may point the usual one elsewhere */
        file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return file->fd < 0 ? fail(file, "open", err) : 0;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        return file->fd < 0 ? fail(file, "open", err) : 0;
    }
    file->path = realpath(path, NULL);
    if (!file->path)
        file->path = strdup(path);
    return file->path ? open_temporary(file, err) : fail(file, "open", err);
}

struct nfsr_file *nfsr_file_open(const char *path, struct err *err)
{
    struct nfsr_file *file = calloc(1, sizeof(*file));

    if (file) {
        file->fd = -1;
        file->name = strdup(strcmp(path, "-") ? path : "standard output");
    }
    if (!file || !file->name)
        err_set(err, ERR_SYSTEM, "%s: no memory to open it", path);
    else if (open_path(file, path, err) == 0)
        return file;
    nfsr_file_close(file);
    return NULL;
}

int nfsr_file_write(void *ctx, const void *data, size_t len, struct err *err)
{
    struct nfsr_file *file = ctx;
    const uint8_t *at = data;

    while (len) {
        ssize_t n = write(file->fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            file->failed = true;
            return fail(file, "write", err);
        }
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int nfsr_file_commit(struct nfsr_file *file, struct err *err)
{
    if (file->failed)
        return err_set(err, ERR_SYSTEM, "%s: not written in full", file->name);
    file->failed = true; /* until the end of this */
    /* Not synced: waiting for the disk costs more than the rest of a run, and a stream that a crash
     * of the machine cut says so to its reader. */
    if (file->temporary) {
        int fd = file->fd;

        file->fd = -1;
        if (close(fd) < 0)
            return fail(file, "write", err);
        if (rename(file->temporary, file->path) < 0)
            return fail(file, "rename its temporary file to it", err);
        free(file->temporary);
        file->temporary = NULL;
    }
    file->failed = false;
    return 0;
}

void nfsr_file_close(struct nfsr_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    free(file->name);
    free(file);
}
