/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/pcapng.c
 *
 * Reads block by block, checks both lengths, remembers the interfaces of the section, and gives
 * packet blocks as frames with times in nanoseconds.  For capture.c.  The contract is in pcapng.h.
 */
#include "capture/pcapng.h"
#include "capture/track.h"
#include "base/bytes.h"
#include "base/wide.h"
#include "base/grow.h"
#include "link/pcapng_numbers.h"

#include <stdlib.h>

enum {
    RESOLUTION_DEFAULT = 6, /* microseconds */
};

struct pcapng {
    FILE *file;
    const char *name;
    bool swapped; /* of this section */
    bool begun;   /* a section header was seen */
    struct faces faces;
    struct middle {
        bool on;             /* it was jumped: of this section, not all was seen */
        bool sure;           /* all interfaces are known */
        bool ordered;        /* the order of bytes is known */
        bool renewed;        /* a section has begun since */
        bool strange;        /* a packet was of none of the interfaces */
        uint8_t order;       /* that was relied on */
        uint32_t assumed;    /* the first |assumed| of |faces| were not described since */
        struct faces before; /* these, once |renewed| */
        struct face guess;   /* what one that was not seen is taken for */
    } middle;
    uint8_t *block; /* the body of the current one, without type and lengths */
    uint32_t block_cap, body_len;
    uint64_t offset;         /* of the current block in the file */
    uint64_t packets, since; /* counted from this byte; 0: from the beginning */
};

bool pcapng_is(const uint8_t *head, size_t len)
{
    return len >= 4 && load_le32(head) == PCAPNG_SECTION;
}

static uint16_t get16(const struct pcapng *png, const uint8_t *p)
{
    return png->swapped ? load_be16(p) : __builtin_bswap16(load_be16(p));
}

static uint32_t get32(const struct pcapng *png, const uint8_t *p)
{
    return png->swapped ? load_be32(p) : load_le32(p);
}

struct pcapng *pcapng_open(FILE *file, const char *name, struct err *err)
{
    struct pcapng *png = calloc(1, sizeof(*png));

    if (!png) {
        err_memory(err, "a capture");
        return NULL;
    }
    png->file = file;
    png->name = name;
    return png;
}

void pcapng_close(struct pcapng *png)
{
    if (!png)
        return;
    faces_free(&png->faces);
    faces_free(&png->middle.before);
    free(png->block);
    free(png);
}

static int cut(const struct pcapng *png, struct err *err)
{
    char since[TRACK_SINCE];

    return err_set(err, ERR_INPUT,
                   "%s: cut in the middle of packet %llu%s, whose block begins at byte %llu",
                   png->name, (unsigned long long)png->packets + 1, track_since(since, png->since),
                   (unsigned long long)png->offset);
}

static int damaged(const struct pcapng *png, const char *why, struct err *err)
{
    char since[TRACK_SINCE];

    return err_set(err, ERR_INPUT, "%s: damaged block at byte %llu, after packet %llu%s: %s",
                   png->name, (unsigned long long)png->offset, (unsigned long long)png->packets,
                   track_since(since, png->since), why);
}

static int reserve(struct pcapng *png, uint32_t len, struct err *err)
{
    return GROW_TO(png->block, len, png->block_cap) < 0 ? err_memory(err, "a block") : 0;
}

bool pcapng_is_type(uint32_t type)
{
    return (type >= PCAPNG_INTERFACE && type <= 0x0d) || type == PCAPNG_SECTION ||
           type == PCAPNG_CUSTOM || type == PCAPNG_CUSTOM_NOT_COPIED ||
           (type >= 0x201 && type <= 0x221);
}

static int begin_section(struct pcapng *png, struct err *err)
{
    struct middle *m = &png->middle;

    if (m->on && !m->renewed && faces_copy(&m->before, &png->faces, m->assumed, err) < 0)
        return -err->code;
    m->ordered = m->renewed = true;
    png->begun = true;
    png->faces.count = 0;
    png->faces.counted = true;
    return 0;
}

/* In the middle of a section, the first block tells the order of bytes. */
static void find_order(struct pcapng *png, const uint8_t *head)
{
    struct middle *m = &png->middle;

    if (!m->on || m->renewed)
        return;
    if (!m->ordered)
        png->swapped = !pcapng_is_type(load_le32(head));
    m->ordered = true;
    m->order = png->swapped ? ORDER_BIG : ORDER_LITTLE;
}

/* Reads one block: 1, 0 at the end of the file, or a negative code. */
static int read_block(struct pcapng *png, uint32_t *type, struct err *err)
{
    uint8_t head[12];
    uint32_t len, have = 0;
    size_t n = fread(head, 1, 8, png->file);

    if (n == 0 && !ferror(png->file))
        return 0;
    if (n < 8)
        return cut(png, err);
    *type = load_le32(head); /* a section header reads the same in both orders */
    if (*type == PCAPNG_SECTION) {
        if (fread(head + 8, 1, 4, png->file) < 4)
            return cut(png, err);
        if (load_le32(head + 8) == PCAPNG_BYTE_ORDER)
            png->swapped = false;
        else if (load_be32(head + 8) == PCAPNG_BYTE_ORDER)
            png->swapped = true;
        else
            return damaged(png, "unknown byte order", err);
        have = 4;
        if (begin_section(png, err) < 0)
            return -err->code;
    } else if (!png->begun) {
        return damaged(png, "no section header", err);
    } else {
        find_order(png, head);
    }
    *type = get32(png, head);
    len = get32(png, head + 4);
    if (len < PCAPNG_BLOCK_LEAST + have || len % 4 || len > PCAPNG_BLOCK_MAX)
        return damaged(png, "impossible block length", err);
    if (reserve(png, len, err) < 0)
        return -ERR_SYSTEM;
    memcpy(png->block, head + 8, have);
    png->body_len = len - PCAPNG_BLOCK_LEAST;
    if (fread(png->block + have, 1, len - 8 - have, png->file) < len - 8 - have)
        return cut(png, err);
    if (get32(png, png->block + png->body_len) != len)
        return damaged(png, "its two lengths differ", err);
    return 1;
}

static int add_interface(struct pcapng *png, struct err *err)
{
    struct face face = { .resolution = RESOLUTION_DEFAULT, .known = FACE_ALL };
    uint32_t at = 8, code, len;

    if (png->body_len < 8)
        return damaged(png, "interface description too short", err);
    if (png->faces.count == FACES_MAX)
        return damaged(png, "too many interfaces", err);
    face.link_type = get16(png, png->block);
    face.snap_len = get32(png, png->block + 4);
    while (png->body_len - at >= 4) {
        const uint8_t *p = png->block + at;
        code = get16(png, p);
        len = get16(png, p + 2);
        at += 4;
        if (!code || len > png->body_len - at)
            break;
        if (code == PCAPNG_OPTION_RESOLUTION && len == 1)
            face.resolution = p[4];
        if (code == PCAPNG_OPTION_OFFSET && len == 8) {
            uint64_t v = png->swapped ? load_be64(p + 4) : load_le64(p + 4);
            memcpy(&face.offset, &v, 8);
        }
        len = (len + 3) & ~3u;
        at += len < png->body_len - at ? len : png->body_len - at;
    }
    png->faces.counted = true;
    return faces_add(&png->faces, &face) < 0 ? err_memory(err, "interfaces") : 0;
}

/* Nanoseconds since the epoch, or TIME_NONE. */
static int64_t time_of(const struct face *face, uint32_t high, uint32_t low)
{
    uint64_t ticks = (uint64_t)high << 32 | low, per_second = 1;
    unsigned exponent = face->resolution & 0x7f;

    if (face->resolution & 0x80) {
        per_second = UINT64_C(1) << (exponent < 63 ? exponent : 63);
    } else {
        for (unsigned i = 0; i < exponent && per_second < UINT64_C(1000000000000000000); i++)
            per_second *= 10;
    }
    return time_of_frame((int64_t)(ticks / per_second + (uint64_t)face->offset),
                         wide_scale(ticks % per_second, 1000000000, per_second));
}

/* Finds the interface of a packet, of which |need| (FACE_) must be known. */
static int find_face(struct pcapng *png, uint32_t id, uint8_t need, const struct face **face,
                     struct err *err)
{
    struct middle *m = &png->middle;

    if (id >= png->faces.count) {
        if (!m->on || m->renewed || m->sure || id >= FACES_MAX)
            return damaged(png, "a packet of an interface that was not described", err);
        *face = &m->guess;
        if (png->faces.counted) { /* by what was taken to be so */
            m->strange = true;
            return 0;
        }
        while (id >= png->faces.count)
            if (faces_add(&png->faces, &m->guess) < 0)
                return err_memory(err, "interfaces");
        m->assumed = png->faces.count;
    }
    png->faces.list[id].known |= need;
    *face = &png->faces.list[id];
    return 0;
}

/* What a block says of its packet. */
struct packet {
    uint32_t head; /* bytes of the block before it */
    uint32_t cap_len, wire_len;
};

static int give(struct pcapng *png, const struct face *face, const struct packet *p,
                struct frame *frame, struct err *err)
{
    if (p->cap_len > png->body_len - p->head)
        return damaged(png, "packet longer than its block", err);
    frame->data = png->block + p->head;
    frame->cap_len = p->cap_len;
    frame->wire_len = p->wire_len > p->cap_len ? p->wire_len : p->cap_len;
    frame->link_type = face->link_type;
    png->packets++;
    return 1;
}

static int give_packet(struct pcapng *png, uint32_t id, struct frame *frame, struct err *err)
{
    const uint8_t *p = png->block;
    const struct packet packet = { 20, get32(png, p + 12), get32(png, p + 16) };
    const struct face *face;

    if (find_face(png, id, FACE_PACKETS, &face, err) < 0)
        return -err->code;
    frame->time = time_of(face, get32(png, p + 4), get32(png, p + 8));
    return give(png, face, &packet, frame, err);
}

static int give_simple(struct pcapng *png, struct frame *frame, struct err *err)
{
    uint32_t len = get32(png, png->block);
    struct packet packet = { 4, len, len };
    const struct face *face;

    if (find_face(png, 0, FACE_ALL, &face, err) < 0)
        return -err->code;
    if (face->snap_len && len > face->snap_len)
        packet.cap_len = face->snap_len;
    if (packet.cap_len > png->body_len - packet.head && png->middle.on && !png->middle.renewed &&
        !png->middle.sure) { /* as the snap length was taken to be */
        packet.cap_len = png->body_len - packet.head;
        png->middle.strange = true;
    }
    frame->time = TIME_NONE;
    return give(png, face, &packet, frame, err);
}

/* Blocks that are no packets and have frame numbers in Wireshark. */
static bool is_event(uint32_t type)
{
    switch (type) {
    case PCAPNG_JOURNAL:
    case PCAPNG_SYSDIG_EVENT:
    case PCAPNG_SYSDIG_EVENT_2:
    case PCAPNG_SYSDIG_EVENT_2_LARGE:
    case PCAPNG_CUSTOM:
    case PCAPNG_CUSTOM_NOT_COPIED:
        return true;
    default:
        return false;
    }
}

int pcapng_next(struct pcapng *png, struct pcapng_block *block, struct frame *frame,
                struct err *err)
{
    uint32_t type = 0;
    int rc = read_block(png, &type, err);

    if (rc != 1)
        return rc;
    if (type == PCAPNG_PACKET && png->body_len >= 20)
        rc = give_packet(png, get32(png, png->block), frame, err);
    else if (type == PCAPNG_PACKET_OBSOLETE && png->body_len >= 20)
        rc = give_packet(png, get16(png, png->block), frame, err);
    else if (type == PCAPNG_PACKET_SIMPLE && png->body_len >= 4)
        rc = give_simple(png, frame, err);
    else if (type == PCAPNG_PACKET || type == PCAPNG_PACKET_OBSOLETE ||
             type == PCAPNG_PACKET_SIMPLE)
        rc = damaged(png, "packet block too short", err);
    else
        rc = type == PCAPNG_INTERFACE ? add_interface(png, err) : 0;
    png->offset += png->body_len + PCAPNG_BLOCK_LEAST;
    *block = (struct pcapng_block){ type,         png->block, png->body_len,
                                    png->swapped, rc == 1,    rc == 1 || is_event(type) };
    return rc < 0 ? rc : 1;
}

/* What was known is taken to be so, and marked when it is needed. */
static void begin_middle(struct pcapng *png)
{
    struct middle *m = &png->middle;

    faces_free(&m->before);
    *m = (struct middle){ .on = true,
                          .assumed = png->faces.count,
                          .guess = { .link_type = 1, .resolution = RESOLUTION_DEFAULT } };
    for (uint32_t i = 0; i < png->faces.count; i++)
        png->faces.list[i].known = 0;
    if (png->faces.count)
        m->guess = png->faces.list[0];
    png->begun = true;
}

void pcapng_jump(struct pcapng *png, uint64_t from)
{
    begin_middle(png);
    png->offset = png->since = from;
    png->packets = 0;
    png->faces.counted = false;
}

int pcapng_jump_with(struct pcapng *png, const struct faces *faces, bool sure, struct err *err)
{
    faces_free(&png->faces);
    if (faces_copy(&png->faces, faces, faces->count, err) < 0)
        return -err->code;
    begin_middle(png);
    png->middle.sure = sure && faces->counted;
    png->middle.ordered = faces->order != ORDER_UNKNOWN;
    png->swapped = faces->order == ORDER_BIG;
    return 0;
}

void pcapng_border(struct pcapng *png)
{
    struct middle *m = &png->middle;

    if (!m->on) /* all is known */
        return;
    if (m->renewed) /* in the lead-in: then it knows all of them */
        m->order = png->swapped ? ORDER_BIG : ORDER_LITTLE;
    m->renewed = false;
    m->assumed = png->faces.count;
    faces_free(&m->before);
}

int pcapng_span(const struct pcapng *png, struct faces_span *span, struct err *err)
{
    const struct middle *m = &png->middle;
    const struct faces *before = m->renewed ? &m->before : &png->faces;
    uint32_t count = m->on ? m->assumed : 0;
    int rc = faces_copy(&span->end, &png->faces, png->faces.count, err);

    span->end.order = png->swapped ? ORDER_BIG : ORDER_LITTLE;
    span->renewed = !m->on || m->renewed;
    span->strange = m->strange;
    while (count && !before->counted && !before->list[count - 1].known)
        count--; /* there need not be one */
    if (rc == 0 && m->on)
        rc = faces_copy(&span->before, before, count, err);
    span->before.order = m->order;
    return rc;
}
