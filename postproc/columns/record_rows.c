/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/record_rows.c
 *
 * Rows made of records, those of an .nfsr stream or of an engine that reads a capture.  Each call
 * reads records or frames until a batch is full.  Objects and counters come again when more is
 * known of them, so their rows come at the end (gathered.h).
 */
#include "capture/capture.h"
#include "columns/gathered.h"
#include "columns/known.h"
#include "columns/rows.h"
#include "columns/sources.h"
#include "engine.h"
#include "record/blocks.h"
#include "record/shift.h"

#include <stdlib.h>

struct record_rows {
    struct record_tables tables;
    struct known known;
    struct gathered gathered;
    struct sources sources;
    struct trace_files files;
    uint32_t next_file; /* of files.more */
    struct input *input;
    struct block_reader blocks;
    struct capture *capture; /* NULL: an .nfsr stream */
    struct engine *engine;
    uint64_t frames, before; /* of this capture; of those before it */
    struct err cut;          /* why the first cut file ended too early */
    bool partial, ended;
    bool pausing; /* between two captures: what waits comes again */
    bool full;    /* a batch is */
};

static int put_row(struct record_rows *rows, struct batch *batch, const struct record *record,
                   int64_t id, struct err *err)
{
    const struct row row = {
        .record = record, .at = record, .known = &rows->known, .id = id, .has = column_has(record)
    };

    if (batch_put(batch, &row, err) < 0)
        return -err->code;
    rows->full = rows->full || batch->full;
    return 0;
}

static bool belongs(const struct batch *batch, const struct record *record)
{
    const struct table_columns *table = batch->table;

    return record->kind == table->kind && (!table->belongs || table->belongs(record));
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct record_rows *rows = ctx;
    int result = known_record(&rows->known, record, err);

    if (result < 0 || (rows->pausing && record->kind == RECORD_OPERATION))
        return result < 0 ? result : 0;
    sources_count(&rows->sources, &rows->known, record);
    result = 0;
    for (unsigned i = 0; result == 0 && i < rows->tables.count; i++) {
        struct batch *batch = &rows->tables.batches[i];

        if (!belongs(batch, record))
            continue;
        if (gathered_takes(record))
            return gathered_put(&rows->gathered, record, rows->known.source_count, err);
        result = put_row(rows, batch, record, ++batch->id, err);
    }
    return result;
}

static int begin_capture(struct record_rows *rows, const struct engine_options *options,
                         struct err *err)
{
    const struct sink sink = { put, rows };

    rows->capture = capture_open(rows->input, err);
    if (!rows->capture)
        return -err->code;
    rows->engine = engine_new(options, &sink, NULL, err);
    return rows->engine ? 0 : -err->code;
}

static int begin_stream(struct record_rows *rows, struct err *err)
{
    rows->blocks = (struct block_reader){ .format = &nfsr_format,
                                          .read = input_read,
                                          .ctx = rows->input,
                                          .name = input_name(rows->input) };
    return block_reader_begin(&rows->blocks, err);
}

static int begin(struct record_rows *rows, const struct engine_options *options, struct err *err)
{
    const uint8_t *head;
    size_t len = input_head(rows->input, &head);

    if (known_source(&rows->known, 0, err) < 0 ||
        sources_begin(&rows->sources, rows->input, nfsr_is_stream(head, len), 0, err) < 0)
        return -err->code;
    if (!nfsr_is_stream(head, len) && rows->files.frame_shift)
        return err_set(err, ERR_USAGE, "%s: frames are shifted in .nfsr streams only",
                       input_name(rows->input));
    if (!nfsr_is_stream(head, len))
        return begin_capture(rows, options, err);
    if (rows->files.count)
        return err_set(err, ERR_USAGE, "%s: no other file can go on where an .nfsr stream ended",
                       input_name(rows->input));
    return begin_stream(rows, err);
}

struct record_rows *record_rows_new(const struct trace_files *files,
                                    const struct engine_options *options, bool partial,
                                    const struct record_tables *tables, struct err *err)
{
    struct record_rows *rows = calloc(1, sizeof(*rows));
    unsigned wants = 0;

    if (!rows) {
        input_close(files->first);
        err_memory(err, "rows");
        return NULL;
    }
    rows->tables = *tables;
    rows->files = *files;
    rows->input = files->first;
    rows->partial = partial;
    for (unsigned t = 0; t < tables->count; t++) {
        rows->sources.wanted |= tables->batches[t].table->kind == ROWS_ARE_SOURCES;
        for (unsigned i = 0; i < tables->batches[t].count; i++)
            wants |= tables->batches[t].columns[i]->wants;
    }
    known_init(&rows->known, wants);
    if (begin(rows, options, err) == 0)
        return rows;
    record_rows_free(rows);
    return NULL;
}

void record_rows_free(struct record_rows *rows)
{
    if (!rows)
        return;
    engine_free(rows->engine);
    capture_close(rows->capture);
    block_reader_free(&rows->blocks);
    known_free(&rows->known);
    gathered_free(&rows->gathered);
    sources_free(&rows->sources);
    input_close(rows->input);
    free(rows);
}

/* 1: one more record or frame was read. */
static int read_stream(struct record_rows *rows, struct err *err)
{
    struct record record;
    unsigned kind;
    int result = block_reader_next(&rows->blocks, &kind, &record, err);

    if (result <= 0)
        return result;
    record.kind = (uint8_t)kind;
    result = record_shift(&record, rows->files.frame_shift, err);
    if (result == 0)
        result = put(rows, &record, err);
    if (result < 0)
        err_prefix(err, "%s", input_name(rows->input));
    return result < 0 ? result : 1;
}

static int read_capture(struct record_rows *rows, struct err *err)
{
    struct frame frame;
    int result = capture_next(rows->capture, &frame, err);

    if (result <= 0)
        return result;
    rows->frames = frame.number;
    frame.number += rows->before;
    if (engine_frame(rows->engine, &frame, err) == 0)
        return 1;
    return err_prefix(err, "%s: frame %llu", input_name(rows->input),
                      (unsigned long long)rows->frames);
}

/* The next capture goes on where this one ended. */
static int open_next(struct record_rows *rows, struct err *err)
{
    const char *path = rows->files.more[rows->next_file++];

    rows->pausing = true;
    if (engine_pause(rows->engine, rows->cut.code != 0, err) < 0)
        return -err->code;
    rows->pausing = false;
    if (sources_end(&rows->sources, rows->input, err) < 0)
        return -err->code;
    capture_close(rows->capture);
    input_close(rows->input);
    rows->capture = NULL;
    rows->before += rows->frames;
    rows->frames = 0;
    rows->input = input_open(path, false, err);
    if (!rows->input || known_source(&rows->known, rows->before, err) < 0 ||
        sources_begin(&rows->sources, rows->input, false, rows->before, err) < 0 ||
        !(rows->capture = capture_open(rows->input, err)))
        return -err->code;
    return 1;
}

static int put_gathered(struct record_rows *rows, struct err *err)
{
    struct record record;
    int64_t source = 0;

    while (gathered_next(&rows->gathered, &record, &source))
        for (unsigned i = 0; i < rows->tables.count; i++) {
            struct batch *batch = &rows->tables.batches[i];

            if (belongs(batch, &record) && put_row(rows, batch, &record, source, err) < 0)
                return -err->code;
        }
    return 0;
}

static int put_sources(struct record_rows *rows, struct batch *batch, struct err *err)
{
    for (uint32_t i = 0; i < rows->sources.count; i++) {
        const struct row row = { .at = &rows->sources.list[i],
                                 .known = &rows->known,
                                 .id = (int64_t)i + 1 };

        if (batch_put(batch, &row, err) < 0)
            return -err->code;
    }
    return 0;
}

/* The rows that come at the end of the input. */
static int finish(struct record_rows *rows, struct err *err)
{
    rows->ended = true;
    if (rows->engine && engine_end(rows->engine, rows->cut.code != 0, err) < 0)
        return -err->code;
    if (sources_end(&rows->sources, rows->input, err) < 0)
        return -err->code;
    for (unsigned i = 0; i < rows->tables.count; i++)
        if (rows->tables.batches[i].table->kind == ROWS_ARE_SOURCES &&
            put_sources(rows, &rows->tables.batches[i], err) < 0)
            return -err->code;
    return put_gathered(rows, err) < 0 ? -err->code : 1;
}

int record_rows_next(struct record_rows *rows, struct err *err)
{
    int result;

    if (rows->ended) {
        if (!rows->cut.code || rows->partial)
            return 0;
        *err = rows->cut;
        return -err->code;
    }
    rows->full = false;
    do
        result = rows->engine ? read_capture(rows, err) : read_stream(rows, err);
    while (result > 0 && !rows->full);
    if (result == -ERR_INPUT && !rows->cut.code)
        rows->cut = *err;
    if (result == -ERR_INPUT && sources_cut(&rows->sources, err->text, err) < 0)
        return -err->code;
    if (result > 0 || (result < 0 && result != -ERR_INPUT))
        return result;
    if (rows->next_file < rows->files.count && (!rows->cut.code || rows->partial))
        return open_next(rows, err);
    return finish(rows, err);
}

const char *record_rows_note(const struct record_rows *rows)
{
    return rows->partial ? rows->cut.text : "";
}
