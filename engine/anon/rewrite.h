/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/rewrite.h
 *
 * One RPC message made anew under a policy.  Nothing is copied: the header is written from its
 * parsed values (RFC 5531 s9), the body from the fields that a walk over the tables shows, each by
 * the rule of its class.  So padding becomes zeros, and what the tables do not know never gets out.
 *
 * - A body that cannot be read (no tables, encrypted, its call not captured) is left out, its
 *   length stays: the message ends as if the snap length had cut it.
 * - A body cut in the capture is written as far as it was read, and ends the same way.  Where
 * names' lengths are hidden, so is how much is missing: see CUT_GRAIN.
 * - A body that violates its table is written up to there, and ends the same way; of bytes behind
 *   a complete body, four zeros are left, so that they can be noticed.
 */
#ifndef NFSDIGEST_ANON_REWRITE_H
#define NFSDIGEST_ANON_REWRITE_H

#include "anon/mapping.h"
#include "engine.h"
#include "wire/xdr_put.h"

/* Missing lengths are rounded up to a multiple of this under a policy that hides lengths: two names
 * and a link text must not show in it. */
enum { CUT_GRAIN = 4096 };

enum rewrite_outcome {
    REWRITE_WHOLE,
    REWRITE_PARTIAL,   /* as far as it was captured */
    REWRITE_MALFORMED, /* as far as it could be read */
    REWRITE_UNREAD,    /* its header only */
    REWRITE_DROPPED,   /* nothing: by policy, or not even a header */
    REWRITE_OUTCOMES
};

/* The new message, valid until the next one is made. */
struct rewritten {
    const uint8_t *data;
    uint32_t cap_len, wire_len; /* wire_len > cap_len: the rest is missing */
    uint8_t outcome;            /* enum rewrite_outcome */
};

struct rewriter {
    const struct policy *policy;
    struct mapping *mapping;
    struct buf out;
    struct xdr_put put; /* into |out|; its problem is lack of memory */
    struct err *err;
    struct verifier_times verifier_times;
    bool hides_verifier_times;
    uint64_t changed[CLASS_MAX]; /* values that a rule other than "keep" was applied to */
    uint64_t kept[CLASS_MAX];
};

/* |mapping| and |policy| stay the caller's. */
void rewriter_init(struct rewriter *r, struct mapping *mapping, const struct policy *policy);
void rewriter_free(struct rewriter *r);

/* Makes |t->message| anew, TAP_MESSAGE only. Fails only for lack of memory. */
int rewrite_message(struct rewriter *r, const struct engine_tapped *t, struct rewritten *out,
                    struct err *err);

#endif
