/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/border.h
 *
 * The file NAME.border beside the records of a piece (NAME.nfsr): which bytes the piece has, what
 * its engine knew at the beginning and at the end, and what it asked of the time before.  Some KB;
 * join.h needs nothing else.  Its values are those of one build of this program on one kind of
 * machine; another one refuses the file.
 *
 * Memory: the file, twice.
 */
#ifndef NFSDIGEST_PIECES_BORDER_H
#define NFSDIGEST_PIECES_BORDER_H

#include "capture/faces.h"
#include "flow/outline.h"

enum { BORDER_NAME_MAX = 256 };

struct border {
    char capture[BORDER_NAME_MAX];  /* the file's name, without folders */
    char previous[BORDER_NAME_MAX]; /* the piece whose state it continues; "": it had a lead-in */
    char before[BORDER_NAME_MAX];   /* the file of its lead-in, without folders; "": its own */
    uint64_t from, to;              /* bytes: of its first packet, and behind its last one */
    uint64_t asked, till;           /* the range that was asked for: the same for neighbours */
    uint64_t lead;       /* frames of the engine before its own: subtract it from all frames */
    uint64_t frames;     /* its own */
    uint64_t operations; /* records */
    uint64_t waiting;    /* further ones: calls and replies that still wait */
    uint64_t held;       /* of these, the replies: they come last, */
    uint64_t held_id;    /* with ids from this one on */
    uint64_t depth;      /* frames before its end of which it knows all answered calls */
    uint64_t options;    /* digest of the engine's options */
    uint64_t state;      /* digest of NAME.state */
    uint64_t identity;   /* of this making of the piece, */
    uint64_t origin;     /* and that of the piece it continues */
    /* booleans: */
    uint8_t first;        /* it begins where the capture does */
    uint8_t whole;        /* so does the first one of the pieces that it continues */
    uint8_t last;         /* the capture ends with it */
    uint8_t starts, ends; /* it begins with its file, it ends with it */
    struct outline after, end;
    struct past past;
    struct outline_limits limits;
    struct faces_span faces; /* interfaces of pcapng */
};

int border_write(const char *path, const struct border *border, struct err *err);

/* Reads into |border|.  Returns -ERR_INPUT if the file is damaged or of another build. */
int border_read(const char *path, struct border *border, struct err *err);
void border_free(struct border *border);

/* The same for a file that has other things besides (base/pack.h).  |border| is all zeros before it
 * is unpacked; the caller frees it, also if border_unpack returns false: damaged.  border_pack
 * returns 0, or another number if there is no memory. */
struct unpack;
uint64_t border_version(void);
int border_pack(const struct border *border, struct buf *out);
bool border_unpack(struct unpack *in, struct border *border);
/* The same for an outline. */
int outline_save(const struct outline *outline, struct buf *out);
bool outline_restore(struct unpack *in, struct outline *outline);

#endif
