/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/source.h
 *
 * Reads the RPC messages of a capture, in order, as the engine finds them.  A separate thread reads
 * ahead.
 *
 * Memory: an engine; ahead.h with messages and notes, and those that one frame completes; slab.h
 * with messages.
 */
#ifndef NFSDIGEST_AUDIT_SOURCE_H
#define NFSDIGEST_AUDIT_SOURCE_H

#include "base/bytes.h"
#include "capture/progress.h"
#include "engine.h"
#include "wire/field.h"
#include "wire/rpc.h"

enum { MESSAGE_TAIL = 8 };

/* A message with its bytes and, behind them, MESSAGE_TAIL zeros. */
struct audit_message {
    uint64_t frame, first_frame; /* counted from 1 in its capture */
    int64_t time;
    uint32_t cap_len, wire_len;
    struct address address[2]; /* of the caller, of the server */
    uint16_t port[2];
    uint8_t transport;
    bool is_call;
    bool header_cut;                   /* |header| has only the captured part */
    const struct procedure *procedure; /* NULL: the body cannot be read */
    struct rpc_header header;          /* points into |data| */
    uint32_t passed;                   /* for audit_align.c */
    uint8_t data[];
};

struct source;

/* Callbacks for other data of a capture.  Each may be NULL. */
struct source_hooks {
    /* source_next calls these at the right place between the messages.  |frame| gets a frame's note
     * before the messages that the frame completes. */
    int (*frame)(void *ctx, uint64_t number, void *note, size_t len, struct err *err);
    int (*counter)(void *ctx, const char *name, uint64_t value, struct err *err);
    int (*over)(void *ctx, const struct flow_over *over, struct err *err);
    void *ctx;
    /* Called in the source's thread.  These append to a note, aligned to 8, which the reader gets
     * with the frame or message.  |frame| needs look_at_frame. */
    int (*look_at_frame)(void *look, const struct frame *frame, struct buf *note, struct err *err);
    int (*look_at_message)(void *look, const struct audit_message *m, struct buf *note,
                           struct err *err);
    void *look;
    const struct progress *progress; /* called in the source's thread; or NULL */
    const char *step;
};

struct source *source_open(const char *path, const struct engine_options *options,
                           const struct source_hooks *hooks, struct err *err);
/* Call this after all its messages were put back. */
void source_close(struct source *source);

/* Returns 1 and the next message; the caller frees it with slab_put, in any thread.  Returns 0 at
 * the end, or a negative code. */
int source_next(struct source *source, struct audit_message **message, struct err *err);

/* Returns the note on the last message.  It is valid until the next message. */
void *source_note(const struct source *source, size_t *len);

struct source_counts {
    uint64_t frames, calls, replies;
    uint64_t unread;        /* bytes that are not a message where one should be */
    uint64_t not_rpc;       /* datagrams of RPC ports that are not messages */
    uint64_t skipped, lost; /* of streams: bytes outside of messages; not captured */
    bool cut;               /* the file ends in the middle of a packet */
};
/* The counts are complete when source_next has returned 0. */
const struct source_counts *source_counts(const struct source *source);

#endif
