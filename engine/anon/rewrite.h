/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/rewrite.h
 *
 * Writes one RPC message again under a policy.  Nothing is copied: the header is written from its
 * parsed values (RFC 5531 s9), and the body from the fields that a walk over the tables shows, each
 * by the rule of its class.  So padding becomes zeros, and bytes that the tables do not describe
 * are never written.
 *
 * - A body that cannot be read (no tables, encrypted, its call not captured) is left out, but its
 *   length stays: the message ends as if the snap length had cut it.
 * - A body that was cut in the capture is written as far as it was read, and ends the same way.  If
 *   the policy hides the lengths of names, the length of the missing part is rounded: see
 *   CUT_GRAIN.
 * - A body that violates its table is written up to the violation, and ends the same way.  If bytes
 *   follow a complete body, four zeros replace them, so that a reader can notice it.
 */
#ifndef NFSDIGEST_ANON_REWRITE_H
#define NFSDIGEST_ANON_REWRITE_H

#include "anon/mapping.h"
#include "engine.h"
#include "wire/xdr_put.h"

/* Under a policy that hides lengths, missing lengths are rounded up to a multiple of this.  It is
 * large enough to hide the lengths of two names and a link text. */
enum { CUT_GRAIN = 4096 };

enum rewrite_outcome {
    REWRITE_WHOLE,
    REWRITE_PARTIAL,   /* as far as it was captured */
    REWRITE_MALFORMED, /* as far as it could be read */
    REWRITE_UNREAD,    /* its header only */
    REWRITE_DROPPED,   /* nothing: by policy, or because there is not even a header */
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
    struct xdr_put put; /* into |out|; its only problem is lack of memory */
    struct err *err;
    struct verifier_times verifier_times;
    bool hides_verifier_times;
    uint64_t changed[CLASS_MAX]; /* values that a rule other than "keep" was applied to */
    uint64_t kept[CLASS_MAX];
};

/* |mapping| and |policy| still belong to the caller. */
void rewriter_init(struct rewriter *r, struct mapping *mapping, const struct policy *policy);
void rewriter_free(struct rewriter *r);

/* Writes |t->message| again into |out|.  The event must be TAP_MESSAGE.  Fails only if there is no
 * memory. */
int rewrite_message(struct rewriter *r, const struct engine_tapped *t, struct rewritten *out,
                    struct err *err);

#endif
