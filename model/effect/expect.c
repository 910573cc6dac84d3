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

static void put_attributes(struct xdr_put *to, uint32_t groups, const struct attributes *a)
{
    if (groups & 1 << EXPECT_TYPE) {
        xdr_put_u32(to, a->type);
        if (a->type == OBJECT_BLK || a->type == OBJECT_CHR) {
            xdr_put_u32(to, a->rdev[0]);
            xdr_put_u32(to, a->rdev[1]);
        }
    }
    if (groups & 1 << EXPECT_MODE)
        xdr_put_u32(to, a->mode & 07777);
    if (groups & 1 << EXPECT_OWNER) {
        xdr_put_u32(to, a->uid);
        xdr_put_u32(to, a->gid);
    }
    if (groups & 1 << EXPECT_NLINK)
        xdr_put_u32(to, a->nlink);
    if (groups & 1 << EXPECT_SIZE)
        xdr_put_u64(to, a->size);
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
    struct attributes a;

    *digest = 0;
    values->len = links->len = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t groups = x->mask >> i * EXPECT_GROUPS & ((1 << EXPECT_GROUPS) - 1);

        if (!groups)
            continue;
        if (!effect_attributes(x->effect, order[i], &a))
            return -1;
        put_attributes(&to, groups, &a);
        if (groups & 1 << EXPECT_LINKS)
            xdr_put_u32(&to_links, a.nlink);
    }
    put_others(&to, x);
    if (to.problem || to_links.problem)
        return -1;
    if (x->mask & ~EXPECT_BESIDE)
        *digest = XXH3_64bits(values->data, values->len);
    return 0;
}
