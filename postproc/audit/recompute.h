/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/recompute.h
 *
 * With the key, every byte of an anonymized capture is known.  This part anonymizes the original
 * again, message by message, under the expected policy and that key, and compares the result with
 * the file.  Where they differ, both are decoded, and each value that differs is a finding.  If the
 * key or the policy made none of the values, that is one finding.  The rest of the audit knows only
 * recompute_run (audit_parts.h); this header is for the files of this part.
 *
 * This is the only part of the audit that uses engine/anon.  The other parts find faults of the
 * anonymizer, and this part finds faults of the file.
 *
 * Memory: that of anon.h; one message and the ends of connections before it; RECOMPUTE_AHEAD blocks
 * of the file, of at most RECOMPUTE_BLOCK_MAX each.
 */
#ifndef NFSDIGEST_AUDIT_RECOMPUTE_H
#define NFSDIGEST_AUDIT_RECOMPUTE_H

#include "anon/anon.h"
#include "audit/audit_parts.h"
#include "capture/input.h"

enum {
    RECOMPUTE_AHEAD = 64,            /* blocks that are searched for an expected one */
    RECOMPUTE_BLOCK_MAX = 128 << 10, /* the anonymizer writes at most 64 KiB and a header */
    RECOMPUTE_SURE = 16,             /* values that depend on the key were right */
    RECOMPUTE_WRONG = 4096,          /* values were wrong, and none was right */
};

/* The file, read ahead. */
struct recompute_file {
    struct input *input;
    struct buf data;
    size_t at;       /* the bytes before it were compared */
    uint64_t offset; /* of |at| in the file */
    uint64_t frames; /* before |at| */
    bool ended;
};

struct recompute {
    struct audit *audit;
    const struct policy *policy;
    struct anon *anon;
    struct buf expected; /* blocks since the last message */
    struct recompute_file file;
    struct buf ours, theirs;     /* payloads of a message's frames, as expected and as they are */
    uint32_t our_len, their_len; /* on the wire */
    struct items our_items, their_items;
    uint64_t right, wrong, missing; /* values that depend on the key; blocks */
    uint64_t original_frame;
    bool lengths_differ; /* then later sequence numbers differ, too */
    bool stopped;        /* nothing more is compared */
};

/* A block and, if it has the form of the anonymizer's frames, the parts of its frame. */
struct recompute_block {
    const uint8_t *data;
    uint32_t len, type;
    bool is_packet, is_frame, v6;
    int64_t time;
    const uint8_t *frame;
    uint32_t cap_len, wire_len, next, payload; /* where these begin in the frame */
    uint8_t protocol;
};

/* recompute_frame.c */
void recompute_read(struct recompute_block *b, const uint8_t *data, uint32_t len);
/* Returns how alike two blocks are, from 0 to RECOMPUTE_ALIKE. */
enum { RECOMPUTE_ALIKE = 4 };
unsigned recompute_alike(const struct recompute_block *e, const struct recompute_block *n);
/* Reports what differs outside of payloads. */
void recompute_blocks(struct recompute *r, const struct recompute_block *e,
                      const struct recompute_block *n);
void recompute_find(struct recompute *r, const char *what, const char *place,
                    const struct quote *expected, const struct quote *is, const char *text);

/* recompute_message.c: counts the values of a correct message that depend on the key. */
int recompute_count(struct recompute *r, const struct anon_written *written, struct err *err);
/* Compares the message in |r->ours| and |r->theirs|, which differ, value by value. */
int recompute_message(struct recompute *r, const struct anon_written *written, struct err *err);

#endif
