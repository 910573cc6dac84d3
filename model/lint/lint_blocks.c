/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_blocks.c
 *
 * What READs return against what WRITEs wrote, or earlier READs returned, block by block
 * (base/blocks.h).  A block is known by the last WRITE that touched it, if no other one overlapped
 * in time; else by a READ that nothing overlapped.  The contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include "base/blocks.h"
#include "base/digest.h"
#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>

/* A piece of a range in one block. */
struct piece {
    uint64_t at, digest;
    uint32_t len;
};

static uint64_t hash_of(uint32_t object, uint64_t index)
{
    uint64_t h = (object ^ index * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);

    return h ^ h >> 29;
}

static struct lint_block *find(const struct lint *lint, uint32_t object, uint64_t index)
{
    uint64_t hash = hash_of(object, index);
    uint32_t at;

    for (uint32_t i = table_first(&lint->by_block, hash, &at); i != TABLE_NONE;
         i = table_next(&lint->by_block, hash, &at))
        if (lint->blocks[i].object == object && lint->blocks[i].index == index)
            return &lint->blocks[i];
    return NULL;
}

static uint32_t forget(struct lint *lint)
{
    for (uint32_t tries = 0; tries < lint->block_count; tries++) {
        uint32_t at = lint->block_next;
        const struct lint_block *b = &lint->blocks[at];

        lint->block_next = (at + 1) % lint->block_count;
        if (b->active)
            continue;
        table_remove(&lint->by_block, hash_of(b->object, b->index), at);
        return at;
    }
    return TABLE_NONE;
}

/* Makes it if it is new.  NULL: there is no room. */
static struct lint_block *get(struct lint *lint, uint32_t object, uint64_t index)
{
    struct lint_block *b = find(lint, object, index);
    uint32_t place;

    if (b)
        return b;
    if (lint->block_count == lint->options.blocks)
        place = forget(lint);
    else
        place = GROW(lint->blocks, lint->block_count, lint->block_cap) < 0 ? TABLE_NONE
                                                                           : lint->block_count++;
    if (place == TABLE_NONE)
        return NULL;
    lint->blocks[place] = (struct lint_block){ .object = object, .index = index };
    if (table_add(&lint->by_block, hash_of(object, index), place) < 0) {
        lint->blocks[place].active = 1; /* in no table: it stays out of use */
        return NULL;
    }
    return &lint->blocks[place];
}

/* Piece |i| of the range that begins at |offset|, with |left| bytes from |p->at| on. */
static void take_piece(const struct effect *e, uint64_t offset, uint64_t count, uint32_t i,
                       struct piece *p)
{
    p->at = i ? (offset / BLOCK_SIZE + i) * BLOCK_SIZE : offset;
    p->len = block_piece(p->at, count - (p->at - offset));
    p->digest = load_le64(e->blocks.data + (size_t)i * BLOCK_DIGEST_LEN);
}

/* The number of pieces of a range whose digests |e| has; 0: it has not. */
static uint32_t pieces(const struct effect *e, uint64_t count)
{
    if (!e->blocks.len || count > UINT32_MAX || e->offset > UINT64_MAX - count ||
        e->blocks.len != BLOCK_DIGEST_LEN * block_count(e->offset, (uint32_t)count))
        return 0;
    return e->blocks.len / BLOCK_DIGEST_LEN;
}

void lint_blocks_spoil(struct lint *lint, struct lint_object *o)
{
    o->epoch = ++lint->last_epoch;
}

static void release(const struct lint *lint, const struct lint_object *o, const struct effect *e,
                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        find(lint, o->id, e->offset / BLOCK_SIZE + i)->active--;
}

void lint_blocks_called(struct lint *lint, struct lint_object *o, struct effect *e)
{
    uint32_t count = pieces(e, e->count);

    for (uint32_t i = 0; i < count; i++) {
        struct lint_block *b = get(lint, o->id, e->offset / BLOCK_SIZE + i);

        if (!b) {
            release(lint, o, e, i);
            count = 0;
            break;
        }
        b->spoiled |= b->active != 0;
        b->known = false;
        b->epoch = o->epoch;
        b->active++;
    }
    if (count)
        e->mark |= MAY_BLOCKS;
    else
        lint_blocks_spoil(lint, o);
}

void lint_blocks_done(struct lint *lint, struct lint_object *o, const struct effect *e,
                      const struct lint_written *written)
{
    uint32_t count = e->mark & MAY_BLOCKS ? pieces(e, e->count) : 0;
    bool whole = e->timed && e->succeeded && e->has_done && e->done == e->count;

    for (uint32_t i = 0; i < count; i++) {
        struct piece p;
        struct lint_block *b;

        take_piece(e, e->offset, e->count, i, &p);
        b = find(lint, o->id, p.at / BLOCK_SIZE);
        if (--b->active)
            continue;
        b->known = whole && !b->spoiled && b->epoch == o->epoch;
        b->spoiled = false;
        b->start = p.at % BLOCK_SIZE;
        b->len = (uint16_t)p.len;
        b->digest = p.digest;
        b->written = *written;
    }
}

static bool is_zeros(const struct piece *p)
{
    static const uint8_t zeros[BLOCK_SIZE];

    return XXH3_64bits(zeros, p->len) == p->digest;
}

static bool is_known(const struct lint *lint, const struct lint_object *o,
                     const struct lint_block *b, const struct piece *p, const struct effect *e)
{
    return b->known && !b->active && b->epoch == o->epoch && b->start == p->at % BLOCK_SIZE &&
           b->len == p->len && b->written.at < e->call_time && b->written.at > lint->blind;
}

void lint_blocks_commit(struct lint *lint, struct lint_object *o, const struct effect *e)
{
    uint64_t last = e->offset + e->count;

    if (!e->count) {
        if (!e->offset) {
            o->committed = lint->verifier;
            o->committed_at = e->call_time;
        }
        return;
    }
    if (last < e->offset || e->count > UINT32_MAX)
        return;
    for (uint64_t i = e->offset / BLOCK_SIZE; i <= (last - 1) / BLOCK_SIZE; i++) {
        struct lint_block *b = find(lint, o->id, i);
        uint64_t start = b ? i * BLOCK_SIZE + b->start : 0;

        if (b && b->known && b->written.at < e->call_time && start >= e->offset &&
            start + b->len <= last && b->written.verifier == lint->verifier)
            b->written.stable = true;
    }
}

/* How its bytes were written, and whether they were committed. */
static struct lint_written written_of(const struct lint_object *o, const struct lint_block *b)
{
    struct lint_written written = b->written;

    written.stable |= written.verifier == o->committed && written.at < o->committed_at;
    return written;
}

/* What a READ returned of a block of which nothing is known. */
static void learn(struct lint *lint, const struct lint_object *o, const struct piece *p,
                  const struct lint_written *written)
{
    struct lint_block *b = get(lint, o->id, p->at / BLOCK_SIZE);

    if (!b || b->active || (b->known && b->epoch == o->epoch && !b->written.read))
        return;
    *b = (struct lint_block){ .index = b->index,
                              .digest = p->digest,
                              .written = *written,
                              .object = o->id,
                              .epoch = o->epoch,
                              .start = p->at % BLOCK_SIZE,
                              .len = (uint16_t)p->len,
                              .known = true };
}

struct blocks_judged {
    uint32_t count, with_writes, with_reads, bad;
    uint64_t first; /* bad one */
    bool zeros;     /* all bad ones are */
    struct lint_written written;
};

static void judge_piece(struct lint *lint, const struct lint_object *o, const struct effect *e,
                        const struct piece *p, struct blocks_judged *j)
{
    struct lint_block *b = find(lint, o->id, p->at / BLOCK_SIZE);
    struct lint_written by, now;

    if (!b || !is_known(lint, o, b, p, e)) {
        if (lint_reads_quiet(lint, o, e)) {
            now = lint_reads_written(lint, e);
            learn(lint, o, p, &now);
        }
        return;
    }
    *(b->written.read ? &j->with_reads : &j->with_writes) += 1;
    if (b->digest == p->digest)
        return;
    b->known = false; /* said once */
    j->zeros &= is_zeros(p);
    by = written_of(o, b);
    if (j->bad++ == 0)
        j->first = p->at;
    /* rather one that was written, and one that nothing excuses */
    if (j->bad == 1 || by.read < j->written.read ||
        (by.read == j->written.read && by.stable > j->written.stable))
        j->written = by;
}

int lint_blocks_judge(struct lint *lint, struct lint_object *o, const struct effect *e,
                      struct err *err)
{
    struct blocks_judged j = { .count = pieces(e, e->done), .zeros = true };
    bool read;

    for (uint32_t i = 0; i < j.count; i++) {
        struct piece p;

        take_piece(e, e->offset, e->done, i, &p);
        judge_piece(lint, o, e, &p, &j);
    }
    lint->counts.compared += j.with_writes != 0;
    lint->counts.read_again += j.with_reads != 0;
    if (!j.bad)
        return 0;
    read = j.written.read;
    return LINT_SAY_UNLESS_LOST(lint, read ? LINT_READ_DIFFERS : LINT_READ_CONTENTS, e,
                                j.written.by, &j.written, err,
                                "of %" PRIu32 " blocks, %" PRIu32 " are not as they were %s, from"
                                " %" PRIu64 " on%s",
                                j.count, j.bad, read ? "read before" : "written", j.first,
                                j.zeros ? ": they are zeros" : "");
}
