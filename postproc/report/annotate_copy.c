/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate_copy.c
 *
 * Copies block by block, asks for the comments of each packet, and puts them in front of the
 * packet's options, in the section's byte order.  For annotate.c.  The contract is in
 * annotate_copy.h.
 */
#include "report/annotate_copy.h"
#include "link/pcapng_numbers.h"
#include "link/pcapng_write.h"

#include <stdbool.h>

enum {
    HEAD = 20, /* of a packet's body: interface, time, lengths */
    LINKTYPE_ETHERNET = 1,
    OPTION_MAX = 65532,
};

struct writing {
    struct annotate_copy *copy;
    struct pcapng_writer out;
    struct buf texts, body;
    bool begun;
    int64_t time; /* the latest that there was, for packets that have none and get comments */
};

static int no_memory(struct err *err)
{
    return err_memory(err, "a copy");
}

static int add16(struct buf *to, uint16_t value, bool swapped)
{
    value = swapped ? __builtin_bswap16(value) : value;
    return buf_append(to, &value, sizeof(value));
}

static int add32(struct buf *to, uint32_t value, bool swapped)
{
    value = swapped ? __builtin_bswap32(value) : value;
    return buf_append(to, &value, sizeof(value));
}

static int add_padded(struct buf *to, const void *data, size_t len)
{
    static const uint8_t zeros[3];

    return buf_append(to, data, len) < 0 ? -1 : buf_append(to, zeros, -len & 3);
}

/* The texts that were given as options. */
static int add_comments(struct buf *to, const struct buf *texts, bool swapped)
{
    for (size_t at = 0; at < texts->len;) {
        const char *text = (const char *)texts->data + at;
        size_t whole = strlen(text), len = whole < OPTION_MAX ? whole : OPTION_MAX;

        if (add16(to, PCAPNG_OPTION_COMMENT, swapped) < 0 ||
            add16(to, (uint16_t)len, swapped) < 0 || add_padded(to, text, len) < 0)
            return -1;
        at += whole + 1;
    }
    return 0;
}

/* A block as it stands in the file, with comments at |options| of its body. */
static int put_block(struct writing *w, const struct pcapng_block *b, uint32_t options,
                     struct err *err)
{
    struct buf *out = &w->out.out, *more = &w->body;
    uint32_t total;
    int bad = 0;

    more->len = 0;
    if (w->texts.len) {
        bad |= add_comments(more, &w->texts, b->swapped);
        if (options == b->len)
            bad |= add32(more, 0, false); /* the end of options */
    }
    total = b->len + 12 + (uint32_t)more->len;
    bad |= add32(out, b->type, b->swapped) | add32(out, total, b->swapped) |
           buf_append(out, b->body, options) | buf_append(out, more->data, more->len) |
           buf_append(out, b->body + options, b->len - options) | add32(out, total, b->swapped);
    if (bad)
        return no_memory(err);
    return out->len >= PCAPNG_BUFFER ? pcapng_flush(&w->out, err) : 0;
}

/* An enhanced packet of the first interface. */
static int put_frame(struct writing *w, const struct frame *frame, bool swapped, struct err *err)
{
    struct pcapng_block block = { .type = PCAPNG_PACKET, .swapped = swapped };
    struct buf body = { 0 };
    uint64_t time = (uint64_t)w->time;
    int bad = add32(&body, 0, false) | add32(&body, (uint32_t)(time >> 32), swapped) |
              add32(&body, (uint32_t)time, swapped) | add32(&body, frame->cap_len, swapped) |
              add32(&body, frame->wire_len, swapped) |
              add_padded(&body, frame->data, frame->cap_len);
    int result;

    block.body = body.data;
    block.len = (uint32_t)body.len;
    result = bad ? no_memory(err) : put_block(w, &block, block.len, err);
    buf_free(&body);
    return result;
}

static int put_packet(struct writing *w, const struct pcapng_block *block,
                      const struct frame *frame, struct err *err)
{
    uint32_t options;

    if (block->type == PCAPNG_PACKET_SIMPLE && w->texts.len)
        return put_frame(w, frame, block->swapped, err);
    options =
        block->type == PCAPNG_PACKET_SIMPLE ? block->len : HEAD + ((frame->cap_len + 3) & ~3u);
    return put_block(w, block, options < block->len ? options : block->len, err);
}

static int put_section(struct writing *w, struct pcapng_block *block, struct err *err)
{
    struct buf body = { 0 };
    int result;

    if (buf_append(&body, block->body, block->len) < 0)
        return no_memory(err);
    if (body.len >= 16)
        memset(body.data + 8, 0xff, 8); /* its length: not said */
    block->body = body.data;
    result = put_block(w, block, block->len, err);
    buf_free(&body);
    return result;
}

static int put(struct writing *w, struct pcapng_block *block, const struct frame *frame,
               struct err *err)
{
    struct annotate_copy *copy = w->copy;

    w->texts.len = 0;
    if (block->is_packet && frame->time != TIME_NONE)
        w->time = frame->time;
    if (!block->is_packet)
        return block->type == PCAPNG_SECTION ? put_section(w, block, err)
                                             : put_block(w, block, block->len, err);
    if (copy->comments(copy->ctx, frame->number, &w->texts, err) < 0)
        return -err->code;
    copy->frames++;
    copy->commented += w->texts.len != 0;
    return block->body ? put_packet(w, block, frame, err) : put_frame(w, frame, false, err);
}

int annotate_copy(struct annotate_copy *copy, struct capture *capture, output_writer *write,
                  void *ctx, struct err *err)
{
    struct writing w = { .copy = copy };
    struct pcapng_block block;
    struct frame frame;
    struct err input = { 0 };
    int result = 0, got = 0;

    w.out.write = write;
    w.out.ctx = ctx;
    while (result == 0 && (got = capture_next_block(capture, &block, &frame, &input)) == 1) {
        if (!w.begun && !block.body)
            result = pcapng_begin(&w.out, (uint16_t)frame.link_type, copy->comment, err);
        w.begun = true;
        if (result == 0)
            result = put(&w, &block, &frame, err);
    }
    if (result == 0 && !w.begun && got == 0) /* a pcap file without a packet */
        result = pcapng_begin(&w.out, LINKTYPE_ETHERNET, copy->comment, err);
    if (result == 0)
        result = pcapng_flush(&w.out, err);
    if (result == 0 && got < 0) {
        *err = input;
        result = got;
    }
    pcapng_free(&w.out);
    buf_free(&w.texts);
    buf_free(&w.body);
    return result;
}
