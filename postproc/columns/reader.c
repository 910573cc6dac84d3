/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/reader.c
 *
 * Batches of several tables: first those whose rows are made of records, all in one pass, then
 * those of queries, one after the other.
 */
#include "columns/reader.h"

#include <stdlib.h>

struct nfsdigest_reader {
    struct batch *batches;
    unsigned count;
    struct record_rows *records; /* NULL: there are none, or no more */
    struct sql_rows *sql;        /* of table |next_sql| - 1, or NULL */
    sqlite3 *common;             /* of sql_rows_new */
    unsigned next_sql;
    bool from_records; /* tables of records are made of records */
    const char *database;
    int result; /* of the last step: 1, or there is nothing more to read */
    struct err err, note;
    void (*done)(void *ctx);
    void *ctx;
};

static int init_batches(struct nfsdigest_reader *r, const struct reader_request *request,
                        struct err *err)
{
    r->batches = calloc(request->count ? request->count : 1, sizeof(*r->batches));
    if (!r->batches)
        return err_memory(err, "tables");
    for (unsigned i = 0; i < request->count; i++) {
        r->count++;
        if (batch_init(&r->batches[i], &request->tables[i], err) < 0)
            return -err->code;
    }
    return 0;
}

struct nfsdigest_reader *reader_new(const struct reader_request *request, struct err *err)
{
    struct nfsdigest_reader *r = calloc(1, sizeof(*r));

    if (!r || init_batches(r, request, err) < 0) {
        if (!r)
            err_memory(err, "a reader");
        input_close(request->files.first);
        reader_free(r);
        return NULL;
    }
    r->result = 1;
    r->from_records = request->files.first != NULL;
    r->database = request->database;
    if (r->from_records) {
        const struct record_tables tables = { r->batches, r->count };

        r->records =
            record_rows_new(&request->files, request->options, request->partial, &tables, err);
        if (!r->records) {
            reader_free(r);
            return NULL;
        }
    }
    r->done = request->done; /* not if it failed: the caller knows then */
    r->ctx = request->ctx;
    return r;
}

void reader_free(struct nfsdigest_reader *r)
{
    if (!r)
        return;
    record_rows_free(r->records);
    sql_rows_free(r->sql);
    sqlite3_close(r->common);
    for (unsigned i = 0; i < r->count; i++)
        batch_free(&r->batches[i]);
    free(r->batches);
    if (r->done)
        r->done(r->ctx);
    free(r);
}

/* Reads on.  1; 0: there is nothing more to read. */
static int step(struct nfsdigest_reader *r)
{
    struct batch *batch;
    int result;

    if (r->records) {
        result = record_rows_next(r->records, &r->err);
        if (result > 0)
            return 1;
        for (unsigned i = 0; i < r->count; i++)
            if (batch_settle(&r->batches[i], &r->err) < 0)
                result = -r->err.code;
        err_set(&r->note, ERR_NONE, "%s", record_rows_note(r->records));
        record_rows_free(r->records);
        r->records = NULL;
        return result < 0 ? result : 1;
    }
    if (r->sql) {
        result = sql_rows_next(r->sql, &r->err);
        if (result != 0)
            return result;
        sql_rows_free(r->sql);
        r->sql = NULL;
    }
    while (r->next_sql < r->count) {
        batch = &r->batches[r->next_sql++];
        if (r->from_records && batch->table->kind)
            continue;
        r->sql = sql_rows_new(batch->table->kind ? r->database : NULL, &r->common, batch, &r->err);
        return r->sql ? 1 : -r->err.code;
    }
    return 0;
}

/* A batch to give away: a full one or, at the end, any that has rows. */
static struct batch *find_batch(struct nfsdigest_reader *r, bool any)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->batches[i].full || (any && r->batches[i].rows))
            return &r->batches[i];
    return NULL;
}

int reader_next(struct nfsdigest_reader *r, unsigned *number, struct ArrowArray *array)
{
    struct batch *batch;

    *array = (struct ArrowArray){ 0 };
    while (!(batch = find_batch(r, r->result <= 0)) && r->result > 0)
        r->result = step(r);
    if (!batch)
        return r->result;
    *number = (unsigned)(batch - r->batches);
    if (batch_take(batch, array, &r->err) == 0)
        return 1;
    batch->rows = 0;
    batch->full = false;
    r->result = -r->err.code;
    return r->result;
}

const struct batch *reader_batch(const struct nfsdigest_reader *r, unsigned number)
{
    return number < r->count ? &r->batches[number] : NULL;
}

struct err *reader_err(struct nfsdigest_reader *r)
{
    return &r->err;
}

const char *reader_note(const struct nfsdigest_reader *r)
{
    return r->note.text;
}
