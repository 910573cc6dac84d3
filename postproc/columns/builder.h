/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/builder.h
 *
 * Builds one column of a batch in the memory layout of Arrow (arrow.apache.org/docs/format/
 * Columnar.html), and gives it away as an ArrowArray.
 *
 * Memory: of a row 1 bit and the value, doubled while it grows, or room for as many rows as the
 * array before had; of texts and bytes what they are.
 */
#ifndef NFSDIGEST_COLUMNS_BUILDER_H
#define NFSDIGEST_COLUMNS_BUILDER_H

#include "base/table.h"
#include "columns/column.h"
#include "columns/nfsdigest.h"

struct words { /* the dictionary of a batch */
    struct buf offsets, data;
    uint32_t count;
    struct table by_hash;
    struct bytes last; /* the word before this one, and where it was: it often comes again */
    uint32_t last_index;
};

struct builder {
    uint8_t type;  /* enum column_type, as it is in the stream */
    uint8_t width; /* of a value in |values|, in bytes; 0: a bit */
    uint32_t room; /* rows for which |valid| and |values| have room */
    struct buf valid, values, data;
    int64_t rows, nulls;
    int64_t rows_before; /* of the array that was given away last: room to begin with */
    struct words words;
};

/* The type that a column has in a stream.  |plain|: without unsigned types, times and
 * dictionaries. */
enum column_type builder_type(enum column_type type, bool plain);
/* The format string of the C data interface.  Of a dictionary it is that of its indices. */
const char *builder_format(enum column_type type);

void builder_init(struct builder *b, enum column_type type);
void builder_free(struct builder *b);

/* Adds a row.  Returns 0, -ERR_INPUT if the column's bytes would be more than 2^31, or
 * -ERR_SYSTEM. */
int builder_put(struct builder *b, const struct cell *cell);

/* Returns true if the column's values are numbers, for builder_put_numbers. */
static inline bool builder_is_number(const struct builder *b)
{
    return b->type < COLUMN_BOOL || b->type == COLUMN_TIME;
}

enum { BUILDER_NUMBERS = 64 };

/* Adds |count| rows, at most BUILDER_NUMBERS, to a column of numbers.  Bits of |there|, from the
 * lowest: the rows that are not NULL.  The numbers of the others are overwritten. */
int builder_put_numbers(struct builder *b, uint64_t there, int64_t *numbers, unsigned count);

/* Returns the number of bytes of texts. */
size_t builder_bytes(const struct builder *b);

/* Moves the rows into |array|.  The builder is then empty.  Returns 0 or -ERR_SYSTEM. */
int builder_take(struct builder *b, struct ArrowArray *array);

#endif
