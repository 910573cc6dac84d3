/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "relay/record_finder.h"

#include <string.h>

enum { MARK = 4 };

void record_finder_begin(struct record_finder *finder, uint32_t need, uint64_t offset)
{
    *finder = (struct record_finder){ .offset = offset, .need = need };
}

/* A byte of a record mark. */
static void take_mark(struct record_finder *f, uint8_t byte)
{
    if (!f->under_way) {
        f->under_way = true;
        f->told = false;
        f->begun = f->offset;
        f->head_len = 0;
    }
    f->mark = f->mark << 8 | byte;
    f->offset++;
    if (++f->mark_len == MARK) {
        f->last = f->mark >> 31;
        f->left = f->mark & 0x7fffffff;
    }
}

/* Bytes of a fragment.  Returns how many were taken: up to the head's end, or to the fragment's. */
static uint32_t take_body(struct record_finder *f, const uint8_t *data, uint32_t len)
{
    uint32_t count = len < f->left ? len : f->left;

    if (!f->told) {
        count = count < f->need - f->head_len ? count : f->need - f->head_len;
        memcpy(f->head + f->head_len, data, count);
        f->head_len += count;
    }
    f->left -= count;
    f->offset += count;
    return count;
}

uint32_t record_finder_take(struct record_finder *f, const uint8_t *data, uint32_t len, bool *found)
{
    uint32_t at = 0;

    *found = false;
    while (at < len && !*found) {
        if (f->mark_len < MARK)
            take_mark(f, data[at++]);
        else
            at += take_body(f, data + at, len - at);
        if (f->mark_len < MARK)
            continue;
        f->whole = !f->left && f->last;
        *found = !f->told && (f->whole || f->head_len == f->need);
        f->told |= *found;
        if (!f->left) {
            f->mark_len = 0;
            f->mark = 0;
            f->under_way = !f->last;
        }
    }
    return at;
}
