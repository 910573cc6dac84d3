/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/canon.h
 *
 * Values for a digest that two engines share: frames and clocks are counted from the border.  A
 * missing frame (0) or time stays what it is.
 */
#ifndef NFSDIGEST_FLOW_CANON_H
#define NFSDIGEST_FLOW_CANON_H

#include "base/bytes.h"
#include "base/digest.h"
#include "flow/seen.h"

struct canon {
    struct buf buf; /* values that are not digested yet */
    uint64_t frame; /* of the border */
    int64_t clock;  /* at the border */
    bool failed;    /* there is no memory */
};

static inline void canon_raw(struct canon *c, const void *data, size_t len)
{
    c->failed |= buf_append(&c->buf, data, len) < 0;
}

#define canon_value(c, value) canon_raw((c), &(value), sizeof(value))

static inline void canon_number(struct canon *c, uint64_t value)
{
    canon_value(c, value);
}

static inline void canon_frame(struct canon *c, uint64_t frame)
{
    canon_number(c, frame ? frame - c->frame : UINT64_MAX / 2);
}

static inline void canon_clock(struct canon *c, int64_t clock)
{
    canon_number(c, (uint64_t)clock - (uint64_t)c->clock);
}

static inline void canon_seen(struct canon *c, struct seen seen)
{
    canon_frame(c, seen.frame);
    canon_value(c, seen.time);
}

/* Adds long data as their digest. */
static inline void canon_bytes(struct canon *c, const void *data, size_t len)
{
    canon_number(c, len);
    canon_number(c, len ? XXH3_64bits(data, len) : 0);
}

/* Returns the digest of the values since the last call. */
static inline uint64_t canon_digest(struct canon *c)
{
    uint64_t digest = XXH3_64bits(c->buf.data, c->buf.len);

    c->buf.len = 0;
    return digest;
}

static inline int64_t canon_from(const struct canon *c, uint64_t frame)
{
    return (int64_t)(frame - c->frame);
}

#endif
