/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/library.c
 *
 * The functions of libnfsdigest (nfsdigest.h): opens a trace, reads its options, and makes streams
 * of its tables.
 */
#include "base/embed.h"
#include "base/escape.h"
#include "base/grow.h"
#include "capture/capture.h"
#include "columns/arrow_stream.h"
#include "record/nfsr.h"
#include "record/shift.h"
#include "store/store.h"
#include "wire/field.h"

#include <stdatomic.h>
#include <stdlib.h>

EMBED(trace_sql, EMBED_ROOT "/schemas/trace.sql");

struct nfsdigest_trace {
    atomic_uint users; /* the caller's handle, and streams */
    char *path;
    char **more; /* further captures */
    uint32_t more_count, more_cap;
    bool is_database, plain, partial;
    int64_t frame_shift;
    struct input *first; /* opened, for the first stream; a pipe has no other */
    struct engine_settings settings;
    struct err err;
};

static void drop(void *ctx)
{
    struct nfsdigest_trace *trace = ctx;

    if (atomic_fetch_sub(&trace->users, 1) > 1)
        return;
    input_close(trace->first);
    for (uint32_t i = 0; i < trace->more_count; i++)
        free(trace->more[i]);
    free(trace->more);
    free(trace->path);
    free(trace);
}

static int add_file(struct nfsdigest_trace *trace, const char *path)
{
    if (GROW(trace->more, trace->more_count, trace->more_cap) < 0 ||
        !(trace->more[trace->more_count] = strdup(path)))
        return err_memory(&trace->err, "file names");
    trace->more_count++;
    return 0;
}

static int set_option(struct nfsdigest_trace *trace, const char *option)
{
    struct err *err = &trace->err;
    const char *value = strchr(option, '=');
    const struct engine_option *known;
    char name[64];

    if (!value || (size_t)(value - option) >= sizeof(name))
        return err_set(err, ERR_USAGE, "the option \"%.100s\" is not of the form NAME=VALUE",
                       option);
    memcpy(name, option, (size_t)(value - option));
    name[value++ - option] = '\0';
    if (strcmp(name, "next") == 0)
        return add_file(trace, value);
    if (strcmp(name, "frame-shift") == 0)
        return record_shift_parse(value, &trace->frame_shift, err) < 0 ? err_prefix(err, "%s", name)
                                                                       : 0;
    if (strcmp(name, "profile") == 0) {
        trace->plain = strcmp(value, "plain") == 0;
        if (trace->plain || strcmp(value, "arrow") == 0)
            return 0;
        return err_set(err, ERR_USAGE, "profile=%.100s: \"arrow\" and \"plain\" are known", value);
    }
    if (strcmp(name, "partial") == 0 || strcmp(name, "block-digests") == 0) {
        bool yes = strcmp(value, "yes") == 0;

        if (!yes && strcmp(value, "no") != 0)
            return err_set(err, ERR_USAGE, "%s=%.100s: \"yes\" and \"no\" are known", name, value);
        if (*name == 'p')
            trace->partial = yes;
        else
            trace->settings.options.block_digests = yes;
        return 0;
    }
    known = engine_option_named(name);
    if (!known)
        return err_set(err, ERR_USAGE, "there is no option \"%s\"", name);
    if (engine_option_set(known, &trace->settings, value, err) < 0)
        return err_prefix(err, "%s", name);
    return 0;
}

static int open_input(struct nfsdigest_trace *trace)
{
    struct err *err = &trace->err;
    const uint8_t *head;
    size_t len;

    trace->first = input_open(trace->path, false, err);
    if (!trace->first)
        return -err->code;
    len = input_head(trace->first, &head);
    trace->is_database = store_is_database(head, len);
    if (trace->is_database && trace->frame_shift)
        return err_set(err, ERR_USAGE, "%s: frames are shifted in .nfsr streams only",
                       input_path_name(trace->path));
    if (trace->is_database && trace->more_count)
        return err_set(err, ERR_USAGE, "%s: no other file can go on where a database ended",
                       input_path_name(trace->path));
    if (trace->is_database) {
        bool is_file = input_is_file(trace->first);

        input_close(trace->first);
        trace->first = NULL;
        return is_file ? 0 : store_no_stream(input_path_name(trace->path), err);
    }
    if (nfsr_is_stream(head, len) || capture_is(head, len))
        return 0;
    return err_set(err, ERR_INPUT, "%s: neither a capture, nor an .nfsr stream or trace database",
                   input_path_name(trace->path));
}

int nfsdigest_open(const char *path, const char *const *options, struct nfsdigest_trace **result)
{
    struct nfsdigest_trace *trace = calloc(1, sizeof(*trace));

    *result = NULL;
    if (!trace || !(trace->path = strdup(path))) {
        free(trace);
        return NFSDIGEST_SYSTEM;
    }
    wire_init();
    atomic_init(&trace->users, 1);
    engine_settings_init(&trace->settings);
    *result = trace;
    for (; options && *options; options++)
        if (set_option(trace, *options) < 0)
            return -trace->err.code;
    return open_input(trace);
}

void nfsdigest_close(struct nfsdigest_trace *trace)
{
    if (trace)
        drop(trace);
}

const char *nfsdigest_error(const struct nfsdigest_trace *trace)
{
    return trace ? trace->err.text : "out of memory";
}

/* The input for one stream. */
static struct input *take_input(struct nfsdigest_trace *trace)
{
    struct input *input = trace->first;

    trace->first = NULL;
    if (input)
        return input;
    if (strcmp(trace->path, "-") == 0) {
        err_set(&trace->err, ERR_USAGE, "standard input can be read only once");
        return NULL;
    }
    return input_open(trace->path, false, &trace->err);
}

/* What a reader of these tables is made of. */
static int describe(struct nfsdigest_trace *trace, const struct nfsdigest_selection *selections,
                    unsigned count, struct batch_request *tables, struct reader_request *request)
{
    bool of_records = false;

    for (unsigned i = 0; i < count; i++) {
        const struct table_columns *table = table_named(selections[i].table);

        tables[i].table = selections[i].table;
        tables[i].columns = selections[i].columns;
        tables[i].plain = trace->plain;
        of_records = of_records || (table && table->kind);
    }
    request->files.more = trace->more;
    request->files.count = trace->more_count;
    request->files.frame_shift = trace->frame_shift;
    if (trace->is_database)
        request->database = trace->path;
    else if (of_records && !(request->files.first = take_input(trace)))
        return -trace->err.code;
    return 0;
}

int nfsdigest_reader_open(struct nfsdigest_trace *trace,
                          const struct nfsdigest_selection *selections, unsigned count,
                          int64_t rows, struct nfsdigest_reader **reader)
{
    struct batch_request *tables = calloc(count ? count : 1, sizeof(*tables));
    struct reader_request request = { .tables = tables,
                                      .count = count,
                                      .partial = trace->partial,
                                      .options = &trace->settings.options,
                                      .done = drop,
                                      .ctx = trace };

    *reader = NULL;
    trace->err = (struct err){ 0 };
    if (!tables)
        return err_memory(&trace->err, "tables");
    if (rows < 0)
        err_set(&trace->err, ERR_USAGE, "a batch cannot have %lld rows", (long long)rows);
    for (unsigned i = 0; i < count; i++)
        tables[i].rows = rows;
    if (!trace->err.code && describe(trace, selections, count, tables, &request) == 0)
        *reader = reader_new(&request, &trace->err);
    free(tables);
    if (!*reader)
        return -trace->err.code;
    atomic_fetch_add(&trace->users, 1);
    return 0;
}

int nfsdigest_stream(struct nfsdigest_trace *trace, const char *table, const char *columns,
                     int64_t rows, struct ArrowArrayStream *stream)
{
    const struct nfsdigest_selection selection = { table, columns };
    struct nfsdigest_reader *reader;
    int result = nfsdigest_reader_open(trace, &selection, 1, rows, &reader);

    *stream = (struct ArrowArrayStream){ 0 };
    if (result == 0)
        arrow_stream_init(stream, reader);
    return result;
}

const char *nfsdigest_note(const struct ArrowArrayStream *stream)
{
    const struct nfsdigest_reader *reader = arrow_stream_reader(stream);

    return reader ? reader_note(reader) : "";
}

int nfsdigest_reader_schema(struct nfsdigest_reader *reader, unsigned number,
                            struct ArrowSchema *schema)
{
    const struct batch *batch = reader_batch(reader, number);

    *schema = (struct ArrowSchema){ 0 };
    if (!batch)
        return err_set(reader_err(reader), ERR_USAGE, "there is no selection %u", number);
    return batch_schema(batch, schema, reader_err(reader));
}

int nfsdigest_reader_next(struct nfsdigest_reader *reader, unsigned *number,
                          struct ArrowArray *array)
{
    return reader_next(reader, number, array);
}

const char *nfsdigest_reader_error(struct nfsdigest_reader *reader)
{
    return reader_err(reader)->text;
}

const char *nfsdigest_reader_note(const struct nfsdigest_reader *reader)
{
    return reader_note(reader);
}

void nfsdigest_reader_close(struct nfsdigest_reader *reader)
{
    reader_free(reader);
}

const char *nfsdigest_table(unsigned number)
{
    for (unsigned i = 0; table_list[i].name; i++)
        if (i == number)
            return table_list[i].name;
    return NULL;
}

const char *nfsdigest_table_sql(unsigned number)
{
    return nfsdigest_table(number) ? table_list[number].sql : NULL;
}

const char *nfsdigest_column(const char *name, unsigned number, const char **sql, const char **text)
{
    const struct table_columns *table = table_named(name);

    for (unsigned i = 0; table && table->columns[i].name; i++)
        if (i == number) {
            if (sql)
                *sql = table->columns[i].sql ? table->columns[i].sql : table->columns[i].name;
            if (text)
                *text = table->columns[i].text;
            return table->columns[i].name;
        }
    return NULL;
}

const char *nfsdigest_name_text(const char *name, size_t length, char *text, size_t size)
{
    const struct bytes bytes = { (const uint8_t *)name,
                                 length < UINT32_MAX ? (uint32_t)length : UINT32_MAX };

    return size ? escape_to(text, size, bytes, true) : text;
}

const char *nfsdigest_schema(void)
{
    return trace_sql;
}

const char *nfsdigest_version(void)
{
    return NFSDIGEST_VERSION;
}
