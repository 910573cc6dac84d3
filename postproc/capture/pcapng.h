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
 * A reader can go on in the middle of a file.  It then takes interfaces to be as they were, and
 * others that it has not seen to be like the first one, and says what it relied on (faces.h).
 *
 * Memory: one block, PCAPNG_BLOCK_MAX, and FACES_MAX interfaces, twice.
 */
#ifndef NFSDIGEST_CAPTURE_PCAPNG_H
#define NFSDIGEST_CAPTURE_PCAPNG_H

#include "capture/faces.h"
#include "link/frame.h"

#include <stdio.h>

enum { PCAPNG_BLOCK_MAX = 16 << 20 };

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

/* Returns true for the types of blocks that are looked for in the middle of a file, if the first
 * bytes of a block are such a number.  No type has the bytes of another one in the other order;
 * that of a section header is the same in both. */
bool pcapng_is_type(uint32_t type);

/* What is read next stands somewhere behind what was read: at the byte |from|.  Messages count
 * packets from there. */
void pcapng_jump(struct pcapng *png, uint64_t from);
/* The same, behind a part of which |faces| are known.  |sure|: all of them are, so a packet of
 * another one is damaged. */
int pcapng_jump_with(struct pcapng *png, const struct faces *faces, bool sure, struct err *err);
/* The part begins here, which is behind a lead-in. */
void pcapng_border(struct pcapng *png);
/* Returns in |span|, all zeros, what the part relied on so far. */
int pcapng_span(const struct pcapng *png, struct faces_span *span, struct err *err);

#endif
