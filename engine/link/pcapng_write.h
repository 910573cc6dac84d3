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
    output_writer *write; /* the caller sets this */
    void *ctx;            /* and this, for |write|; the rest is zeros at the beginning */
    int64_t latest;       /* latest time of a packet; 0: no packet with a time yet */
    struct buf out;
    struct buf behind;    /* a full buffer; it belongs to the thread until |thread| is drained */
    struct queue *thread; /* started with the first full buffer */
};

/* Writes the file's head.  |link_type| is the interface's LINKTYPE_ value.  |w| must not be moved
 * after that. */
int pcapng_begin(struct pcapng_writer *w, uint16_t link_type, const char *comment, struct err *err);

/* Adds a packet of |cap_len| captured bytes that was |wire_len| long.  With TIME_NONE it becomes a
 * Simple Packet Block.  Such a block cannot say that a packet was cut, so a cut packet gets the
 * latest time instead.  Returns the place to write the packet's bytes to, valid until the next
 * call. Returns NULL on failure: no memory, or a failed write. */
uint8_t *pcapng_packet(struct pcapng_writer *w, int64_t time, uint32_t cap_len, uint32_t wire_len,
                       struct err *err);

/* Writes everything that is buffered, and returns when it is written. */
int pcapng_flush(struct pcapng_writer *w, struct err *err);

/* Writes the end of the file.  |time| is that of the last packet. */
int pcapng_end(struct pcapng_writer *w, int64_t time, const char *comment, struct err *err);
void pcapng_free(struct pcapng_writer *w);

#endif
