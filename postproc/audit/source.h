/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/source.h
 *
 * The RPC messages of a capture, in order, as the engine finds them.  A separate thread reads
 * ahead.
 *
 * Memory: that of an engine; ahead.h of messages and notes, and those that one frame completes;
 * slab.h of messages.
 */
#ifndef NFSDIGEST_AUDIT_SOURCE_H
#define NFSDIGEST_AUDIT_SOURCE_H

#include "base/bytes.h"
#include "capture/progress.h"
#include "engine.h"
#include "wire/field.h"
#include "wire/rpc.h"

enum { MESSAGE_TAIL = 8 };

/* A message with its bytes and MESSAGE_TAIL zeros behind these. */
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
    uint32_t passed;                   /* for audit_align.c */
    uint8_t data[];
};

struct source;

/* What else is to be known of a capture: each may be NULL. */
struct source_hooks {
    /* Called by source_next, each in its place between the messages: a frame, by its note, before
     * the messages that it completes. */
    int (*frame)(void *ctx, uint64_t number, void *note, size_t len, struct err *err);
    int (*counter)(void *ctx, const char *name, uint64_t value, struct err *err);
    int (*over)(void *ctx, const struct flow_over *over, struct err *err);
    void *ctx;
    /* Called in the source's thread: these append to a note, which goes with its frame or message
     * to who asks, aligned to 8.  A frame's is needed where |frame| is. */
    int (*look_at_frame)(void *look, const struct frame *frame, struct buf *note, struct err *err);
    int (*look_at_message)(void *look, const struct audit_message *m, struct buf *note,
                           struct err *err);
    void *look;
    const struct progress *progress; /* in the source's thread; or NULL */
    const char *step;
};

struct source *source_open(const char *path, const struct engine_options *options,
                           const struct source_hooks *hooks, struct err *err);
/* When all its messages were put. */
void source_close(struct source *source);

/* 1 and the next message, which is the caller's to put with slab_put (in whatever thread); 0 at the
 * end; or negative. */
int source_next(struct source *source, struct audit_message **message, struct err *err);

/* The note on the last message, until the next one. */
void *source_note(const struct source *source, size_t *len);

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
