/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/find_packet.c
 *
 * Guesses where packets begin in the middle of a capture file, for pieces of it.  The contract is
 * in find_packet.h.
 */
#include "capture/find_packet.h"
#include "capture/capture.h"
#include "capture/pcapng.h"
#include "base/bytes.h"
#include "link/pcapng_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PCAP_RECORD = 16,
    PCAP_RECORD_MODIFIED = 24, /* magic a1b2cd34 */
    BLOCK_MIN = 12,
    NEAR_SECONDS = 3600,        /* between two packets */
    LONG_SECONDS = 400 * 86400, /* between the first packet and any other one */
    CUT_CHAIN = 2, /* headers before one that passes the end of the file, which is cut there */
    PACKET_MOST = 64 << 20, /* no snap length is taken for more */
};

struct window {
    const struct capture_shape *shape;
    const uint8_t *data;
    size_t len;
    bool last; /* the file ends with it */
};

static uint32_t load32(const struct capture_shape *s, const uint8_t *p)
{
    return s->swapped ? load_be32(p) : load_le32(p);
}

/* Reads a packet header at |at|.  Returns its length with the packet, 0 if it cannot be one. */
static size_t record_at(const struct window *w, size_t at, int64_t *seconds)
{
    const struct capture_shape *s = w->shape;
    const uint8_t *p = w->data + at;
    uint32_t fraction = load32(s, p + 4), cap = load32(s, p + 8), wire = load32(s, p + 12);

    *seconds = load32(s, p);
    if (cap > s->snaplen || wire < cap || wire > PACKET_MOST || (cap < wire && cap != s->snaplen) ||
        fraction >= (s->nanoseconds ? 1000000000 : 1000000) ||
        llabs(*seconds - s->first) > LONG_SECONDS)
        return 0;
    return s->record + cap;
}

/* Returns the order of bytes of the block at |p|, which need not be one. */
static enum faces_order order_at(const uint8_t *p)
{
    if (load_le32(p) != PCAPNG_SECTION)
        return pcapng_is_type(load_le32(p))   ? ORDER_LITTLE
               : pcapng_is_type(load_be32(p)) ? ORDER_BIG
                                              : ORDER_UNKNOWN;
    return load_le32(p + 8) == PCAPNG_BYTE_ORDER   ? ORDER_LITTLE
           : load_be32(p + 8) == PCAPNG_BYTE_ORDER ? ORDER_BIG
                                                   : ORDER_UNKNOWN;
}

/* The same for a block (draft-ietf-opsawg-pcapng s3.1).  The other length stands at its end.
 * |*order|: of its section, as far as that is known. */
static size_t block_at(const struct window *w, size_t at, enum faces_order *order)
{
    const uint8_t *p = w->data + at;
    enum faces_order is = order_at(p);
    uint32_t len = is == ORDER_BIG ? load_be32(p + 4) : load_le32(p + 4), end;

    if (!is || (*order && is != *order && load_le32(p) != PCAPNG_SECTION) || len < BLOCK_MIN ||
        len % 4 || len > PCAPNG_BLOCK_MAX)
        return 0;
    *order = is;
    if (w->len - at < len)
        return len;
    memcpy(&end, p + len - 4, sizeof(end));
    return memcmp(&end, p + 4, sizeof(end)) == 0 ? len : 0;
}

/* Returns true if a chain of headers begins at |at|. */
static bool fits(const struct window *w, size_t at)
{
    const bool png = w->shape->pcapng;
    const size_t head = png ? BLOCK_MIN : w->shape->record;
    enum faces_order order = ORDER_UNKNOWN;
    int64_t before = 0, seconds = 0;

    for (int count = 0; count < FIND_CHAIN; count++) {
        size_t len;

        if (at == w->len && w->last)
            return count > 0;
        if (at > w->len || w->len - at < head)
            return count > (w->last ? CUT_CHAIN : FIND_CHAIN / 2);
        len = png ? block_at(w, at, &order) : record_at(w, at, &seconds);
        if (!len || (count && llabs(seconds - before) > NEAR_SECONDS))
            return false;
        before = seconds;
        at += len;
    }
    return true;
}

static int read_at(int fd, const char *path, uint64_t from, uint8_t *data, size_t *len,
                   struct err *err)
{
    size_t have = 0;

    while (have < *len) {
        ssize_t n = pread(fd, data + have, *len - have, (off_t)(from + have));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_SYSTEM, "%s: cannot be read at byte %llu: %s", path,
                           (unsigned long long)from, strerror(errno));
        if (!n)
            break;
        have += (size_t)n;
    }
    *len = have;
    return 0;
}

static int open_file(const char *path, uint64_t *size, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0) {
        err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *size = (uint64_t)st.st_size;
    return fd;
}

uint32_t capture_record_head(const uint8_t *head, size_t len)
{
    uint32_t magic = len >= 4 ? load_le32(head) : 0;

    return magic == 0xa1b2cd34 || magic == 0x34cdb2a1 ? PCAP_RECORD_MODIFIED : PCAP_RECORD;
}

static int shape_pcap(const char *path, const uint8_t *head, size_t len, struct capture_shape *s,
                      struct err *err)
{
    uint32_t magic = load_le32(head);

    s->swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1 || magic == 0x34cdb2a1;
    s->nanoseconds = magic == 0xa1b23c4d || magic == 0x4d3cb2a1;
    s->record = capture_record_head(head, len);
    s->head = FIND_PCAP_HEAD;
    if (len < FIND_PCAP_HEAD)
        return err_set(err, ERR_INPUT, "%s: cut within its header", path);
    s->snaplen = load32(s, head + 16);
    if (!s->snaplen || s->snaplen > FIND_PACKET_MAX)
        s->snaplen = FIND_PACKET_MAX;
    s->first = len >= FIND_PCAP_HEAD + 4u ? load32(s, head + FIND_PCAP_HEAD) : 0;
    return 0;
}

static int shape_pcapng(const char *path, const uint8_t *head, size_t len, struct capture_shape *s,
                        struct err *err)
{
    uint32_t type, block;
    size_t at = 0;

    s->pcapng = true;
    while (len - at >= BLOCK_MIN) {
        if (load_le32(head + at) == PCAPNG_SECTION)
            s->swapped = order_at(head + at) == ORDER_BIG;
        type = load32(s, head + at);
        block = load32(s, head + at + 4);
        if (type == PCAPNG_PACKET || type == PCAPNG_PACKET_SIMPLE || type == PCAPNG_PACKET_OBSOLETE)
            break;
        if (block < BLOCK_MIN || block % 4 || block > len - at)
            return err_set(err, ERR_INPUT,
                           "%s: what stands before its first packet is damaged or longer than %d "
                           "bytes: read it whole",
                           path, INPUT_HEAD_MAX);
        at += block;
    }
    s->head = (uint32_t)at;
    return 0;
}

int capture_shape_read(const char *path, struct capture_shape *shape, struct err *err)
{
    struct input *input;
    const uint8_t *head;
    size_t len;
    int rc, fd;

    *shape = (struct capture_shape){ 0 };
    input = input_open_part(path, INPUT_HEAD_MAX, 0, err);
    if (!input)
        return -err->code;
    len = input_head(input, &head);
    if (!capture_is(head, len))
        rc = err_set(err, ERR_INPUT, "%s: not a capture: pcap or pcapng was expected at byte 0",
                     path);
    else if (pcapng_is(head, len))
        rc = shape_pcapng(path, head, len, shape, err);
    else
        rc = shape_pcap(path, head, len, shape, err);
    input_close(input);
    if (rc < 0)
        return rc;
    fd = open_file(path, &shape->size, err);
    if (fd < 0)
        return -err->code;
    close(fd);
    return 0;
}

int find_packet(const char *path, const struct capture_shape *shape, uint64_t from, uint64_t *at,
                struct err *err)
{
    struct window w = { .shape = shape };
    size_t step = shape->pcapng ? 4 : 1, head = shape->pcapng ? BLOCK_MIN : shape->record;
    uint64_t size;
    uint8_t *data;
    int rc = 0, fd;

    if (from <= shape->head) {
        *at = shape->head;
        return 0;
    }
    if (shape->pcapng)
        from = (from + 3) & ~UINT64_C(3); /* all blocks are multiples of 4 bytes */
    fd = open_file(path, &size, err);
    if (fd < 0)
        return -err->code;
    data = malloc(FIND_WINDOW);
    if (!data)
        rc = err_memory(err, "a part of a capture");
    w.data = data;
    *at = size;
    while (rc == 0 && from < size) {
        size_t tried = 0;

        w.len = FIND_WINDOW;
        rc = read_at(fd, path, from, data, &w.len, err);
        w.last = from + w.len >= size;
        if (rc < 0)
            break;
        while (tried + head <= w.len && (w.last || tried < FIND_WINDOW / 2) && !fits(&w, tried))
            tried += step;
        if (tried + head <= w.len && (w.last || tried < FIND_WINDOW / 2)) {
            *at = from + tried;
            break;
        }
        if (w.last)
            break;
        from += tried;
    }
    free(data);
    close(fd);
    return rc;
}
