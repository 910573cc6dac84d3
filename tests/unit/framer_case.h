/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/framer_case.h
 *
 * One client, one server, and their messages: for the tests of record marks.
 */
#ifndef NFSDIGEST_TESTS_FRAMER_CASE_H
#define NFSDIGEST_TESTS_FRAMER_CASE_H

#include "lab.h"

static const struct endpoint C = { 0x0a000001, 900 }, S = { 0x0a000009, 2049 };

static inline void put_getattr(struct buf *b, uint32_t xid)
{
    b->len = 0;
    put_call(b, xid, NFS, 3, GETATTR);
    put_text(b, "file");
}

static inline void put_getattr_reply(struct buf *b, uint32_t xid)
{
    b->len = 0;
    put_reply(b, xid, 0);
    put_u32(b, 0);
    put_attributes(b, 1, 42);
}

static inline void send_call(struct tcp *t, uint32_t xid)
{
    struct buf b = { 0 };

    put_getattr(&b, xid);
    tcp_message(t, 0, &b);
    buf_free(&b);
}

static inline void send_reply(struct tcp *t, uint32_t xid)
{
    struct buf b = { 0 };

    put_getattr_reply(&b, xid);
    tcp_message(t, 1, &b);
    buf_free(&b);
}

/* A lab with a connection on which a call was answered. */
static inline struct tcp open_answered(struct lab *lab)
{
    struct tcp t;

    lab_open(lab, NULL);
    t = tcp_open(lab, C, S);
    send_call(&t, 1);
    send_reply(&t, 1);
    return t;
}

/* A READ reply whose contents are |data|. */
static inline void put_read_reply(struct buf *b, uint32_t xid, const void *data, uint32_t len)
{
    b->len = 0;
    put_reply(b, xid, 0);
    put_u32(b, 0);
    put_no_attributes(b);
    put_u32(b, len);
    put_u32(b, 0);
    put_opaque(b, data, len);
}

static inline const struct record_operation *with_xid(const struct lab *lab, uint32_t xid)
{
    const struct record *r;

    for (uint64_t i = 0; (r = lab_nth(lab, RECORD_OPERATION, i)); i++)
        if (r->operation.xid == xid)
            return &r->operation;
    return NULL;
}

#endif
