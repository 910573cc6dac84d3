/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/sync_writes.c
 *
 * Which requests wrote the bytes of a READ last: piece by piece, from the latest one back.
 *
 * Memory: PIECES_MAX pieces of each side, while one READ is looked at.
 */
#include "compare/pairs.h"
#include "compare/row.h"

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

/* Of the bytes that the pair reads. */
static int find_written(struct pairs *p, int side, struct written *w, struct err *err)
{
    static const char *const sql[SIDES][2] = {
        { "SELECT " ROW_COLUMNS("o") " FROM ref.operation o WHERE o.object = ?1 AND o.id < ?2"
                                     " ORDER BY o.id DESC LIMIT ?3",
          "SELECT " ROW_COLUMNS("o") " FROM ref.operation o WHERE o.object IN (SELECT ref FROM"
                                     " main.object WHERE id = ?1 UNION ALL SELECT object FROM "
                                     "main.other_handle WHERE side = 1 AND"
                                     " same_as = ?1) AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3" },
        { "SELECT " ROW_COLUMNS("o") " FROM sut.operation o WHERE o.object = ?1 AND o.id < ?2"
                                     " ORDER BY o.id DESC LIMIT ?3",
          "SELECT " ROW_COLUMNS("o") " FROM sut.operation o WHERE o.object IN (SELECT sut FROM"
                                     " main.object WHERE id = ?1 UNION ALL SELECT object FROM "
                                     "main.other_handle WHERE side = 2 AND"
                                     " same_as = ?1) AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3" }
    };
    bool others = p->objects.pairs[p->pair.object - 1].has_others;
    const struct effect *e = &p->pair.half[side].effect;
    uint64_t start = e->offset, end = range_end(e->offset, e->count);
    uint32_t seen = 0;
    const struct object_state *s = &p->states[p->pair.object];
    struct write cut = { .start = s->cut[side].size, .end = UINT64_MAX };
    int64_t cut_by = s->cut[side].operation;
    sqlite3_stmt *stmt;
    int result = 0;
    bool fits = true;

    w->count = 0;
    if (!p->writes[side][others] &&
        tables_prepare(p->c->db, sql[side][others], &p->writes[side][others], err) < 0)
        return -err->code;
    stmt = p->writes[side][others];
    sqlite3_bind_int64(stmt, 1, others ? p->pair.object : e->object);
    sqlite3_bind_int64(stmt, 2, e->id);
    sqlite3_bind_int(stmt, 3, WRITES_SEEN);
    while (fits && length_of(w) < end - start && (result = db_row(p->c->db, stmt, err)) > 0) {
        struct bytes digest = db_column_bytes(stmt, ROW_DATA_DIGEST);
        struct effect other;
        struct write write;

        seen++;
        row_effect(stmt, 0, &other);
        if (cut_by > other.id) {
            fits = add_pieces(w, start, end, &cut);
            cut_by = 0;
        }
        if (!changes_range(&other, start, end, &write))
            continue;
        if (digest.len <= sizeof(write.bytes)) {
            memcpy(write.bytes, digest.data, digest.len);
            write.digest = (struct bytes){ write.bytes, digest.len };
        }
        fits = fits && add_pieces(w, start, end, &write);
    }
    sqlite3_reset(stmt);
    if (fits && cut_by)
        fits = add_pieces(w, start, end, &cut);
    w->whole = fits && seen < WRITES_SEEN;
    return result < 0 ? result : 0;
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

enum sync_written sync_written(struct pairs *p)
{
    struct written written[SIDES];
    struct err unseen;

    for (int side = 0; side < SIDES; side++)
        if (find_written(p, side, &written[side], &unseen) < 0)
            return WRITTEN_UNKNOWN;
    if (!are_alike(&written[REF], &written[SUT]))
        return WRITTEN_OTHERWISE;
    return written[REF].whole && written[SUT].whole ? WRITTEN_ALIKE : WRITTEN_UNKNOWN;
}
