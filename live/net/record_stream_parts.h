/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/record_stream_parts.h
 *
 * Shared by record_stream.c (connections and input) and record_stream_out.c (what waits to be
 * sent).
 */
#ifndef NFSDIGEST_NET_RECORD_STREAM_PARTS_H
#define NFSDIGEST_NET_RECORD_STREAM_PARTS_H

#include "net/record_stream.h"

enum { RECORD_MARK = 4 };

struct chunk {
    uint32_t len, cap, pieces; /* |pieces| of the queue that lie in it */
    uint8_t data[];
};

/* Bytes to be sent, in a chunk or somewhere else (chunk NULL). */
struct piece {
    const uint8_t *data;
    uint32_t len;
    struct chunk *chunk;
};

struct record_stream {
    struct loop *loop;
    struct record_limits limits;
    struct record_host host;
    struct watch watch;
    struct idle flush;
    struct buf in; /* its |cap| is what |memory_in| holds */
    size_t record, next;
    size_t announced; /* records before this place of |in|, */
    uint32_t ahead;   /* so many of which were not delivered */
    uint32_t assembled;
    struct piece *out; /* those from |out_at| to |out_end| wait */
    uint32_t out_at, out_end, out_cap;
    struct chunk *filling; /* takes the next copies; NULL if nothing waits */
    uint64_t output, copies, writes;
    struct budget_user memory_in, memory_out;
    uint32_t busy; /* functions of record_stream.c that are under way */
    bool whole;    /* the record that stands at |record| is complete */
    bool held, over, dead;
};

/* Takes |len| bytes off the queue, which were sent. */
void record_stream_sent(struct record_stream *stream, size_t len);
/* Fills |pieces| with up to |most| pieces that wait, and returns how many. */
uint32_t record_stream_waiting(const struct record_stream *stream, struct iovec *pieces,
                               uint32_t most);
/* Frees the queue. */
void record_stream_lose(struct record_stream *stream);

#endif
