/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring.h
 *
 * A ring in shared memory: one process writes entries, any number of others read them.  The writer
 * overwrites the oldest entries and never waits, and it takes nothing from the memory.  Each reader
 * finds by itself what it missed.
 *
 * The memory is a memfd.  It has a page with struct ring_head, then blocks of RING_BLOCK bytes.
 * Positions count bytes from the ring's beginning and never wrap: position P is at P modulo
 * |size| behind the head.  Entries lie one behind the other, each a struct ring_entry and |len|
 * bytes, padded to a multiple of RING_ALIGN.  None crosses the border of two blocks, so an entry
 * begins at each border: there a reader continues that was overrun.
 *
 * The order in memory (that of a seqlock): the writer sets |reserved| to the end of the new entry,
 * writes the entry, and sets |written| to its end.  A reader takes an entry before |written|,
 * copies it, and then looks at |reserved|: the copy is good if the entry's beginning is not more
 * than |size| before it.  Only a good copy is looked at.  |reserved| never falls: if fewer bytes
 * came than there was room for, it is beyond |written| for a while.
 *
 * The memory is sealed: it cannot shrink, grow, or be mapped for writing again.  Readers check
 * this, and do not trust the contents: no contents make them read outside the ring or wait.
 *
 * Memory: |size| and a page, all of it from the beginning; a reader has RING_BLOCK bytes besides.
 */
#ifndef NFSDIGEST_RING_RING_H
#define NFSDIGEST_RING_RING_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdbool.h>

enum {
    RING_VERSION = 1,
    RING_BLOCK = 1 << 18,
    RING_BLOCKS_MIN = 4,
    RING_HEAD_SIZE = 4096,
    RING_ALIGN = 64,
};
#define RING_MAGIC "NFSRING" /* with its NUL */
#define RING_SIZE_MAX (UINT64_C(1) << 40)

/* The layout.  Numbers are little-endian, as the machine's. */
struct ring_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size, block; /* RING_HEAD_SIZE, RING_BLOCK */
    uint32_t zero;
    uint64_t size;     /* bytes of all blocks */
    uint64_t identity; /* a random number: another ring has another one */
    uint8_t zeros[24];
    _Alignas(64) _Atomic uint64_t reserved; /* positions; |written| <= |reserved| */
    _Alignas(64) _Atomic uint64_t written;
    _Atomic uint64_t
        number; /* of the last entry before |written|, while both positions are equal */
};

struct ring_entry {
    uint64_t number;     /* of the entry: from 1, without gaps; 0: padding up to the border */
    uint64_t connection; /* to what it belongs; these four are the writer's own business */
    uint64_t offset;     /* of the first byte in a stream; if entries are split, each has its own */
    int64_t time;        /* ns since 1970 */
    uint32_t size;       /* of the entry with payload and padding */
    uint32_t len;        /* bytes of payload */
    uint16_t kind;       /* the writer's, from 1 */
    uint16_t flags;      /* the writer's */
    uint32_t zero;
    uint64_t zeros[2];
};
_Static_assert(sizeof(struct ring_entry) == RING_ALIGN, "entries begin with a line of their own");

enum { RING_PAYLOAD_MAX = RING_BLOCK - (int)sizeof(struct ring_entry) };

/* --- the writer */

struct ring;

/* Makes a ring of at least |size| bytes; they are rounded up to whole blocks.  -ERR_USAGE: more
 * than RING_SIZE_MAX, or than half of the memory that is left. */
struct ring *ring_new(uint64_t size, struct err *err);
void ring_free(struct ring *ring); /* NULL is allowed.  Readers keep their memory. */

/* The memory's descriptor, to be passed to readers.  The ring owns it. */
int ring_fd(const struct ring *ring);
uint64_t ring_identity(const struct ring *ring);

/* Writes an entry.  In |entry| the writer's fields are set.  The payload is split at the borders of
 * blocks into several entries of the same kind, with rising |offset|. */
void ring_put(struct ring *ring, const struct ring_entry *entry, struct bytes payload);
/* Writes an entry that must not be split, with at most RING_PAYLOAD_MAX bytes. */
void ring_put_whole(struct ring *ring, const struct ring_entry *entry, struct bytes payload);

/* For a writer whose bytes come from elsewhere, such as a socket, and need no other place: returns
 * where the payload of the next entry lies, and in |room| how much of |want| fits, at least one
 * byte.  What lay there is lost to readers.  ring_end ends it with the |len| bytes that came, at
 * most |room|; 0: there is no entry.  In between, nothing else is written. */
uint8_t *ring_begin(struct ring *ring, uint32_t want, uint32_t *room);
void ring_end(struct ring *ring, const struct ring_entry *entry, uint32_t len);

struct ring_counts {
    uint64_t entries, bytes; /* of payload */
    uint64_t position;       /* where the next entry begins */
    uint64_t size;
};
void ring_count(const struct ring *ring, struct ring_counts *counts);

/* --- a reader */

struct ring_reader;

/* Maps the ring |fd|, and begins with the next entry that is written.  The caller keeps |fd|, and
 * may close it.  -ERR_INPUT: it is not a ring, not sealed, or of another version. */
struct ring_reader *ring_reader_new(int fd, struct err *err);
void ring_reader_free(struct ring_reader *reader); /* NULL is allowed */

struct ring_got {
    struct ring_entry entry;
    struct bytes payload; /* valid until the next call */
    uint64_t lost;        /* entries before this one that were overwritten */
};

/* Takes the next entry.  Returns 1; 0 if there is none now, and the caller looks again a little
 * later (nobody wakes a reader); or -ERR_INPUT for contents that no writer makes, after which the
 * reader cannot go on. */
int ring_read(struct ring_reader *reader, struct ring_got *got, struct err *err);

/* Returns how many bytes of the ring the reader has still to read. */
uint64_t ring_behind(const struct ring_reader *reader);
uint64_t ring_reader_size(const struct ring_reader *reader);
uint64_t ring_reader_identity(const struct ring_reader *reader);

#endif
