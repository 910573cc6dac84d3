/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/faces.h
 *
 * The interfaces of a section of a pcapng file, as far as they are known: who reads from the middle
 * of a file has not seen where they were described.
 *
 * Memory: 16 bytes for each interface, of FACES_MAX.
 */
#ifndef NFSDIGEST_CAPTURE_FACES_H
#define NFSDIGEST_CAPTURE_FACES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { FACES_MAX = 4096 };

enum face_known {
    FACE_PACKETS = 1, /* the link type, and what times mean */
    FACE_SNAP = 2,    /* the snap length, which only Simple Packet Blocks need */
    FACE_ALL = 3,
};

struct face { /* no padding */
    uint16_t link_type;
    uint8_t resolution; /* if_tsresol */
    uint8_t known;      /* FACE_ bits; what is not known was taken to be so, and not needed */
    uint32_t snap_len;
    int64_t offset; /* if_tsoffset, seconds */
};

enum faces_order { ORDER_UNKNOWN, ORDER_LITTLE, ORDER_BIG };

/* All zeros: nothing is known. */
struct faces {
    struct face *list;
    uint32_t count, cap;
    uint8_t order;   /* of bytes */
    uint8_t counted; /* a boolean: the section has no others so far */
};

/* What a reader of a part of a file relied on, and what holds behind it if that was right. */
struct faces_span {
    struct faces before; /* before the part: interfaces that packets in it belong to */
    struct faces end;    /* unless |renewed|, that begins as |before| does */
    uint8_t renewed;     /* a boolean: a section begins in the part, or the part with its file */
    uint8_t strange;     /* a boolean: a packet does not fit the interfaces, if |before| is right */
};

void faces_free(struct faces *faces);
void faces_span_free(struct faces_span *span);

/* Copies the first |count| interfaces of |from| to |to|, which has none. */
int faces_copy(struct faces *to, const struct faces *from, uint32_t count, struct err *err);
/* Returns -ERR_SYSTEM if there is no memory. */
int faces_add(struct faces *faces, const struct face *face);

/* Compares |before|, what is known behind a part of a file, with what the reader of the next part
 * relied on.  Returns NULL, or how they differ.  What |before| does not know is no difference. */
const char *faces_differ(const struct faces *before, const struct faces_span *next);

/* Makes |before| what is known behind the next part.  What |next| relied on beyond it is added to
 * |asked|, unless that is NULL: to what a reader of both parts relied on. */
int faces_pass(struct faces *before, const struct faces_span *next, struct faces *asked,
               struct err *err);

#endif
