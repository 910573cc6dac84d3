/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/sniff.h
 *
 * Packets of a network interface, by libpcap.  Memory: SNIFF_BUFFER in the kernel.
 */
#ifndef NFSDIGEST_CAPTURE_SNIFF_H
#define NFSDIGEST_CAPTURE_SNIFF_H

#include "base/err.h"
#include "link/frame.h"

enum { SNIFF_BUFFER = 32 << 20, SNIFF_SNAPLEN = 256 << 10 };

struct sniff;

/* Begins to capture.  |filter| is libpcap's (pcap-filter(7)), or NULL.  -ERR_USAGE: there is no
 * such interface, or the filter is wrong; -ERR_SYSTEM: capturing is not allowed; the message says
 * what to do. */
struct sniff *sniff_open(const char *interface, const char *filter, struct err *err);
void sniff_close(struct sniff *sniff);

/* Returns a descriptor for poll(2). */
int sniff_fd(const struct sniff *sniff);

/* Gives the packets that are there, at most |most|.  Frames are numbered from 1.  Returns how many,
 * or a negative code, also of |each|. */
int sniff_read(struct sniff *sniff, int most,
               int (*each)(void *ctx, const struct frame *frame, struct err *err), void *ctx,
               struct err *err);

/* Since the beginning: packets that passed the filter, and those that were lost because this
 * program was too slow, or in the interface. */
struct sniff_counts {
    uint64_t received, dropped, interface_dropped;
};
void sniff_count(struct sniff *sniff, struct sniff_counts *counts);

#endif
