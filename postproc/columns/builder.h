/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/builder.h
 *
 * Builds one column of a batch in the memory layout of Arrow (arrow.apache.org/docs/format/
 * Columnar.html), and gives it away as an ArrowArray.
 *
 * Memory: of a row 1 bit and the value, doubled while it grows; of texts and bytes what they are.
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

/* Makes room for further rows.  Returns 0 or -ERR_SYSTEM. */
int builder_grow(struct builder *b);

/* Returns true if the column's values are numbers, for builder_put_number. */
static inline bool builder_is_number(const struct builder *b)
{
    return b->type < COLUMN_BOOL || b->type == COLUMN_TIME;
}

/* Adds a row to a column of numbers. */
static inline int builder_put_number(struct builder *b, bool there, uint64_t number)
{
    uint8_t *at;

    if (!b->room && builder_grow(b) < 0)
        return -ERR_SYSTEM;
    at = b->values.data + (size_t)b->rows * b->width;
    number = there ? number : 0;
    switch (b->width) { /* in the byte order of this machine, as Arrow has them */
    case 1:
        *at = (uint8_t)number;
        break;
    case 2:
        memcpy(at, &(uint16_t){ (uint16_t)number }, 2);
        break;
    case 4:
        memcpy(at, &(uint32_t){ (uint32_t)number }, 4);
        break;
    default:
        memcpy(at, &number, 8);
    }
    b->valid.data[b->rows / 8] |= (uint8_t)(there << b->rows % 8);
    b->nulls += !there;
    b->rows++;
    b->room--;
    return 0;
}

/* Returns the number of bytes of texts. */
size_t builder_bytes(const struct builder *b);

/* Moves the rows into |array|.  The builder is then empty.  Returns 0 or -ERR_SYSTEM. */
int builder_take(struct builder *b, struct ArrowArray *array);

#endif
