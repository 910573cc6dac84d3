/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "digest/expect.h"
#include "base/digest.h"
#include "record/record.h"

#include <stdlib.h>

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

static int by_name(const void *left, const void *right)
{
    const struct expect_entry *a = left, *b = right;
    uint32_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
    int order = memcmp(a->name.data, b->name.data, len);

    return order ? order : a->name.len < b->name.len ? -1 : a->name.len > b->name.len;
}

static int put_entries(struct buf *to, const struct expect *x)
{
    if (x->entry_count)
        qsort(x->entries, x->entry_count, sizeof(*x->entries), by_name);
    if (put_u32(to, x->entry_count) < 0)
        return -1;
    for (uint32_t i = 0; i < x->entry_count; i++)
        if (put_text(to, x->entries[i].name) < 0 ||
            (x->with_objects && put_u32(to, x->entries[i].object) < 0))
            return -1;
    return 0;
}

int expect_digest(const struct expect *x, struct buf *scratch, uint64_t *digest)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };
    const struct effect *e = x->effect;
    struct attributes a;

    scratch->len = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t groups = x->mask >> i * EXPECT_GROUPS & ((1 << EXPECT_GROUPS) - 1);

        if (groups &&
            (!effect_attributes(e, order[i], &a) || put_attributes(scratch, groups, &a) < 0))
            return -1;
    }
    if ((x->mask & EXPECT_IDENTITY && put_u32(scratch, x->object) < 0) ||
        (x->mask & EXPECT_ACCESS && put_u32(scratch, e->granted) < 0) ||
        (x->mask & EXPECT_TEXT && put_text(scratch, e->link_text) < 0) ||
        (x->mask & EXPECT_READ &&
         (put_u32(scratch, (uint32_t)e->done) < 0 || put_u32(scratch, e->eof) < 0)) ||
        (x->mask & EXPECT_NAMES && put_entries(scratch, x) < 0))
        return -1;
    *digest = XXH3_64bits(scratch->data, scratch->len);
    return 0;
}
