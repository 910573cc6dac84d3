/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/datagram_id.h
 *
 * IP identifications of the output's UDP datagrams.  Those of the capture count what a host has
 * sent to anybody, so they are not copied.  But copies of one datagram have one identification,
 * which tells them from what was sent again (flow/pair_again.c): they keep one, of a count of our
 * own.  What has the identification of another datagram by chance, or since its sender gives all
 * the same one, gets one of its own: what has one is the same but for what a snap length cut.
 *
 * Memory: 40 bytes for each of DATAGRAM_IDS; one that is forgotten makes its copies look sent
 * again.
 */
#ifndef NFSDIGEST_ANON_DATAGRAM_ID_H
#define NFSDIGEST_ANON_DATAGRAM_ID_H

#include <stdint.h>

struct message;

enum { DATAGRAM_IDS = 4096 };

/* All zeros at first. */
struct datagram_ids {
    struct datagram_id {
        int64_t time;
        uint64_t digest;     /* of what it says; 0: it is cut */
        uint32_t flow, from; /* identification in the capture; 0: none */
        uint32_t xid, wire_len;
        uint16_t to;
        uint8_t side;
    } ids[DATAGRAM_IDS];
    uint16_t last;
};

/* 0: it has none.  A message that is asked for again has the same, as held replies are. */
uint16_t datagram_id(struct datagram_ids *d, const struct message *m);

#endif
