/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kept fragments as bytes and back, oldest set first.  Blocks that were not seen are zeros. */
#include "base/pack.h"
#include "link/fragment_set.h"

#include <string.h>

static const char layout[] = "link fragments 1";

static bool has_block(const struct fragment_set *set, uint32_t block)
{
    return set->filled[block / 64] >> block % 64 & 1;
}

static int save_data(const struct fragment_set *set, struct buf *out)
{
    static const uint8_t zeros[FRAGMENT_BLOCK];

    for (uint32_t at = 0; at < set->end; at += FRAGMENT_BLOCK) {
        uint32_t len = set->end - at < FRAGMENT_BLOCK ? set->end - at : FRAGMENT_BLOCK;

        if (buf_append(out, has_block(set, at / FRAGMENT_BLOCK) ? set->data + at : zeros, len) < 0)
            return -ERR_SYSTEM;
    }
    return 0;
}

static int save_set(const struct fragment_set *set, struct buf *out)
{
    uint8_t flags = (uint8_t)(set->has_first | set->copy << 1);

    if (pack_value(out, set->key) < 0 || pack_value(out, set->time) < 0 ||
        pack_value(out, set->total) < 0 || pack_value(out, set->end) < 0 ||
        pack_value(out, set->fragments) < 0 || pack_value(out, set->protocol) < 0 ||
        pack_value(out, flags) < 0 || pack_value(out, set->filled) < 0)
        return -ERR_SYSTEM;
    return save_data(set, out);
}

int fragments_save(const struct fragments *f, struct buf *out)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < FRAGMENT_DONE_MAX; i++)
        done += f->done[i].hash != 0;
    if (pack_value(out, layout) < 0 || pack_value(out, f->used) < 0 || pack_value(out, done) < 0)
        return -ERR_SYSTEM;
    for (uint32_t slot = f->oldest; slot != TABLE_NONE; slot = f->sets[slot].newer)
        if (save_set(&f->sets[slot], out) < 0)
            return -ERR_SYSTEM;
    for (uint32_t i = 0; i < FRAGMENT_DONE_MAX; i++)
        if (f->done[i].hash &&
            (pack_value(out, f->done[i].hash) < 0 || pack_value(out, f->done[i].time) < 0))
            return -ERR_SYSTEM;
    return 0;
}

/* True if what stands in |set| can have come from fragments_add. */
static bool set_is_sound(struct fragment_set *set)
{
    uint32_t stop = (set->end + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK;

    if ((set->key.source.version != 4 && set->key.source.version != 6) ||
        set->key.destination.version != set->key.source.version ||
        set->end > FRAGMENT_DATAGRAM_MAX || (set->total && set->total < set->end))
        return false;
    set->blocks = 0;
    for (uint32_t word = 0; word < FRAGMENT_WORDS; word++) {
        uint32_t first = word * 64;
        uint64_t beyond = stop >= first + 64 ? 0
                          : stop <= first    ? UINT64_MAX
                                             : UINT64_MAX << (stop - first);

        if (set->filled[word] & beyond)
            return false;
        set->blocks += (uint32_t)__builtin_popcountll(set->filled[word]);
    }
    if (set->end % FRAGMENT_BLOCK && set->end != set->total)
        return false; /* only the last fragment may end inside a block */
    return !set->total || set->blocks < (set->total + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK;
}

/* Returns 0, -ERR_INPUT or -ERR_SYSTEM. */
static int restore_set(struct fragments *f, struct unpack *in)
{
    struct fragment_set read = { 0 }, *set;
    uint8_t flags;
    uint32_t slot;

    unpack_value(in, read.key);
    unpack_value(in, read.time);
    unpack_value(in, read.total);
    unpack_value(in, read.end);
    unpack_value(in, read.fragments);
    unpack_value(in, read.protocol);
    unpack_value(in, flags);
    unpack_value(in, read.filled);
    if (in->failed || !set_is_sound(&read) || in->left < read.end)
        return -ERR_INPUT;
    slot = fragment_set_new(f, &read.key, read.time);
    if (slot == TABLE_NONE || fragment_set_reserve(f, slot, read.end) < 0)
        return -ERR_SYSTEM;
    set = &f->sets[slot];
    set->total = read.total;
    set->end = read.end;
    set->blocks = read.blocks;
    set->fragments = read.fragments;
    set->protocol = read.protocol;
    set->has_first = flags & 1;
    set->copy = flags >> 1 & 1;
    memcpy(set->filled, read.filled, sizeof(set->filled));
    if (read.end)
        unpack_raw(in, set->data, read.end);
    return 0;
}

static int restore(struct fragments *f, struct unpack *in)
{
    char head[sizeof(layout)];
    uint32_t sets, done;

    unpack_value(in, head);
    unpack_value(in, sets);
    unpack_value(in, done);
    if (in->failed || memcmp(head, layout, sizeof(layout)) != 0 || sets > LINK_FRAGMENT_SETS ||
        done > FRAGMENT_DONE_MAX)
        return -ERR_INPUT;
    for (uint32_t i = 0; i < sets; i++) {
        int rc = restore_set(f, in);

        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; i < done; i++) {
        struct fragment_done entry;

        unpack_value(in, entry.hash);
        unpack_value(in, entry.time);
        f->done[entry.hash % FRAGMENT_DONE_MAX] = entry;
    }
    return in->failed || in->left ? -ERR_INPUT : 0;
}

int fragments_restore(struct fragments *f, const uint8_t *data, size_t len, struct err *err)
{
    struct unpack in = { .data = data, .left = len };
    int rc;

    fragments_free(f);
    rc = restore(f, &in);
    if (rc == 0)
        return 0;
    fragments_free(f);
    if (rc == -ERR_SYSTEM)
        return err_set(err, ERR_SYSTEM, "no memory for IP fragments");
    return err_set(err, ERR_INPUT, "kept IP fragments: not what this version saved (%zu bytes)",
                   len);
}
