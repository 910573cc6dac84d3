/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/archive_slack.c
 *
 * Finds bytes of an archive that belong to no member.  tar and zstd have room for such bytes, which
 * are invisible when the archive is unpacked.
 */
#include "capture/input.h"
#include "package/archive.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    BLOCK = 512,       /* of tar */
    RECORD = 20 * 512, /* tar fills the last one with zeros */
    PIECE = 1 << 16,
};
static const uint64_t header_max = UINT64_C(1) << 33; /* bytes that a plain header can state */

struct slack {
    struct input *input;
    uint8_t *piece;
};

/* Passes over |len| bytes; *|zeros| becomes false when they are not.  1: the end came before. */
static int pass(struct slack *s, uint64_t len, bool *zeros, struct err *err)
{
    while (len) {
        ssize_t n = input_read(s->input, s->piece, len < PIECE ? len : PIECE, err);

        if (n <= 0)
            return n < 0 ? (int)n : 1;
        for (ssize_t i = 0; zeros && *zeros && i < n; i++)
            *zeros = s->piece[i] == 0;
        len -= (uint64_t)n;
    }
    return 0;
}

/* One header, contents, and zeros up to the next block. */
static int pass_member(struct slack *s, const struct member *member, bool *zeros, struct err *err)
{
    uint64_t headers = member->size < header_max ? 1 : 3; /* pax has a header with text before it */
    int result = pass(s, headers * BLOCK, NULL, err);

    if (result == 0)
        result = pass(s, member->size, NULL, err);
    return result == 0 ? pass(s, -member->size % BLOCK, zeros, err) : result;
}

static int check_tar(struct slack *s, const struct stage *stage, struct package_check *check,
                     struct err *err)
{
    bool zeros = true;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < stage->count; i++)
        result = pass_member(s, &stage->members[i], &zeros, err);
    if (result == 0)
        result = pass(s, RECORD + 2 * BLOCK, &zeros, err);
    if (result < 0)
        return result;
    if (!zeros || result == 0)
        package_finding(check, "there is something between or behind its members");
    return 0;
}

/* All of the file is one frame. */
static int check_zstd(const char *path, struct package_check *check, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *data = MAP_FAILED;
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED)
        return err_set(err, ERR_INPUT,
                       "%s: not a package: not a regular file, or it cannot be mapped", path);
    if (ZSTD_findFrameCompressedSize(data, (size_t)st.st_size) != (size_t)st.st_size)
        package_finding(check, "the compressed data are not in one piece");
    munmap(data, (size_t)st.st_size);
    return 0;
}

int archive_slack(const char *path, const struct stage *stage, struct package_check *check,
                  struct err *err)
{
    struct slack s = { .piece = malloc(PIECE) };
    int result = check_zstd(path, check, err);

    if (result == 0 && !s.piece)
        result = err_memory(err, "an archive");
    if (result == 0 && !(s.input = input_open(path, false, err)))
        result = -err->code;
    if (result == 0)
        result = check_tar(&s, stage, check, err);
    input_close(s.input);
    free(s.piece);
    return result;
}
