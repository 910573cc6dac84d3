/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bytes.h"
#include "base/err.h"

#include <stdlib.h>

int buf_reserve(struct buf *buf, size_t more)
{
    size_t cap = buf->cap ? buf->cap : 256;
    uint8_t *grown;

    if (more <= buf->cap - buf->len)
        return 0;
    if (more > SIZE_MAX / 2 - buf->len)
        return -ERR_SYSTEM;
    while (cap < buf->len + more)
        cap *= 2;
    grown = realloc(buf->data, cap);
    if (!grown)
        return -ERR_SYSTEM;
    buf->data = grown;
    buf->cap = cap;
    return 0;
}

int buf_append(struct buf *buf, const void *data, size_t len)
{
    if (!len)
        return 0;
    if (buf_reserve(buf, len) < 0)
        return -ERR_SYSTEM;
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    return 0;
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof(*buf));
}
