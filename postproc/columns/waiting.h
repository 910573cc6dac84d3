/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/waiting.h
 *
 * Rows of a batch whose numbers wait, so that they are put into columns many at a time: one row at
 * a time writes to a place of every column, which takes twice as long.
 *
 * Memory: WAITING_ROWS records, 30 KB.
 */
#ifndef NFSDIGEST_COLUMNS_WAITING_H
#define NFSDIGEST_COLUMNS_WAITING_H

#include "columns/builder.h"

enum { WAITING_ROWS = BUILDER_NUMBERS };

struct waiting {
    unsigned count;
    struct row rows[WAITING_ROWS];
    struct record records[WAITING_ROWS];
};

/* Keeps a copy of a row that a record is, and of the record, but for what its bytes point to. There
 * is room. */
void waiting_add(struct waiting *waiting, const struct row *row);

/* Puts the numbers of all rows into |builder|.  Returns 0 or -ERR_SYSTEM. */
int waiting_put(const struct waiting *waiting, const struct column *column,
                struct builder *builder);

#endif
