/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/framer.h
 *
 * The bytes of one direction of a TCP connection, cut into RPC messages by their record
 * marks (RFC 5531 s11).  A hole inside a message makes it partial: the mark says where the next one
 * begins.  A hole over a mark loses the framing; then the next mark is searched: a
 * plausible length and a header that reads as RPC; for a reply that no call waits for, also
 * a segment border or another mark at one of its ends, or that its end was cut off by the snap
 * length, so that nothing more can be known.
 *
 * Memory: one message a direction, and while searching MESSAGE_MAX bytes at most; of all framers
 * together what conn.h says, with the help of framer_trim.
 */
#ifndef NFSDIGEST_FLOW_FRAMER_H
#define NFSDIGEST_FLOW_FRAMER_H

#include "base/bytes.h"
#include "flow/message.h"

struct framer_piece { /* where the bytes of a segment begin in |input| */
    uint32_t start;
    uint32_t border; /* a boolean: they are the segment's first; no padding, it is saved as bytes */
    uint64_t frame;
    int64_t time;
};

struct framer {
    const struct message_host *host;
    struct flow *flow;
    uint8_t side;
    bool lost;      /* the place of the next mark is not known */
    bool resynced;  /* the next message is the first after a search */
    bool found;     /* a message was found at some time */
    bool in_record; /* a mark was read, the message's end was not */
    bool last;      /* the current fragment is the record's last */
    uint8_t mark[4], mark_have;
    uint32_t left;     /* wire bytes of the current fragment still to come */
    uint32_t wire_len; /* of the record's fragments so far, the current one whole */
    uint32_t flags;    /* SIGHTING_ bits of the message being read */
    uint64_t frame, first_frame;
    int64_t time;
    struct buf message; /* bytes before any hole */
    /* Bytes that wait for a mark to be found among them: */
    struct buf input;
    uint32_t searched;   /* what lies before this offset was looked at */
    uint64_t wait_until; /* not 0: a doubtful mark at offset 0, looked at again at this length */
    struct framer_piece *pieces;
    uint32_t piece_count, piece_cap;
    uint64_t skipped; /* bytes passed over in this search */
    uint64_t memory;  /* what of host->memory is this one's */
};

/* |lost|: the stream was joined in its middle. */
void framer_init(struct framer *f, const struct message_host *host, struct flow *flow, uint8_t side,
                 bool lost);
void framer_free(struct framer *f);

/* The next bytes of the stream: one segment or a part of it. */
int framer_data(struct framer *f, const uint8_t *data, uint32_t len, uint64_t frame, int64_t time,
                struct err *err);

/* |len| bytes that will never be seen; |flag| is SIGHTING_CUT or SIGHTING_HOLE. */
int framer_gap(struct framer *f, uint64_t len, uint32_t flag, uint64_t frame, int64_t time,
               struct err *err);

/* The stream's end: what is there of the current message is delivered as partial. */
int framer_end(struct framer *f, uint64_t frame, int64_t time, struct err *err);

/* Frees buffers in which nothing waits; says how many bytes do. */
size_t framer_trim(struct framer *f);

/* Appends the state to |out|, without host and flow, which framer_restore leaves alone. */
int framer_save(const struct framer *f, struct buf *out);
struct unpack;
int framer_restore(struct framer *f, struct unpack *in);

#endif
