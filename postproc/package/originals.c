/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/originals.c
 *
 * Copies pcapng files as they are, and writes packets of other files as new blocks.  One capture
 * alone is not copied.  For make.c, which gives the result to the audit.  The contract is in
 * originals.h.
 */
#include "package/originals.h"
#include "base/bytes.h"
#include "capture/capture.h"
#include "capture/pcapng.h"
#include "link/pcapng_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 18, NANOSECONDS = 9 };

/* Blocks of pcapng, in this machine's byte order. */
static const uint32_t section[] = {
    PCAPNG_SECTION, 28, PCAPNG_BYTE_ORDER, 1, 0xffffffff, 0xffffffff, 28,
};

static void put_interface(FILE *out, int link_type)
{
    const uint32_t block[] = { PCAPNG_INTERFACE,
                               32,
                               (uint16_t)link_type,
                               0,
                               1u << 16 | PCAPNG_OPTION_RESOLUTION,
                               NANOSECONDS,
                               0,
                               32 };

    fwrite(section, sizeof(section), 1, out);
    fwrite(block, sizeof(block), 1, out);
}

static void put_packet(FILE *out, const struct frame *frame)
{
    static const uint8_t zeros[3];
    uint32_t padding = -frame->cap_len & 3, len = 32 + frame->cap_len + padding;
    uint64_t time = (uint64_t)frame->time;
    const uint32_t head[] = {
        PCAPNG_PACKET,   len, 0, (uint32_t)(time >> 32), (uint32_t)time, frame->cap_len,
        frame->wire_len,
    };

    fwrite(head, sizeof(head), 1, out);
    fwrite(frame->data, frame->cap_len, 1, out);
    fwrite(zeros, padding, 1, out);
    fwrite(&len, sizeof(len), 1, out);
}

static int add_pcap(FILE *out, struct input *input, struct err *err)
{
    struct capture *capture = capture_open(input, err);
    struct frame frame;
    bool begun = false;
    int rc = capture ? 1 : -err->code;

    while (rc == 1 && (rc = capture_next(capture, &frame, err)) == 1) {
        if (!begun)
            put_interface(out, frame.link_type);
        begun = true;
        put_packet(out, &frame);
    }
    capture_close(capture);
    return rc;
}

static int add_pcapng(FILE *out, struct input *input, struct err *err)
{
    uint8_t *piece = malloc(PIECE);
    ssize_t n = 1;

    if (!piece)
        return err_memory(err, "a capture");
    while (n > 0 && (n = input_read(input, piece, PIECE, err)) > 0)
        fwrite(piece, (size_t)n, 1, out);
    free(piece);
    return (int)n;
}

static int add_capture(FILE *out, const char *path, struct err *err)
{
    struct input *input = input_open(path, false, err);
    const uint8_t *head;
    size_t len;
    int rc;

    if (!input)
        return -err->code;
    len = input_head(input, &head);
    rc = pcapng_is(head, len) ? add_pcapng(out, input, err) : add_pcap(out, input, err);
    input_close(input);
    return rc;
}

int originals_check(int count, char **paths, struct err *err)
{
    struct stat st;

    for (int i = 0; i < count; i++) {
        if (strcmp(paths[i], "-") == 0)
            return err_set(err, ERR_USAGE,
                           "a package reads its captures more than once: standard input cannot be "
                           "one");
        if (stat(paths[i], &st) < 0)
            return err_set(err, ERR_INPUT, "%s: cannot be opened: %s", paths[i], strerror(errno));
        if (!S_ISREG(st.st_mode))
            return err_set(
                err, ERR_INPUT,
                "%s: not a regular file, but a package reads its captures more than once",
                paths[i]);
    }
    return 0;
}

/* A file that has lost its name before anything is in it. */
static FILE *open_nameless(struct originals *o, const char *folder, struct err *err)
{
    char name[4096 + 16];
    FILE *file;
    int fd;

    snprintf(name, sizeof(name), "%s/XXXXXX", folder);
    o->fd = mkostemp(name, O_CLOEXEC);
    if (o->fd >= 0)
        unlink(name);
    fd = o->fd < 0 ? -1 : fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
    file = fd < 0 ? NULL : fdopen(fd, "we");
    if (file)
        return file;
    err_set(err, ERR_SYSTEM, "%s: cannot make a file in it: %s", folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    return NULL;
}

int originals_join(struct originals *o, const char *folder, int count, char **paths,
                   struct err *err)
{
    FILE *file;
    int rc = 0;
    bool bad;

    o->fd = -1;
    o->path = paths[0];
    if (count == 1)
        return 0;
    file = open_nameless(o, folder, err);
    if (!file)
        return -err->code;
    for (int i = 0; rc == 0 && i < count; i++)
        rc = add_capture(file, paths[i], err);
    bad = ferror(file) != 0;
    if ((fclose(file) != 0 || bad) && rc == 0)
        rc = err_set(err, ERR_SYSTEM, "%s: the captures cannot be joined there: %s", folder,
                     strerror(errno));
    snprintf(o->text, sizeof(o->text), "/proc/self/fd/%d", o->fd);
    o->path = o->text;
    return rc;
}

void originals_close(struct originals *o)
{
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
}
