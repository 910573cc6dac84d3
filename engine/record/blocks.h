/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/blocks.h
 *
 * Records in checksummed blocks, after a header that describes them (format.h).  Every format whose
 * records have a table uses this container.
 *
 * Memory: one block of at most NFSR_BLOCK_MAX for the writer and for the reader.  The reader also
 * takes 4 bytes for each byte of a record with lists.
 */
#ifndef NFSDIGEST_RECORD_BLOCKS_H
#define NFSDIGEST_RECORD_BLOCKS_H

#include "record/format.h"

struct block_writer {
    const struct format *format;
    output_writer *write;
    void *ctx;
    struct buf block; /* header and payload of the open block */
    struct layout_bases bases;
    uint64_t sequence; /* of the open block, from 1 */
    uint32_t records;  /* in it */
    bool broken;       /* a write failed: later blocks would follow a gap */
    bool ended;
    int64_t clock;  /* latest record time of the stream, 0 before the first */
    int64_t opened; /* |clock| when the open block got its first timed record, or 0 */
};

/* Writes the header at once.  Call block_writer_free also after an error. */
int block_writer_begin(struct block_writer *w, const struct format *format, output_writer *write,
                       void *ctx, struct err *err);
/* Writes a record.  The format's last kind closes the stream. */
int block_writer_put(struct block_writer *w, unsigned number, const void *record, struct err *err);
/* Closes the open block early. */
int block_writer_flush(struct block_writer *w, struct err *err);
void block_writer_free(struct block_writer *w);

struct block_reader {
    /* set by the caller: */
    const struct format *format;
    nfsr_read *read;
    void *ctx;
    const char *name; /* for messages */
    /* zeros at the beginning: */
    uint64_t offset;         /* in the stream, of the first byte of |buf| */
    uint64_t sequence;       /* of the block being read */
    bool ended;              /* the last record was delivered */
    struct buf buf;          /* header or block, as far as it was read */
    uint32_t number;         /* of the next record in its block, from 0 */
    uint32_t records;        /* in the block */
    struct layout_reader in; /* the block in |buf|; its |at| is NULL: there is none */
};

/* Reads the header.  Returns 0, NFSR_NOT_MINE, -ERR_INPUT or what |read| returned.  Call
 * block_reader_free also after an error. */
int block_reader_begin(struct block_reader *r, struct err *err);
/* Reads the next record into |record|, and sets *|number| to its kind.  It is valid until the next
 * call.  Returns 1, or 0 if the stream ended with its last record, or a negative code as above. */
int block_reader_next(struct block_reader *r, unsigned *number, void *record, struct err *err);
/* Whether the next call of block_reader_next reads on in the same block: records that were read
 * from it then stay valid, but for LAYOUT_NUMBERS fields (layout.h). */
static inline bool block_reader_within(const struct block_reader *r)
{
    return r->in.at && !r->ended && !r->in.later && r->number < r->records;
}
void block_reader_free(struct block_reader *r);

#endif
