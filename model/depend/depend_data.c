/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/depend_data.c
 *
 * Byte ranges.  A file is cut into pieces where accesses begin and end.  Each piece has its last
 * change and its readers.  A write makes one piece of everything that it covers.  If several pieces
 * share a chain of many readers, the first write to one of them depends on all readers, and later
 * writes depend on that write instead.
 */
#include "depend/depend_parts.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_MOST = 64, SWEEP_LEAST = 32 };

struct spot {
    uint32_t block, at;
};

static struct file *file_at(const struct depend *d, uint32_t id)
{
    return pool_at(&d->files, id);
}

void file_forget(struct depend *d, uint32_t id)
{
    struct file *f;

    if (!id)
        return;
    f = file_at(d, id);
    for (uint32_t i = 0; i < f->count; i++)
        free(f->blocks[i].pieces);
    if (f->cap)
        free(f->blocks);
    pool_give(&d->files, id);
}

/* NULL behind the last piece. */
static struct piece *piece_at(const struct file *f, struct spot *s)
{
    if (s->block < f->count && s->at == f->blocks[s->block].count && s->block + 1 < f->count)
        *s = (struct spot){ s->block + 1, 0 };
    if (s->block >= f->count || s->at >= f->blocks[s->block].count)
        return NULL;
    return &f->blocks[s->block].pieces[s->at];
}

/* The first piece that ends behind |start|. */
static struct spot find(const struct file *f, uint64_t start)
{
    uint32_t low = 0, high = f->count;
    const struct block *b;
    struct spot s;

    if (high && f->blocks[high - 1].pieces[f->blocks[high - 1].count - 1].end <= start)
        return (struct spot){ high - 1, f->blocks[high - 1].count };
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        b = &f->blocks[middle];
        if (b->pieces[b->count - 1].end > start)
            high = middle;
        else
            low = middle + 1;
    }
    s = (struct spot){ low, 0 };
    if (low == f->count)
        return s;
    b = &f->blocks[low];
    for (high = b->count, low = 0; low < high;) {
        uint32_t middle = (low + high) / 2;

        if (b->pieces[middle].end > start)
            high = middle;
        else
            low = middle + 1;
    }
    s.at = low;
    return s;
}

static struct block *block_insert(struct file *f, uint32_t at)
{
    if (f->count == 0 && f->cap == 0) {
        f->blocks = &f->one;
    } else if (f->count >= f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 4;
        struct block *grown = realloc(f->cap ? f->blocks : NULL, cap * sizeof(*grown));

        if (!grown)
            return NULL;
        if (!f->cap)
            *grown = f->one;
        f->blocks = grown;
        f->cap = cap;
    }
    memmove(f->blocks + at + 1, f->blocks + at, (f->count - at) * sizeof(*f->blocks));
    f->count++;
    f->blocks[at] = (struct block){ 0 };
    return &f->blocks[at];
}

static bool block_grow(struct block *b)
{
    uint32_t cap = b->cap ? b->cap * 2 : 2;
    struct piece *grown = realloc(b->pieces, cap * sizeof(*grown));

    if (!grown)
        return false;
    b->pieces = grown;
    b->cap = cap;
    return true;
}

/* Makes room in the block of |s|, which is full: behind the end by a new one, else by halving. */
static bool split_block(struct file *f, struct spot *s)
{
    uint32_t from = s->block + 1 == f->count && s->at == BLOCK_MOST ? BLOCK_MOST : BLOCK_MOST / 2;
    struct block *upper = block_insert(f, s->block + 1), *lower = &f->blocks[s->block];

    if (!upper)
        return false;
    while (upper->cap < BLOCK_MOST - from + 1)
        if (!block_grow(upper)) {
            memmove(upper, upper + 1, (f->count - s->block - 2) * sizeof(*upper));
            f->count--;
            return false;
        }
    if (from < BLOCK_MOST)
        memcpy(upper->pieces, lower->pieces + from, (BLOCK_MOST - from) * sizeof(struct piece));
    upper->count = BLOCK_MOST - from;
    lower->count = from;
    if (s->at >= from)
        *s = (struct spot){ s->block + 1, s->at - from };
    return true;
}

/* Puts |piece| before |s|, which then leads to it; NULL: no memory. */
static struct piece *insert(struct depend *d, struct file *f, struct spot *s,
                            const struct piece *piece)
{
    struct block *b;

    if (f->count && s->block == f->count)
        *s = (struct spot){ f->count - 1, f->blocks[f->count - 1].count };
    if ((f->count == 0 && !block_insert(f, 0)) ||
        (f->blocks[s->block].count == BLOCK_MOST && !split_block(f, s)) ||
        (f->blocks[s->block].count == f->blocks[s->block].cap &&
         !block_grow(&f->blocks[s->block]))) {
        d->failed = true;
        return NULL;
    }
    b = &f->blocks[s->block];
    memmove(b->pieces + s->at + 1, b->pieces + s->at, (b->count - s->at) * sizeof(*piece));
    b->pieces[s->at] = *piece;
    b->count++;
    f->pieces++;
    return &b->pieces[s->at];
}

static bool piece_is_live(const struct depend *d, const struct piece *p)
{
    return is_live(d, p->line.change) || mark_is_live(d, p->line.readers);
}

/* Takes out the pieces from |s| on that end at or before |end|, or with |end| 0 those that are
 * expired, and the blocks that this leaves empty. */
static void erase(const struct depend *d, struct file *f, struct spot s, uint64_t end)
{
    uint32_t kept = s.block, i = s.block;
    bool is_last = false;

    for (; i < f->count && !is_last; i++) {
        struct block *b = &f->blocks[i];
        uint32_t to = i == s.block ? s.at : 0;

        is_last = end && b->pieces[b->count - 1].end > end;
        for (uint32_t from = to; from < b->count; from++)
            if (end ? b->pieces[from].end > end : piece_is_live(d, &b->pieces[from]))
                b->pieces[to++] = b->pieces[from];
        f->pieces -= b->count - to;
        b->count = to;
        if (to)
            f->blocks[kept++] = *b;
        else
            free(b->pieces);
    }
    memmove(f->blocks + kept, f->blocks + i, (f->count - i) * sizeof(*f->blocks));
    f->count -= i - kept;
}

static void sweep(const struct depend *d, struct file *f)
{
    erase(d, f, (struct spot){ 0, 0 }, 0);
    f->swept = f->pieces;
}

/* Lets a piece begin at |offset| if one lies across it. */
static void cut(struct depend *d, struct file *f, uint64_t offset)
{
    struct spot s = find(f, offset);
    struct piece *p = piece_at(f, &s), rest;

    if (!p || p->start >= offset)
        return;
    rest = *p;
    rest.start = p->end = offset;
    s.at++;
    insert(d, f, &s, &rest);
}

/* All readers of a piece, or its last change. */
static void consume(struct depend *d, const struct line *line)
{
    uint64_t place = line->readers;
    uint32_t count = candidates_of_chain(d, place);

    if (count == 0)
        candidate_put(d, line->change);
    for (; count > DEPEND_MANY; count--) { /* other pieces may have the rest in common */
        struct mark *m = mark_at(d, place);

        place = mark_next(d, place);
        *m = (struct mark){ (uint32_t)d->now, 0, m->owner, JOINED };
    }
}

static void write_range(struct depend *d, struct file *f, uint64_t start, uint64_t end)
{
    const struct piece new = { start, end, { d->now, 0 } };
    struct piece *first, *p;
    struct spot s, at;

    cut(d, f, end);
    cut(d, f, start);
    s = at = find(f, start);
    first = piece_at(f, &s);
    if (!first || first->start >= end) {
        insert(d, f, &s, &new);
        return;
    }
    for (at = s; (p = piece_at(f, &at)) && p->start < end; at.at++)
        consume(d, &p->line);
    *first = new;
    s.at++;
    erase(d, f, s, end);
}

static void read_range(struct depend *d, struct file *f, uint32_t holder, uint64_t start,
                       uint64_t end)
{
    struct spot s;

    cut(d, f, end);
    cut(d, f, start);
    s = find(f, start);
    for (uint64_t at = start; at < end && !d->failed; s.at++) {
        struct piece *p = piece_at(f, &s);

        if (!p || p->start > at) {
            const struct piece gap = { at, p && p->start < end ? p->start : end, { 0, 0 } };

            p = insert(d, f, &s, &gap);
            if (!p)
                return;
        }
        line_read(d, &p->line, holder);
        at = p->end;
    }
}

/* Whether a range has more than DEPEND_MANY pieces. Not many of these are then expired. */
static bool is_many(const struct depend *d, struct file *f, uint64_t start, uint64_t end)
{
    for (int pass = 0; pass < 2; pass++) {
        struct spot s = find(f, start);
        uint32_t pieces = 0, live = 0;
        const struct piece *p;

        for (; (p = piece_at(f, &s)) && p->start < end && pieces <= 2 * DEPEND_MANY; s.at++) {
            pieces++;
            live += piece_is_live(d, p);
        }
        if (live > DEPEND_MANY)
            return true;
        if (pieces <= 2 * DEPEND_MANY)
            return false;
        sweep(d, f);
    }
    return false;
}

void data_use(struct depend *d, uint32_t holder, const struct use *use)
{
    struct holder *h = holder_at(d, holder);
    bool changes = use->changes;
    struct file *f;

    if (!h->file && !(h->file = pool_new(&d->files))) {
        d->failed = true;
        return;
    }
    f = file_at(d, h->file);
    if (f->pieces > 2 * f->swept + SWEEP_LEAST)
        sweep(d, f);
    if (!changes && is_many(d, f, use->start, use->end)) {
        changes = true;
        d->counts.joined++;
    }
    if (changes) {
        holder_mark(d, holder, 0);
        write_range(d, f, use->start, use->end);
    } else {
        read_range(d, f, holder, use->start, use->end);
    }
}
