/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/canon.h
 *
 * A stream of records in an order that follows from what the wire says, so that two streams of the
 * same capture can be compared byte by byte: by kinds; operations by the frame of the call, or of a
 * reply without one, and numbered in that order; names in the order of what showed them; the rest
 * by frames and addresses.  Objects and paths keep their ids, which follow from that order, too.
 *
 * Events of connections are one for each connection, side and kind, because a border divides them.
 *
 * Memory: the whole stream, some 600 bytes a record.
 */
#ifndef NFSDIGEST_NAMES_CANON_H
#define NFSDIGEST_NAMES_CANON_H

#include "record/record.h"

struct canon_records;

struct canon_records *canon_records_new(struct err *err);
void canon_records_free(struct canon_records *c);
/* Copies a record.  For struct sink. */
int canon_records_put(void *canon, const struct record *record, struct err *err);
/* Puts all records in their order. */
int canon_records_end(struct canon_records *c, const struct sink *sink, struct err *err);

#endif
