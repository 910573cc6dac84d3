/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/pcapng.h
 *
 * pcapng files as frames (draft-ietf-opsawg-pcapng).  Our own, because libpcap gives up at a second
 * interface of another link type, as in every file merged from two capture points.
 * Reads sections of either byte order, interfaces with their link type, time resolution and offset,
 * and enhanced, simple and obsolete packet blocks; passes over all other blocks.
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

/* Whether a file that begins so is a pcapng file. */
bool pcapng_is(const uint8_t *head, size_t len);

/* |file| stays the caller's; |name| is for messages and must outlive this. */
struct pcapng *pcapng_open(FILE *file, const char *name, struct err *err);
void pcapng_close(struct pcapng *png);

/* The next frame, valid until the next call: 1; 0 at the end; -ERR_INPUT when a block is cut or
 * damaged, with the number of the packet and the byte where its block begins.  Sets everything
 * but the frame's number. */
int pcapng_next(struct pcapng *png, struct frame *frame, struct err *err);

#endif
