/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/framer.h
 *
 * Cuts the bytes of one direction of a TCP connection into RPC messages, by their record marks (RFC
 * 5531 s11).  A hole inside a message makes it partial: its mark says where the next message
 * begins.  A hole over a mark loses the framing.  Then marks.h finds marks that may be true, and
 * resync.h decides which of them is.
 *
 * A mark in its expected place is believed whatever length it claims, if a header follows.
 *
 * Memory: one message for each direction.  At most MESSAGE_MAX bytes of it are kept; a longer
 * message is partial.  During a search, see marks.h.  conn.h bounds all framers together, by
 * framer_trim.
 */
#ifndef NFSDIGEST_FLOW_FRAMER_H
#define NFSDIGEST_FLOW_FRAMER_H

#include "flow/marks.h"
#include "record/record.h"

enum {
    FRAMER_EMPTY_MAX = 64, /* empty fragments in a row; more are zeros that are not marks */
};

struct framer {
    const struct message_host *host;
    struct flow *flow;
    struct framer *peer; /* of the other direction, or NULL */
    uint8_t side;
    bool lost;      /* the place of the next mark is not known */
    bool resynced;  /* the next message is the first after a search */
    bool in_record; /* a mark was read, but not yet the message's end */
    bool last;      /* the current fragment is the record's last */
    bool joined;    /* lost because nobody watched before, not because bytes are missing; their
                     * ends are the sender's (conn_sent.c).  Not saved. */
    uint8_t mark[4], mark_have;
    uint8_t empty;     /* fragments without bytes, in a row */
    uint32_t left;     /* wire bytes of the current fragment still to come */
    uint32_t wire_len; /* of the record's fragments so far, including all of the current one */
    uint32_t flags;    /* SIGHTING_ bits of the message being read */
    uint64_t frame, first_frame;
    int64_t time;
    uint64_t at;        /* bytes of the stream so far, including missing ones */
    uint64_t begin;     /* where in the stream the record being read begins */
    struct buf message; /* bytes before any hole */
    /* For the search for marks: */
    struct marks marks;
    bool has_xid, has_lost_xid;
    uint32_t xid;      /* of the latest message */
    uint32_t lost_xid; /* of the latest one before the search */
    int64_t due;       /* time at which a doubtful mark must be looked at again */
    uint64_t skipped;  /* bytes passed over in this search */
    uint64_t undecided;
    uint64_t memory; /* the share of this framer in host->memory */
};

/* |lost|: the bytes begin in the middle of the stream, so the place of the first mark is unknown.
 */
void framer_init(struct framer *f, const struct message_host *host, struct flow *flow, uint8_t side,
                 bool lost);
void framer_free(struct framer *f);

/* Takes the next bytes of the stream: one segment or a part of it. */
int framer_data(struct framer *f, struct bytes data, struct seen seen, struct err *err);

/* Passes over |len| bytes that will never be seen.  |flag| is SIGHTING_CUT or SIGHTING_HOLE. */
int framer_gap(struct framer *f, uint64_t len, uint32_t flag, struct seen seen, struct err *err);

/* Returns true if framer_settle has something to do.  Cheap. */
static inline bool framer_unsettled(const struct framer *f, int64_t time)
{
    return f->marks.mark_count && (f->marks.changed || time >= f->due);
}

/* Forgets the XIDs, because another connection begins, whose calls have other XIDs. */
static inline void framer_forget_xids(struct framer *f)
{
    f->has_xid = f->has_lost_xid = false;
}

/* Looks again at doubtful marks, after something came in the other direction. */
int framer_settle(struct framer *f, struct seen seen, struct err *err);

/* Ends the stream.  Delivers the present part of the current message as partial. */
int framer_end(struct framer *f, struct seen seen, struct err *err);

/* Reports |length| bytes that could not be used to the host. */
int framer_problem(const struct framer *f, enum problem_kind kind, struct seen seen,
                   uint64_t length, struct err *err);

/* Forgets what was left in doubt, if the place of the next mark is known: it is not of this piece
 * (past.h). */
void framer_forget_doubts(struct framer *f);

/* Frees buffers in which nothing waits.  Returns the number of bytes that wait in the others. */
size_t framer_trim(struct framer *f);

/* Save and restore the state, except host, flow and peer. */
uint64_t framer_layout(uint64_t hash); /* see pack_layout */
int framer_save(const struct framer *f, struct buf *out);
struct unpack;
int framer_restore(struct framer *f, struct unpack *in);

#endif
