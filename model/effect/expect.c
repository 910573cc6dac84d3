/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "effect/expect.h"
#include "base/digest.h"
#include "record/record.h"

static int put_u32(struct buf *to, uint32_t value)
{
    uint8_t bytes[4];

    store_be32(bytes, value);
    return buf_append(to, bytes, sizeof(bytes));
}

static int put_u64(struct buf *to, uint64_t value)
{
    uint8_t bytes[8];

    store_be64(bytes, value);
    return buf_append(to, bytes, sizeof(bytes));
}

static int put_text(struct buf *to, struct bytes text)
{
    return put_u32(to, text.len) < 0 ? -1 : buf_append(to, text.data, text.len);
}

static int put_attributes(struct buf *to, uint32_t groups, const struct attributes *a)
{
    if (groups & 1 << EXPECT_TYPE &&
        (put_u32(to, a->type) < 0 ||
         ((a->type == OBJECT_BLK || a->type == OBJECT_CHR) &&
          (put_u32(to, a->rdev[0]) < 0 || put_u32(to, a->rdev[1]) < 0))))
        return -1;
    if (groups & 1 << EXPECT_MODE && put_u32(to, a->mode & 07777) < 0)
        return -1;
    if (groups & 1 << EXPECT_OWNER && (put_u32(to, a->uid) < 0 || put_u32(to, a->gid) < 0))
        return -1;
    if (groups & 1 << EXPECT_NLINK && put_u32(to, a->nlink) < 0)
        return -1;
    return groups & 1 << EXPECT_SIZE ? put_u64(to, a->size) : 0;
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
    const struct effect *e = x->effect;
    struct attributes a;

    *digest = 0;
    values->len = links->len = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t groups = x->mask >> i * EXPECT_GROUPS & ((1 << EXPECT_GROUPS) - 1);

        if (groups &&
            (!effect_attributes(e, order[i], &a) || put_attributes(values, groups, &a) < 0 ||
             (groups & 1 << EXPECT_LINKS && put_u32(links, a.nlink) < 0)))
            return -1;
    }
    if ((x->mask & EXPECT_IDENTITY && put_u32(values, x->object) < 0) ||
        (x->mask & EXPECT_ACCESS && put_u32(values, e->granted) < 0) ||
        (x->mask & EXPECT_TEXT && put_text(values, e->link_text) < 0) ||
        (x->mask & EXPECT_READ &&
         (put_u32(values, (uint32_t)e->done) < 0 || put_u32(values, e->eof) < 0)) ||
        (x->mask & EXPECT_NAMES &&
         (put_u32(values, x->names->count) < 0 || put_u64(values, x->names->sum) < 0)) ||
        (x->mask & EXPECT_BEHIND && put_u64(values, x->names->behind) < 0))
        return -1;
    if (x->mask & ~EXPECT_BESIDE)
        *digest = XXH3_64bits(values->data, values->len);
    return 0;
}
