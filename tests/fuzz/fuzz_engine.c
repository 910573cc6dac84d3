/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_engine.c
 *
 * Any frames through the whole engine, under limits so small that they are met.  Held to: the
 * records make a stream in which nfsr_check finds nothing wrong, and no record speaks of a frame
 * that did not come yet.
 *
 * Input: a byte of options, then pieces, each of: kind, time step, what the kind asks for.
 *     0-63    a frame: length (2), bytes; odd: the frame was 100 bytes longer on the wire
 *     64-191  TCP in the order of the stream: bits 0-1 connection, bit 2 direction, bit 3 a skew
 *             follows, bit 4 an acknowledgement of all before it, bit 5 cut; [skew (1, signed),]
 *             length (2), bytes
 *     192-223 a datagram: bit 0 direction, bits 1-2 ports; length (2), bytes
 *     224-255 TCP without data: bits 0-1 connection, bit 2 direction; flags (1)
 */
#include "engine.h"
#include "frames.h"
#include "record/nfsr.h"
#include "record/nfsr_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS = 4, LINKTYPE_ETHERNET = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct engine *engine;
    struct sink writer;
    struct buf stream; /* .nfsr */
    size_t taken;
    uint64_t frame;
    int64_t time;
    uint32_t next[CONNECTIONS][2];
    uint8_t packet[FRAME_MAX];
};

struct rest {
    const uint8_t *data;
    size_t len;
};

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static int to_memory(void *ctx, const void *data, size_t len, struct err *err)
{
    struct run *r = ctx;

    return buf_append(&r->stream, data, len) < 0 ? err_set(err, ERR_SYSTEM, "no memory") : 0;
}

static ssize_t from_memory(void *ctx, void *data, size_t len, struct err *err)
{
    struct run *r = ctx;

    (void)err;
    if (len > r->stream.len - r->taken)
        len = r->stream.len - r->taken;
    if (len)
        memcpy(data, r->stream.data + r->taken, len);
    r->taken += len;
    return (ssize_t)len;
}

static void seen(const struct run *r, const struct sighting *s)
{
    require(s->frame <= r->frame && s->first_frame <= s->frame, "a sighting in the future");
}

static int take(void *ctx, const struct record *record, struct err *err)
{
    struct run *r = ctx;

    if (record->kind == RECORD_OPERATION) {
        seen(r, &record->operation.call);
        seen(r, &record->operation.reply);
    } else if (record->kind == RECORD_REPEAT) {
        seen(r, &record->repeat.sighting);
    } else if (record->kind == RECORD_PROBLEM) {
        require(record->problem.frame <= r->frame, "a problem in the future");
    }
    return r->writer.put(r->writer.ctx, record, err);
}

static uint8_t byte(struct rest *in)
{
    if (!in->len)
        return 0;
    in->len--;
    return *in->data++;
}

static struct rest piece(struct rest *in)
{
    size_t len = (size_t)byte(in) << 8;
    struct rest out;

    len |= byte(in);
    out = (struct rest){ in->data, len < in->len ? len : in->len };
    in->data += out.len;
    in->len -= out.len;
    return out;
}

static void feed(struct run *r, const uint8_t *data, uint32_t len, uint32_t more)
{
    struct frame f = { .number = ++r->frame,
                       .time = r->time,
                       .cap_len = len,
                       .wire_len = len + more,
                       .link_type = LINKTYPE_ETHERNET };
    uint8_t *exact = malloc(len ? len : 1); /* the sanitizer sees what is read behind it */
    struct err err = { 0 };

    require(exact != NULL, "no memory");
    if (len)
        memcpy(exact, data, len);
    f.data = exact;
    if (engine_frame(r->engine, &f, &err) < 0)
        require(false, err.text);
    free(exact);
}

static void tcp(struct run *r, unsigned kind, struct rest *in)
{
    static const uint16_t ports[CONNECTIONS] = { 2049, 111, 2049, 40000 };
    unsigned conn = kind & 3, side = kind >> 2 & 1;
    struct endpoint end[2] = { { 0x0a000001, (uint16_t)(900 + conn) },
                               { 0x0a000009, ports[conn] } };
    uint32_t *next = &r->next[conn][side], seq = *next, ack = r->next[conn][!side], len, cut;
    struct rest data = { 0 };
    unsigned flags = TCP_ACK;

    if (conn == 2) { /* another connection between the same hosts, near the sequence's wrap */
        end[0].port = 901;
        seq += 0xfffff000;
        ack += 0xfffff000;
    }
    if (kind >= 224) {
        flags = byte(in);
        if (flags & TCP_SYN)
            ++*next;
    } else {
        int skew = kind & 8 ? (int8_t)byte(in) : 0;
        data = piece(in);
        seq += (uint32_t)(skew * 16);
        if (skew <= 0 || !(kind & 16))
            *next += (uint32_t)data.len;
        if (!(kind & 16))
            ack = 0;
    }
    len = frame_tcp(r->packet, 0, end[side], end[!side], seq, ack, flags, data.data,
                    (uint32_t)data.len);
    cut = kind < 224 && (kind & 32) ? (uint32_t)data.len / 2 : 0;
    feed(r, r->packet, len - cut, cut);
}

static void udp(struct run *r, unsigned kind, struct rest *in)
{
    static const uint16_t ports[4] = { 2049, 111, 20048, 5000 };
    struct endpoint end[2] = { { 0x0a000001, 700 }, { 0x0a000009, ports[kind >> 1 & 3] } };
    struct rest data = piece(in);

    feed(r, r->packet,
         frame_udp(r->packet, 0, end[kind & 1], end[!(kind & 1)], data.data, (uint32_t)data.len),
         0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run r;
    struct rest in = { data, size };
    uint8_t choice = byte(&in);
    struct engine_options options = { .connections = choice & 1 ? 2 : 16,
                                      .pending = choice & 2 ? 3 : 64,
                                      .stream_window = choice & 4 ? 300 : 0,
                                      .total_window = choice & 8 ? 500 : 0,
                                      .retransmit_span = choice & 16 ? 2000000 : 0,
                                      .reorder_span = choice & 32 ? 1000 : 0 };
    struct sink sink = { take, &r };
    struct nfsr_summary summary;
    struct nfsr_writer *writer;
    struct err err = { 0 };

    memset(&r, 0, sizeof(r) - sizeof(r.packet));
    r.time = choice & 64 ? 0 : INT64_C(1700000000000000000);
    writer = nfsr_writer_new(to_memory, &r, &err);
    require(writer != NULL, err.text);
    r.writer = nfsr_writer_sink(writer);
    r.engine = engine_new(&options, &sink, NULL, &err);
    require(r.engine != NULL, err.text);
    while (in.len) {
        unsigned kind = byte(&in);
        int8_t step = (int8_t)byte(&in);
        /* mostly microseconds, sometimes seconds, sometimes back */
        r.time += step > 100 ? (step - 100) * INT64_C(1000000000) : step * INT64_C(1000);
        if (kind < 64) {
            struct rest f = piece(&in);
            feed(&r, f.data, (uint32_t)f.len, kind & 1 ? 100 : 0);
        } else if (kind >= 192 && kind < 224) {
            udp(&r, kind, &in);
        } else {
            tcp(&r, kind, &in);
        }
    }
    if (engine_end(r.engine, choice & 128, &err) < 0)
        require(false, err.text);
    engine_free(r.engine);
    nfsr_writer_free(writer);
    require(nfsr_check(from_memory, &r, "records", &summary, &err) == 0, err.text);
    if (summary.findings) {
        fprintf(stderr, "%.*s", (int)summary.text.len, (const char *)summary.text.data);
        abort();
    }
    nfsr_summary_free(&summary);
    buf_free(&r.stream);
    return 0;
}
