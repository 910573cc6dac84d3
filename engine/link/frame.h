/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/frame.h
 *
 * The input of the engine (a captured frame) and the output of engine/link (an IP payload).  Both
 * point into the caller's memory and are valid for one call only.
 */
#ifndef NFSDIGEST_LINK_FRAME_H
#define NFSDIGEST_LINK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time of a packet that has none, as those in pcapng's Simple Packet Blocks. */
#define TIME_NONE INT64_MIN
/* A time as far from the epoch, in the year 2116, is of a damaged capture.  That all times are
 * nearer means that the difference of two of them has no overflow. */
#define TIME_FAR (INT64_C(1) << 62)

/* Returns a time of so many seconds and nanoseconds (below a second) since the epoch, or TIME_NONE
 * if that is too far from it. */
static inline int64_t time_of_frame(int64_t seconds, uint64_t nanoseconds)
{
    const int64_t most = TIME_FAR / 1000000000;

    return seconds >= most || seconds <= -most ? TIME_NONE
                                               : seconds * 1000000000 + (int64_t)nanoseconds;
}

struct frame {
    uint64_t number; /* 1, 2, ... in the order of the capture, as Wireshark counts */
    int64_t time;    /* nanoseconds since the epoch, nearer than TIME_FAR, or TIME_NONE */
    const uint8_t *data;
    uint32_t cap_len;  /* bytes at |data| */
    uint32_t wire_len; /* bytes that were on the wire; >= cap_len */
    int link_type;     /* LINKTYPE_ value of the capture file (tcpdump.org/linktypes) */
    uint32_t skipped;  /* frames between this one and the one before that are not packets */
};

struct address {
    uint8_t version; /* 4 or 6; 0 when unset */
    uint8_t bytes[16];
};

#define ADDRESS_TEXT_MAX 46

/* The length in bytes of an address of this version: 4 or 16. */
static inline unsigned address_len(const struct address *a)
{
    return a->version == 4 ? 4 : 16;
}

bool address_equal(const struct address *a, const struct address *b);

/* Writes |a| into |text|, in the form of RFC 5952.  Returns |text|. */
const char *address_text(const struct address *a, char text[ADDRESS_TEXT_MAX]);

/* Reads the first |len| bytes of |text|, in any of the forms that inet_pton takes. */
bool address_read(const char *text, size_t len, struct address *a);

/* The payload of an IP header, or of a reassembled set of fragments. */
struct ip_payload {
    struct address source, destination;
    uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP: others are counted, not delivered */
    bool reassembled; /* from fragments */
    uint32_t id;      /* identification of the datagram; 0: it has none (IPv6 in one piece; IPv4
                       * that may not be fragmented often has 0, RFC 6864 s4.1) */
    bool hole;        /* a fragment was lost: the bytes behind |cap_len| will never be seen */
    const uint8_t *data;
    uint32_t cap_len;     /* bytes at |data| */
    uint32_t wire_len;    /* length by the IP header, but not more than the frame; >= cap_len */
    uint64_t first_frame; /* with |hole|: the first frame that brought something of it */
};

/* An RPC message that came whole, without record marks, between two ends. */
struct whole_message {
    struct address source, destination;
    uint16_t source_port, destination_port;
    uint8_t transport; /* IPPROTO_TCP or IPPROTO_UDP */
    uint64_t number;   /* used as a frame number: 1, 2, ... */
    int64_t time;      /* as in struct frame */
    const uint8_t *data;
    uint32_t len;
};

enum sent_event {
    SENT_BEGIN,  /* a connection begins: its first bytes are still to come */
    SENT_JOIN,   /* it was there already: the next bytes are not its first */
    SENT_BYTES,  /* bytes of a connection, or a datagram */
    SENT_CLOSED, /* the connection has ended, and each side got all that the other one sent */
    SENT_RESET,  /* it has ended otherwise */
};

/* What a program sees that passes bytes on between two ends: bytes in the order in which they were
 * sent, and never twice. */
struct sent {
    enum sent_event event;
    struct address source,
        destination; /* of the same version; of the sender and the receiver, or */
    uint16_t source_port, destination_port; /* of either end, if nothing is sent */
    uint8_t transport;                      /* IPPROTO_TCP or IPPROTO_UDP */
    uint64_t number;                        /* used as a frame number, as above; may have gaps */
    int64_t time;                           /* as in struct frame */
    uint64_t missing; /* SENT_BYTES over TCP: bytes before |data| that nobody will see */
    const uint8_t *data;
    uint32_t len; /* may be 0 */
};

#endif
