/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/batch.h
 *
 * Rows of one table, for the columns that were asked for, until they are given away as an array of
 * structs.
 */
#ifndef NFSDIGEST_COLUMNS_BATCH_H
#define NFSDIGEST_COLUMNS_BATCH_H

#include "columns/waiting.h"

enum { BATCH_ROWS = 65536, BATCH_BYTES_MAX = 64 << 20 };

struct batch {
    const struct table_columns *table;
    const struct column **columns;
    struct builder *builders;
    unsigned count;
    unsigned *others, other_count; /* the columns that are not numbers */
    struct waiting *waiting;       /* or NULL */
    int64_t rows, limit;           /* rows that make it full */
    int64_t id;                    /* of the last row of tables that number them */
    bool full; /* it has |limit| rows, or more than BATCH_BYTES_MAX of texts and bytes */
};

struct batch_request {
    const char *table;
    const char *columns; /* separated by commas; NULL: all */
    int64_t rows;        /* that make it full; 0: BATCH_ROWS */
    bool plain;          /* builder_type */
};

/* Returns -ERR_USAGE if there is no such table or column.  Call batch_free in any case. */
int batch_init(struct batch *batch, const struct batch_request *request, struct err *err);
void batch_free(struct batch *batch);

/* Adds a row made of a record.  Returns 0, -ERR_INPUT or -ERR_SYSTEM. */
int batch_put(struct batch *batch, const struct row *row, struct err *err);

/* Makes the rows independent of the knowledge that they are made with. */
int batch_settle(struct batch *batch, struct err *err);

/* Counts a row that was put into all builders, and sets |full|. */
void batch_count(struct batch *batch);

/* Moves the rows into |array|. */
int batch_take(struct batch *batch, struct ArrowArray *array, struct err *err);

int batch_schema(const struct batch *batch, struct ArrowSchema *schema, struct err *err);

#endif
