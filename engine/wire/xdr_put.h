/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/xdr_put.h
 *
 * Appends XDR (RFC 4506) to a growable buffer.  The buffer belongs to the caller; |max| bounds its
 * length.  The first failure is kept, and nothing is written after it.  So it is enough to look at
 * |problem| once, at the end.
 */
#ifndef NFSDIGEST_WIRE_XDR_PUT_H
#define NFSDIGEST_WIRE_XDR_PUT_H

#include "base/bytes.h"
#include "base/err.h"

#define XDR_PUT_ANY_LENGTH SIZE_MAX

enum xdr_put_problem {
    XDR_PUT_OK = 0,
    XDR_PUT_NO_MEMORY,
    XDR_PUT_TOO_LONG, /* above |max|, or a length that XDR cannot say */
    XDR_PUT_BAD,      /* whoever wrote with it found a value that cannot be written */
};

struct xdr_put {
    struct buf *to;
    size_t max;      /* of to->len; 0 once there is a problem */
    uint8_t problem; /* enum xdr_put_problem */
};

static inline struct xdr_put xdr_put_to(struct buf *to, size_t max)
{
    return (struct xdr_put){ .to = to, .max = max };
}

/* Notes a problem, if there is none yet. */
static inline void xdr_put_fail(struct xdr_put *p, enum xdr_put_problem problem)
{
    if (!p->problem)
        p->problem = (uint8_t)problem;
    p->max = 0;
}

/* 0, or -ERR_SYSTEM for lack of memory, -ERR_USAGE for another problem: "|what|: ...". */
int xdr_put_end(const struct xdr_put *p, const char *what, struct err *err);

/* For xdr_put_room: makes room, or notes why there is none. */
bool xdr_put_grow(struct xdr_put *p, size_t len);

static inline uint32_t xdr_padded(uint32_t len)
{
    return (len + 3) & ~3u;
}

/* The |len| bytes that are written next, to be filled in before anything else is written; NULL when
 * there is a problem. */
static inline uint8_t *xdr_put_room(struct xdr_put *p, size_t len)
{
    struct buf *to = p->to;

    if (__builtin_expect(len > to->cap - to->len || len + to->len > p->max, 0) &&
        !xdr_put_grow(p, len))
        return NULL;
    to->len += len;
    return to->data + to->len - len;
}

static inline void xdr_put_u32(struct xdr_put *p, uint32_t value)
{
    uint8_t *at = xdr_put_room(p, 4);

    if (at)
        store_be32(at, value);
}

static inline void xdr_put_u64(struct xdr_put *p, uint64_t value)
{
    uint8_t *at = xdr_put_room(p, 8);

    if (at)
        store_be64(at, value);
}

/* Bytes as they are, without padding. */
void xdr_put_bytes(struct xdr_put *p, const void *data, size_t len);
void xdr_put_zeros(struct xdr_put *p, size_t len);
/* opaque[len], opaque<> or string<>: with zeros up to a multiple of 4.  Without |data| all of it is
 * zeros. */
void xdr_put_fixed(struct xdr_put *p, const uint8_t *data, uint32_t len);
void xdr_put_opaque(struct xdr_put *p, struct bytes value);

/* An opaque<> that is written piece by piece.  begin returns what end is told; end fills in the
 * length and pads.  They nest. */
size_t xdr_put_opaque_begin(struct xdr_put *p);
void xdr_put_opaque_end(struct xdr_put *p, size_t begun);

/* Over what was written at |at|. */
void xdr_put_u32_at(struct xdr_put *p, size_t at, uint32_t value);

#endif
