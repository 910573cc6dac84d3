/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/frames.h
 *
 * Puts messages into new frames: Ethernet, IPv4 or IPv6, TCP or UDP.  A message is in one or more
 * frames, at its time.
 *
 * A TCP connection begins with a handshake at the time of its first message, and ends as the
 * captured one did.  Its sequence and acknowledgement numbers are those of an exchange in which
 * each side received everything.  The last replies before an end are acknowledged where they were
 * in the capture.
 *
 * If bytes of a message are missing, they are missing from its frames as if a snap length had cut
 * them, so lengths and sequence numbers stay right.  Checksums are right; those of cut frames are
 * calculated with zeros for the missing bytes.  Hardware addresses are made from IP addresses.
 *
 * Memory: that of pcapng_write.h, and 32 bytes for each of FRAMES_FLOWS connections.  If a
 * connection is forgotten because there are too many, it begins again with a handshake.
 */
#ifndef NFSDIGEST_ANON_FRAMES_H
#define NFSDIGEST_ANON_FRAMES_H

#include "anon/rewrite.h"
#include "link/pcapng_write.h"

enum {
    FRAMES_FLOWS = 1 << 16,
    SEGMENT_MAX = 64000,  /* bytes of TCP payload in one frame */
    DATAGRAM_MAX = 65507, /* of UDP payload, RFC 768 in RFC 791 */
};

/* The two ends of a message. */
struct frames_flow {
    uint32_t id; /* of the engine's record; not 0 */
    uint8_t transport;
    uint8_t client; /* the side that makes calls */
    struct address address[2];
    uint16_t port[2];
};

struct frames;

/* Writes the file's head. */
struct frames *frames_new(output_writer *write, void *ctx, const char *comment, struct err *err);
void frames_free(struct frames *f);

/* The place and time at which something was captured, and at which its replacement is written. */
struct frames_place {
    uint8_t side;   /* the side of the flow that sent it */
    uint16_t ip_id; /* identification of a message's datagram, or 0 */
    uint64_t frame; /* in the capture */
    int64_t time;
};

int frames_message(struct frames *f, const struct frames_flow *flow,
                   const struct frames_place *place, const struct rewritten *message,
                   struct err *err);

struct frames_over {
    uint8_t kind;   /* enum flow_end_kind */
    uint64_t acked; /* that of struct flow_over */
};

/* Writes the end of a TCP connection: FIN and RST once, and the missing acknowledgements.  Writes
 * nothing if no message of the connection was written. */
int frames_over(struct frames *f, const struct frames_flow *flow, const struct frames_place *place,
                const struct frames_over *over, struct err *err);
int frames_flush(struct frames *f, struct err *err);
int frames_end(struct frames *f, const char *comment, struct err *err);

struct frames_counts {
    uint64_t frames, connections, bytes; /* bytes: of messages */
    uint64_t too_long; /* datagrams that were cut because they became longer than UDP allows */
};
const struct frames_counts *frames_counts(const struct frames *f);

#endif
