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
    XDR_PUT_BAD,      /* the caller found a value that cannot be written */
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

/* Notes a problem, unless there already is one. */
static inline void xdr_put_fail(struct xdr_put *p, enum xdr_put_problem problem)
{
    if (!p->problem)
        p->problem = (uint8_t)problem;
    p->max = 0;
}

/* Returns 0 if there was no problem, -ERR_SYSTEM for lack of memory, -ERR_USAGE for another
 * problem. The message is "|what|: ...". */
int xdr_put_end(const struct xdr_put *p, const char *what, struct err *err);

/* For xdr_put_room: makes room, or notes why there is none. */
bool xdr_put_grow(struct xdr_put *p, size_t len);

static inline uint32_t xdr_padded(uint32_t len)
{
    return (len + 3) & ~3u;
}

/* Appends |len| bytes, and returns the place to write them to, before anything else is written.
 * Returns NULL if there is a problem. */
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

/* Write bytes as they are, without padding. */
void xdr_put_bytes(struct xdr_put *p, const void *data, size_t len);
void xdr_put_zeros(struct xdr_put *p, size_t len);
/* Write opaque[len], opaque<> or string<>, padded with zeros to a multiple of 4.  If |data| is
 * NULL, all bytes are zeros. */
void xdr_put_fixed(struct xdr_put *p, const uint8_t *data, uint32_t len);
void xdr_put_opaque(struct xdr_put *p, struct bytes value);

/* Write an opaque<> piece by piece.  begin returns a value to pass to end; end fills in the length
 * and pads.  They may be nested. */
size_t xdr_put_opaque_begin(struct xdr_put *p);
void xdr_put_opaque_end(struct xdr_put *p, size_t begun);

/* Overwrites the number at offset |at|. */
void xdr_put_u32_at(struct xdr_put *p, size_t at, uint32_t value);

#endif
