/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/datagram_id.h
 *
 * Gives the UDP datagrams of the output their IP identifications.  Those of the capture are not
 * copied, because they count everything that a host has sent.  But copies of one datagram have the
 * same identification, which distinguishes them from retransmissions (flow/pair_again.c).  So
 * copies get the same new identification, from a counter of our own.
 *
 * Two different datagrams can have the same identification, by chance or because their sender gives
 * all the same one.  Each of them gets its own here: datagrams with the same new identification are
 * equal, except for bytes that a snap length cut off.
 *
 * Memory: 40 bytes for each of DATAGRAM_IDS.  If one is forgotten, its copies look like
 * retransmissions.
 */
#ifndef NFSDIGEST_ANON_DATAGRAM_ID_H
#define NFSDIGEST_ANON_DATAGRAM_ID_H

#include <stdint.h>

struct message;

enum { DATAGRAM_IDS = 4096 };

/* Begins with all zeros. */
struct datagram_ids {
    struct datagram_id {
        int64_t time;
        uint64_t digest;     /* of its contents; 0: it is cut */
        uint32_t flow, from; /* identification in the capture; 0: none */
        uint32_t xid, wire_len;
        uint16_t to;
        uint8_t side;
    } ids[DATAGRAM_IDS];
    uint16_t last;
};

/* Returns the identification of a message's datagram, or 0 if it has none.  For a held reply, call
 * it once: later its number may be forgotten, and a further one would look like a datagram that was
 * dropped. */
uint16_t datagram_id(struct datagram_ids *d, const struct message *m);

#endif
