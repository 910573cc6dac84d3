/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/contents.c
 *
 * The tree of pages of a file (contents.h).  Of the last page of a write only as much is kept as is
 * used, while the file has no other one, and no background.
 */
#include "fs/contents.h"
#include "base/err.h"
#include "fill/fill.h"

#include <string.h>

enum { BITS = 6, BRANCHES = 1 << BITS, LEVELS_MAX = 10, FIRST_STEP = 64 };

struct node {
    void *child[BRANCHES];
};

struct background {
    void *root;
    uint64_t key, end;
};

static void **root_of(const struct contents *c)
{
    return c->filled ? &((struct background *)c->root)->root : (void **)(uintptr_t)&c->root;
}

static bool reaches(const struct contents *c, uint64_t index)
{
    return index >> (BITS * c->height) == 0;
}

static uint32_t branch(uint64_t index, uint32_t level)
{
    return (uint32_t)(index >> (BITS * (level - 1))) & (BRANCHES - 1);
}

/* Where the page's pointer stands; NULL: its node is not there. */
static void **slot_of(const struct contents *c, uint64_t index)
{
    void **at = root_of(c);

    if (!reaches(c, index))
        return NULL;
    for (uint32_t level = c->height; level; level--) {
        struct node *node = *at;

        if (!node)
            return NULL;
        at = &node->child[branch(index, level)];
    }
    return at;
}

static uint32_t length_of(const struct contents *c)
{
    return c->height ? CONTENTS_PAGE : c->first;
}

const uint8_t *contents_page(const struct contents *c, uint64_t index, uint32_t *len)
{
    void **slot = slot_of(c, index);

    *len = length_of(c);
    return slot ? *slot : NULL;
}

uint64_t contents_next(const struct contents *c, uint64_t index)
{
    while (reaches(c, index)) {
        void *at = *root_of(c);
        uint32_t level = c->height;

        for (; at && level; level--)
            at = ((struct node *)at)->child[branch(index, level)];
        if (at)
            return index;
        if (level == c->height)
            return CONTENTS_NONE; /* no root */
        index = ((index >> (BITS * level)) + 1) << (BITS * level);
    }
    return CONTENTS_NONE;
}

/* The part of |len| bytes at |offset| that lies in one page. */
static uint32_t piece(uint64_t offset, uint64_t len)
{
    uint32_t room = CONTENTS_PAGE - (uint32_t)(offset % CONTENTS_PAGE);

    return len < room ? (uint32_t)len : room;
}

uint64_t contents_filled(const struct contents *c, uint64_t *key)
{
    const struct background *b = c->filled ? c->root : NULL;

    *key = b ? b->key : 0;
    return b ? b->end : 0;
}

/* Bytes of the background; returns how many of |len| there are. */
static uint32_t made_up(const struct contents *c, uint64_t offset, uint8_t *to, uint32_t len)
{
    uint64_t key, end = contents_filled(c, &key);

    if (offset >= end)
        return 0;
    if (len > end - offset)
        len = (uint32_t)(end - offset);
    fill_copy(key, offset, to, len);
    return len;
}

void contents_absent(const struct contents *c, uint64_t index, uint8_t *to)
{
    uint32_t len = made_up(c, index * CONTENTS_PAGE, to, CONTENTS_PAGE);

    memset(to + len, 0, CONTENTS_PAGE - len);
}

void contents_read(const struct contents *c, uint64_t offset, uint8_t *to, uint32_t len)
{
    while (len) {
        uint32_t part = piece(offset, len), start = offset % CONTENTS_PAGE, kept, have = 0;
        const uint8_t *page = contents_page(c, offset / CONTENTS_PAGE, &kept);

        if (page && kept > start) {
            have = part < kept - start ? part : kept - start;
            memcpy(to, page + start, have);
        } else if (!page) {
            have = made_up(c, offset, to, part);
        }
        memset(to + have, 0, part - have);
        offset += part;
        to += part;
        len -= part;
    }
}

/* --- writing */

/* Whether a piece of a write needs its page. */
static bool needs_page(const struct contents *c, uint64_t offset, const uint8_t *data, uint32_t len)
{
    uint64_t key;

    return offset < contents_filled(c, &key) || !bytes_are_zeros(data, len);
}

/* Calls for each page of a write that is not there, and that it needs. */
static int each_missing(const struct contents *c, uint64_t offset, struct bytes data, bool zeros,
                        int (*each)(void *ctx, uint64_t index), void *ctx)
{
    while (data.len) {
        uint32_t part = piece(offset, data.len), kept;

        if (!contents_page(c, offset / CONTENTS_PAGE, &kept) &&
            (zeros || needs_page(c, offset, data.data, part)) &&
            each(ctx, offset / CONTENTS_PAGE) < 0)
            return -ERR_SYSTEM;
        offset += part;
        data.data += part;
        data.len -= part;
    }
    return 0;
}

static int count_one(void *ctx, uint64_t index)
{
    (void)index;
    ++*(uint32_t *)ctx;
    return 0;
}

uint32_t contents_missing(const struct contents *c, uint64_t offset, struct bytes data, bool zeros)
{
    uint32_t count = 0;

    each_missing(c, offset, data, zeros, count_one, &count);
    return count;
}

/* The first page gets |len| bytes at least.  From nothing it grows by doubling. */
static int grow_first(struct memory *m, struct contents *c, uint32_t len)
{
    uint32_t size = c->first ? c->first : FIRST_STEP;
    void *grown;

    while (size < len)
        size *= 2;
    if (c->height || !*root_of(c) || size == c->first)
        return 0;
    grown = memory_resize(m, *root_of(c), c->first, size);
    if (!grown)
        return -ERR_SYSTEM;
    *root_of(c) = grown;
    c->first = (uint16_t)size;
    return 0;
}

/* A tree that reaches |index|. */
static int raise(struct memory *m, struct contents *c, uint64_t index)
{
    if (!reaches(c, index) && grow_first(m, c, CONTENTS_PAGE) < 0)
        return -ERR_SYSTEM;
    while (!reaches(c, index)) {
        void **root = root_of(c);

        if (*root) {
            struct node *node = memory_take(m, sizeof(*node));

            if (!node)
                return -ERR_SYSTEM;
            node->child[0] = *root;
            *root = node;
        }
        c->height++;
        c->first = 0;
    }
    return 0;
}

struct preparing {
    struct memory *memory;
    struct contents *contents;
    struct contents_spare *spare;
};

/* Empty nodes that stay after a failure hold no contents. */
static int prepare_one(void *ctx, uint64_t index)
{
    struct preparing *p = ctx;
    void **at = root_of(p->contents), *page;

    for (uint32_t level = p->contents->height; level; level--) {
        if (!*at)
            *at = memory_take(p->memory, sizeof(struct node));
        if (!*at)
            return -ERR_SYSTEM;
        at = &((struct node *)*at)->child[branch(index, level)];
    }
    page = memory_take(p->memory, p->spare->size);
    if (!page)
        return -ERR_SYSTEM;
    memcpy(page, &p->spare->pages, sizeof(page));
    p->spare->pages = page;
    p->spare->count++;
    return 0;
}

/* Makes the tree and the first page large enough for a write up to |end|. */
static int prepare_tree(struct memory *m, struct contents *c, uint64_t end, bool adds,
                        struct contents_spare *spare)
{
    spare->size = CONTENTS_PAGE;
    if (end > CONTENTS_PAGE || c->filled) {
        if (adds && raise(m, c, (end - 1) / CONTENTS_PAGE) < 0)
            return -ERR_SYSTEM;
        return grow_first(m, c, CONTENTS_PAGE);
    }
    if (!c->height)
        for (spare->size = FIRST_STEP; spare->size < end;)
            spare->size *= 2;
    return grow_first(m, c, (uint32_t)end);
}

int contents_prepare(struct memory *m, struct contents *c, uint64_t offset, struct bytes data,
                     bool zeros, struct contents_spare *spare)
{
    struct preparing p = { m, c, spare };
    bool adds = contents_missing(c, offset, data, zeros);

    *spare = (struct contents_spare){ .zeros = zeros };
    if (!data.len)
        return 0;
    if (prepare_tree(m, c, offset + data.len, adds, spare) < 0)
        return -ERR_SYSTEM;
    if (adds && each_missing(c, offset, data, zeros, prepare_one, &p) < 0) {
        contents_give_spare(m, spare);
        return -ERR_SYSTEM;
    }
    return 0;
}

/* The next spare page; NULL: there is none. */
static void *take_spare(struct contents_spare *spare)
{
    void *page = spare->pages;

    if (page) {
        memcpy(&spare->pages, page, sizeof(page));
        memset(page, 0, sizeof(void *));
        spare->count--;
    }
    return page;
}

void contents_give_spare(struct memory *m, struct contents_spare *spare)
{
    void *page;

    while ((page = take_spare(spare)))
        memory_give(m, page, spare->size);
}

void contents_put(struct contents *c, uint64_t offset, struct bytes data,
                  struct contents_spare *spare)
{
    while (data.len) {
        uint32_t part = piece(offset, data.len);
        void **slot = slot_of(c, offset / CONTENTS_PAGE);

        if (slot && !*slot && (spare->zeros || needs_page(c, offset, data.data, part))) {
            *slot = take_spare(spare);
            made_up(c, offset / CONTENTS_PAGE * CONTENTS_PAGE, *slot, spare->size);
            c->pages++;
            if (!c->height)
                c->first = (uint16_t)spare->size;
        }
        if (slot && *slot)
            memcpy((uint8_t *)*slot + offset % CONTENTS_PAGE, data.data, part);
        offset += part;
        data.data += part;
        data.len -= part;
    }
}

/* --- the background */

int contents_fill(struct memory *m, struct contents *c, uint64_t key, uint64_t end)
{
    struct background *b = c->filled ? c->root : NULL;

    if (!end) {
        if (b) {
            c->root = b->root;
            c->filled = 0;
            memory_give(m, b, sizeof(*b));
        }
        return 0;
    }
    if (!b) {
        b = grow_first(m, c, CONTENTS_PAGE) < 0 ? NULL : memory_take(m, sizeof(*b));
        if (!b)
            return -ERR_SYSTEM;
        b->root = c->root;
        c->root = b;
        c->filled = 1;
    }
    b->key = key;
    b->end = end;
    return 0;
}

static void cut_background(struct memory *m, struct contents *c, uint64_t size)
{
    uint64_t key;

    if (size < contents_filled(c, &key))
        contents_fill(m, c, key, size);
}

/* --- taking away */

/* All of a tree.  |height|: levels of nodes in it. */
static void give_tree(struct memory *m, struct contents *c, void *root, uint32_t height)
{
    struct {
        struct node *node;
        uint32_t next;
    } stack[LEVELS_MAX];
    uint32_t depth = 0;

    if (!root)
        return;
    if (!height) {
        memory_give(m, root, length_of(c));
        c->pages--;
        return;
    }
    stack[0].node = root;
    stack[0].next = 0;
    for (;;) {
        struct node *node = stack[depth].node;
        void *child = NULL;

        while (!child && stack[depth].next < BRANCHES)
            child = node->child[stack[depth].next++];
        if (!child) {
            memory_give(m, node, sizeof(*node));
            if (!depth)
                return;
            depth--;
        } else if (depth + 1 == height) {
            memory_give(m, child, CONTENTS_PAGE);
            c->pages--;
        } else {
            stack[++depth].node = child;
            stack[depth].next = 0;
        }
    }
}

/* All pages from |index| on, which is not 0. */
static void cut_pages(struct memory *m, struct contents *c, uint64_t index)
{
    struct node *node = *root_of(c);

    if (!reaches(c, index) || !c->height)
        return;
    for (uint32_t level = c->height; node && level; level--) {
        uint32_t at = branch(index, level), from = level == 1 ? at : at + 1;

        for (uint32_t i = from; i < BRANCHES; i++) {
            give_tree(m, c, node->child[i], level - 1);
            node->child[i] = NULL;
        }
        node = level == 1 ? NULL : node->child[at];
    }
}

void contents_cut(struct memory *m, struct contents *c, uint64_t size)
{
    uint32_t kept, start = size % CONTENTS_PAGE;
    uint8_t *page;

    cut_background(m, c, size);
    if (!size) {
        give_tree(m, c, c->root, c->height);
        *c = (struct contents){ 0 };
        return;
    }
    cut_pages(m, c, (size + CONTENTS_PAGE - 1) / CONTENTS_PAGE);
    page = (uint8_t *)(uintptr_t)contents_page(c, size / CONTENTS_PAGE, &kept);
    if (page && start && start < kept)
        memset(page + start, 0, kept - start);
}

void contents_drop(struct memory *m, struct contents *c, uint64_t index)
{
    void **slot = slot_of(c, index);

    if (!slot || !*slot)
        return;
    memory_give(m, *slot, length_of(c));
    *slot = NULL;
    c->pages--;
    if (!c->height)
        c->first = 0;
}
