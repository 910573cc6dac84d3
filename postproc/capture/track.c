/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/track.h"
#include "base/bytes.h"

#include <stdio.h>

enum {
    FILE_HEADER = 24,
    RECORD_HEADER = 16,
    MODIFIED_HEADER = 24,   /* of the "modified" format with interface and packet type */
    LENGTH_MAX = 256 << 10, /* libpcap's bound; what is longer is no length */
};

static uint32_t load(const struct track *t, const uint8_t *p)
{
    return t->swapped ? load_be32(p) : load_le32(p);
}

void track_begin(struct track *t, const uint8_t *head, size_t len)
{
    uint32_t magic = len >= 4 ? load_le32(head) : 0;

    memset(t, 0, sizeof(*t));
    t->header_len = RECORD_HEADER;
    t->next = FILE_HEADER;
    switch (magic) {
    case 0xa1b2c3d4:
    case 0xa1b23c4d:
        break;
    case 0xd4c3b2a1:
    case 0x4d3cb2a1:
        t->swapped = true;
        break;
    case 0xa1b2cd34:
        t->header_len = MODIFIED_HEADER;
        break;
    case 0x34cdb2a1:
        t->header_len = MODIFIED_HEADER;
        t->swapped = true;
        break;
    default:
        t->lost = true;
    }
}

/* Evaluates the header at |next| once it is complete, and goes on to the next one; returns 0 then,
 * or how many bytes of it are needed. */
static uint32_t header(struct track *t)
{
    uint32_t length;

    if (t->have < t->header_len)
        return t->header_len;
    length = load(t, t->header + 8);
    t->start = t->next;
    if (length > LENGTH_MAX)
        t->lost = true;
    t->next += (uint64_t)length + t->header_len;
    t->have = 0;
    return 0;
}

void track_bytes(struct track *t, const uint8_t *data, size_t len)
{
    uint64_t end = t->pos + len;

    while (!t->lost && t->next + t->have < end) {
        uint64_t at = t->next + t->have - t->pos; /* of the next header byte in |data| */
        uint32_t need = header(t) - t->have;

        if (need > len - at)
            need = (uint32_t)(len - at);
        memcpy(t->header + t->have, data + at, need);
        t->have += need;
        header(t);
    }
    t->pos = end;
}

bool track_inside(const struct track *t, uint64_t *start)
{
    *start = t->have ? t->next : t->start;
    return !t->lost && (t->have || t->pos < t->next);
}

const char *track_since(char text[TRACK_SINCE], uint64_t since)
{
    text[0] = '\0';
    if (since)
        snprintf(text, TRACK_SINCE, " (counted from byte %llu)", (unsigned long long)since);
    return text;
}
