/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/join.h
 *
 * Tells of pieces in their order whether their records, one after the other, are those of one run
 * over the whole capture.  Only reads border files.
 *
 * A piece that cannot be proved must be made again, continuing the piece before it; so must the
 * piece before it, if the cause is older.  Each further time more is known, and a chain of pieces
 * that continue each other from the first one on is one run.
 *
 * Memory: that of some ranges (range.h), of which each knows half as much as the one before.
 */
#ifndef NFSDIGEST_PIECES_JOIN_H
#define NFSDIGEST_PIECES_JOIN_H

#include "pieces/range.h"

struct join;

struct join *join_new(struct err *err);
void join_free(struct join *join);

/* Takes the next piece.  |name| is the path without ".border".  Returns -ERR_INPUT if a piece is
 * missing before it, comes twice or is of other options, or if its border is damaged.  After an
 * error, nothing but join_free may be called. */
int join_add(struct join *join, const char *name, struct err *err);

/* The same for a piece or a range of pieces (join_write).  |anywhere|: the first one may have
 * others before it.  If the border of a range alone does not prove it, the borders of its pieces
 * are read, by the names that they had when it was written. */
int join_add_range(struct join *join, const char *name, bool anywhere, struct err *err);

/* All pieces were taken.  What is below is known then. */
int join_end(struct join *join, struct err *err);

/* Writes NAME.border: all pieces as one. */
int join_write(const struct join *join, const char *name, struct err *err);

/* Returns what is known of a piece, from 0. */
const struct join_result *join_piece(const struct join *join, uint32_t number);
uint32_t join_count(const struct join *join);

/* Goes through the connections that stopped inside a message or at a hole, if the last piece, with
 * which the capture ends, does not know them: what one run reports of these messages, at the latest
 * at its end, is missing.  |at| begins with 0.  Returns NULL behind the last one. */
const struct outline_key *join_stopped(const struct join *join, uint32_t *at);

/* Packs what is true behind the last piece, and unpacks it into a join that has just begun: that
 * goes on behind a piece of which nothing else is known.  join_restore: |in| fails if the bytes
 * cannot be right. */
struct unpack;
int join_save(const struct join *join, struct buf *out);
int join_restore(struct join *join, struct unpack *in, struct err *err);

#endif
