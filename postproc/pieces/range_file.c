/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"
#include "base/grow.h"
#include "base/pack.h"
#include "pieces/packed.h"
#include "pieces/range.h"
#include "pieces/state.h"

#include <stdlib.h>

enum { RANGE_FILE_MAX = 1 << 30 };

#define PIECE_PLAIN(step)                                                                          \
    step(verdict) step(why) step(carried) step(adopted) step(last) step(frames) step(operations)   \
        step(lead) step(before)

/* A border of a piece has another one. */
static uint64_t layout(void)
{
    uint64_t hash = pack_layout(border_version(), "range", sizeof(struct range));

#define PIECE_FIELD(field)                                                                         \
    hash = pack_layout(hash, #field, sizeof(((struct join_result *)0)->field));
    PIECE_PLAIN(PIECE_FIELD)
    return hash;
}

int range_write(const char *name, const struct range *r, struct err *err)
{
    struct buf out = { 0 };
    char path[STATE_PATH_MAX];
    int bad = border_pack(&r->first, &out) | border_pack(&r->last, &out) |
              outline_save(&r->rest, &out) | pack_value(&out, r->frames) |
              pack_value(&out, r->again) | pack_value(&out, r->count);
    int rc;

    for (uint32_t i = 0; i < r->count; i++) {
        const struct join_result *p = &r->pieces[i];

#define SAVE_PIECE(field) bad |= pack_value(&out, p->field);
        PIECE_PLAIN(SAVE_PIECE)
        bad |= pack_bytes(&out, p->name, (uint32_t)strlen(p->name));
        bad |=
            pack_bytes(&out, p->unfinished, p->unfinished_count * (uint32_t)sizeof(*p->unfinished));
    }
    rc = bad ? err_memory(err, "pieces")
             : packed_write(state_path(path, name, ".border"), layout(), &out, err);
    buf_free(&out);
    return rc;
}

static bool restore_piece(struct unpack *in, struct join_result *p)
{
    struct bytes text, ids;

#define RESTORE_PIECE(field) unpack_value(in, p->field);
    PIECE_PLAIN(RESTORE_PIECE)
    text = unpack_bytes(in);
    ids = unpack_bytes(in);
    if (in->failed || ids.len % sizeof(*p->unfinished) || (unsigned)p->verdict > JOIN_OPEN)
        return false;
    p->why[sizeof(p->why) - 1] = '\0';
    p->name = strndup(text.len ? (const char *)text.data : "", text.len);
    if (ids.len && (p->unfinished = malloc(ids.len))) {
        memcpy(p->unfinished, ids.data, ids.len);
        p->unfinished_count = p->unfinished_cap = ids.len / sizeof(*p->unfinished);
    }
    return p->name && (!ids.len || p->unfinished);
}

static bool restore(struct unpack *in, struct range *r)
{
    uint32_t count;
    bool good = border_unpack(in, &r->first) && border_unpack(in, &r->last) &&
                outline_restore(in, &r->rest);

    unpack_value(in, r->frames);
    unpack_value(in, r->again);
    unpack_value(in, count);
    good = good && !in->failed && count;
    for (uint32_t i = 0; good && i < count; i++) {
        good = GROW(r->pieces, r->count, r->cap) == 0;
        if (good) {
            r->pieces[r->count] = (struct join_result){ 0 };
            good = restore_piece(in, &r->pieces[r->count++]);
        }
    }
    /* a first piece is never one that must be made again: join would take it for one of several */
    return good && !in->left && !(r->again && r->count == 1);
}

int range_read(const char *name, struct range *r, struct err *err)
{
    const struct packed_kind kind = { layout(), RANGE_FILE_MAX, "a range of pieces",
                                      "join the pieces again" };
    struct buf file = { 0 };
    struct unpack in;
    struct border border;
    struct err other = { 0 };
    char path[STATE_PATH_MAX];
    int rc;

    *r = (struct range){ 0 };
    rc = border_read(state_path(path, name, ".border"), &border, err);
    if (rc == 0) {
        rc = range_piece(r, name, &border, err);
    } else if (rc == -ERR_INPUT && packed_read(path, &kind, &file, &in, &other) == 0) {
        *err = (struct err){ 0 };
        rc = restore(&in, r) ? 0
                             : err_set(err, ERR_INPUT, "%s: damaged: join the pieces again", path);
    }
    buf_free(&file);
    if (rc < 0)
        range_free(r);
    return rc;
}
