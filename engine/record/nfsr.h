/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr.h
 *
 * The .nfsr stream: records in checksummed blocks (schemas/nfsr.md is the specification).  The
 * layout of every kind of record is one table.  It encodes, decodes and describes the kind.  Its
 * text is in the header of the stream, so that an older or newer reader can skip what it does not
 * know.  The same records give the same bytes.
 *
 * Memory: one block of at most NFSR_BLOCK_MAX for the writer and for the reader.
 */
#ifndef NFSDIGEST_RECORD_NFSR_H
#define NFSDIGEST_RECORD_NFSR_H

#include "base/output.h"
#include "record/record.h"

#include <sys/types.h>

enum {
    NFSR_VERSION_MAJOR = 1,        /* a reader refuses a later one */
    NFSR_VERSION_MINOR = 5,        /* later ones only add fields at records' ends and kinds */
    NFSR_BLOCK_TARGET = 256 << 10, /* a block is closed when it is this long, */
    NFSR_BLOCK_MAX = 16 << 20,
};
#define NFSR_BLOCK_SPAN                                                                            \
    INT64_C(1000000000) /* or when its records' times span this (ns), so that a                    \
                         * live stream flows; decided by times in the records                      \
                         * alone */

/* The counter that comes first in a stream of a part of a trace, whose operations keep the ids that
 * they have in the whole trace. */
#define NFSR_PART "names.part"

struct nfsr_writer;

/* Writes the header at once. */
struct nfsr_writer *nfsr_writer_new(output_writer *write, void *ctx, struct err *err);
/* The writer as a sink; RECORD_END closes the stream and writes the last block. */
struct sink nfsr_writer_sink(struct nfsr_writer *writer);
/* Closes the open block early (before a pause in a live capture). */
int nfsr_writer_flush(struct nfsr_writer *writer, struct err *err);
void nfsr_writer_free(struct nfsr_writer *writer);

/* What to say of a stream called |name| whose last record has |input_cut|. */
void nfsr_input_cut(const char *name, struct err *err);

/* Returns true if a file that begins with the bytes at |head| is a stream. */
bool nfsr_is_stream(const uint8_t *head, size_t len);

/* Reads bytes of the stream.  Returns how many were read (0: end), or a negative code. */
typedef ssize_t nfsr_read(void *ctx, void *data, size_t len, struct err *err);

enum nfsr_result {
    NFSR_OK = 0,
    NFSR_NOT_MINE = 1, /* does not begin as an .nfsr stream */
    /* negative: -ERR_INPUT and the message names offset and cause: a later version (both are
     * named), a wrong checksum, a cut block, a missing end record; or what the sink returned */
};

/* Reads a whole stream into |sink|.  Everything before an error has been given to the sink.  |name|
 * is for messages. */
int nfsr_read_stream(nfsr_read *read, void *ctx, const char *name, const struct sink *sink,
                     struct err *err);

#endif
