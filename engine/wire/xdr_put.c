/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/xdr_put.h"

int xdr_put_end(const struct xdr_put *p, const char *what, struct err *err)
{
    switch (p->problem) {
    case XDR_PUT_OK:
        return 0;
    case XDR_PUT_NO_MEMORY:
        return err_memory(err, what);
    case XDR_PUT_TOO_LONG:
        return err_set(err, ERR_USAGE, "%s: longer than it may be", what);
    default:
        return err_set(err, ERR_USAGE, "%s: a value that cannot be written", what);
    }
}

bool xdr_put_grow(struct xdr_put *p, size_t len)
{
    if (p->problem)
        return false;
    if (p->to->len > p->max || len > p->max - p->to->len)
        xdr_put_fail(p, XDR_PUT_TOO_LONG);
    else if (buf_reserve(p->to, len) < 0)
        xdr_put_fail(p, XDR_PUT_NO_MEMORY);
    return !p->problem;
}

void xdr_put_bytes(struct xdr_put *p, const void *data, size_t len)
{
    uint8_t *at = len ? xdr_put_room(p, len) : NULL;

    if (at)
        memcpy(at, data, len);
}

void xdr_put_zeros(struct xdr_put *p, size_t len)
{
    uint8_t *at = len ? xdr_put_room(p, len) : NULL;

    if (at)
        memset(at, 0, len);
}

void xdr_put_fixed(struct xdr_put *p, const uint8_t *data, uint32_t len)
{
    size_t padded = ((size_t)len + 3) & ~(size_t)3;
    uint8_t *at = len ? xdr_put_room(p, padded) : NULL;

    if (!at)
        return;
    if (data)
        memcpy(at, data, len);
    else
        memset(at, 0, len);
    memset(at + len, 0, padded - len);
}

void xdr_put_opaque(struct xdr_put *p, struct bytes value)
{
    xdr_put_u32(p, value.len);
    xdr_put_fixed(p, value.data, value.len);
}

size_t xdr_put_opaque_begin(struct xdr_put *p)
{
    xdr_put_u32(p, 0);
    return p->to->len;
}

void xdr_put_opaque_end(struct xdr_put *p, size_t begun)
{
    size_t len = p->to->len - begun;

    if (p->problem)
        return;
    if (len > UINT32_MAX) {
        xdr_put_fail(p, XDR_PUT_TOO_LONG);
        return;
    }
    xdr_put_u32_at(p, begun - 4, (uint32_t)len);
    xdr_put_zeros(p, -len & 3);
}

void xdr_put_u32_at(struct xdr_put *p, size_t at, uint32_t value)
{
    if (!p->problem)
        store_be32(p->to->data + at, value);
}
