/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/pcapng_write.c
 *
 * Blocks of pcapng: a buffer is filled while a thread writes the one before.  The contract is in
 * pcapng_write.h.
 */
#include "link/pcapng_write.h"
#include "link/pcapng_numbers.h"
#include "link/frame.h"

enum { OPTION_MAX = 65535 };

static int add(struct buf *out, const void *data, size_t len)
{
    static const uint8_t zeros[3];

    return buf_append(out, data, len) < 0 || buf_append(out, zeros, -len & 3) < 0 ? -1 : 0;
}

static int add_u16(struct buf *out, uint16_t value)
{
    uint8_t bytes[2];

    store_le16(bytes, value);
    return buf_append(out, bytes, sizeof(bytes));
}

static int add_u32(struct buf *out, uint32_t value)
{
    uint8_t bytes[4];

    store_le32(bytes, value);
    return buf_append(out, bytes, sizeof(bytes));
}

static int add_option(struct buf *out, uint16_t code, const void *data, size_t len)
{
    uint16_t used = (uint16_t)(len < OPTION_MAX ? len : OPTION_MAX);

    return add_u16(out, code) < 0 || add_u16(out, used) < 0 ? -1 : add(out, data, used);
}

/* A block from what it holds. */
static int add_block(struct buf *out, uint32_t type, const struct buf *body)
{
    uint32_t total = (uint32_t)body->len + 12;

    return add_u32(out, type) < 0 || add_u32(out, total) < 0 ||
                   buf_append(out, body->data, body->len) < 0 || add_u32(out, total) < 0
               ? -1
               : 0;
}

int pcapng_begin(struct pcapng_writer *w, uint16_t link_type, const char *comment, struct err *err)
{
    static const char application[] = "nfsdigest " NFSDIGEST_VERSION;
    static const uint8_t nanoseconds = 9;
    const uint64_t unknown = UINT64_MAX;
    struct buf body = { 0 };
    int bad;

    bad = add_u32(&body, PCAPNG_BYTE_ORDER) | add_u16(&body, 1) | add_u16(&body, 0) |
          buf_append(&body, &unknown, sizeof(unknown)) |
          add_option(&body, PCAPNG_OPTION_COMMENT, comment, strlen(comment)) |
          add_option(&body, PCAPNG_OPTION_APPLICATION, application, strlen(application)) |
          add_u32(&body, 0) | add_block(&w->out, PCAPNG_SECTION, &body);
    body.len = 0;
    bad |= add_u16(&body, link_type) | add_u16(&body, 0) | add_u32(&body, 0) |
           add_option(&body, PCAPNG_OPTION_RESOLUTION, &nanoseconds, 1) | add_u32(&body, 0) |
           add_block(&w->out, PCAPNG_INTERFACE, &body);
    buf_free(&body);
    return bad ? err_memory(err, "the output") : pcapng_flush(w, err);
}

static int write_behind(void *ctx, void *data, size_t len, struct err *err)
{
    struct pcapng_writer *w = ctx;

    (void)data;
    (void)len;
    return w->write(w->ctx, w->behind.data, w->behind.len, err);
}

/* Gives the full buffer to the thread when that has written the one before. */
static int hand_over(struct pcapng_writer *w, struct err *err)
{
    static const uint8_t token;
    const struct iovec item = { (void *)&token, sizeof(token) };
    struct buf full = w->out;

    if (!w->thread && !(w->thread = queue_new(write_behind, w, err)))
        return -err->code;
    if (queue_drain(w->thread, err) < 0)
        return -err->code;
    w->out = w->behind;
    w->out.len = 0;
    w->behind = full;
    if (queue_put(w->thread, &item, 1, err) < 0)
        return -err->code;
    queue_submit(w->thread);
    return 0;
}

uint8_t *pcapng_packet(struct pcapng_writer *w, int64_t time, uint32_t cap_len, uint32_t wire_len,
                       struct err *err)
{
    bool simple = time == TIME_NONE && cap_len == wire_len;
    uint32_t head = simple ? PCAPNG_PACKET_SIMPLE_HEAD : PCAPNG_PACKET_HEAD;
    uint32_t padded = (cap_len + 3) & ~3u, total = head + padded + 4;
    uint8_t *p;

    if (w->out.len >= PCAPNG_BUFFER && hand_over(w, err) < 0)
        return NULL;
    if (w->out.cap - w->out.len < total && buf_reserve(&w->out, total) < 0) {
        err_memory(err, "the output");
        return NULL;
    }
    p = w->out.data + w->out.len;
    w->out.len += total;
    if (time == TIME_NONE)
        time = w->latest;
    else if (time > w->latest)
        w->latest = time;
    store_le32(p, simple ? PCAPNG_PACKET_SIMPLE : PCAPNG_PACKET);
    store_le32(p + 4, total);
    store_le32(p + 8, simple ? wire_len : 0); /* 0: the interface */
    if (!simple) {
        store_le32(p + 12, (uint32_t)((uint64_t)time >> 32));
        store_le32(p + 16, (uint32_t)time);
        store_le32(p + 20, cap_len);
        store_le32(p + 24, wire_len);
    }
    memset(p + head + cap_len, 0, padded - cap_len);
    store_le32(p + head + padded, total);
    return p + head;
}

int pcapng_flush(struct pcapng_writer *w, struct err *err)
{
    int rc = w->thread ? queue_drain(w->thread, err) : 0;

    if (rc == 0 && w->out.len)
        rc = w->write(w->ctx, w->out.data, w->out.len, err);
    w->out.len = 0;
    return rc;
}

int pcapng_end(struct pcapng_writer *w, int64_t time, const char *comment, struct err *err)
{
    struct buf body = { 0 };
    int bad = add_u32(&body, 0) | add_u32(&body, (uint32_t)((uint64_t)time >> 32)) |
              add_u32(&body, (uint32_t)time) |
              add_option(&body, PCAPNG_OPTION_COMMENT, comment, strlen(comment)) |
              add_u32(&body, 0) | add_block(&w->out, PCAPNG_STATISTICS, &body);

    buf_free(&body);
    return bad ? err_memory(err, "the output") : pcapng_flush(w, err);
}

void pcapng_free(struct pcapng_writer *w)
{
    queue_free(w->thread);
    buf_free(&w->behind);
    buf_free(&w->out);
}
