/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/output_queue.h
 *
 * Keeps the messages of the output in the order of the capture.  A reply whose call was not seen
 * yet must wait: only its call says how to read it.  The messages after it wait in this queue.
 * The queue is usually empty.
 *
 * A call can come late, because its TCP stream waited for a lost segment.  It is inserted before
 * the replies that wait for calls, because it was before them in the capture.
 *
 * Memory: OUTPUT_QUEUE_MAX bytes of messages.  When there are more, the reply at the head is
 * written with its header only.
 */
#ifndef NFSDIGEST_ANON_OUTPUT_QUEUE_H
#define NFSDIGEST_ANON_OUTPUT_QUEUE_H

#include "anon/frames.h"
#include "wire/rpc.h"

enum { OUTPUT_QUEUE_MAX = 32 << 20 };

/* A message, or the end of a connection, with all that is needed to write it. */
struct ready {
    struct frames_flow flow;
    struct frames_place at;
    struct rewritten message;
    const struct procedure *procedure; /* of its call; NULL: the body cannot be read */
    bool has_credential;
    struct rpc_auth credential; /* of a reply's call; do not follow its pointers */
    bool is_end; /* the end of a connection; then |over| is set, and |message| is not */
    struct frames_over over;
};

typedef int output_queue_write(void *ctx, const struct ready *ready, struct err *err);

struct queued_message;

struct output_queue {
    output_queue_write *write;
    void *ctx;
    struct queued_message *head, *tail;
    uint64_t bytes;
    uint64_t overflows; /* replies written without their bodies because of OUTPUT_QUEUE_MAX */
};

void output_queue_init(struct output_queue *q, output_queue_write *write, void *ctx);
void output_queue_free(struct output_queue *q);

/* Adds a message at the end of the queue (a late call: before the replies that wait).
 * |ticket| 0: it can be written as soon as all messages before it are written.  With another
 * ticket it waits for output_queue_resolve. */
int output_queue_put(struct output_queue *q, uint64_t ticket, const struct ready *ready,
                     struct err *err);

/* Replaces the message that waits under |ticket| by the one of |ready|; its flow, side and time
 * stay.  Does nothing if the message was written already. */
int output_queue_resolve(struct output_queue *q, uint64_t ticket, const struct ready *ready,
                         struct err *err);

/* Writes all messages that are left. */
int output_queue_end(struct output_queue *q, struct err *err);

#endif
