/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate_copy.h
 *
 * Copies a capture as pcapng (draft-ietf-opsawg-pcapng), and adds comments to packets.
 *
 * All blocks of a pcapng file stay as they are, in their byte order.  Comments are inserted before
 * the options of packets.  There are two changes: the length of a section becomes unknown, and a
 * simple packet block, which cannot have a comment, becomes an enhanced one if it gets a comment.
 * A pcap file becomes one section with one interface, with times in nanoseconds.
 *
 * Memory: a packet, and its comments.
 */
#ifndef NFSDIGEST_REPORT_ANNOTATE_COPY_H
#define NFSDIGEST_REPORT_ANNOTATE_COPY_H

#include "base/bytes.h"
#include "base/output.h"
#include "capture/capture.h"

struct annotate_copy {
    const char *comment; /* about the whole file, if it was pcap */
    /* Appends the comments of a frame, each with a zero at its end.  Frames come in order. */
    int (*comments)(void *ctx, uint64_t frame, struct buf *texts, struct err *err);
    void *ctx;
    uint64_t frames, commented; /* out */
};

/* Copies the capture.  If the capture is cut, returns -ERR_INPUT after all whole packets were
 * written. */
int annotate_copy(struct annotate_copy *copy, struct capture *capture, output_writer *write,
                  void *ctx, struct err *err);

#endif
