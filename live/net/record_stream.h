/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/record_stream.h
 *
 * RPC records over one TCP connection (RFC 5531 s11).  Records of any number of fragments come in;
 * records of one fragment go out, all those of a round in as few system calls as possible.
 *
 * A peer that does not read gets no service: while more than |output_stop| bytes wait for it, its
 * connection is not read, and no record is delivered; where memory is short, while more than
 * RECORD_FLOOR bytes wait.
 *
 * Memory: |record_max| and RECORD_READ bytes of input, which are freed while no record is
 * incomplete; |output_stop| bytes of output, and the output that its owner adds in one round; 24
 * bytes for each piece of it.  Streams with a struct record_memory share what it allows: a stream
 * that needs more is not read until it gets it, and no record is delivered until there is memory
 * for its answer.  Only what an owner sends at other times passes that bound.
 */
#ifndef NFSDIGEST_NET_RECORD_STREAM_H
#define NFSDIGEST_NET_RECORD_STREAM_H

#include "base/bytes.h"
#include "net/budget.h"
#include "net/loop.h"

#include <sys/uio.h>

enum {
    RECORD_READ = 256 << 10, /* bytes of a read */
    RECORD_WRITE = 64 << 10, /* bytes of a chunk of output */
    RECORD_FLOOR = 16 << 10, /* bytes of input, and of output, that each stream gets always */
    RECORD_SOON = 16,        /* records that are announced and not delivered */
};

struct record_stream;

/* Why a connection is over. */
enum record_end {
    RECORD_CLOSED,   /* by the peer, between two records */
    RECORD_CUT,      /* by the peer, within a record */
    RECORD_TOO_LONG, /* a record above |record_max| */
    RECORD_FAILED,   /* an error of the system: |errno_value| */
};

struct record_host {
    /* Takes one record, which is valid until this returns.  The stream may be freed here. */
    int (*record)(void *ctx, const uint8_t *data, uint32_t len, struct err *err);
    /* The connection is over, and the owner must free the stream.  Called once, and never from
     * within a function of this header. */
    int (*over)(void *ctx, enum record_end end, int errno_value, struct err *err);
    void *ctx;
    /* This record will be delivered, if nothing stops the stream, behind at most RECORD_SOON
     * others: an owner with more memory than the cache has can fetch what it will need.  It must
     * not use the stream.  NULL: nobody wants to know. */
    void (*soon)(void *ctx, const uint8_t *data, uint32_t len);
};

/* The buffers of many streams.  Input cannot take what output needs: records that never become
 * complete do not delay the answers to others. */
struct record_memory {
    struct budget in, out;
};

struct record_limits {
    uint32_t record_max;          /* bytes of a record */
    uint32_t output_stop;         /* bytes of output that stop the input */
    uint32_t answer;              /* bytes that the owner sends while it takes a record, at most */
    struct record_memory *memory; /* NULL: the stream takes what it needs */
};

/* Divides |total| bytes among the streams of |connections| with such limits: all together never
 * hold more.  -ERR_USAGE: it is not enough. */
int record_memory_init(struct record_memory *memory, uint64_t total, uint32_t connections,
                       const struct record_limits *limits, struct err *err);

/* Makes a stream of |fd|, a connected non-blocking socket, and owns it.  After an error |fd| is
 * closed. */
struct record_stream *record_stream_new(struct loop *loop, int fd,
                                        const struct record_limits *limits,
                                        const struct record_host *host, struct err *err);
/* Closes the connection.  Waiting output is lost. */
void record_stream_free(struct record_stream *stream);

/* Queues one record made of |pieces|, which are copied.  It is sent at the end of the round. */
int record_stream_send(struct record_stream *stream, const struct iovec *pieces, int count,
                       struct err *err);
/* The same with |tail| behind the pieces, and zeros up to a multiple of 4 behind it.  A long tail
 * is not copied: it must stay as it is until the stream is freed. */
int record_stream_send_with(struct record_stream *stream, const struct iovec *pieces, int count,
                            struct bytes tail, struct err *err);
int record_stream_send_bytes(struct record_stream *stream, struct bytes message, struct bytes tail,
                             struct err *err);

/* Stop and resume the delivery of records, for an owner with too much work. */
void record_stream_hold(struct record_stream *stream);
int record_stream_resume(struct record_stream *stream, struct err *err);

/* Allows records of up to |record_max| bytes from now on: for a peer that has said who it is. */
void record_stream_allow(struct record_stream *stream, uint32_t record_max);

/* Frees the input's memory if no record is incomplete: for an idle connection. */
void record_stream_trim(struct record_stream *stream);

/* Return whether the stream waits until its peer reads, whether it waits for memory, and whether it
 * holds memory that others wait for. */
bool record_stream_is_stopped(const struct record_stream *stream);
bool record_stream_is_waiting(const struct record_stream *stream);
bool record_stream_hoards(const struct record_stream *stream);

/* Return the bytes that wait for the peer, how many of them are copies, and the bytes that came but
 * were not delivered. */
uint64_t record_stream_output(const struct record_stream *stream);
uint64_t record_stream_copies(const struct record_stream *stream);
uint64_t record_stream_input(const struct record_stream *stream);
/* System calls that sent something. */
uint64_t record_stream_writes(const struct record_stream *stream);
int record_stream_fd(const struct record_stream *stream);

#endif
