/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/bind_rows_parts.h"

#include "base/grow.h"

#include <stdio.h>

int bind_refuse(struct bind_rows *r, const char *path, const char *problem)
{
    return err_set(r->err, ERR_USAGE, "%s%s%s: %s", r->type->name, *path ? "." : "", path, problem);
}

int bind_go(struct bind_rows *r, int len, const char *name)
{
    int more = 0;

    r->path[len] = '\0';
    if (name && *name)
        more = snprintf(r->path + len, (size_t)(WALK_PATH_MAX - len), "%s%s", len ? "." : "", name);
    return more < WALK_PATH_MAX - len ? 0 : bind_refuse(r, r->path, "its path is too long");
}

static int add_leaf(struct bind_rows *r, const struct bind_row *row, uint32_t offset)
{
    struct bind_leaf *leaf;

    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->leaves[i].path, r->path) == 0)
            return bind_refuse(r, r->path, "it has two rows");
    if (GROW(r->leaves, r->count, r->cap) < 0)
        return err_memory(r->err, r->type->name);
    leaf = &r->leaves[r->count++];
    *leaf = (struct bind_leaf){ .row = row, .offset = offset };
    memcpy(leaf->path, r->path, strlen(r->path) + 1);
    return 0;
}

/* The rows of a struct that stands at the current path and at |offset|, and ends before |end|. */
static int add_rows(struct bind_rows *r, const struct bind_row *row, uint32_t offset, uint32_t end,
                    int depth)
{
    int result = 0, len = (int)strlen(r->path);

    for (; result == 0 && row->path; row++) {
        uint32_t at = offset + row->offset;

        if (depth == WALK_DEPTH_MAX)
            return bind_refuse(r, r->path, "its rows nest too deep");
        if (bind_go(r, len, row->path) < 0)
            return -ERR_USAGE;
        if (at < offset || at > end || row->size > end - at)
            return bind_refuse(r, r->path, "its member lies outside of the struct");
        result = row->member == BIND_IS_STRUCT
                     ? add_rows(r, row->rows, at, at + row->size, depth + 1)
                     : add_leaf(r, row, at);
    }
    if (result == 0)
        r->path[len] = '\0';
    return result;
}

int bind_add_rows(struct bind_rows *r, const struct bind_row *row, size_t size)
{
    if (size > BIND_STRUCT_MAX)
        return bind_refuse(r, "", "its struct is larger than BIND_STRUCT_MAX");
    return add_rows(r, row, 0, (uint32_t)size, 0);
}

/* Takes the bytes of a member. */
static int take(struct bind_rows *r, const struct bind_leaf *leaf)
{
    for (uint32_t i = leaf->offset; i < leaf->offset + leaf->row->size; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;

        if (r->taken.bits[i / 64] & bit)
            return bind_refuse(r, r->path, "another field of the message has the same member");
        r->taken.bits[i / 64] |= bit;
    }
    return 0;
}

int bind_find(struct bind_rows *r, enum bind_member member, uint32_t size,
              const struct bind_leaf **to)
{
    static const char *const texts[] = {
        [BIND_IS_BOOL] = "its member must be a bool",
        [BIND_IS_U32] = "its member must be a uint32_t",
        [BIND_IS_I32] = "its member must be an int32_t",
        [BIND_IS_U64] = "its member must be a uint64_t",
        [BIND_IS_FIXED] = "its member must be an array of uint8_t of its length",
        [BIND_IS_BYTES] = "its member must be a struct bytes",
        [BIND_IS_LIST] = "its member must be a struct bind_list",
    };
    struct bind_leaf *leaf = r->leaves, *end = leaf + r->count;

    while (leaf < end && strcmp(leaf->path, r->path) != 0)
        leaf++;
    if (leaf == end)
        return bind_refuse(r, r->path, "it has no row");
    if (leaf->row->member != member || leaf->row->size != size)
        return bind_refuse(r, r->path, texts[member]);
    leaf->used = true;
    *to = leaf;
    return take(r, leaf);
}

int bind_check_used(struct bind_rows *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->leaves[i].used)
            return bind_refuse(r, r->leaves[i].path, "no field has this row's path");
    return 0;
}
