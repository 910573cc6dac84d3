/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frames.h"

#include <stdlib.h>

static void put16(uint8_t **at, uint32_t value)
{
    store_be16(*at, (uint16_t)value);
    *at += 2;
}

static void put32(uint8_t **at, uint32_t value)
{
    store_be32(*at, value);
    *at += 4;
}

/* Ethernet and IPv4 (RFC 791 s3.1) before |len| bytes of transport. */
static void headers(uint8_t **at, uint16_t vlan, uint32_t from, uint32_t to, unsigned protocol,
                    uint32_t len)
{
    static const uint8_t addresses[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

    memcpy(*at, addresses, sizeof(addresses));
    *at += sizeof(addresses);
    if (vlan) {
        put16(at, 0x8100);
        put16(at, vlan);
    }
    put16(at, 0x0800);
    put16(at, 0x4500);
    put16(at, 20 + len);
    put32(at, 0x00004000); /* no fragments */
    put16(at, 64 << 8 | protocol);
    put16(at, 0);
    put32(at, from);
    put32(at, to);
}

uint32_t frame_tcp(uint8_t *out, uint16_t vlan, struct endpoint from, struct endpoint to,
                   uint32_t seq, uint32_t ack, unsigned flags, const void *data, uint32_t len)
{
    uint8_t *at = out;

    headers(&at, vlan, from.ip, to.ip, 6, 20 + len);
    put16(&at, from.port);
    put16(&at, to.port);
    put32(&at, seq);
    put32(&at, ack);
    put16(&at, 5 << 12 | flags);
    put16(&at, 0xffff);
    put32(&at, 0);
    if (len)
        memcpy(at, data, len);
    return (uint32_t)(at - out) + len;
}

uint32_t frame_udp(uint8_t *out, uint16_t vlan, struct endpoint from, struct endpoint to,
                   const void *data, uint32_t len)
{
    uint8_t *at = out;

    headers(&at, vlan, from.ip, to.ip, 17, 8 + len);
    put16(&at, from.port);
    put16(&at, to.port);
    put16(&at, 8 + len);
    put16(&at, 0);
    if (len)
        memcpy(at, data, len);
    return (uint32_t)(at - out) + len;
}

void put_raw(struct buf *b, const void *data, uint32_t len)
{
    if (buf_append(b, data, len) < 0)
        abort();
}

void put_u32(struct buf *b, uint32_t value)
{
    uint8_t bytes[4];

    store_be32(bytes, value);
    put_raw(b, bytes, 4);
}

void put_u64(struct buf *b, uint64_t value)
{
    put_u32(b, (uint32_t)(value >> 32));
    put_u32(b, (uint32_t)value);
}

void put_opaque(struct buf *b, const void *data, uint32_t len)
{
    static const uint8_t zeros[3];

    put_u32(b, len);
    put_raw(b, data, len);
    put_raw(b, zeros, -len & 3);
}

void put_text(struct buf *b, const char *text)
{
    put_opaque(b, text, (uint32_t)strlen(text));
}

void put_fragments(struct buf *stream, const struct buf *b, uint32_t piece)
{
    uint32_t left = (uint32_t)b->len;

    do {
        uint32_t n = left < piece ? left : piece;
        put_u32(stream, n | (n == left ? UINT32_C(1) << 31 : 0));
        put_raw(stream, b->data + b->len - left, n);
        left -= n;
    } while (left);
}

void put_record(struct buf *stream, const struct buf *b)
{
    put_fragments(stream, b, (uint32_t)b->len);
}

void put_call(struct buf *b, uint32_t xid, uint32_t program, uint32_t version, uint32_t procedure)
{
    put_u32(b, xid);
    put_u32(b, 0); /* CALL */
    put_u32(b, 2);
    put_u32(b, program);
    put_u32(b, version);
    put_u32(b, procedure);
    put_u32(b, 1);       /* AUTH_SYS */
    put_u32(b, 28);      /* its length: */
    put_u32(b, 0);       /* stamp */
    put_text(b, "host"); /* 8 bytes */
    put_u32(b, 1000);    /* uid */
    put_u32(b, 100);     /* gid */
    put_u32(b, 1);       /* one more: */
    put_u32(b, 4);
    put_u64(b, 0); /* AUTH_NONE */
}

void put_reply(struct buf *b, uint32_t xid, uint32_t accept_stat)
{
    put_u32(b, xid);
    put_u32(b, 1); /* REPLY */
    put_u32(b, 0); /* MSG_ACCEPTED */
    put_u64(b, 0); /* AUTH_NONE */
    put_u32(b, accept_stat);
}

void put_linked_attributes(struct buf *b, uint32_t type, uint64_t fileid, uint32_t links)
{
    put_u32(b, type);
    put_u32(b, 0755);
    put_u32(b, links);
    put_u64(b, 0); /* uid, gid */
    put_u64(b, 10);
    put_u64(b, 4096);
    put_u64(b, 0); /* rdev */
    put_u64(b, 77);
    put_u64(b, fileid);
    for (int i = 0; i < 3; i++)
        put_u64(b, (uint64_t)1700000000 << 32);
}

void put_attributes(struct buf *b, uint32_t type, uint64_t fileid)
{
    put_linked_attributes(b, type, fileid, 1);
}

void put_some_attributes(struct buf *b, uint32_t type, uint64_t fileid)
{
    put_u32(b, 1);
    put_attributes(b, type, fileid);
}

void put_no_attributes(struct buf *b)
{
    put_u32(b, 0);
}

void put_no_wcc(struct buf *b)
{
    put_u64(b, 0); /* neither before nor after */
}

void put_name_in(struct buf *b, const char *directory, const char *name)
{
    put_text(b, directory);
    put_text(b, name);
}

void put_rename(struct buf *b, const char *from, const char *name, const char *to,
                const char *name2)
{
    put_name_in(b, from, name);
    put_name_in(b, to, name2);
}

void put_write(struct buf *b, const char *file, uint64_t offset, const void *data, uint32_t len)
{
    put_text(b, file);
    put_u64(b, offset);
    put_u32(b, len);
    put_u32(b, 2); /* FILE_SYNC */
    put_opaque(b, data, len);
}
