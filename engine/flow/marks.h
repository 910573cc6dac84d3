/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/marks.h
 *
 * The bytes of a stream whose framing is lost, with its holes, and the record marks (RFC 5531 s11)
 * that may be true.  File contents can hold marks, too: stored captures and streams.  So each mark
 * is followed to the next one, also over holes, and a mark that leads to no other mark is removed.
 * resync.h decides which of the others to believe.
 *
 * Memory: MARKS_BYTES_MAX of captured bytes, a piece of 40 bytes for each segment of them, and
 * MARKS_MAX marks.  The owner asks marks_full, and drops the first ones.
 */
#ifndef NFSDIGEST_FLOW_MARKS_H
#define NFSDIGEST_FLOW_MARKS_H

#include "base/bytes.h"
#include "base/err.h"
#include "flow/message.h"
#include "flow/seen.h"

enum {
    MARKS_BYTES_MAX = MESSAGE_MAX,
    MARKS_MAX = 1024,            /* each new one may have all of them looked at */
    MARKS_RECORD_MAX = 64 << 20, /* bytes that a mark which is not in its known place may claim */
};

struct marks_piece { /* of a segment, or what is missing between two; no padding */
    uint64_t at;     /* offset in the stream */
    struct seen seen;
    uint32_t start;   /* in |bytes| */
    uint32_t missing; /* not 0: so many bytes are not there, and |flag| says why */
    uint32_t flag;    /* SIGHTING_CUT or SIGHTING_HOLE */
    uint32_t border;  /* a boolean: its first byte is a segment's first */
};

enum mark_state {
    MARK_OPEN,    /* what follows has not come yet */
    MARK_CHAINED, /* another mark follows */
    MARK_LOOSE,   /* what follows may be a message, but not one that is known by its header */
    MARK_ENDLESS, /* what follows was not captured */
    MARK_JOINED,  /* a mark that is believed follows */
    MARK_BROKEN,  /* no mark follows */
};

/* Says if the other half of a mark's message, its reply or call, was captured. */
enum mark_match {
    MATCH_NONE,
    MATCH_DOUBTFUL, /* the other half is doubtful too, and neither begins with a segment */
    MATCH_CERTAIN,
};

/* Says if the XID of a mark's message fits the other XIDs of the connection. */
enum mark_sequence { SEQUENCE_NONE, SEQUENCE_FITS, SEQUENCE_BROKEN };

enum mark_fate { MARK_DOUBTFUL, MARK_UNDECIDED, MARK_DELIVERED, MARK_FALSE };

struct mark {             /* no padding */
    uint64_t at;          /* of the record's mark */
    uint64_t next;        /* of the mark that is to be read next */
    uint64_t frame;       /* in which it begins */
    int64_t time;         /* at which its last known byte came, if |timed| */
    uint32_t xid, length; /* of the record, as far as its fragments were read */
    uint8_t state;        /* enum mark_state */
    uint8_t kind;         /* 1: a call, 2: a reply */
    uint8_t whole;        /* a boolean: |next| is where the next record begins */
    uint8_t matched;      /* a boolean: its other half, a reply or a call, was captured */
    uint8_t known;        /* a boolean: its XID was used before, so it may be a copy */
    uint8_t fate;         /* enum mark_fate */
    uint8_t sequence;     /* enum mark_sequence */
    uint8_t timed;        /* a boolean */
};

struct marks {
    struct buf bytes; /* those that were captured */
    struct marks_piece *pieces;
    uint32_t piece_count, piece_cap;
    struct mark *marks; /* by their offset */
    uint32_t mark_count, mark_cap;
    uint64_t end;     /* offset in the stream behind the last piece */
    uint64_t scanned; /* marks were looked for before it */
    uint64_t behind;  /* marks before it were left behind: what follows them was read */
    uint64_t due;     /* before more than this is there, no open mark can be followed */
    bool changed;     /* marks came, went, or lead elsewhere */
};

void marks_free(struct marks *s);

/* Returns the number of allocated bytes. */
static inline uint64_t marks_memory(const struct marks *s)
{
    return s->bytes.cap + (uint64_t)s->piece_cap * sizeof(*s->pieces) +
           (uint64_t)s->mark_cap * sizeof(*s->marks);
}

static inline bool marks_full(const struct marks *s)
{
    return s->bytes.len > MARKS_BYTES_MAX || s->mark_count > MARKS_MAX;
}

/* Adds bytes at offset piece->at of the stream, which is at or behind the end of the present ones.
 * Also uses |seen| and |border| of |piece|. */
int marks_append(struct marks *s, struct bytes bytes, const struct marks_piece *piece,
                 struct err *err);

/* Adds bytes that were not captured.  Uses |at|, |seen|, |missing| and |flag| of |piece|. */
int marks_missing(struct marks *s, const struct marks_piece *piece, struct err *err);

/* Looks for marks in the bytes added since the last call, follows each mark to the next one as far
 * as possible, and removes broken marks.  |over|: nothing more comes.  Calls |found| for each new
 * mark.  It fills in |matched| and |known|, and returns true if the mark is to be kept. */
typedef bool marks_found(void *ctx, struct mark *mark);
int marks_scan(struct marks *s, bool over, marks_found *found, void *ctx, struct err *err);

/* Returns the mark at |at|, or NULL. */
struct mark *marks_mark(const struct marks *s, uint64_t at);

/* Returns true if a segment begins at |at|, or if no captured bytes follow it. */
bool marks_border(const struct marks *s, uint64_t at);

/* Returns true if the snap length cut off the end of |mark|'s message. */
bool marks_cut(const struct marks *s, const struct mark *mark);

/* Returns the number of bytes of a piece, captured or missing. */
uint32_t marks_length(const struct marks *s, uint32_t piece);

/* Returns the message's first bytes, up to a gap.  Returns no bytes if the message is in several
 * fragments. */
struct captured marks_text(const struct marks *s, const struct mark *mark);

/* Returns the time of the last known byte of a mark's message.  The mark must not be open. */
int64_t marks_time(const struct marks *s, struct mark *mark);

/* Returns true if dropping the bytes before |at| is worth the cost of moving the others. */
bool marks_worth_dropping(const struct marks *s, uint64_t at);

/* Returns how many bytes of [|from|, |to|) were captured. */
uint64_t marks_captured(const struct marks *s, uint64_t from, uint64_t to);

/* Moves all bytes from |at| on to |tail|, which must be empty.  Removes the marks among them. */
int marks_split(struct marks *s, uint64_t at, struct marks *tail, struct err *err);

/* Removes the bytes before |at| and the marks among them. */
void marks_drop(struct marks *s, uint64_t at);

/* See pack_layout. */
uint64_t marks_layout(uint64_t hash);
int marks_save(const struct marks *s, struct buf *out);
struct unpack;
int marks_restore(struct marks *s, struct unpack *in);

#endif
