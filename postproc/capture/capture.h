/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/capture.h
 *
 * A capture file as frames for the engine: pcap through libpcap, pcapng through pcapng.h, both
 * decompressed by struct input.  The frames of a capture are numbered from 1.
 *
 * Four outcomes: not a capture (capture_open fails), frames, the end, and -ERR_INPUT from
 * capture_next after all whole packets, when the file is cut or damaged; the message then names
 * the packet and the byte where it begins.
 */
#ifndef NFSDIGEST_CAPTURE_CAPTURE_H
#define NFSDIGEST_CAPTURE_CAPTURE_H

#include "capture/input.h"
#include "capture/pcapng.h"
#include "link/frame.h"

struct capture;

/* Returns true if the first bytes are those of a pcap or pcapng file. */
bool capture_is(const uint8_t *head, size_t len);

/* |input| stays the caller's and must outlive the capture. */
struct capture *capture_open(struct input *input, struct err *err);
void capture_close(struct capture *capture);

/* Reads the next frame, which is valid until the next call.  Returns 1, 0 at the end, or a negative
 * code. */
int capture_next(struct capture *capture, struct frame *frame, struct err *err);

/* For copies.  Reads the next frame of a pcap file, and sets |block->body| to NULL.  Or reads
 * the next block of a pcapng file, with its frame if it is a packet.  Returns the same as
 * capture_next. */
int capture_next_block(struct capture *capture, struct pcapng_block *block, struct frame *frame,
                       struct err *err);

/* Of a file that is read in parts (input_open_part): what comes behind its first |head| bytes
 * begins at its byte |from|.  Frames are numbered from 1 there, and messages name the bytes of the
 * file.  Of pcapng, reads the first |head| bytes. */
int capture_head(struct capture *capture, uint32_t head, uint64_t from, struct err *err);
/* The reader of a pcapng file, for what it knows of interfaces; or NULL. */
struct pcapng *capture_pcapng(const struct capture *capture);

#endif
