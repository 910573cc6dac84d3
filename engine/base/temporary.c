/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct temporary {
    const char *what;
    int fd;
    bool reading;
    size_t at, len; /* while reading: what was taken of the buffer; what is in it */
    uint8_t buffer[TEMPORARY_BUFFER];
};

static const char *folder(void)
{
    const char *path = getenv("TMPDIR");

    return path && *path ? path : "/tmp";
}

static int fail(const struct temporary *t, const char *verb, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot %s the %s put aside in %s: %s", verb, t->what, folder(),
                   strerror(errno));
}

static int open_nameless(void)
{
    char path[4096];
    int fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    if ((size_t)snprintf(path, sizeof(path), "%s/nfsdigest.XXXXXX", folder()) >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

struct temporary *temporary_new(const char *what, struct err *err)
{
    struct temporary *t = malloc(sizeof(*t));

    if (!t) {
        err_memory(err, "a temporary file");
        return NULL;
    }
    t->what = what;
    t->reading = false;
    t->at = t->len = 0;
    t->fd = open_nameless();
    if (t->fd >= 0)
        return t;
    fail(t, "make a place for", err);
    temporary_free(t);
    return NULL;
}

void temporary_free(struct temporary *t)
{
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    free(t);
}

static int write_all(struct temporary *t, const uint8_t *data, size_t len, struct err *err)
{
    while (len) {
        ssize_t n = write(t->fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(t, "write", err);
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int temporary_write(struct temporary *t, const void *data, size_t len, struct err *err)
{
    if (!len)
        return 0;
    if (len > sizeof(t->buffer) - t->len) {
        if (write_all(t, t->buffer, t->len, err) < 0)
            return -err->code;
        t->len = 0;
        if (len > sizeof(t->buffer))
            return write_all(t, data, len, err);
    }
    memcpy(t->buffer + t->len, data, len);
    t->len += len;
    return 0;
}

int temporary_rewind(struct temporary *t, struct err *err)
{
    if (!t->reading && write_all(t, t->buffer, t->len, err) < 0)
        return -err->code;
    t->reading = true;
    t->at = t->len = 0;
    return lseek(t->fd, 0, SEEK_SET) == 0 ? 0 : fail(t, "read", err);
}

int temporary_read(struct temporary *t, void *data, size_t len, struct err *err)
{
    uint8_t *to = data;
    size_t left = len;

    for (;;) {
        size_t here = t->len - t->at < left ? t->len - t->at : left;
        ssize_t n;

        memcpy(to, t->buffer + t->at, here);
        t->at += here;
        to += here;
        left -= here;
        if (!left)
            return 1;
        do
            n = read(t->fd, t->buffer, sizeof(t->buffer));
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return fail(t, "read", err);
        t->at = 0;
        t->len = (size_t)n;
        if (!n && left == len)
            return 0;
        if (!n) {
            errno = EIO;
            return fail(t, "read", err);
        }
    }
}
