/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/pcapng_write.h
 *
 * Writes a pcapng file (draft-ietf-opsawg-pcapng) with one section, one interface and times in
 * nanoseconds: section header with a comment, interface description, enhanced packets, and at the
 * end an interface statistics block with a comment.  A file without the last block was cut off.
 *
 * A separate thread writes full buffers, one at a time, while the next one is filled.  So an error
 * of |write| is returned by a later call, at the latest by pcapng_flush or pcapng_end.
 *
 * Memory: twice PCAPNG_BUFFER bytes and one packet.
 */
#ifndef NFSDIGEST_LINK_PCAPNG_WRITE_H
#define NFSDIGEST_LINK_PCAPNG_WRITE_H

#include "base/bytes.h"
#include "base/output.h"
#include "base/queue.h"

enum { PCAPNG_BUFFER = 1 << 20 };

struct pcapng_writer {
    output_writer *write; /* the caller's, */
    void *ctx;            /* and for it; the rest is zeros at the beginning */
    int64_t latest;       /* time of a packet; 0 before the first one that has one */
    struct buf out;
    struct buf behind;    /* full, with the thread until |thread| is drained */
    struct queue *thread; /* from the first full buffer on */
};

/* Puts the head; |link_type| is the interface's LINKTYPE_ value.  |w| stays where it is. */
int pcapng_begin(struct pcapng_writer *w, uint16_t link_type, const char *comment, struct err *err);

/* A packet of |cap_len| captured bytes, |wire_len| long.  With TIME_NONE it is a Simple Packet
 * Block, if it is not cut, which such a block cannot say; else its time is the latest one.  Returns
 * where its bytes go (valid until the next call), NULL: no memory or not written. */
uint8_t *pcapng_packet(struct pcapng_writer *w, int64_t time, uint32_t cap_len, uint32_t wire_len,
                       struct err *err);

/* Returns when all of it is written. */
int pcapng_flush(struct pcapng_writer *w, struct err *err);

/* |time|: of the last packet. */
int pcapng_end(struct pcapng_writer *w, int64_t time, const char *comment, struct err *err);
void pcapng_free(struct pcapng_writer *w);

#endif
