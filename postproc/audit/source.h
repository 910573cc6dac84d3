/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/source.h
 *
 * The RPC messages of a capture, one after the other, as the engine finds them: in a thread of its
 * own, which goes ahead.
 *
 * Memory: that of an engine; ahead.h of frames and messages, and those that one frame completes.
 */
#ifndef NFSDIGEST_AUDIT_SOURCE_H
#define NFSDIGEST_AUDIT_SOURCE_H

#include "engine.h"
#include "wire/field.h"
#include "wire/rpc.h"

/* A message with its bytes, which free() frees with it. */
struct audit_message {
    uint64_t frame, first_frame; /* counted from 1 in its capture */
    int64_t time;
    uint32_t cap_len, wire_len;
    struct address address[2]; /* of the caller, of the server */
    uint16_t port[2];
    uint8_t transport;
    bool is_call;
    bool header_cut;                   /* |header| is as far as it was captured */
    const struct procedure *procedure; /* NULL: the body cannot be read */
    struct rpc_header header;          /* leads into |data| */
    uint32_t passed;                   /* for align.c */
    uint8_t data[];
};

struct input;
struct source;

/* What else is to be known of a capture: each may be NULL.  Called by source_next, each in its
 * place between the messages: a frame before those that it completes. */
struct source_hooks {
    int (*frame)(void *ctx, const struct frame *frame, struct err *err);
    int (*counter)(void *ctx, const char *name, uint64_t value, struct err *err);
    void *ctx;
    int (*over)(void *ctx, const struct flow_over *over, struct err *err);
    /* In the source's thread; as in audit.h. */
    void (*progress)(const char *step, const struct input *input);
    const char *step;
};

struct source *source_open(const char *path, const struct engine_options *options,
                           const struct source_hooks *hooks, struct err *err);
void source_close(struct source *source);

/* 1 and the next message, which is the caller's to free; 0 at the end; or negative. */
int source_next(struct source *source, struct audit_message **message, struct err *err);

struct source_counts {
    uint64_t frames, calls, replies;
    uint64_t unread;        /* bytes in the place of a message that are none */
    uint64_t not_rpc;       /* datagrams of RPC ports that are no messages */
    uint64_t skipped, lost; /* bytes of streams in no message; and never captured */
    bool cut;               /* the file ends in the middle of a packet */
};
/* Complete when source_next has returned 0. */
const struct source_counts *source_counts(const struct source *source);

#endif
