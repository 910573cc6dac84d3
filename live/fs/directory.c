/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/directory.c
 *
 * Entries of a directory in chunks by their cookies (directory.h).  A chunk goes when its last
 * entry goes; its span stays behind until half of the spans are such.  Names of a chunk stand in
 * one string, which is packed when half of it is dead.
 */
#include "fs/directory_parts.h"
#include "base/err.h"

#include <string.h>

enum { CAP_FIRST = 4, NAMES_FIRST = 64, SPANS_FIRST = 4, SPANS_KEPT = 16 };

static size_t chunk_size(uint32_t cap)
{
    return sizeof(struct chunk) + cap * sizeof(struct slot);
}

struct directory *directory_new(struct memory *m, const struct pool *objects, uint64_t seed)
{
    struct directory *d = memory_take(m, sizeof(*d));

    if (d) {
        d->last_cookie = DIRECTORY_FIRST_COOKIE - 1;
        d->objects = objects;
        d->seed = seed;
    }
    return d;
}

static void chunk_give(struct memory *m, struct chunk *c)
{
    memory_give(m, c->names, c->names_cap);
    memory_give(m, c, chunk_size(c->cap));
}

void directory_free(struct memory *m, struct directory *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->span_count; i++)
        if (d->spans[i].chunk)
            chunk_give(m, d->spans[i].chunk);
    memory_give(m, d->spans, d->span_cap * sizeof(*d->spans));
    table_give(m, d);
    memory_give(m, d, sizeof(*d));
}

/* The first span from |number| on.  Where no span was taken out it is where its number says. */
static uint32_t span_seek(const struct directory *d, uint64_t number)
{
    uint32_t low = 0, high = d->span_count;
    uint64_t guess;

    if (!high || number <= d->spans[0].number)
        return 0;
    guess = number - d->spans[0].number;
    if (guess < high && d->spans[guess].number == number)
        return (uint32_t)guess;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (d->spans[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first slot from |low| on. */
static uint32_t slot_seek(const struct chunk *c, uint32_t low)
{
    uint32_t from = 0, to = c->count;

    if (low < to && c->slots[low].low == low)
        return low;
    while (from < to) {
        uint32_t middle = (from + to) / 2;

        if (c->slots[middle].low < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void tell(const struct span *span, uint32_t i, struct directory_entry *entry)
{
    const struct slot *slot = &span->chunk->slots[i];

    entry->cookie = span->number << CHUNK_BITS | slot->low;
    entry->object = slot->object;
    entry->name = (struct bytes){ span->chunk->names + slot->name, slot->len };
}

/* The span of a cookie that has a chunk, or NULL. */
static struct span *span_of(const struct directory *d, uint64_t cookie)
{
    uint32_t at = span_seek(d, cookie >> CHUNK_BITS);

    if (at == d->span_count || d->spans[at].number != cookie >> CHUNK_BITS || !d->spans[at].chunk)
        return NULL;
    return &d->spans[at];
}

/* Its slot, or NULL. */
static struct slot *slot_of(const struct span *span, uint64_t cookie)
{
    uint32_t low = cookie % CHUNK_ENTRIES, i = slot_seek(span->chunk, low);

    return i < span->chunk->count && span->chunk->slots[i].low == low ? &span->chunk->slots[i]
                                                                      : NULL;
}

bool directory_at(const struct directory *d, uint64_t cookie, struct directory_entry *entry)
{
    const struct span *span = span_of(d, cookie);
    const struct slot *slot = span ? slot_of(span, cookie) : NULL;

    if (!slot)
        return false;
    tell(span, (uint32_t)(slot - span->chunk->slots), entry);
    return true;
}

bool directory_after(const struct directory *d, uint64_t cookie, struct directory_entry *entry)
{
    uint64_t next = cookie + 1;

    for (uint32_t at = span_seek(d, next >> CHUNK_BITS); at < d->span_count; at++) {
        const struct span *span = &d->spans[at];
        uint32_t low = span->number == next >> CHUNK_BITS ? next % CHUNK_ENTRIES : 0, i;

        if (!span->chunk)
            continue;
        i = slot_seek(span->chunk, low);
        if (i < span->chunk->count) {
            tell(span, i, entry);
            return true;
        }
    }
    return false;
}

bool directory_find(const struct directory *d, struct bytes name, struct directory_entry *entry)
{
    uint64_t cookie = 0;

    if (d->place_count)
        return table_seek(d, name, entry);
    while (directory_after(d, cookie, entry)) {
        if (entry->name.len == name.len && !memcmp(entry->name.data, name.data, name.len))
            return true;
        cookie = entry->cookie;
    }
    return false;
}

/* --- room */

/* Names that are gone leave the string. */
static void pack(struct chunk *c)
{
    uint8_t packed[CHUNK_ENTRIES * UINT8_MAX];
    uint16_t len = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        memcpy(packed + len, c->names + c->slots[i].name, c->slots[i].len);
        c->slots[i].name = len;
        len = (uint16_t)(len + c->slots[i].len);
    }
    memcpy(c->names, packed, len);
    c->names_len = len;
    c->dead = 0;
}

static int names_resize(struct memory *m, struct chunk *c, uint32_t cap)
{
    uint8_t *names = memory_resize(m, c->names, c->names_cap, cap);

    if (!names)
        return -ERR_SYSTEM;
    c->names = names;
    c->names_cap = (uint16_t)cap;
    return 0;
}

/* A chunk that is full of numbers gets no more names. */
static void trim(struct memory *m, struct chunk *c)
{
    if (c && c->names_len && c->names_len < c->names_cap)
        names_resize(m, c, c->names_len);
}

/* A span at |at|, without a chunk. */
static int span_insert(struct memory *m, struct directory *d, uint32_t at, uint64_t number)
{
    if (d->span_count == d->span_cap) {
        uint32_t cap = d->span_cap ? d->span_cap + d->span_cap / 2 : SPANS_FIRST;
        struct span *spans =
            memory_resize(m, d->spans, d->span_cap * sizeof(*spans), cap * sizeof(*spans));

        if (!spans)
            return -ERR_SYSTEM;
        d->spans = spans;
        d->span_cap = cap;
    }
    memmove(d->spans + at + 1, d->spans + at, (d->span_count - at) * sizeof(*d->spans));
    d->spans[at] = (struct span){ .number = number };
    d->span_count++;
    d->span_gone++;
    return 0;
}

static int chunk_room(struct memory *m, struct directory *d, struct span *span, uint32_t len)
{
    struct chunk *c = span->chunk;
    uint32_t cap = c ? c->cap : 0, need;

    if (!c || c->count == cap) {
        uint32_t more = cap ? cap * 2 : CAP_FIRST;

        c = c ? memory_resize(m, c, chunk_size(cap), chunk_size(more))
              : memory_take(m, chunk_size(more));
        if (!c)
            return -ERR_SYSTEM;
        c->cap = (uint8_t)more;
        d->span_gone -= !span->chunk;
        span->chunk = c;
    }
    if (c->names_len + len > c->names_cap && c->dead)
        pack(c);
    need = c->names_len + len;
    if (need <= c->names_cap)
        return 0;
    cap = c->names_cap ? c->names_cap + c->names_cap / 2 : NAMES_FIRST;
    return names_resize(m, c, cap < need ? need : cap);
}

int directory_reserve(struct memory *m, struct directory *d, uint64_t cookie, uint32_t len)
{
    uint64_t number = cookie >> CHUNK_BITS;
    uint32_t at = span_seek(d, number);

    if (table_room(m, d) < 0)
        return -ERR_SYSTEM;
    if (at == d->span_count || d->spans[at].number != number) {
        if (at)
            trim(m, d->spans[at - 1].chunk);
        if (span_insert(m, d, at, number) < 0)
            return -ERR_SYSTEM;
    }
    return chunk_room(m, d, &d->spans[at], len);
}

/* --- changes */

void directory_add(struct directory *d, const struct directory_entry *entry)
{
    struct chunk *c = span_of(d, entry->cookie)->chunk;
    uint8_t low = entry->cookie % CHUNK_ENTRIES;
    uint32_t i = slot_seek(c, low);

    memmove(c->slots + i + 1, c->slots + i, (c->count - i) * sizeof(*c->slots));
    c->slots[i] = (struct slot){ entry->object, c->names_len, (uint8_t)entry->name.len, low };
    memcpy(c->names + c->names_len, entry->name.data, entry->name.len);
    c->names_len = (uint16_t)(c->names_len + entry->name.len);
    c->count++;
    d->count++;
    if (entry->cookie > d->last_cookie)
        d->last_cookie = entry->cookie;
    table_put(d, entry);
}

static void drop_spans(struct directory *d)
{
    uint32_t kept = 0;

    if (d->span_gone < SPANS_KEPT || d->span_gone <= d->span_count / 2)
        return;
    for (uint32_t i = 0; i < d->span_count; i++)
        if (d->spans[i].chunk)
            d->spans[kept++] = d->spans[i];
    d->span_count = kept;
    d->span_gone = 0;
}

void directory_remove(struct memory *m, struct directory *d, uint64_t cookie)
{
    struct directory_entry entry = { 0 };
    struct span *span = span_of(d, cookie);
    struct chunk *c = span->chunk;
    struct slot *slot = slot_of(span, cookie);

    tell(span, (uint32_t)(slot - c->slots), &entry);
    table_take(d, &entry);
    c->dead = (uint16_t)(c->dead + slot->len);
    c->count--;
    memmove(slot, slot + 1, (size_t)(c->slots + c->count - slot) * sizeof(*slot));
    d->count--;
    if (!c->count) {
        chunk_give(m, c);
        span->chunk = NULL;
        d->span_gone++;
        drop_spans(d);
    } else if (c->dead > c->names_len / 2) {
        pack(c);
        trim(m, c);
    }
    table_shrink(m, d);
}

void directory_set(struct directory *d, uint64_t cookie, uint32_t object)
{
    struct span *span = span_of(d, cookie);
    struct slot *slot = slot_of(span, cookie);
    struct directory_entry entry;

    slot->object = object;
    tell(span, (uint32_t)(slot - span->chunk->slots), &entry);
    table_set(d, &entry);
}
