/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_parts.h"

#include "base/digest.h"
#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_LEN = 4 };

struct listing {
    struct lint *lint;
    const struct effect *effect;
    struct err *err;
    bool over, odd_type;
};

static int take(void *ctx, const struct effect_entry *entry)
{
    struct listing *l = ctx;
    struct lint *lint = l->lint;

    if (GROW(lint->entries, lint->entry_count, lint->entry_cap) < 0)
        return err_memory(l->err, "a listing");
    lint->entries[lint->entry_count++] =
        (struct lint_entry){ XXH3_64bits(entry->name.data, entry->name.len), entry->name,
                             entry->cookie };
    l->over |= entry->has_attributes && entry->attributes.is_over;
    l->odd_type |= entry->has_attributes && entry->attributes.type == OBJECT_UNKNOWN;
    if (!bytes_are_name(entry->name))
        return LINT_SAY(lint, LINT_LISTING_NAME, l->effect, 0, l->err,
                        "entry %" PRIu32 " has a name that is empty, or with a slash or zero byte",
                        lint->entry_count);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct lint_entry *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->name.len != y->name.len)
        return x->name.len < y->name.len ? -1 : 1;
    return x->name.len ? memcmp(x->name.data, y->name.data, x->name.len) : 0;
}

static int by_cookie(const void *a, const void *b)
{
    const struct lint_entry *x = a, *y = b;

    return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

/* How many of the entries, in their order, are like the one before them. */
static uint32_t doubles(const struct lint *lint, int (*order)(const void *, const void *))
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < lint->entry_count; i++)
        count += order(&lint->entries[i - 1], &lint->entries[i]) == 0;
    return count;
}

static int judge_doubles(struct listing *l)
{
    struct lint *lint = l->lint;
    uint32_t names, cookies;

    if (lint->entry_count < 2)
        return 0;
    qsort(lint->entries, lint->entry_count, sizeof(lint->entries[0]), by_name);
    names = doubles(lint, by_name);
    qsort(lint->entries, lint->entry_count, sizeof(lint->entries[0]), by_cookie);
    cookies = doubles(lint, by_cookie);
    if (!names && !cookies)
        return 0;
    return LINT_SAY(lint, LINT_LISTING_DOUBLE, l->effect, 0, l->err,
                    "of %" PRIu32 " entries, %" PRIu32 " repeat a name and %" PRIu32
                    " repeat a cookie",
                    lint->entry_count, names, cookies);
}

int lint_listing(struct lint *lint, const struct effect *e, const struct lint_body *b,
                 struct err *err)
{
    struct listing l = { lint, e, err, false, false };
    int result = 0;

    if (effect_action(e) != ACTION_LIST || !e->succeeded)
        return 0;
    lint->entry_count = 0;
    if (b->has_limit && e->result == WALK_OK && e->result_length > b->limit + STATUS_LEN)
        result = LINT_SAY(lint, LINT_LISTING_SIZE, e, 0, err,
                          "%" PRIu32 " bytes returned, at most %" PRIu64 " asked for",
                          e->result_length - STATUS_LEN, b->limit);
    if (result == 0)
        result = effect_entries(e, take, &l);
    if (result == 0 && l.over)
        result = LINT_SAY(lint, LINT_NANOSECONDS, e, 0, err,
                          "a time of an entry has a second or more of nanoseconds");
    if (result == 0 && l.odd_type)
        result =
            LINT_SAY(lint, LINT_TYPE_UNDEFINED, e, 0, err, "the type of an entry is not defined");
    return result < 0 ? result : judge_doubles(&l);
}
