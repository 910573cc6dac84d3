/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/form_frame.c
 *
 * Checks one frame, from its hardware addresses to its TCP or UDP header, and that its numbers
 * follow from the frames before it.  form_free and form_addresses tell leak_file.c which bytes of a
 * frame only follow from others.  form_frame is for form.c.  The contract is in form.h.
 */
#include "audit/form.h"
#include "base/digest.h"

#include <string.h>

/* RFC 791, RFC 8200, RFC 9293, RFC 768; engine/anon/frames.h says what is put into them */
enum { ETHERNET = 14, IPV4 = 20, IPV6 = 40, TCP = 20, UDP = 8, SYN_OPTIONS = 8 };
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };
enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
#define FIRST_SEQUENCE 0x2545f491u /* times the number of connections before it */
#define ANSWERER_AHEAD 0x40000000u

struct packet {
    const uint8_t *ip, *next; /* headers */
    uint32_t here, length;    /* captured and whole bytes from |next| on */
    bool v6;
};

/* RFC 1071: 0 when a sum with its checksum in it is right. */
static uint32_t sum(uint32_t from, const uint8_t *p, uint32_t len)
{
    uint64_t all = from;

    for (uint32_t i = 0; i + 1 < len; i += 2)
        all += load_be16(p + i);
    if (len & 1)
        all += (uint32_t)p[len - 1] << 8;
    while (all >> 16)
        all = (all & 0xffff) + (all >> 16);
    return (uint32_t)all;
}

static bool is_checksum(const struct packet *k, uint8_t protocol)
{
    uint32_t all = k->v6 ? sum(0, k->ip + 8, 32) : sum(0, k->ip + 12, 8);
    uint8_t tail[8];

    store_be32(tail, k->length);
    store_be32(tail + 4, protocol);
    return sum(sum(all, tail, 8), k->next, k->here) == 0xffff;
}

static bool is_hardware(const uint8_t *p, const uint8_t *address, bool v6)
{
    uint8_t expected[6] = { 2, v6 ? 6 : 4 };

    memcpy(expected + 2, address + (v6 ? 12 : 0), 4);
    for (unsigned i = 0; v6 && i < 12; i++)
        expected[2 + i % 4] ^= (uint8_t)(address[i] * 5);
    return memcmp(p, expected, 6) == 0;
}

/* --- TCP --- */

static struct form_connection *connection_of(struct form *f, const struct packet *k, bool *side)
{
    uint8_t ends[36] = { 0 };
    unsigned width = k->v6 ? 16 : 4;
    const uint8_t *addresses = k->ip + (k->v6 ? 8 : 12);
    uint64_t key;
    struct form_connection *c;
    int order = memcmp(addresses, addresses + width, width);

    if (!order)
        order = memcmp(k->next, k->next + 2, 2);
    *side = order > 0;
    memcpy(ends, addresses + (*side ? width : 0), width);
    memcpy(ends + width, addresses + (*side ? 0 : width), width);
    memcpy(ends + 32, k->next + (*side ? 2 : 0), 2);
    memcpy(ends + 34, k->next + (*side ? 0 : 2), 2);
    key = XXH3_64bits(ends, sizeof(ends)) | 1;
    c = &f->connections[key >> 48];
    if (c->key != key)
        *c = (struct form_connection){ .key = key, .shared = c->key != 0 };
    return c;
}

static bool check_syn(struct form *f, const struct packet *k, struct form_connection *c, bool side,
                      struct form_fault *fault)
{
    static const uint8_t options[SYN_OPTIONS] = { 2, 4, 64000 >> 8, 64000 & 255, 1, 3, 3, 14 };
    uint32_t seq = load_be32(k->next + 4), ack = load_be32(k->next + 8);
    bool answer = k->next[13] & ACK, right;

    if (k->length != TCP + SYN_OPTIONS || memcmp(k->next + TCP, options, SYN_OPTIONS) != 0)
        return form_fails(fault, "tcp", "options or contents of a SYN");
    if (answer && !c->known[!side])
        right = c->shared;
    else if (answer)
        right = ack == c->next[!side] && seq == ack - 1 + ANSWERER_AHEAD;
    else
        right = !ack && seq == f->begun++ * FIRST_SEQUENCE;
    if (!answer)
        c->known[!side] = false;
    c->known[side] = true;
    c->finished[side] = false;
    c->next[side] = seq + 1;
    c->acked[side] = ack;
    return right || form_fails(fault, "tcp", "a sequence number that does not follow");
}

static bool check_tcp(struct form *f, const struct packet *k, struct form_fault *fault)
{
    static const uint8_t kinds[] = { SYN, SYN | ACK, ACK, ACK | PSH, FIN | ACK, RST | ACK };
    const uint8_t *p = k->next;
    struct form_connection *c;
    uint32_t head, seq, ack, data;
    bool side, right;

    if (k->length < TCP || k->here < TCP)
        return form_fails(fault, "tcp", "no whole header");
    head = p[13] & SYN ? TCP + SYN_OPTIONS : TCP;
    if (!memchr(kinds, p[13], sizeof(kinds)) || p[12] != head / 4 << 4 || k->here < head)
        return form_fails(fault, "tcp", "flags or length of the header");
    if (load_be16(p + 14) != 65535 || load_be16(p + 18))
        return form_fails(fault, "tcp", "window or urgent pointer");
    if (!is_checksum(k, PROTOCOL_TCP))
        return form_fails(fault, "checksum", "of TCP");
    c = connection_of(f, k, &side);
    if (p[13] & SYN)
        return check_syn(f, k, c, side, fault);
    if (!c->known[0] && !c->known[1] && !c->shared)
        return form_fails(fault, "tcp", "a connection without a SYN");
    seq = load_be32(p + 4);
    ack = load_be32(p + 8);
    data = k->length - TCP;
    /* data behind a FIN take its number: it was none */
    right = !c->known[side] || seq == c->next[side] ||
            (c->finished[side] && data && seq == c->next[side] - 1);
    /* an end may come before an acknowledgement of the last replies */
    right =
        right && (!c->known[!side] || ack == c->next[!side] || (!data && ack == c->acked[side]));
    c->next[side] = seq + data + (p[13] & FIN);
    c->finished[side] = p[13] & FIN || (c->finished[side] && !data);
    c->acked[side] = ack;
    c->known[side] = true;
    if (!c->known[!side])
        c->next[!side] = ack;
    c->known[!side] = true;
    return right || form_fails(fault, "tcp", "a sequence number that does not follow");
}

/* --- UDP --- */

struct datagram {
    uint32_t head;  /* hash of the ends and of what each copy has, XID and direction */
    uint32_t whole; /* of all of it; 0: it is cut */
};

/* Of one datagram there can be copies, that of which a snap length cut more among them. */
static bool is_copy(struct form *f, uint16_t id, const struct datagram *d)
{
    uint32_t *whole = &f->id_whole[id];

    if (f->id_heads[id] != d->head || (*whole && d->whole && *whole != d->whole))
        return false;
    *whole = *whole ? *whole : d->whole;
    return true;
}

/* Datagrams are counted, those with an original number at least, and copies have that of the first
 * one, which went between the same ends and says the same; some wait for others.  A number that
 * stays left out is one that was dropped.  False: one that nobody had. */
static bool count_id(struct form *f, uint16_t id, const struct datagram *d)
{
    uint16_t ahead = (uint16_t)(id - f->last_id);
    uint8_t *bits = &f->left_out[id / 8], bit = (uint8_t)(1 << id % 8);

    f->without_count += id == 0;
    if (!id)
        return true;
    if (ahead > 32767 && !(*bits & bit))
        return is_copy(f, id, d);
    if (!ahead && f->id_heads[id])
        return is_copy(f, id, d);
    f->id_heads[id] = d->head;
    f->id_whole[id] = d->whole;
    if (ahead > 32767) {
        *bits &= (uint8_t)~bit;
        f->left_count--;
        return true;
    }
    while (f->last_id != id) {
        f->last_id++;
        bit = (uint8_t)(1 << f->last_id % 8);
        if (f->last_id && f->last_id != id) {
            f->left_out[f->last_id / 8] |= bit;
            f->left_count++;
        } else {
            f->left_out[f->last_id / 8] &= (uint8_t)~bit;
        }
    }
    return true;
}

static bool check_udp(struct form *f, const struct packet *k, struct form_fault *fault)
{
    enum { SAME = 8 }; /* XID and direction */
    uint16_t id = k->v6 ? 0 : load_be16(k->ip + 4);
    struct datagram d = { 0, 0 };
    uint32_t here;

    if (k->length < UDP || k->here < UDP || load_be16(k->next + 4) != (uint16_t)k->length)
        return form_fails(fault, "udp", "length of a datagram");
    if (!load_be16(k->next + 6) || !is_checksum(k, PROTOCOL_UDP))
        return form_fails(fault, "checksum", "of UDP");
    here = k->here - UDP;
    d.head = (uint32_t)XXH3_64bits(k->ip + (k->v6 ? 8 : 12), k->v6 ? 32 : 8);
    d.head ^= load_be32(k->next) * 0x9e3779b1u;
    d.head ^= (uint32_t)XXH3_64bits(k->next + UDP, here < SAME ? here : SAME);
    d.head |= 1;
    if (k->here == k->length)
        d.whole = (uint32_t)XXH3_64bits(k->next + UDP, here) | 1;
    return count_id(f, id, &d) ||
           form_fails(fault, "ip", "an identification of no datagram, or of another one");
}

/* --- */

static bool check_ip(const uint8_t *frame, uint32_t wire_len, struct packet *k,
                     struct form_fault *fault)
{
    const uint8_t *p = k->ip;
    unsigned width = k->v6 ? 16 : 4;
    const uint8_t *addresses = p + (k->v6 ? 8 : 12);

    if (k->v6 ? load_be32(p) != 0x60000000 || load_be16(p + 4) != wire_len - ETHERNET - IPV6
              : load_be16(p) != 0x4500 || load_be16(p + 2) != wire_len - ETHERNET)
        return form_fails(fault, "ip", "version, class or length");
    if (k->v6 ? p[7] != 64 : load_be16(p + 6) != 0x4000 || p[8] != 64)
        return form_fails(fault, "ip", "flags or hop limit");
    if (!k->v6 && sum(0, p, IPV4) != 0xffff)
        return form_fails(fault, "checksum", "of IP");
    if (!is_hardware(frame, addresses + width, k->v6) || !is_hardware(frame + 6, addresses, k->v6))
        return form_fails(fault, "hardware", "an address that does not follow from that of IP");
    return true;
}

bool form_frame(struct form *f, const uint8_t *frame, uint32_t cap_len, uint32_t wire_len,
                struct form_fault *fault)
{
    struct packet k = { frame + ETHERNET, NULL, 0, 0, false };
    uint32_t head;
    uint8_t protocol;

    k.v6 = cap_len > ETHERNET && load_be16(frame + 12) == 0x86dd;
    head = ETHERNET + (k.v6 ? IPV6 : IPV4);
    if (cap_len < head || (!k.v6 && load_be16(frame + 12) != 0x0800))
        return form_fails(fault, "ip", "a frame of something else");
    if (!check_ip(frame, wire_len, &k, fault))
        return false;
    k.next = frame + head;
    k.here = cap_len - head;
    k.length = wire_len - head;
    protocol = k.ip[k.v6 ? 6 : 9];
    if (protocol == PROTOCOL_UDP)
        return check_udp(f, &k, fault);
    if (protocol != PROTOCOL_TCP || (!k.v6 && load_be16(k.ip + 4)))
        return form_fails(fault, "ip", "protocol or identification");
    return check_tcp(f, &k, fault);
}

/* Addresses and what is made of them, sums of all, and what follows: everything else was checked.
 */
static bool is_free(const uint8_t *frame, uint32_t len, uint32_t at)
{
    bool v6 = load_be16(frame + 12) == 0x86dd;
    uint32_t next = ETHERNET + (v6 ? IPV6 : IPV4), checksum = next + 6, end = next + UDP;

    if (at < 12)
        return at % 6 >= 2;
    if (len >= next + TCP && frame[ETHERNET + (v6 ? 6 : 9)] == PROTOCOL_TCP) {
        checksum = next + 16;
        end = next + (uint32_t)(frame[next + 12] >> 4) * 4;
    }
    return (!v6 && (at == 24 || at == 25)) || (at >= ETHERNET + (v6 ? 8u : 12u) && at < next) ||
           at == checksum || at == checksum + 1 || at >= end;
}

uint32_t form_free(const struct block *b, uint32_t at, uint32_t len)
{
    uint32_t count = 0;

    if (b->kind != BLOCK_PACKET || b->frame_len < ETHERNET + IPV4 + UDP)
        return len;
    for (uint32_t i = at; i < at + len; i++)
        count += i >= b->frame_at && i - b->frame_at < b->frame_len &&
                 is_free(b->data + b->frame_at, b->frame_len, i - b->frame_at);
    return count;
}

bool form_addresses(const struct block *b, uint32_t end, uint32_t *at, uint32_t *len)
{
    bool v6;

    if (b->kind != BLOCK_PACKET || b->frame_len < ETHERNET + IPV4)
        return false;
    v6 = load_be16(b->data + b->frame_at + 12) == 0x86dd;
    *at = b->frame_at + ETHERNET + (v6 ? 8 : 12);
    *len = v6 ? 32 : 8;
    return *at + *len <= b->frame_at + b->frame_len && end <= *at + *len;
}
