/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/frames.c
 *
 * Puts rewritten messages into Ethernet, IP, TCP and UDP.  For anon.c.  The contract is in
 * frames.h.
 */
#include "anon/frames.h"
#include "flow/message.h"
#include "wire/rpc_put.h"

#include <stdlib.h>

enum {
    LINKTYPE_ETHERNET = 1,
    ETHER_LEN = 14,
    IPV4_LEN = 20,
    IPV6_LEN = 40,
    TCP_LEN = 20,
    SYN_OPTIONS_LEN = 8,
    UDP_LEN = 8,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    RECORD_MARK_LEN = 4,
    HOP_LIMIT = 64,
    CUT_LEAST = 2048,
};
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

struct connection {
    uint32_t id;
    uint32_t next[2];    /* sequence number of each side's next byte */
    uint32_t acked;      /* the client's last acknowledgement */
    bool finished[2];    /* a side's FIN was written */
    bool reset;          /* a RST was */
    uint64_t last_reply; /* frame in the capture of the server's last message */
};

struct frames {
    struct pcapng_writer out;
    struct frames_counts counts;
    struct connection connections[FRAMES_FLOWS];
};

struct frames *frames_new(output_writer *write, void *ctx, const char *comment, struct err *err)
{
    struct frames *f = calloc(1, sizeof(*f));

    if (!f) {
        err_memory(err, "frames");
        return NULL;
    }
    f->out.write = write;
    f->out.ctx = ctx;
    if (pcapng_begin(&f->out, LINKTYPE_ETHERNET, comment, err) == 0)
        return f;
    frames_free(f);
    return NULL;
}

void frames_free(struct frames *f)
{
    if (!f)
        return;
    pcapng_free(&f->out);
    free(f);
}

/* --- checksums, RFC 1071 --- */

/* Adds bytes that begin at an even offset; the sum is of little-endian words. */
static uint64_t sum_bytes(uint64_t sum, const uint8_t *p, size_t len)
{
    uint64_t other = 0;

    for (; len >= 8; p += 8, len -= 8) {
        uint64_t v = load_le64(p);
        sum += v & UINT32_MAX;
        other += v >> 32;
    }
    sum += other;
    for (; len >= 2; p += 2, len -= 2)
        sum += (uint64_t)p[0] | (uint64_t)p[1] << 8;
    return len ? sum + p[0] : sum;
}

static uint16_t sum_fold(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void put_checksum(uint8_t *at, uint64_t sum)
{
    store_le16(at, sum_fold(sum)); /* the sum was of little-endian words */
}

/* --- headers; each returns where the next begins --- */

/* A locally administered unicast address that follows from the IP address. */
static void put_hardware(uint8_t *p, const struct address *a)
{
    p[0] = 2;
    p[1] = a->version;
    memcpy(p + 2, a->bytes + address_len(a) - 4, 4);
    if (a->version == 6) /* the host's bits are the last ones, the site's the first */
        for (unsigned i = 0; i < 12; i++)
            p[2 + i % 4] ^= (uint8_t)(a->bytes[i] * 5);
}

struct ip_head {
    const struct address *from, *to;
    uint8_t protocol;
    uint16_t id;  /* 0 or the identification */
    uint32_t len; /* of what follows, on the wire */
};

static uint8_t *put_ip(uint8_t *p, const struct ip_head *head)
{
    const struct address *from = head->from, *to = head->to;

    put_hardware(p, to);
    put_hardware(p + 6, from);
    store_be16(p + 12, from->version == 4 ? 0x0800 : 0x86dd);
    p += ETHER_LEN;
    if (from->version == 6) {
        store_be32(p, 0x60000000);
        store_be16(p + 4, (uint16_t)head->len);
        p[6] = head->protocol;
        p[7] = HOP_LIMIT;
        memcpy(p + 8, from->bytes, 16);
        memcpy(p + 24, to->bytes, 16);
        return p + IPV6_LEN;
    }
    store_be16(p, 0x4500);
    store_be16(p + 2, (uint16_t)(IPV4_LEN + head->len));
    store_be32(p + 4, (uint32_t)head->id << 16 | 0x4000); /* don't fragment */
    p[8] = HOP_LIMIT;
    p[9] = head->protocol;
    store_be16(p + 10, 0);
    memcpy(p + 12, from->bytes, 4);
    memcpy(p + 16, to->bytes, 4);
    put_checksum(p + 10, sum_bytes(0, p, IPV4_LEN));
    return p + IPV4_LEN;
}

static uint64_t sum_pseudo_header(const struct address *from, const struct address *to,
                                  uint8_t protocol, uint32_t len)
{
    uint8_t tail[8];
    uint64_t sum = sum_bytes(0, from->bytes, address_len(from));

    sum = sum_bytes(sum, to->bytes, address_len(to));
    store_be32(tail, len);
    store_be32(tail + 4, protocol);
    return sum_bytes(sum, tail, sizeof(tail));
}

static uint32_t ip_len(const struct address *a)
{
    return ETHER_LEN + (a->version == 4 ? IPV4_LEN : IPV6_LEN);
}

/* --- TCP --- */

/* One segment: |wire_len| bytes of payload of which the first |cap_len| are there, the first four
 * of them a record mark if |mark| is set. */
struct segment {
    uint8_t flags;
    uint32_t seq, ack;
    bool has_mark;
    uint32_t mark;
    const uint8_t *data;
    uint32_t cap_len, wire_len;
};

/* A connection while something is written for it. */
struct line {
    const struct frames_flow *flow;
    struct connection *c;
    int64_t time;
};

static int put_segment(struct frames *f, const struct line *line, uint8_t side,
                       const struct segment *s, struct err *err)
{
    const struct frames_flow *flow = line->flow;
    const struct address *from = &flow->address[side], *to = &flow->address[!side];
    uint32_t options = s->flags & TCP_SYN ? SYN_OPTIONS_LEN : 0;
    uint32_t head = ip_len(from) + TCP_LEN + options, body = s->cap_len;
    uint8_t *frame = pcapng_packet(&f->out, line->time, head + s->cap_len, head + s->wire_len, err);
    uint8_t *tcp, *p;

    if (!frame)
        return -err->code;
    tcp = put_ip(frame,
                 &(struct ip_head){ from, to, PROTOCOL_TCP, 0, TCP_LEN + options + s->wire_len });
    store_be16(tcp, flow->port[side]);
    store_be16(tcp + 2, flow->port[!side]);
    store_be32(tcp + 4, s->seq);
    store_be32(tcp + 8, s->ack);
    tcp[12] = (uint8_t)((TCP_LEN + options) / 4 << 4);
    tcp[13] = s->flags;
    store_be16(tcp + 14, 65535);
    store_be32(tcp + 16, 0);
    p = tcp + TCP_LEN;
    if (options) {
        store_be32(p, 0x02040000 | SEGMENT_MAX); /* maximum segment size */
        store_be32(p + 4, 0x0103030e);           /* no-op, window scale 14 */
        p += options;
    }
    if (s->has_mark) {
        uint8_t mark[RECORD_MARK_LEN];
        uint32_t len = body < RECORD_MARK_LEN ? body : RECORD_MARK_LEN;
        store_be32(mark, s->mark);
        memcpy(p, mark, len);
        p += len;
        body -= len;
    }
    if (body)
        memcpy(p, s->data, body);
    put_checksum(tcp + 16, sum_bytes(sum_pseudo_header(from, to, PROTOCOL_TCP,
                                                       TCP_LEN + options + s->wire_len),
                                     tcp, TCP_LEN + options + s->cap_len));
    f->counts.frames++;
    return 0;
}

static int put_handshake(struct frames *f, const struct line *line, struct err *err)
{
    struct segment s = { .flags = TCP_SYN };
    struct connection *c = line->c;
    uint8_t client = line->flow->client;
    int rc;

    *c = (struct connection){ .id = line->flow->id };
    /* far from those of a connection before this one between the same ports */
    c->next[client] = (uint32_t)f->counts.connections * 0x2545f491u;
    c->next[!client] = c->next[client] + 0x40000000u;
    f->counts.connections++;
    s.seq = c->next[client]++;
    if ((rc = put_segment(f, line, client, &s, err)) < 0)
        return rc;
    s.flags = TCP_SYN | TCP_ACK;
    s.seq = c->next[!client]++;
    s.ack = c->next[client];
    if ((rc = put_segment(f, line, !client, &s, err)) < 0)
        return rc;
    s.flags = TCP_ACK;
    s.seq = c->next[client];
    s.ack = c->acked = c->next[!client];
    return put_segment(f, line, client, &s, err);
}

static int put_record(struct frames *f, const struct line *line, const struct frames_place *place,
                      const struct rewritten *m, struct err *err)
{
    struct connection *c = line->c;
    uint8_t side = place->side;
    struct segment s = { .has_mark = true, .mark = RPC_LAST_FRAGMENT | m->wire_len };
    /* with the record mark; |at| counts it */
    uint32_t wire_len = m->wire_len + RECORD_MARK_LEN, cap_len = m->cap_len + RECORD_MARK_LEN;
    int rc = 0;

    if (c->finished[side]) /* that was no FIN: the stream goes on where it stood */
        c->next[side]--;
    c->finished[side] = false;
    if (side == line->flow->client)
        c->acked = c->next[!side];
    else
        c->last_reply = place->frame;
    for (uint32_t at = 0; rc == 0 && at < wire_len; at += s.wire_len) {
        s.wire_len = wire_len - at < SEGMENT_MAX ? wire_len - at : SEGMENT_MAX;
        s.cap_len = cap_len > at ? cap_len - at : 0;
        if (s.cap_len > s.wire_len)
            s.cap_len = s.wire_len;
        s.flags = TCP_ACK | (at + s.wire_len == wire_len ? TCP_PSH : 0);
        s.seq = c->next[side];
        s.ack = c->next[!side];
        s.has_mark = at == 0;
        s.data = m->data + (at ? at - RECORD_MARK_LEN : 0);
        rc = put_segment(f, line, side, &s, err);
        c->next[side] += s.wire_len;
    }
    return rc;
}

/* A segment without data. */
static int put_empty(struct frames *f, const struct line *line, uint8_t side, uint8_t flags,
                     struct err *err)
{
    const struct connection *c = line->c;
    struct segment s = { .flags = flags,
                         .seq = c->next[side],
                         .ack = side == line->flow->client ? c->acked : c->next[!side] };

    return put_segment(f, line, side, &s, err);
}

int frames_over(struct frames *f, const struct frames_flow *flow, const struct frames_place *place,
                const struct frames_over *over, struct err *err)
{
    struct connection *c = &f->connections[flow->id % FRAMES_FLOWS];
    const struct line line = { flow, c, place->time };
    uint8_t side = place->side, client = flow->client, kind = over->kind;
    bool fin = kind == FLOW_END_FIN && !c->finished[side];
    int rc = 0;

    if (c->id != flow->id)
        return 0;
    if (over->acked > c->last_reply && c->acked != c->next[!client]) {
        c->acked = c->next[!client];
        if (!fin || side != client) /* else the FIN says it */
            rc = put_empty(f, &line, client, TCP_ACK, err);
    }
    if (rc == 0 && fin) {
        rc = put_empty(f, &line, side, TCP_FIN | TCP_ACK, err);
        c->next[side]++;
        c->finished[side] = true;
    }
    if (rc == 0 && kind == FLOW_END_RST && !c->reset) {
        rc = put_empty(f, &line, side, TCP_RST | TCP_ACK, err);
        c->reset = true;
    }
    return rc;
}

/* --- UDP --- */

static int put_datagram(struct frames *f, const struct frames_flow *flow,
                        const struct frames_place *place, const struct rewritten *m,
                        struct err *err)
{
    uint8_t side = place->side;
    const struct address *from = &flow->address[side], *to = &flow->address[!side];
    uint32_t head = ip_len(from) + UDP_LEN;
    uint32_t wire_len = m->wire_len, cap_len = m->cap_len;
    uint16_t checksum;
    uint8_t *frame, *udp;

    if (wire_len > DATAGRAM_MAX) {
        f->counts.too_long++;
        wire_len = DATAGRAM_MAX;
        if (cap_len > wire_len - CUT_LEAST) /* it must read as cut: no value passes both ends */
            cap_len = wire_len - CUT_LEAST;
    }
    frame = pcapng_packet(&f->out, place->time, head + cap_len, head + wire_len, err);
    if (!frame)
        return -err->code;
    udp = put_ip(frame,
                 &(struct ip_head){ from, to, PROTOCOL_UDP, place->ip_id, UDP_LEN + wire_len });
    store_be16(udp, flow->port[side]);
    store_be16(udp + 2, flow->port[!side]);
    store_be16(udp + 4, (uint16_t)(UDP_LEN + wire_len));
    store_be16(udp + 6, 0);
    memcpy(udp + UDP_LEN, m->data, cap_len);
    checksum = sum_fold(sum_bytes(sum_pseudo_header(from, to, PROTOCOL_UDP, UDP_LEN + wire_len),
                                  udp, UDP_LEN + cap_len));
    if (!checksum) /* 0 would mean that there is none, RFC 768 */
        checksum = 0xffff;
    store_le16(udp + 6, checksum);
    f->counts.frames++;
    return 0;
}

int frames_message(struct frames *f, const struct frames_flow *flow,
                   const struct frames_place *place, const struct rewritten *message,
                   struct err *err)
{
    struct connection *c = &f->connections[flow->id % FRAMES_FLOWS];
    const struct line line = { flow, c, place->time };
    int rc = 0;

    f->counts.bytes += message->wire_len;
    if (flow->transport == PROTOCOL_UDP)
        return put_datagram(f, flow, place, message, err);
    if (c->id != flow->id)
        rc = put_handshake(f, &line, err);
    return rc < 0 ? rc : put_record(f, &line, place, message, err);
}

int frames_flush(struct frames *f, struct err *err)
{
    return pcapng_flush(&f->out, err);
}

int frames_end(struct frames *f, const char *comment, struct err *err)
{
    return pcapng_end(&f->out, f->out.latest, comment, err);
}

const struct frames_counts *frames_counts(const struct frames *f)
{
    return &f->counts;
}
