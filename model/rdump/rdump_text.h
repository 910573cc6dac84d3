/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_text.h
 *
 * The text form of replay dumps, for people, and the way back.  A line "rdump 2.0", then one for
 * each record:
 *
 *     entry parent=1 object=2 name=hi
 *     operation source=1 latency=250000 ... arguments=00000004... mask=0x100000 # 0 LOOKUP ...
 *
 * First the kind; then the fields that are not zero or empty, in the layout's order, by their names
 * in it; texts as the database has names (base/escape.h), and with a space as \x20; byte strings
 * in hexadecimal; numbers as they are read best, 0x before hexadecimal and 0 before octal ones,
 * lists with commas.  What is behind " # " says of operations their number, procedure and arguments
 * again, and is not read; nor are lines that begin with # and empty ones.
 *
 * |err| is never NULL here.
 *
 * Memory: a line of RDUMP_LINE_MAX bytes at most, and as much for what it says.
 */
#ifndef NFSDIGEST_RDUMP_TEXT_H
#define NFSDIGEST_RDUMP_TEXT_H

#include "rdump/rdump.h"

enum { RDUMP_LINE_MAX = 192 << 20 };

/* Appends the record's line and its end; |number|: of an operation.  wire_init before. 0 or
 * -ERR_SYSTEM. */
int rdump_text_line(enum rdump_kind kind, const void *record, uint64_t number, struct buf *out);

/* All of a dump as text, or as JSON lines as those of .nfsr streams (record/layout.h).  What stood
 * before damage has been written then. */
int rdump_to_text(struct rdump_reader *reader, bool json, output_writer *write, void *ctx,
                  struct err *err);

/* A line, without its end.  1: |record| is what it says, and points into |room|, whose old contents
 * go; 0: it says nothing; or -ERR_INPUT or -ERR_SYSTEM. */
int rdump_text_parse(const char *line, size_t len, enum rdump_kind *kind,
                     union rdump_record *record, struct buf *room, struct err *err);

/* Text from |fd| as a dump.  |name| is for messages, which have the number of the line. */
int rdump_from_text(int fd, const char *name, output_writer *write, void *ctx, struct err *err);

#endif
