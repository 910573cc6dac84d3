/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_text.h
 *
 * The text form of replay dumps, for people, and the way back.  A line "rdump 2.0", then one for
 * each record:
 *
 *     entry parent=1 object=2 name=hi
 *     operation source=1 latency=250000 ... arguments=00000004... mask=0x100000 # 0 LOOKUP ...
 *
 * The kind comes first.  Then come the fields that are not zero or empty, by name, in the layout's
 * order.  Texts are escaped as in the database (base/escape.h), and a space is \x20.  Byte strings
 * are hexadecimal.  Numbers are decimal, hexadecimal (0x) or octal (0), as is easiest to read.
 * Lists have commas.  The part after " # " repeats an operation's number, procedure and arguments.
 * The parser ignores it, and also empty lines and lines that begin with #.
 *
 * |err| is never NULL here.
 *
 * Memory: a line of at most RDUMP_LINE_MAX bytes, and as much for its values.
 */
#ifndef NFSDIGEST_RDUMP_TEXT_H
#define NFSDIGEST_RDUMP_TEXT_H

#include "rdump/rdump.h"

enum { RDUMP_LINE_MAX = 192 << 20 };

/* Appends the record's line with a newline.  |number|: the number of an operation.  Returns 0 or
 * -ERR_SYSTEM.  Call wire_init first. */
int rdump_text_line(enum rdump_kind kind, const void *record, uint64_t number, struct buf *out);

/* Writes a whole dump as text, or as JSON lines like those of .nfsr streams (record/layout.h).  If
 * the dump is damaged, writes the records before the damage. */
int rdump_to_text(struct rdump_reader *reader, bool json, output_writer *write, void *ctx,
                  struct err *err);

/* Parses a line without its newline.  Returns 1 and |record|, which points into |room| (its old
 * contents are lost); 0 if the line has no record; or -ERR_INPUT or -ERR_SYSTEM. */
int rdump_text_parse(const char *line, size_t len, enum rdump_kind *kind,
                     union rdump_record *record, struct buf *room, struct err *err);

/* Reads text from |fd| and writes it as a dump.  |name| is for messages, which also give the line.
 */
int rdump_from_text(int fd, const char *name, output_writer *write, void *ctx, struct err *err);

#endif
