/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/frames.h
 *
 * Frames as clients and servers send them, made from the RFCs: Ethernet, IPv4, TCP and UDP headers,
 * record marks, RPC headers and NFSv3 bodies.  Nothing of engine/ is used to make them.
 *
 * Bodies are appended to a struct buf; running out of memory aborts.
 */
#ifndef NFSDIGEST_TESTS_FRAMES_H
#define NFSDIGEST_TESTS_FRAMES_H

#include "base/bytes.h"

#include <stdbool.h>

enum {
    FRAME_HEADERS_MAX = 14 + 4 + 20 + 20,
    FRAME_MAX = FRAME_HEADERS_MAX + 65000,
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_ACK = 16,
};

/* Programs and procedures: RFC 1813, RFC 1833. */
enum {
    PORTMAP = 100000,
    NFS = 100003,
    MOUNT = 100005,
    PROC_NULL = 0,
    GETATTR = 1,
    LOOKUP = 3,
    READ = 6,
    WRITE = 7,
    CREATE = 8,
    MKDIR = 9,
    REMOVE = 12,
    RMDIR = 13,
    RENAME = 14,
    LINK = 15,
    READDIRPLUS = 17,
    MNT = 1,
    PORTMAP_GETPORT = 3,
    PORTMAP_DUMP = 4,
    RPCBIND_GETADDR = 3,
};

struct endpoint {
    uint32_t ip;
    uint16_t port;
};

/* One frame into |out| (FRAME_MAX bytes); returns its length.  |vlan|: its tag, 0: none. */
uint32_t frame_tcp(uint8_t *out, uint16_t vlan, struct endpoint from, struct endpoint to,
                   uint32_t seq, uint32_t ack, unsigned flags, const void *data, uint32_t len);
uint32_t frame_udp(uint8_t *out, uint16_t vlan, struct endpoint from, struct endpoint to,
                   const void *data, uint32_t len);

void put_u32(struct buf *b, uint32_t value);
void put_u64(struct buf *b, uint64_t value);
void put_raw(struct buf *b, const void *data, uint32_t len);
void put_opaque(struct buf *b, const void *data, uint32_t len); /* with length and padding */
void put_text(struct buf *b, const char *text);

/* Everything in |b| as one record: its mark goes before it. */
void put_record(struct buf *stream, const struct buf *b);
/* In fragments of |piece| bytes. */
void put_fragments(struct buf *stream, const struct buf *b, uint32_t piece);

/* Headers with AUTH_SYS (uid 1000) and AUTH_NONE; the body follows. */
void put_call(struct buf *b, uint32_t xid, uint32_t program, uint32_t version, uint32_t procedure);
void put_reply(struct buf *b, uint32_t xid, uint32_t accept_stat);

/* A fattr3, RFC 1813 s2.6. */
void put_linked_attributes(struct buf *b, uint32_t type, uint64_t fileid, uint32_t links);
void put_attributes(struct buf *b, uint32_t type, uint64_t fileid);
/* post_op_attr with and without, wcc_data without. */
void put_some_attributes(struct buf *b, uint32_t type, uint64_t fileid);
void put_no_attributes(struct buf *b);
void put_no_wcc(struct buf *b);

/* Whole arguments; handles are texts here. */
void put_name_in(struct buf *b, const char *directory, const char *name);
void put_rename(struct buf *b, const char *from, const char *name, const char *to,
                const char *name2);
void put_write(struct buf *b, const char *file, uint64_t offset, const void *data, uint32_t len);

#endif
