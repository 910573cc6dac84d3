/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/part.h
 *
 * Reads frames of a part of a capture file, and knows at which byte each begins.  A compressed file
 * can only be read whole.
 */
#ifndef NFSDIGEST_PIECES_PART_H
#define NFSDIGEST_PIECES_PART_H

#include "capture/capture.h"
#include "capture/find_packet.h"

struct part {
    struct capture_shape shape; /* only |pcapng| and |record| if the file is read whole */
    struct input *input;
    struct capture *capture;
    uint64_t next;    /* byte where the next packet begins: of the contents */
    bool whole;       /* the file is read from its beginning, as it is */
    bool jumped;      /* what stands in front of it was not read, but for the file's beginning */
    bool begun;       /* a frame was read */
    uint64_t section; /* where the first section begins behind a frame; 0: none does */
};

/* Opens |path| for reading from |from| on, which is where a packet begins.  |shape|: NULL to read a
 * whole file, which may be compressed. */
int part_open(struct part *part, const char *path, const struct capture_shape *shape, uint64_t from,
              struct err *err);
void part_close(struct part *part);

/* Reads the next frame, which begins at part->next before the call, or behind blocks that are no
 * packets.  Frames are numbered from 1.  Returns as capture_next; 0 also if it begins at byte |to|
 * or behind it. */
int part_next(struct part *part, uint64_t to, struct frame *frame, struct err *err);

/* The part jumped and goes on behind another one, at whose end |faces| are known; |sure|: all of
 * them, if that is right. */
int part_carry(struct part *part, const struct faces *faces, bool sure, struct err *err);
/* What was read so far is a lead-in. */
void part_border(struct part *part);
/* Returns in |span|, all zeros, what the part relied on since. */
int part_span(const struct part *part, struct faces_span *span, struct err *err);

#endif
