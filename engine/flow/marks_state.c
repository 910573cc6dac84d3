/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pack.h"
#include "flow/marks.h"

#include <stdlib.h>

/* These are packed whole: another order of their members is to be another text here. */
#define MARKS_PIECE_TEXT "at seen start missing flag border"
#define MARKS_MARK_TEXT                                                                            \
    "at next frame time xid length state kind whole matched known fate sequence timed"
#define MARKS_PLAIN(step) step(end) step(scanned) step(due) step(behind) step(changed)

uint64_t marks_layout(uint64_t hash)
{
#define MARKS_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct marks *)0)->field));
    MARKS_PLAIN(MARKS_FIELD)
    hash = pack_layout(hash, MARKS_PIECE_TEXT, sizeof(struct marks_piece));
    return pack_layout(hash, MARKS_MARK_TEXT, sizeof(struct mark));
}

int marks_save(const struct marks *s, struct buf *out)
{
    int bad = pack_bytes(out, s->bytes.data, (uint32_t)s->bytes.len);

#define SAVE(field) bad |= pack_value(out, s->field);
    MARKS_PLAIN(SAVE)
    bad |= pack_bytes(out, s->pieces, s->piece_count * (uint32_t)sizeof(*s->pieces));
    bad |= pack_bytes(out, s->marks, s->mark_count * (uint32_t)sizeof(*s->marks));
    return bad ? -ERR_SYSTEM : 0;
}

/* Whether what was carried over keeps what the functions above rely on. */
static bool sound(const struct marks *s)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < s->piece_count; i++) {
        const struct marks_piece *p = &s->pieces[i];
        uint32_t next = i + 1 < s->piece_count ? s->pieces[i + 1].start : (uint32_t)s->bytes.len;
        if (p->at < at || p->start > next || (i == 0 && p->start) ||
            (p->missing && p->start != next))
            return false;
        at = p->at + (p->missing ? p->missing : next - p->start);
    }
    if (s->piece_count ? s->end < at : s->mark_count || s->bytes.len)
        return false;
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].at < s->pieces[0].at || s->marks[i].at >= s->end ||
            s->marks[i].next < s->marks[i].at || (i && s->marks[i].at <= s->marks[i - 1].at))
            return false;
    return true;
}

static int restore_array(void *to, uint32_t *count, uint32_t *cap, size_t size, struct unpack *in)
{
    struct bytes raw = unpack_bytes(in);
    void *copy;

    if (in->failed || raw.len % size) {
        in->failed = true;
        return -ERR_INPUT;
    }
    if (!raw.len)
        return 0;
    if (!(copy = malloc(raw.len)))
        return -ERR_SYSTEM;
    memcpy(copy, raw.data, raw.len);
    memcpy(to, &copy, sizeof(copy));
    *count = *cap = (uint32_t)(raw.len / size);
    return 0;
}

int marks_restore(struct marks *s, struct unpack *in)
{
    struct bytes bytes = unpack_bytes(in);
    int rc;

#define RESTORE(field) unpack_value(in, s->field);
    MARKS_PLAIN(RESTORE)
    if (in->failed)
        return -ERR_INPUT;
    if (bytes.len && buf_append(&s->bytes, bytes.data, bytes.len) < 0)
        return -ERR_SYSTEM;
    rc = restore_array(&s->pieces, &s->piece_count, &s->piece_cap, sizeof(*s->pieces), in);
    if (rc == 0)
        rc = restore_array(&s->marks, &s->mark_count, &s->mark_cap, sizeof(*s->marks), in);
    if (rc == 0 && !sound(s)) {
        in->failed = true;
        rc = -ERR_INPUT;
    }
    return rc;
}
