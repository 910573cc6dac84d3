/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/outline.h
 *
 * What an engine knows at one frame of a capture, the border, in terms that two engines share:
 * addresses, ports, XIDs, times, and frames counted from the border.  If an engine that came to the
 * border from the beginning of the capture and one that began a little before it have the same
 * outline, they treat all that follows alike.  outline_follows compares them.
 *
 * Digests stand for everything in a stream or call that can still make a difference.  What only
 * tells segments of the past apart (the rings of recent segments, the holes that were given up, the
 * first SYN) is left out: whoever asks it marks the stream or connection (past.h).
 *
 * Memory: 176 bytes for each connection, 136 for each waiting call, 168 for each pair of hosts.
 */
#ifndef NFSDIGEST_FLOW_OUTLINE_H
#define NFSDIGEST_FLOW_OUTLINE_H

#include "base/bytes.h"
#include "base/err.h"
#include "flow/past.h"

enum {
    OUTLINE_CHUNKS = 256, /* of the frames before the border, for the calls answered there, */
    OUTLINE_CHUNK = 256,  /* each of so many frames */
};

struct outline_key { /* of a TCP connection; side 0 has the smaller address and port */
    uint8_t address[2][16];
    uint16_t port[2];
    uint8_t transport, version;
    uint16_t zero;
};

struct outline_stream { /* no padding */
    uint64_t digest;
    uint32_t next;   /* sequence number, if |started| */
    uint32_t origin; /* of the first segment, if |begun| */
    uint8_t started;
    uint8_t quiet;          /* all was acknowledged, nothing waits, and a record mark is next */
    uint8_t begun;          /* its beginning was not seen */
    uint8_t assumed, asked; /* see past.h */
    uint8_t stopped; /* inside a message, or at a hole: more is reported later of what is here */
    uint8_t zero[2];
};

struct outline_flow { /* no padding */
    struct outline_key key;
    uint64_t digest; /* of what both directions share */
    uint64_t memory; /* bytes that its streams have allocated */
    int64_t birth;   /* frame, counted from the border; OUTLINE_UNKNOWN */
    uint8_t asked;   /* see past.h */
    uint8_t over;    /* it has ended */
    uint8_t plain;   /* it has not ended, and no other one may have begun */
    uint8_t server;  /* side; 2: not known */
    uint8_t sure;    /* its beginning was seen */
    uint8_t zero[3];
    struct outline_stream stream[2];
};
#define OUTLINE_UNKNOWN INT64_MIN

struct outline_call { /* that waits for its reply; no padding */
    struct address client, server;
    uint8_t udp;
    uint8_t over; /* its connection has ended */
    uint32_t xid;
    uint32_t bytes;
    uint32_t borders;        /* over which it was carried (outline_follows) */
    struct outline_key flow; /* over which it was sent last; zeros: another one has its place */
    int64_t frame;           /* counted from the border */
    int64_t seen;            /* clock, counted from the border */
    uint64_t operation;      /* id in the engine */
    uint64_t digest;
};

struct outline {
    struct outline_flow *flows; /* by their keys */
    uint32_t flow_count, flow_cap;
    uint32_t connections; /* also those that carry no RPC */
    struct outline_call *calls;
    uint32_t call_count, call_cap;
    uint64_t call_bytes;
    int64_t from; /* frame: answered calls before it are not known; OUTLINE_UNKNOWN: all are */
    uint64_t
        done[OUTLINE_CHUNKS]; /* sums of digests of answered calls: [0] is next to the border */
    struct xids used;         /* XIDs of all known calls, and of replies without one */
    uint64_t fragments;       /* digest */
    uint32_t surprises;       /* checksums of fragments that were not as before */
    uint32_t held;   /* a boolean: a reply waits that other messages have something to do with */
    uint64_t moment; /* digest of the clock */
    uint8_t ports[65536 / 8];
};

void outline_free(struct outline *o);

enum { OUTLINE_FLOW_TEXT = 2 * ADDRESS_TEXT_MAX + 40 };
/* Writes the two ends for people, and returns |text|. */
const char *outline_flow_text(const struct outline_key *key, char text[OUTLINE_FLOW_TEXT]);

/* Compares two of |flows| for qsort. */
int outline_flow_order(const void *a, const void *b);
/* Returns the connection, or NULL.  |flows| are in order. */
const struct outline_flow *outline_find(const struct outline *o, const struct outline_key *key);

/* The most that there may be, by the engine's options. */
struct outline_limits {
    uint32_t connections, waiting;
    uint64_t waiting_bytes, framing; /* bytes; |framing| is also that of queued segments */
    uint32_t held, zero;
};

/* What is needed to tell if the records of an engine that began in the middle are those of one run.
 */
struct outline_border {
    const struct outline *before; /* by the engine of the earlier frames, at its end */
    uint64_t depth;               /* frames of which |before| knows all answered calls */
    const struct outline *after;  /* by the one that began a little before the border, there */
    const struct outline *end;    /* by the same at its end */
    const struct past *past;      /* what the same asked */
    struct outline_limits limits;
    bool open; /* there are frames before those that |before| knows of: what nobody knows yet may be
                * known there, and is no difference */
};

struct outline_fit {
    bool same;        /* the records are those of one run */
    uint32_t carried; /* connections and calls that only |before| knows, and nobody needed */
    uint32_t adopted; /* streams whose state was assumed, rightly */
    char why[160];    /* if not |same| */
};

/* Compares.  |rest| (all zeros) receives what |before| alone knows, and what is still true at the
 * second engine's end. */
int outline_follows(const struct outline_border *border, struct outline_fit *fit,
                    struct outline *rest, struct err *err);

/* Adds |rest| to |to|, which is an outline of the same border. */
int outline_add(struct outline *to, const struct outline *rest, struct err *err);
/* Copies |from| to |to|, which is all zeros. */
int outline_copy(struct outline *to, const struct outline *from, struct err *err);

#endif
