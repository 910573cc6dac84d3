/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/body.h
 *
 * The arguments or results in a message, as far as they were captured.
 */
#ifndef NFSDIGEST_WIRE_BODY_H
#define NFSDIGEST_WIRE_BODY_H

#include "wire/rpc.h"
#include "wire/walk.h"

/* Returns the body of a message of |cap_len| captured bytes, whose header is |h|.  It points into
 * the message, or to its start if none of the body was captured. */
static inline struct captured rpc_body(const uint8_t *message, uint32_t cap_len,
                                       const struct rpc_header *h)
{
    uint32_t there = cap_len > h->body ? cap_len - h->body : 0;

    if (there > h->body_len)
        there = h->body_len;
    return (struct captured){ message + (there ? h->body : 0), there, h->body_len };
}

static inline enum walk_result rpc_body_walk(struct walk *walk_state, const struct type *type,
                                             const struct captured *body,
                                             const struct visitor *visitor)
{
    return walk(walk_state, type, body->data, body->cap_len, body->wire_len, false, visitor);
}

#endif
