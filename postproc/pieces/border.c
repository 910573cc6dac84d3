/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/border.c
 *
 * Writes and reads border files.  The contract is in border.h.
 */
#include "pieces/border.h"
#include "pieces/packed.h"
#include "base/digest.h"
#include "base/pack.h"
#include "flow/pair.h"

#include <stdlib.h>

enum { BORDER_FILE_MAX = 1 << 30 };

#define BORDER_PLAIN(step)                                                                         \
    step(capture) step(previous) step(before) step(from) step(to) step(asked) step(till)           \
        step(lead) step(frames) step(operations) step(waiting) step(held) step(held_id)            \
            step(depth) step(options) step(state) step(identity) step(origin) step(whole)          \
                step(last) step(first) step(starts) step(ends) step(past.order_asked)              \
                    step(past.flow_asked) step(past.ports_asked) step(past.waiting)                \
                        step(past.connections) step(past.waiting_bytes) step(past.framing)         \
                            step(past.queued) step(past.held) step(limits) step(faces.renewed)     \
                                step(faces.strange)
#define OUTLINE_PLAIN(step)                                                                        \
    step(connections) step(call_bytes) step(from) step(done) step(fragments) step(surprises)       \
        step(held) step(moment) step(ports)

/* Borders of another version or machine have another first number. */
static uint64_t version(void)
{
    uint64_t hash =
        UINT64_C(0x6e66736264720001) ^ XXH3_64bits(NFSDIGEST_VERSION, strlen(NFSDIGEST_VERSION));

#define FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct border *)0)->field));
    BORDER_PLAIN(FIELD)
#define OUTLINE_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct outline *)0)->field));
    OUTLINE_PLAIN(OUTLINE_FIELD)
    hash = pack_layout(hash, "flow, stopped", sizeof(struct outline_flow));
    hash = pack_layout(hash, "call", sizeof(struct outline_call));
    hash = pack_layout(hash, "face", sizeof(struct face));
    return pack_layout(hash, "xids", sizeof(struct xids_pair));
}

static int save_xids(const struct xids *x, struct buf *out)
{
    return pack_bytes(out, x->pairs, (uint32_t)(x->count * sizeof(*x->pairs)));
}

int outline_save(const struct outline *o, struct buf *out)
{
    int bad = 0;

#define SAVE_OUTLINE(field) bad |= pack_value(out, o->field);
    OUTLINE_PLAIN(SAVE_OUTLINE)
    bad |= pack_bytes(out, o->flows, (uint32_t)(o->flow_count * sizeof(*o->flows)));
    bad |= pack_bytes(out, o->calls, (uint32_t)(o->call_count * sizeof(*o->calls)));
    return bad | save_xids(&o->used, out);
}

uint64_t border_version(void)
{
    return version();
}

static int save_faces(const struct faces *f, struct buf *out)
{
    return pack_value(out, f->order) | pack_value(out, f->counted) |
           pack_bytes(out, f->list, (uint32_t)(f->count * sizeof(*f->list)));
}

int border_pack(const struct border *b, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, b->field);
    BORDER_PLAIN(SAVE)
    bad |= save_faces(&b->faces.before, out) | save_faces(&b->faces.end, out);
    bad |= outline_save(&b->after, out) | outline_save(&b->end, out);
    return bad | save_xids(&b->past.asked, out);
}

int border_write(const char *path, const struct border *b, struct err *err)
{
    struct buf out = { 0 };
    int rc;

    rc = border_pack(b, &out) ? err_memory(err, "a border")
                              : packed_write(path, version(), &out, err);
    buf_free(&out);
    return rc;
}

/* Reads an array of whole elements.  An array without elements is NULL. */
static void *restore_array(struct unpack *in, size_t size, uint32_t *count)
{
    struct bytes raw = unpack_bytes(in);
    void *array;

    *count = 0;
    if (in->failed || raw.len % size)
        in->failed = true;
    if (in->failed || !raw.len)
        return NULL;
    array = malloc(raw.len);
    if (!array) {
        in->failed = true;
        return NULL;
    }
    memcpy(array, raw.data, raw.len);
    *count = (uint32_t)(raw.len / size);
    return array;
}

static void restore_xids(struct unpack *in, struct xids *x)
{
    uint32_t count;
    struct xids_pair *pairs = restore_array(in, sizeof(*pairs), &count);

    for (uint32_t i = 0; i < count && !in->failed; i++)
        if (pairs[i].plain.count > XIDS_RANGES || pairs[i].swapped.count > XIDS_RANGES ||
            xids_merge(x, &pairs[i]) < 0)
            in->failed = true;
    free(pairs);
}

/* Whether the rest of the program can rely on an outline: flows in order, and no more chunks than
 * there are. */
static bool is_sound(const struct outline *o)
{
    for (uint32_t i = 1; i < o->flow_count; i++)
        if (outline_flow_order(&o->flows[i - 1], &o->flows[i]) >= 0)
            return false;
    return o->from == OUTLINE_UNKNOWN ||
           (o->from <= 0 && o->from >= -(int64_t)OUTLINE_CHUNKS * OUTLINE_CHUNK);
}

bool outline_restore(struct unpack *in, struct outline *o)
{
#define RESTORE_OUTLINE(field) unpack_value(in, o->field);
    OUTLINE_PLAIN(RESTORE_OUTLINE)
    o->flows = restore_array(in, sizeof(*o->flows), &o->flow_count);
    o->calls = restore_array(in, sizeof(*o->calls), &o->call_count);
    o->flow_cap = o->flow_count;
    o->call_cap = o->call_count;
    restore_xids(in, &o->used);
    return !in->failed && is_sound(o);
}

static bool restore_faces(struct unpack *in, struct faces *f)
{
    unpack_value(in, f->order);
    unpack_value(in, f->counted);
    f->list = restore_array(in, sizeof(*f->list), &f->count);
    f->cap = f->count;
    return !in->failed && f->count <= FACES_MAX;
}

bool border_unpack(struct unpack *in, struct border *b)
{
    bool good;

#define RESTORE(field) unpack_value(in, b->field);
    BORDER_PLAIN(RESTORE)
    good = restore_faces(in, &b->faces.before) && restore_faces(in, &b->faces.end) &&
           outline_restore(in, &b->after) && outline_restore(in, &b->end);
    restore_xids(in, &b->past.asked);
    b->capture[BORDER_NAME_MAX - 1] = b->previous[BORDER_NAME_MAX - 1] = '\0';
    b->before[BORDER_NAME_MAX - 1] = '\0';
    return good && !in->failed &&
           b->held <= 2 * HELD_MAX; /* the oldest goes when the next message comes */
}

static int parse(const char *path, struct unpack *in, struct border *b, struct err *err)
{
    return border_unpack(in, b) && !in->left
               ? 0
               : err_set(err, ERR_INPUT, "%s: damaged: make the piece again", path);
}

int border_read(const char *path, struct border *border, struct err *err)
{
    const struct packed_kind kind = { version(), BORDER_FILE_MAX, "a border",
                                      "make the piece again" };
    struct buf file = { 0 };
    struct unpack in;
    int rc = packed_read(path, &kind, &file, &in, err);

    memset(border, 0, sizeof(*border));
    if (rc == 0)
        rc = parse(path, &in, border, err);
    buf_free(&file);
    if (rc < 0)
        border_free(border);
    return rc;
}

void border_free(struct border *b)
{
    outline_free(&b->after);
    outline_free(&b->end);
    xids_free(&b->past.asked);
    faces_span_free(&b->faces);
}
