/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/fragment.h"

#include "link/fragment_set.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_MIN = 2048 };

_Static_assert(sizeof(struct fragment_key) == 44, "a key has no padding");

void fragments_init(struct fragments *f, struct counters *counters)
{
    memset(f, 0, sizeof(*f));
    f->counters = counters;
    f->free = f->oldest = f->newest = TABLE_NONE;
}

void fragments_free(struct fragments *f)
{
    for (uint32_t slot = f->oldest; slot != TABLE_NONE; slot = f->sets[slot].newer)
        free(f->sets[slot].data);
    free(f->sets);
    free(f->assembled);
    table_free(&f->table);
    fragments_init(f, f->counters);
}

static uint64_t hash_key(const struct fragment_key *key)
{
    uint64_t hash = 0x9e3779b97f4a7c15u, word;
    const uint8_t *p = (const uint8_t *)key;

    for (unsigned i = 0; i + 8 <= sizeof(*key); i += 8) {
        memcpy(&word, p + i, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    hash = (hash ^ key->scope) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

static bool is_older(int64_t time, int64_t now, int64_t age)
{
    uint64_t apart = now > time ? (uint64_t)now - (uint64_t)time : (uint64_t)time - (uint64_t)now;

    return apart > (uint64_t)age; /* a clock that went back so far is as good as one forward */
}

static bool set_is_old(const struct fragment_set *set, int64_t now)
{
    return is_older(set->time, now, set->copy ? FRAGMENT_COPY_AGE : LINK_FRAGMENT_AGE);
}

/* Takes the set in |slot| out; its data are freed unless the caller took them. */
static void remove_set(struct fragments *f, uint32_t slot)
{
    struct fragment_set *set = &f->sets[slot];

    table_remove(&f->table, set->hash, slot);
    *(set->older == TABLE_NONE ? &f->oldest : &f->sets[set->older].newer) = set->newer;
    *(set->newer == TABLE_NONE ? &f->newest : &f->sets[set->newer].older) = set->older;
    f->bytes -= set->cap;
    free(set->data);
    set->data = NULL;
    set->newer = f->free;
    f->free = slot;
    f->used--;
}

static void give_up(struct fragments *f, uint32_t slot)
{
    const struct fragment_set *set = &f->sets[slot];

    if (set->copy)
        f->counters->kinds[COUNT_FRAGMENTS_DUPLICATE] += set->fragments;
    else
        count(f->counters, COUNT_INCOMPLETE);
    remove_set(f, slot);
}

static void evict_oldest(struct fragments *f)
{
    if (!f->sets[f->oldest].copy)
        count(f->counters, COUNT_EVICTED);
    give_up(f, f->oldest);
}

/* A slot without a set, or TABLE_NONE when there is no memory. */
static uint32_t take_slot(struct fragments *f)
{
    uint32_t slot;

    if (f->used == LINK_FRAGMENT_SETS)
        evict_oldest(f);
    if (f->free == TABLE_NONE) {
        uint32_t slots = f->slots ? f->slots * 2 : 16;
        struct fragment_set *sets = realloc(f->sets, slots * sizeof(*sets));

        if (!sets)
            return TABLE_NONE;
        f->sets = sets;
        for (uint32_t i = slots; i-- > f->slots;) {
            sets[i].newer = f->free;
            f->free = i;
        }
        f->slots = slots;
    }
    slot = f->free;
    f->free = f->sets[slot].newer;
    return slot;
}

uint32_t fragment_set_new(struct fragments *f, const struct fragment_key *key, int64_t time)
{
    uint64_t hash = hash_key(key);
    uint32_t slot = take_slot(f);
    struct fragment_set *set;

    if (slot == TABLE_NONE)
        return TABLE_NONE;
    set = &f->sets[slot];
    if (table_add(&f->table, hash, slot) < 0) {
        set->newer = f->free;
        f->free = slot;
        return TABLE_NONE;
    }
    *set = (struct fragment_set){
        .key = *key, .hash = hash, .time = time, .older = f->newest, .newer = TABLE_NONE
    };
    *(f->newest == TABLE_NONE ? &f->oldest : &f->sets[f->newest].newer) = slot;
    f->newest = slot;
    f->used++;
    return slot;
}

static uint32_t find_set(struct fragments *f, const struct fragment_key *key, int64_t now)
{
    const struct fragment_done *done;
    uint64_t hash = hash_key(key);
    uint32_t at, slot;

    for (slot = table_first(&f->table, hash, &at); slot != TABLE_NONE;
         slot = table_next(&f->table, hash, &at))
        if (memcmp(&f->sets[slot].key, key, sizeof(*key)) == 0)
            break;
    if (slot != TABLE_NONE && set_is_old(&f->sets[slot], now)) {
        give_up(f, slot);
        slot = TABLE_NONE;
    }
    if (slot != TABLE_NONE)
        return slot;
    slot = fragment_set_new(f, key, now);
    done = &f->done[hash % FRAGMENT_DONE_MAX];
    if (slot != TABLE_NONE && done->hash == hash && !is_older(done->time, now, FRAGMENT_COPY_AGE))
        f->sets[slot].copy = true;
    return slot;
}

int fragment_set_reserve(struct fragments *f, uint32_t slot, uint32_t end)
{
    struct fragment_set *set = &f->sets[slot];
    uint32_t cap = set->cap ? set->cap : DATA_MIN;
    uint8_t *data;

    if (end <= set->cap)
        return 0;
    while (cap < end)
        cap *= 2;
    while (f->bytes - set->cap + cap > LINK_FRAGMENT_BYTES && f->used > 1) {
        uint32_t oldest = f->oldest;

        if (oldest == slot) { /* the one that grows comes last */
            oldest = set->newer;
            if (!f->sets[oldest].copy)
                count(f->counters, COUNT_EVICTED);
            give_up(f, oldest);
        } else {
            evict_oldest(f);
        }
    }
    data = realloc(set->data, cap);
    if (!data)
        return -ERR_SYSTEM;
    f->bytes += cap - set->cap;
    set->data = data;
    set->cap = cap;
    return 0;
}

/* Copies the blocks of |fragment| that |set| doesn't have; returns how many those are. */
static uint32_t take_blocks(struct fragment_set *set, const struct fragment *fragment)
{
    uint32_t block = fragment->offset / FRAGMENT_BLOCK, taken = 0;
    uint32_t stop = (fragment->offset + fragment->len + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK;

    while (block < stop) {
        uint32_t bit = block % 64, n = stop - block < 64 - bit ? stop - block : 64 - bit;
        uint64_t mask = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << bit;
        uint64_t *word = &set->filled[block / 64];

        if (*word & mask) { /* some are there: one by one */
            n = 1;
            mask = UINT64_C(1) << bit;
        }
        if (!(*word & mask)) {
            uint32_t from = block * FRAGMENT_BLOCK - fragment->offset, len = n * FRAGMENT_BLOCK;

            memcpy(set->data + block * FRAGMENT_BLOCK, fragment->data + from,
                   len < fragment->len - from ? len : fragment->len - from);
            *word |= mask;
            taken += n;
        }
        block += n;
    }
    set->blocks += taken;
    return taken;
}

static void complete(struct fragments *f, uint32_t slot, int64_t now, struct datagram *datagram)
{
    struct fragment_set *set = &f->sets[slot];

    count(f->counters, COUNT_REASSEMBLED);
    f->done[set->hash % FRAGMENT_DONE_MAX] = (struct fragment_done){ set->hash, now };
    free(f->assembled);
    f->assembled = set->data;
    datagram->data = set->data;
    datagram->len = set->total;
    datagram->protocol = set->protocol;
    f->bytes -= set->cap;
    set->cap = 0;
    set->data = NULL;
    remove_set(f, slot);
}

int fragments_add(struct fragments *f, const struct fragment *fragment, struct datagram *datagram,
                  struct err *err)
{
    struct fragment piece = *fragment;
    struct fragment_set *set;
    uint32_t slot, end, had, taken;

    if (piece.more) /* a block that isn't whole can't be told from one that is: RFC 791 s2.3 */
        piece.len -= piece.len % FRAGMENT_BLOCK;
    if (!piece.len || piece.len > FRAGMENT_DATAGRAM_MAX - piece.offset ||
        piece.offset > FRAGMENT_DATAGRAM_MAX) {
        count(f->counters, COUNT_FRAGMENTS_MALFORMED);
        return 0;
    }
    end = piece.offset + piece.len;

    while (f->used && set_is_old(&f->sets[f->oldest], piece.time))
        give_up(f, f->oldest);
    slot = find_set(f, &piece.key, piece.time);
    if (slot == TABLE_NONE || fragment_set_reserve(f, slot, end) < 0)
        return err_set(err, ERR_SYSTEM, "no memory for IP fragments");
    set = &f->sets[slot];

    set->fragments++;
    if ((set->total && (end > set->total || (!piece.more && end != set->total))) ||
        (!piece.more && end < set->end)) {
        count(f->counters, COUNT_FRAGMENTS_CONFLICTING);
        return 0;
    }
    had = set->blocks;
    taken = take_blocks(set, &piece);
    if (!taken && had)
        count(f->counters, COUNT_FRAGMENTS_DUPLICATE);
    else if (taken < (piece.len + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK)
        count(f->counters, COUNT_FRAGMENTS_OVERLAPPING);
    if (!piece.offset && taken && !set->has_first) {
        set->has_first = true;
        set->protocol = piece.protocol;
    }
    if (!piece.more)
        set->total = end;
    if (end > set->end)
        set->end = end;
    if (!set->total || set->blocks < (set->total + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK)
        return 0;
    complete(f, slot, piece.time, datagram);
    return 1;
}
