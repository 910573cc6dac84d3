/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/reader.h
 *
 * Reads several tables of a trace in one pass over its files.
 */
#ifndef NFSDIGEST_COLUMNS_READER_H
#define NFSDIGEST_COLUMNS_READER_H

#include "columns/rows.h"

struct nfsdigest_reader; /* nfsdigest.h */

struct reader_request {
    const struct batch_request *tables;
    unsigned count;
    bool partial;
    struct trace_files files;             /* first: NULL unless rows are made of records */
    const struct engine_options *options; /* of captures */
    const char *database;                 /* path, or NULL */
    void (*done)(void *ctx);              /* called at the end of reader_free */
    void *ctx;
};

/* files.first becomes the reader's, also after a failure.  What else |request| points to, apart
 * from |tables|, must live until |done|. */
struct nfsdigest_reader *reader_new(const struct reader_request *request, struct err *err);
void reader_free(struct nfsdigest_reader *reader);

/* Gives the next batch of a table, and sets *|number| to its place in the request.  Returns 1, 0 at
 * the end, or a negative code after all rows that could be read. */
int reader_next(struct nfsdigest_reader *reader, unsigned *number, struct ArrowArray *array);

const struct batch *reader_batch(const struct nfsdigest_reader *reader, unsigned number);
struct err *reader_err(struct nfsdigest_reader *reader);
/* Returns where a file was cut (|partial|), "" if none was or before the end. */
const char *reader_note(const struct nfsdigest_reader *reader);

#endif
