/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment_save.c
 *
 * Saves the waiting fragments as bytes, oldest set first, and restores them.  Blocks that were not
 * seen are zeros.  Restoring checks each set, because the file with the bytes may have been
 * altered. For link.c.  The contract is in fragment.h.
 */
#include "base/digest.h"
#include "base/pack.h"
#include "link/fragment_set.h"

#include <string.h>

static const char layout[] = "link fragments 2";

#define SET_PLAIN(step)                                                                            \
    step(key) step(time) step(last_time) step(first_frame) step(last_frame) step(total) step(end)  \
        step(fragments) step(last_from) step(last_to) step(due) step(protocol) step(first_len)     \
            step(copy) step(shadow) step(upward) step(downward) step(doubtful) step(filled)

static int save_data(const struct fragment_set *set, struct buf *out)
{
    static const uint8_t zeros[FRAGMENT_BLOCK];

    for (uint32_t at = 0; at < set->end; at += FRAGMENT_BLOCK) {
        uint32_t len = set->end - at < FRAGMENT_BLOCK ? set->end - at : FRAGMENT_BLOCK;

        if (buf_append(out, fragment_set_has(set, at / FRAGMENT_BLOCK) ? set->data + at : zeros,
                       len) < 0)
            return -ERR_SYSTEM;
    }
    return 0;
}

static int save_set(const struct fragment_set *set, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, set->field);
    SET_PLAIN(SAVE)
    return bad ? -ERR_SYSTEM : save_data(set, out);
}

uint64_t fragments_layout(uint64_t hash)
{
#define SET_FIELD(field)                                                                           \
    hash = pack_layout(hash, #field, sizeof(((struct fragment_set *)0)->field));
    SET_PLAIN(SET_FIELD)
    return pack_layout(hash, "done", sizeof(((struct fragments *)0)->done[0]));
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
            (pack_value(out, f->done[i].hash) < 0 || pack_value(out, f->done[i].time) < 0 ||
             pack_value(out, f->done[i].head) < 0))
            return -ERR_SYSTEM;
    return pack_value(out, f->sources) | pack_value(out, f->due);
}

uint64_t fragments_outline(const struct fragments *f, uint64_t frame, int64_t now)
{
    struct buf out = { 0 };
    uint64_t digest = 0;
    int bad = 0;

    for (uint32_t slot = f->oldest; !bad && slot != TABLE_NONE; slot = f->sets[slot].newer) {
        struct fragment_set set = f->sets[slot];

        set.first_frame -= frame;
        set.last_frame -= frame;
        bad = save_set(&set, &out);
    }
    for (uint32_t i = 0; !bad && i < FRAGMENT_DONE_MAX; i++) {
        const struct fragment_done *done = &f->done[i];

        if (done->hash && (now == TIME_NONE || done->time == TIME_NONE ||
                           (uint64_t)now - (uint64_t)done->time <= (uint64_t)FRAGMENT_COPY_AGE))
            bad |= pack_value(&out, done->hash) | pack_value(&out, done->time) |
                   pack_value(&out, done->head);
    }
    for (uint32_t i = 0; !bad && i < FRAGMENT_SOURCES; i++) {
        int8_t trust = (int8_t)((f->sources[i].good > f->sources[i].bad) -
                                (f->sources[i].good < f->sources[i].bad));
        bad |= pack_value(&out, trust);
    }
    /* no memory: like no other digest */
    digest = bad ? (uint64_t)(uintptr_t)f : XXH3_64bits(out.data, out.len);
    buf_free(&out);
    return digest;
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
    if (set->first_len > set->end || (set->first_len != 0) != (set->filled[0] & 1) ||
        set->doubtful > CHECKSUM_BAD)
        return false;
    return fragment_set_whole(set) == (set->doubtful != 0);
}

/* Returns 0, -ERR_INPUT or -ERR_SYSTEM. */
static int restore_set(struct fragments *f, struct unpack *in)
{
    struct fragment_set read = { 0 }, *set;
    uint32_t slot, cap;
    uint8_t *data;

#define RESTORE(field) unpack_value(in, read.field);
    SET_PLAIN(RESTORE)
    if (in->failed || !set_is_sound(&read) || in->left < read.end)
        return -ERR_INPUT;
    slot = fragment_set_new(f, &read.key, read.time);
    if (slot == TABLE_NONE || fragment_set_reserve(f, slot, read.end) < 0)
        return -ERR_SYSTEM;
    set = &f->sets[slot];
    data = set->data;
    cap = set->cap;
    read.hash = set->hash;
    read.serial = set->serial;
    read.older = set->older;
    read.newer = set->newer;
    *set = read;
    set->data = data;
    set->cap = cap;
    if (read.end)
        unpack_raw(in, set->data, read.end);
    return set->first_len ? fragment_expect_answer(f, slot) : 0;
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
        unpack_value(in, entry.head);
        f->done[entry.hash % FRAGMENT_DONE_MAX] = entry;
    }
    unpack_value(in, f->sources);
    unpack_value(in, f->due);
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
        return err_memory(err, "IP fragments");
    return err_set(err, ERR_INPUT, "kept IP fragments: not what this version saved (%zu bytes)",
                   len);
}
