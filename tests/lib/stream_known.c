/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream_known.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DATA_MAX = 12000, MESSAGE_SPACE = DATA_MAX + 400, FRAGMENTS_MAX = 16 };

struct writer {
    uint8_t data[MESSAGE_SPACE];
    uint32_t len;
};

static void u32(struct writer *w, uint32_t value)
{
    store_be32(w->data + w->len, value);
    w->len += 4;
}

static void words(struct writer *w, uint32_t value, uint32_t count)
{
    while (count--)
        u32(w, value);
}

/* opaque<> of numbers that are no record mark: their first byte is never 0x80 or 0. */
static void opaque(struct writer *w, uint32_t len, uint32_t seed)
{
    u32(w, len);
    for (uint32_t i = 0; i < ((len + 3) & ~3u); i++, seed = seed * 1664525 + 1013904223)
        w->data[w->len++] = i < len ? (uint8_t)(1 + (seed >> 24) % 127) : 0;
}

/* The |i|th call or reply: READ, WRITE or NULL (RFC 1813 s3.3). */
static void write_message(struct writer *w, bool reply, uint32_t xid, uint32_t kind, uint32_t len)
{
    static const uint32_t procedures[] = { 6, 7, 0 };

    w->len = 0;
    u32(w, xid);
    u32(w, reply);
    if (!reply) {
        u32(w, 2);
        u32(w, 100003);
        u32(w, 3);
        u32(w, procedures[kind]);
        words(w, 0, 4);
        if (kind == 2)
            return;
        opaque(w, 28, xid);
        u32(w, 0);
        u32(w, xid);
        u32(w, len);
        if (kind == 1) {
            u32(w, 2);
            opaque(w, len, xid);
        }
        return;
    }
    words(w, 0, 4);
    if (kind == 2)
        return;
    u32(w, 0); /* NFS3_OK */
    u32(w, 0); /* no attributes */
    if (kind == 1)
        u32(w, 0);
    u32(w, len);
    if (kind == 1) {
        u32(w, 2);
        words(w, xid, 2);
    } else {
        u32(w, 0);
        opaque(w, len, xid);
    }
}

static void append(struct known *k, int side, const struct writer *w, struct chooser *c,
                   bool fragments, uint32_t xid)
{
    struct known_message *m = &k->messages[side][k->count];
    uint8_t *out = k->data[side];
    uint32_t at = 0, marks = 0;

    m->xid = xid;
    m->start = k->len[side];
    m->length = w->len;
    while (at < w->len) {
        uint32_t left = w->len - at, len = left;
        if (fragments && ++marks < FRAGMENTS_MAX && choose(c, 8) == 0)
            len = 1 + choose(c, left);
        store_be32(out + k->len[side], len | (len == left ? UINT32_C(1) << 31 : 0));
        memcpy(out + k->len[side] + 4, w->data + at, len);
        k->len[side] += 4 + len;
        at += len;
    }
    m->end = k->len[side];
}

int known_make(struct known *k, struct chooser *c, bool fragments)
{
    uint32_t count = 1 + choose(c, KNOWN_MAX);
    struct writer w;

    for (int side = 0; side < 2; side++) {
        k->data[side] = malloc(KNOWN_BYTES);
        k->frame[side] = calloc(KNOWN_BYTES, sizeof(*k->frame[side]));
        if (!k->data[side] || !k->frame[side]) {
            known_free(k);
            return -1;
        }
    }
    for (; k->count < count; k->count++) {
        uint32_t xid = 0x01020304 + k->count, kind = choose(c, 3);
        uint32_t len = choose(c, 4) ? choose(c, 300) : choose(c, DATA_MAX);
        uint32_t most = k->len[0] > k->len[1] ? k->len[0] : k->len[1];
        if (most + 2 * MESSAGE_SPACE > KNOWN_BYTES) /* marks of fragments included */
            break;
        write_message(&w, false, xid, kind, len);
        append(k, 0, &w, c, fragments, xid);
        write_message(&w, true, xid, kind, len);
        append(k, 1, &w, c, fragments, xid);
    }
    return 0;
}

void known_free(struct known *k)
{
    for (int side = 0; side < 2; side++) {
        free(k->data[side]);
        free(k->frame[side]);
        k->data[side] = NULL;
        k->frame[side] = NULL;
    }
}

void known_arrived(struct known *k, int side, uint32_t start, uint32_t len, uint64_t frame)
{
    for (uint32_t i = start; i < start + len; i++)
        if (!k->frame[side][i])
            k->frame[side][i] = frame;
}

static void found(struct known *k, int side, uint32_t xid, const struct sighting *sighting)
{
    struct known_message *m = NULL;

    if (!sighting->frame)
        return;
    for (uint32_t i = 0; i < k->count; i++)
        if (k->messages[side][i].xid == xid)
            m = &k->messages[side][i];
    if (!m) {
        snprintf(k->problem, sizeof(k->problem), "invented: %s xid 0x%08" PRIx32,
                 side ? "reply" : "call", xid);
        return;
    }
    m->found++;
    m->sighting = *sighting;
}

int known_put(void *ctx, const struct record *record, struct err *err)
{
    struct known *k = ctx;

    (void)err;
    if (record->kind == RECORD_OPERATION) {
        found(k, 0, record->operation.xid, &record->operation.call);
        found(k, 1, record->operation.xid, &record->operation.reply);
    } else if (record->kind == RECORD_REPEAT) {
        snprintf(k->problem, sizeof(k->problem), "a repeat in frame %" PRIu64,
                 record->repeat.sighting.frame);
    } else if (record->kind == RECORD_PROBLEM && record->problem.problem == PROBLEM_UNDECIDED) {
        k->undecided += record->problem.length;
    }
    return 0;
}

/* The frame that brought the last missing byte; 0: bytes are missing. */
static uint64_t completed(const struct known *k, int side, const struct known_message *m)
{
    uint64_t last = 0;

    for (uint32_t i = m->start; i < m->end; i++) {
        if (!k->frame[side][i])
            return 0;
        if (k->frame[side][i] > last)
            last = k->frame[side][i];
    }
    return last;
}

/* Whether a whole message may be missing, complete in |frame|: behind a hole nothing told it from
 * contents of a file, as no reply came after the call, and its bytes were counted. */
static bool undecided(struct known *k, int side, uint32_t i, uint64_t frame)
{
    const struct known_message *m = &k->messages[side][i], *other = &k->messages[!side][i];
    uint32_t len = m->end - m->start;
    bool ordered = side ? other->sighting.frame <= frame : frame <= other->sighting.frame;

    if (!frame || m->found || (other->found && ordered) || k->undecided < len)
        return false;
    k->undecided -= len;
    return true;
}

int known_check(struct known *k, char *why, size_t why_size)
{
    if (k->problem[0]) {
        snprintf(why, why_size, "%s", k->problem);
        return -1;
    }
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < k->count; i++) {
            const struct known_message *m = &k->messages[side][i];
            uint64_t frame = completed(k, side, m);
            bool good = m->found <= 1;
            if (frame)
                good = m->found == 1 && m->sighting.frame == frame &&
                       !(m->sighting.flags & (SIGHTING_PARTIAL | SIGHTING_MALFORMED)) &&
                       m->sighting.wire_len == m->length;
            else if (m->found)
                good &= (m->sighting.flags & SIGHTING_PARTIAL) != 0;
            if (good || undecided(k, side, i, frame))
                continue;
            snprintf(why, why_size,
                     "%s %" PRIu32 " of %" PRIu32 " (xid 0x%08" PRIx32
                     "): complete in frame %" PRIu64 ", found %" PRIu32 " times, in %" PRIu64
                     ", flags 0x%" PRIx32 ", length %" PRIu32 " of %" PRIu32,
                     side ? "reply" : "call", i, k->count, m->xid, frame, m->found,
                     m->sighting.frame, m->sighting.flags, m->sighting.wire_len, m->length);
            return -1;
        }
    }
    return 0;
}
