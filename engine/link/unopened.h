/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/unopened.h
 *
 * Encapsulations that Wireshark opens and engine/link does not, taken from link's counters.  NFS
 * inside them is not seen, so the program reports them to its user.
 *
 *     struct unopened unopened = { 0 };
 *     link_counters(link, unopened_add, &unopened, err);
 *     if (unopened.packets)
 *         ... "capture.pcap: 120 packets (Geneve 100, VN-Tag 20) ..."
 */
#ifndef NFSDIGEST_LINK_UNOPENED_H
#define NFSDIGEST_LINK_UNOPENED_H

#include "base/err.h"

#include <stdint.h>

struct unopened {
    uint64_t packets;
    char names[128]; /* "Geneve 100, VN-Tag 20", as far as there is room */
};

/* Adds a counter if it stands for an encapsulation.  It is a link_counter (link.h).  |name| may
 * begin with "link.", as in records.  Always returns 0. */
int unopened_add(void *unopened, const char *name, uint64_t value, struct err *err);

/* Returns the port of the UDP tunnel that a datagram belongs to, or 0 if it belongs to none.
 * |port| is the datagram's destination; |first| is the first word (big-endian) of its payload. */
uint16_t unopened_tunnel(uint16_t port, uint32_t first);

#endif
