/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "effect/expect.h"
#include "base/digest.h"
#include "record/record.h"
#include "wire/xdr_put.h"

/* Not as XDR: without padding. */
static void put_text(struct xdr_put *to, struct bytes text)
{
    xdr_put_u32(to, text.len);
    xdr_put_bytes(to, text.data, text.len);
}

enum { ATTRIBUTES_MOST = 4 + 8 + 4 + 8 + 4 + 8 /* bytes of an object's groups */ };

/* The places in a fattr3 (RFC 1813 s2.6). */
enum { AT_TYPE = 0, AT_MODE = 4, AT_NLINK = 8, AT_UID = 12, AT_SIZE = 20, AT_RDEV = 36 };

static uint8_t *copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
    memcpy(to, from, len);
    return to + len;
}

/* Values are in a fattr3 as they are in the digest, most of them: so they are copied.  There is
 * room for ATTRIBUTES_MOST bytes. */
static uint8_t *put_attributes(uint8_t *to, uint32_t groups, const uint8_t *fattr3)
{
    if (groups & 1 << EXPECT_TYPE) {
        uint32_t type = load_be32(fattr3 + AT_TYPE);

        store_be32(to, type <= OBJECT_FIFO ? type : OBJECT_UNKNOWN);
        to += 4;
        if (type == OBJECT_BLK || type == OBJECT_CHR)
            to = copy(to, fattr3 + AT_RDEV, 8);
    }
    if (groups & 1 << EXPECT_MODE) {
        store_be32(to, load_be32(fattr3 + AT_MODE) & 07777);
        to += 4;
    }
    if (groups & 1 << EXPECT_OWNER)
        to = copy(to, fattr3 + AT_UID, 8);
    if (groups & 1 << EXPECT_NLINK)
        to = copy(to, fattr3 + AT_NLINK, 4);
    if (groups & 1 << EXPECT_SIZE)
        to = copy(to, fattr3 + AT_SIZE, 8);
    return to;
}

/* What is not about attributes. */
static void put_others(struct xdr_put *to, const struct expect *x)
{
    const struct effect *e = x->effect;

    if (x->mask & EXPECT_IDENTITY)
        xdr_put_u32(to, x->object);
    if (x->mask & EXPECT_ACCESS)
        xdr_put_u32(to, e->granted);
    if (x->mask & EXPECT_TEXT)
        put_text(to, e->link_text);
    if (x->mask & EXPECT_READ) {
        xdr_put_u32(to, (uint32_t)e->done);
        xdr_put_u32(to, e->eof);
    }
    if (x->mask & EXPECT_NAMES) {
        xdr_put_u32(to, x->names->count);
        xdr_put_u64(to, x->names->sum);
    }
    if (x->mask & EXPECT_BEHIND)
        xdr_put_u64(to, x->names->behind);
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

int expect_digest(const struct expect *x, struct buf *values, struct buf *links, uint64_t *digest)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };
    struct xdr_put to = xdr_put_to(values, XDR_PUT_ANY_LENGTH),
                   to_links = xdr_put_to(links, XDR_PUT_ANY_LENGTH);
    uint8_t *at;

    *digest = 0;
    values->len = links->len = 0;
    if (buf_reserve(values, (size_t)4 * ATTRIBUTES_MOST) < 0)
        return -1;
    at = values->data;
    for (int i = 0; i < 4; i++) {
        uint32_t groups = x->mask >> i * EXPECT_GROUPS & ((1 << EXPECT_GROUPS) - 1);
        const uint8_t *fattr3;

        if (!groups)
            continue;
        fattr3 = x->effect->fattr3[order[i]];
        if (!fattr3)
            return -1;
        at = put_attributes(at, groups, fattr3);
        if (groups & 1 << EXPECT_LINKS)
            xdr_put_u32(&to_links, load_be32(fattr3 + AT_NLINK));
    }
    values->len = (size_t)(at - values->data);
    put_others(&to, x);
    if (to.problem || to_links.problem)
        return -1;
    if (x->mask & ~EXPECT_BESIDE)
        *digest = XXH3_64bits(values->data, values->len);
    return 0;
}
