/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/datagram_id.h
 *
 * IP identifications of the output's UDP datagrams.  Those of the capture count what a host has
 * sent to anybody, so they are not copied.  But copies of one datagram have one identification,
 * which tells them from what was sent again (flow/pair_again.c): they keep one, of a count of our
 * own.
 *
 * Memory: 24 bytes for each of DATAGRAM_IDS; one that is forgotten makes its copies look sent
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
        uint32_t flow, from; /* identification in the capture; 0: none */
        uint16_t to;
        uint8_t side;
    } ids[DATAGRAM_IDS];
    uint16_t last;
};

/* 0: it has none. */
uint16_t datagram_id(struct datagram_ids *d, const struct message *m);

#endif
