/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_out.h"

#include <stdlib.h>
#include <string.h>

enum {
    ETHERNET = 14,
    IP = 20,
    TCP = 32, /* with timestamps */
    HEADERS = ETHERNET + IP + TCP,
    MSS = 1500 - IP - TCP,
    SYN = 2,
    PSH = 8,
    ACK = 16,
    BUFFER = 1 << 20,
};

static void be16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void be32(uint8_t *p, uint32_t v)
{
    be16(p, v >> 16);
    be16(p + 2, v & 0xffff);
}

static void le32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, 4); /* the file has the machine's order, as its magic number says */
}

bool bench_out_open(struct bench_out *out, const char *path, uint64_t seed)
{
    uint8_t header[24] = { 0 };

    memset(out, 0, sizeof(*out));
    out->random = seed;
    out->now = UINT64_C(1700000000000000);
    out->file = fopen(path, "wb");
    if (!out->file)
        return false;
    setvbuf(out->file, NULL, _IOFBF, BUFFER);
    le32(header, 0xa1b2c3d4);
    le32(header + 4, 4u << 16 | 2);
    le32(header + 16, 262144);
    le32(header + 20, 1);
    out->failed = fwrite(header, sizeof(header), 1, out->file) != 1;
    return true;
}

bool bench_out_close(struct bench_out *out)
{
    return fclose(out->file) == 0 && !out->failed;
}

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
uint64_t bench_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t bench_random(struct bench_out *out)
{
    return bench_next(&out->random);
}

static uint8_t *grow(struct bench_message *m, uint32_t len)
{
    uint8_t *p = m->data + m->len;

    if (len > sizeof(m->data) - m->len)
        abort(); /* a message of this generator is never that long */
    m->len += len;
    return p;
}

void bench_begin(struct bench_message *m)
{
    m->len = 4;
}

void bench_u32(struct bench_message *m, uint32_t value)
{
    be32(grow(m, 4), value);
}

void bench_u64(struct bench_message *m, uint64_t value)
{
    bench_u32(m, (uint32_t)(value >> 32));
    bench_u32(m, (uint32_t)value);
}

uint8_t *bench_opaque(struct bench_message *m, const void *data, uint32_t len)
{
    uint32_t padded = (len + 3) & ~3u;
    uint8_t *p;

    bench_u32(m, len);
    p = grow(m, padded);
    memset(p + len, 0, padded - len);
    if (data)
        memcpy(p, data, len);
    return p;
}

static void checksum(uint8_t *ip)
{
    uint32_t sum = 0;

    for (int i = 0; i < IP; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    be16(ip + 10, ~sum & 0xffff);
}

static void packet(struct bench_out *out, struct bench_conn *c, int side, unsigned flags,
                   const uint8_t *data, uint32_t len)
{
    uint8_t record[16], frame[HEADERS] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0 };
    uint8_t *ip = frame + ETHERNET, *tcp = ip + IP;
    uint32_t total = HEADERS + len;

    frame[side ? 5 : 11] = (uint8_t)c->client;
    ip[0] = 0x45;
    be16(ip + 2, IP + TCP + len);
    be16(ip + 4, out->ident++);
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = 6;
    be32(ip + 12, side ? c->server : c->client);
    be32(ip + 16, side ? c->client : c->server);
    checksum(ip);
    be16(tcp, side ? c->server_port : c->client_port);
    be16(tcp + 2, side ? c->client_port : c->server_port);
    be32(tcp + 4, c->seq[side]);
    if (flags & ACK)
        be32(tcp + 8, c->seq[!side]);
    tcp[12] = TCP / 4 << 4;
    tcp[13] = (uint8_t)flags;
    be16(tcp + 14, 0xffff);
    memcpy(tcp + 20, "\1\1\x8\xa", 4);
    be32(tcp + 24, (uint32_t)(out->now / 1000));
    be32(tcp + 28, (uint32_t)(out->now / 1000) - 1);

    le32(record, (uint32_t)(out->now / 1000000));
    le32(record + 4, (uint32_t)(out->now % 1000000));
    le32(record + 8, total);
    le32(record + 12, total);
    out->failed |= fwrite(record, sizeof(record), 1, out->file) != 1;
    out->failed |= fwrite(frame, sizeof(frame), 1, out->file) != 1;
    if (len)
        out->failed |= fwrite(data, len, 1, out->file) != 1;
    out->packets++;
    out->now += 2 + bench_random(out) % 8;
    c->seq[side] += len + (flags & SYN ? 1 : 0);
}

void bench_open(struct bench_out *out, struct bench_conn *conn)
{
    packet(out, conn, 0, SYN, NULL, 0);
    packet(out, conn, 1, SYN | ACK, NULL, 0);
    packet(out, conn, 0, ACK, NULL, 0);
}

void bench_send(struct bench_out *out, struct bench_conn *conn, int side, struct bench_message *m)
{
    be32(m->data, 0x80000000u | (m->len - 4));
    for (uint32_t at = 0; at < m->len;) {
        uint32_t len = m->len - at < MSS ? m->len - at : MSS;
        bool last = at + len == m->len;
        packet(out, conn, side, ACK | (last ? PSH : 0), m->data + at, len);
        conn->unacked[!side] = 0; /* the segment itself acknowledges */
        at += len;
        if (++conn->unacked[side] == 2 || (last && bench_random(out) % 2)) {
            packet(out, conn, !side, ACK, NULL, 0);
            conn->unacked[side] = 0;
        }
    }
}
