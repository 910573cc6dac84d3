/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/link.h
 *
 * Finds IP payloads in frames.  It knows the link types Ethernet (with 802.1Q, 802.1ad and stacked
 * tags, 802.3 LLC/SNAP, PPPoE sessions, MPLS), Linux cooked v1 and v2, raw IP, BSD loopback (null,
 * loop), PPP and Cisco HDLC.  Below them it knows IPv4, IPv6 with extension headers, fragments of
 * both, IP in IP, GRE (with Ethernet, PPP or ERSPAN in it) and VXLAN (UDP port 4789).  Everything
 * else is counted under a name.  Packets inside ICMP errors are not opened.
 *
 * A frame can hold at most LINK_DEPTH_MAX encapsulations.  They are walked in a loop.
 *
 * Lengths: a payload ends where its IP header says, so Ethernet padding is never data.  A total
 * length of 0 (segmentation offload) means the rest of the frame.
 *
 * Fragments: a datagram is delivered whole, at the frame that completes it.  If a UDP datagram
 * stays incomplete, its first fragment, if captured, is delivered when the datagram is given up
 * (fragment.h).  Its frame is then the last one that brought a part of it, which lies before the
 * current frame.  A first fragment that the snap length cut is delivered alone, with the captured
 * bytes; the UDP length says how much is missing.  Other cut fragments are counted, and so are sets
 * that stay incomplete.  Fragments that come after their datagram was complete are copies: a whole
 * set of them is delivered again.  Tags and tunnels distinguish fragments only if an address is
 * private.
 *
 * Memory: LINK_FRAGMENT_BYTES of fragments and LINK_FRAGMENT_SETS sets.  The oldest go first.  A
 * set that is older than LINK_FRAGMENT_AGE (capture time) is given up.
 *
 * The functions fail only if there is no memory.
 */
#ifndef NFSDIGEST_LINK_LINK_H
#define NFSDIGEST_LINK_LINK_H

#include "base/err.h"
#include "base/bytes.h"
#include "link/frame.h"

#include <stddef.h>

enum {
    LINK_DEPTH_MAX = 16,
    LINK_FRAGMENT_BYTES = 16 << 20,
    LINK_FRAGMENT_SETS = 4096,
};
#define LINK_FRAGMENT_AGE (30 * INT64_C(1000000000)) /* ns; RFC 1122 s3.3.2, Linux ipfrag_time */

struct link;

/* Called for each TCP or UDP payload in |frame|; a negative return ends link_frame with it. */
typedef int link_deliver(void *ctx, const struct frame *frame, const struct ip_payload *payload,
                         struct err *err);

/* |deliver| may be NULL: then frames are only classified and counted.  Returns NULL if there is no
 * memory. */
struct link *link_new(link_deliver *deliver, void *ctx);
void link_free(struct link *link);

int link_frame(struct link *link, const struct frame *frame, struct err *err);

/* Takes a payload that did not come through link_frame, because another decoder removed its
 * headers.  Counts nothing.  Opens VXLAN in it; delivers any other payload. */
int link_payload(struct link *link, const struct frame *frame, const struct ip_payload *payload,
                 struct err *err);

/* Gives up the datagrams that wait for a fragment, because no more frames come. */
int link_end(struct link *link, struct err *err);

/* Shows the counters, in a fixed order: |name| like "frames", "link_type.147", "ether_type.0x0806",
 * "ip_protocol.1", "ip_fragments", "ip_datagrams_incomplete", "truncated_headers", ...
 * Names with a number count packets that were not opened or delivered.  Exceptions: "ip_protocol.N"
 * counts all payloads of IP headers, and the datagrams of "udp_tunnel.PORT" are delivered as any
 * other.  Only counters above 0 are shown.  unopened.h finds the encapsulations among them. */
typedef int link_counter(void *ctx, const char *name, uint64_t value, struct err *err);
int link_counters(const struct link *link, link_counter *show, void *ctx, struct err *err);

/* Sets all counters to 0, for the next file of a capture. */
void link_counters_reset(struct link *link);

/* Save and restore the waiting fragments, for another process.  link_save appends to |out|. */
uint64_t link_layout(uint64_t hash); /* see pack_layout */
/* See fragments_outline. */
uint64_t link_outline(const struct link *link, uint64_t frame, int64_t now);
uint32_t link_surprises(const struct link *link); /* see struct fragments */
int link_save(const struct link *link, struct buf *out);
int link_restore(struct link *link, const uint8_t *data, size_t len, struct err *err);

#endif
