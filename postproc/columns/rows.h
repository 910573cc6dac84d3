/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/rows.h
 *
 * The rows of a table, from records (captures and .nfsr streams) or from a trace database, into
 * batches.
 */
#ifndef NFSDIGEST_COLUMNS_ROWS_H
#define NFSDIGEST_COLUMNS_ROWS_H

#include "capture/input.h"
#include "columns/batch.h"
#include "flow/options.h"

#include <sqlite3.h>

struct record_rows;

/* The files of a trace. */
struct trace_files {
    struct input *first; /* a capture or an .nfsr stream */
    char *const *more;   /* further captures, which go on where the first one ended; or NULL */
    uint32_t count;      /* of these */
    int64_t frame_shift; /* added to the frames of an .nfsr stream */
};

/* Where the rows go.  Those whose rows are not records stay empty. */
struct record_tables {
    struct batch *batches;
    unsigned count;
};

/* files->first becomes this object's, also after a failure.  Everything else must outlive it. */
struct record_rows *record_rows_new(const struct trace_files *files,
                                    const struct engine_options *options, bool partial,
                                    const struct record_tables *tables, struct err *err);
/* Adds the next rows, none or several.  Returns 1; 0 if there are no more; or a negative code.
 * -ERR_INPUT comes after all rows before the place where a file is cut or damaged; with |partial|
 * the result is 0, and record_rows_note says where that was. */
int record_rows_next(struct record_rows *rows, struct err *err);
const char *record_rows_note(const struct record_rows *rows);
void record_rows_free(struct record_rows *rows);

struct sql_rows;

/* |path| is a trace database, or NULL for tables that are the same for every trace.  These come
 * from |*common|, which is made if it is NULL; the caller closes it. */
struct sql_rows *sql_rows_new(const char *path, sqlite3 **common, struct batch *batch,
                              struct err *err);
/* Adds a row.  Returns 1, 0 if there are no more, or a negative code. */
int sql_rows_next(struct sql_rows *rows, struct err *err);
void sql_rows_free(struct sql_rows *rows);

#endif
