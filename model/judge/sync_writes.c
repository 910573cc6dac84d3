/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/sync_writes.c
 *
 * Finds the requests that wrote the bytes of a READ last: piece by piece, from the latest one back.
 *
 * Memory: PIECES_MAX pieces for each side, while one READ is compared.
 */
#include "judge/sync.h"

#include <stdlib.h>
#include <string.h>

enum {
    WRITES_SEEN = 1024, /* operations on the object that are looked through */
    PIECES_MAX = 256,
};

struct write {
    uint64_t start, end;
    struct bytes digest; /* of its contents; none: the size was set */
    uint8_t bytes[16];
};

/* Bytes and the request that wrote them last. */
struct piece {
    uint64_t start, end;
    uint64_t write_start, write_end;
    uint32_t digest_len;
    uint8_t digest[16];
};

struct written {
    struct piece pieces[PIECES_MAX];
    uint32_t count;
    bool whole; /* all pieces were found */
};

static bool changes_range(const struct effect *e, uint64_t start, uint64_t end, struct write *write)
{
    if (!e->procedure || e->rpc_status > 0 || (e->pairing == 0 && !e->succeeded))
        return false;
    if (e->asked.bits & ASKED_SIZE && !(e->roles & ROLE_PARENT))
        *write = (struct write){ .start = e->asked.size, .end = UINT64_MAX };
    else if (e->procedure->arguments->has_data)
        *write = (struct write){ .start = e->offset, .end = range_end(e->offset, e->count) };
    else
        return false;
    return write->start < end && write->end > start;
}

static int by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Adds what |write| wrote of [start, end) and no later one did. False: there are too many pieces.
 */
static bool add_pieces(struct written *w, uint64_t start, uint64_t end, const struct write *write)
{
    uint64_t at = write->start > start ? write->start : start;
    uint32_t known = w->count;

    end = write->end < end ? write->end : end;
    for (uint32_t i = 0; at < end && i <= known; i++) {
        const struct piece *next = i < known ? &w->pieces[i] : NULL; /* in their order */
        uint64_t to = next && next->start < end ? next->start : end;
        struct piece piece = { at, to, write->start, write->end, write->digest.len, { 0 } };

        if (next && next->end <= at)
            continue;
        memcpy(piece.digest, write->bytes, sizeof(piece.digest));
        if (at < to && w->count == PIECES_MAX)
            return false;
        if (at < to)
            w->pieces[w->count++] = piece;
        if (next && next->end > at)
            at = next->end;
    }
    if (w->count > known)
        qsort(w->pieces, w->count, sizeof(w->pieces[0]), by_start);
    return true;
}

static uint64_t length_of(const struct written *w)
{
    uint64_t length = 0;

    for (uint32_t i = 0; i < w->count; i++)
        length += w->pieces[i].end - w->pieces[i].start;
    return length;
}

/* Who wrote the bytes [start, end) last, while earlier operations come by. */
struct search {
    struct written *written;
    uint64_t start, end;
    uint32_t seen;    /* operations */
    struct write cut; /* of a file that CREATE found */
    int64_t cut_by;   /* that CREATE, until its turn has come; 0: none */
    bool fits;        /* into PIECES_MAX */
};

static bool is_over(const struct search *s)
{
    return !s->fits || length_of(s->written) >= s->end - s->start || s->seen == WRITES_SEEN;
}

static int take(void *ctx, const struct effect *earlier, struct bytes digest)
{
    struct search *s = ctx;
    struct write write;

    s->seen++;
    if (s->cut_by > earlier->id) {
        s->fits = add_pieces(s->written, s->start, s->end, &s->cut);
        s->cut_by = 0;
    }
    if (changes_range(earlier, s->start, s->end, &write)) {
        if (digest.len <= sizeof(write.bytes)) {
            memcpy(write.bytes, digest.data, digest.len);
            write.digest = (struct bytes){ write.bytes, digest.len };
        }
        s->fits = s->fits && add_pieces(s->written, s->start, s->end, &write);
    }
    return is_over(s);
}

/* Of the bytes that the pair reads. */
static int find_written(struct judge *j, int side, struct written *w, struct err *err)
{
    const struct effect *e = &j->pair->half[side].effect;
    const struct object_state *state = &j->states[j->pair->object];
    struct search s = { .written = w,
                        .start = e->offset,
                        .end = range_end(e->offset, e->count),
                        .cut = { .start = state->cut[side].size, .end = UINT64_MAX },
                        .cut_by = state->cut[side].operation,
                        .fits = true };
    const struct judge_earlier to = { take, &s };

    w->count = 0;
    if (!is_over(&s) && j->host->earlier(j->ctx, j->pair, side, &to, err) < 0)
        return -err->code;
    if (s.fits && s.cut_by)
        s.fits = add_pieces(w, s.start, s.end, &s.cut);
    w->whole = s.fits && s.seen < WRITES_SEEN;
    return 0;
}

static bool same_write(const struct piece *a, const struct piece *b)
{
    return a->write_start == b->write_start && a->write_end == b->write_end &&
           a->digest_len == b->digest_len && memcmp(a->digest, b->digest, sizeof(a->digest)) == 0;
}

/* The same pieces: equal requests wrote equal bytes last, and nothing the others. */
static bool are_alike(const struct written *a, const struct written *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->pieces[i].start != b->pieces[i].start || a->pieces[i].end != b->pieces[i].end ||
            !same_write(&a->pieces[i], &b->pieces[i]))
            return false;
    return true;
}

int sync_written(struct judge *j, enum sync_written *result, struct err *err)
{
    struct written written[SIDES];

    *result = WRITTEN_UNKNOWN;
    if (!j->host->earlier)
        return 0;
    for (int side = 0; side < SIDES; side++)
        if (find_written(j, side, &written[side], err) < 0)
            return -err->code;
    if (!are_alike(&written[REF], &written[SUT]))
        *result = WRITTEN_OTHERWISE;
    else if (written[REF].whole && written[SUT].whole)
        *result = WRITTEN_ALIKE;
    return 0;
}
