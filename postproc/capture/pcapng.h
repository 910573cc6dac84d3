/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/pcapng.h
 *
 * Reads pcapng files as frames (draft-ietf-opsawg-pcapng).  libpcap is not used for them, because
 * it fails at a second interface with another link type, as in files merged from two capture
 * points. Reads sections of either byte order, interfaces with their link type, time resolution and
 * offset, and enhanced, simple and obsolete packet blocks.  All other blocks are given unchanged.
 *
 * Frame numbers are Wireshark's: from 4.0 on it also counts Custom Blocks (both types), systemd
 * journal blocks and the events of Sysdig (0x204, 0x216, 0x221).
 *
 * Memory: one block, PCAPNG_BLOCK_MAX, and PCAPNG_INTERFACES_MAX interfaces.
 */
#ifndef NFSDIGEST_CAPTURE_PCAPNG_H
#define NFSDIGEST_CAPTURE_PCAPNG_H

#include "base/err.h"
#include "link/frame.h"

#include <stdio.h>

enum { PCAPNG_BLOCK_MAX = 16 << 20, PCAPNG_INTERFACES_MAX = 4096 };

struct pcapng;

/* Returns true if a file with these first bytes is a pcapng file. */
bool pcapng_is(const uint8_t *head, size_t len);

/* Opens a pcapng file.  |file| stays the caller's.  |name| is for messages and must outlive
 * this. */
struct pcapng *pcapng_open(FILE *file, const char *name, struct err *err);
void pcapng_close(struct pcapng *png);

/* A block as it is in the file. */
struct pcapng_block {
    uint32_t type;
    const uint8_t *body; /* without its type and its two lengths */
    uint32_t len;
    bool swapped;   /* its section has the other byte order than this machine */
    bool is_packet; /* then the frame was set */
    bool is_frame;  /* it has a frame number; not only packets have */
};

/* Reads the next block of any type.  If it is a packet, its frame is set, except the number.  Both
 * are valid until the next call.  Returns 1, or 0 at the end.  Returns -ERR_INPUT if a block is cut
 * or damaged; the message then has the number of the packet and the byte where its block begins. */
int pcapng_next(struct pcapng *png, struct pcapng_block *block, struct frame *frame,
                struct err *err);

#endif
