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
    uint64_t next; /* byte where the next packet begins: of the contents */
    bool whole;    /* the file is read from its beginning, as it is */
};

/* Opens |path| for reading from |from| on, which is where a packet begins.  |shape|: NULL to read a
 * whole file, which may be compressed. */
int part_open(struct part *part, const char *path, const struct capture_shape *shape, uint64_t from,
              struct err *err);
void part_close(struct part *part);

/* Reads the next frame, which begins at part->next before the call.  Frames are numbered from 1.
 * Returns as capture_next. */
int part_next(struct part *part, struct frame *frame, struct err *err);

#endif
