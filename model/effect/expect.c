/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "effect/expect.h"
#include "base/digest.h"
#include "record/record.h"

enum {
    ATTRIBUTES_MOST = 4 + 8 + 4 + 8 + 4 + 8, /* bytes of an object's groups */
    OTHERS_MOST = 4 + 4 + 4 + 8 + 12 + 8,    /* of what is not about attributes, but for a text */
    LINKS_MOST = 4 * 4,
    ATTRIBUTES = (1 << 4 * EXPECT_GROUPS) - 1,
    LINKS = ATTRIBUTES & EXPECT_BESIDE,
};

/* The places in a fattr3 (RFC 1813 s2.6). */
enum { AT_TYPE = 0, AT_MODE = 4, AT_NLINK = 8, AT_UID = 12, AT_SIZE = 20, AT_RDEV = 36 };

static inline uint8_t *copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
    memcpy(to, from, len);
    return to + len;
}

static inline uint8_t *put32(uint8_t *to, uint32_t value)
{
    store_be32(to, value);
    return to + 4;
}

static inline uint8_t *put64(uint8_t *to, uint64_t value)
{
    store_be64(to, value);
    return to + 8;
}

/* Values are in a fattr3 as they are in the digest, most of them: so they are copied.  There is
 * room for ATTRIBUTES_MOST bytes. */
static uint8_t *put_attributes(uint8_t *to, uint32_t groups, const uint8_t *fattr3)
{
    if (groups & 1 << EXPECT_TYPE) {
        uint32_t type = load_be32(fattr3 + AT_TYPE);

        to = put32(to, type <= OBJECT_FIFO ? type : OBJECT_UNKNOWN);
        if (type == OBJECT_BLK || type == OBJECT_CHR)
            to = copy(to, fattr3 + AT_RDEV, 8);
    }
    if (groups & 1 << EXPECT_MODE)
        to = put32(to, load_be32(fattr3 + AT_MODE) & 07777);
    if (groups & 1 << EXPECT_OWNER)
        to = copy(to, fattr3 + AT_UID, 8);
    if (groups & 1 << EXPECT_NLINK)
        to = copy(to, fattr3 + AT_NLINK, 4);
    if (groups & 1 << EXPECT_SIZE)
        to = copy(to, fattr3 + AT_SIZE, 8);
    return to;
}

/* What is not about attributes.  There is room for OTHERS_MOST bytes and the text. */
static uint8_t *put_others(uint8_t *to, const struct expect *x)
{
    const struct effect *e = x->effect;

    if (x->mask & EXPECT_IDENTITY)
        to = put32(to, x->object);
    if (x->mask & EXPECT_ACCESS)
        to = put32(to, e->granted);
    if (x->mask & EXPECT_TEXT) {
        to = put32(to, e->link_text.len);
        if (e->link_text.len)
            to = copy(to, e->link_text.data, e->link_text.len);
    }
    if (x->mask & EXPECT_READ) {
        to = put32(to, (uint32_t)e->done);
        to = put32(to, e->eof);
    }
    if (x->mask & EXPECT_NAMES) {
        to = put32(to, x->names->count);
        to = put64(to, x->names->sum);
    }
    if (x->mask & EXPECT_BEHIND)
        to = put64(to, x->names->behind);
    return to;
}

static inline int make_room(struct buf *buf, size_t most)
{
    return most <= buf->cap ? 0 : buf_reserve(buf, most);
}

void expect_name(struct expect_names *names, struct bytes name, uint32_t object)
{
    uint64_t hash = XXH3_64bits(name.data, name.len);
    uint8_t both[12];

    names->count++;
    names->sum += hash;
    if (!object)
        names->has_behind = false;
    if (!names->has_behind)
        return;
    store_be64(both, hash);
    store_be32(both + 8, object);
    names->behind += XXH3_64bits(both, sizeof(both));
}

int expect_values(const struct expect *x, struct buf *values, struct buf *links)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };
    size_t text = x->mask & EXPECT_TEXT ? x->effect->link_text.len : 0;
    uint32_t left = x->mask & ATTRIBUTES;
    uint8_t *at;

    values->len = links->len = 0;
    if (make_room(values, 4 * ATTRIBUTES_MOST + OTHERS_MOST + text) < 0 ||
        (left & LINKS && make_room(links, LINKS_MOST) < 0))
        return -1;
    at = values->data;
    for (const enum whose *whose = order; left; whose++, left >>= EXPECT_GROUPS) {
        uint32_t groups = left & ((1 << EXPECT_GROUPS) - 1);
        const uint8_t *fattr3;

        if (!groups)
            continue;
        fattr3 = x->effect->fattr3[*whose];
        if (!fattr3)
            return -1;
        at = put_attributes(at, groups, fattr3);
        if (groups & 1 << EXPECT_LINKS) {
            copy(links->data + links->len, fattr3 + AT_NLINK, 4);
            links->len += 4;
        }
    }
    if (x->mask & ~ATTRIBUTES)
        at = put_others(at, x);
    values->len = (size_t)(at - values->data);
    return 0;
}

int expect_digest(const struct expect *x, struct buf *values, struct buf *links, uint64_t *digest)
{
    *digest = 0;
    if (expect_values(x, values, links) < 0)
        return -1;
    if (x->mask & ~EXPECT_BESIDE)
        *digest = XXH3_64bits(values->data, values->len);
    return 0;
}
