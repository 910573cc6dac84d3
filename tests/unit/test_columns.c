/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_columns.c
 *
 * libnfsdigest as a reader of Arrow streams sees it: who owns what, and until when; errors; and
 * streams of records that say anything.  What the columns hold is compared by
 * tests/pipeline/columns.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "columns/builder.h"
#include "columns/nfsdigest.h"
#include "nfsr_samples.h"

#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/test_columns.XXXXXX";

static struct nfsr_writer *begin(struct output **output)
{
    struct err err;
    struct nfsr_writer *writer;

    *output = output_open(path, &err);
    assert_non_null(*output);
    writer = nfsr_writer_new(output_write, *output, &err);
    assert_non_null(writer);
    return writer;
}

static void put(struct nfsr_writer *writer, const struct record *record)
{
    struct sink sink = nfsr_writer_sink(writer);
    struct err err;

    assert_int_equal(sink.put(sink.ctx, record, &err), 0);
}

static void end(struct nfsr_writer *writer, struct output *output)
{
    struct err err;

    put(writer, &(struct record){ .kind = RECORD_END });
    nfsr_writer_free(writer);
    assert_int_equal(output_commit(output, &err), 0);
    output_close(output);
}

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

/* What operations refer to. */
static void put_first(struct nfsr_writer *writer)
{
    const struct address client = { .version = 4, .bytes = { 10, 0, 0, 2 } };
    const struct address server = { .version = 4, .bytes = { 10, 0, 0, 1 } };

    put(writer,
        &(struct record){
            .kind = RECORD_FLOW,
            .flow = { .id = 1, .transport = 6, .client = client, .server = server, .frame = 1 } });
    put(writer, &(struct record){ .kind = RECORD_CREDENTIAL,
                                  .credential = { .id = 1, .body = text("x") } });
    put(writer, &(struct record){ .kind = RECORD_OBJECT,
                                  .object = { .id = 1, .server = server, .handle = text("h") } });
    put(writer, &(struct record){ .kind = RECORD_PATH, .path = { .id = 1, .name = text("/srv") } });
    put(writer, &(struct record){ .kind = RECORD_PATH,
                                  .path = { .id = 2, .parent = 1, .name = text("a/b") } });
}

static void put_operations(struct nfsr_writer *writer, unsigned count)
{
    for (unsigned i = 1; i <= count; i++)
        put(writer, &(struct record){ .kind = RECORD_OPERATION,
                                      .operation = { .id = i,
                                                     .flow = 1,
                                                     .xid = i,
                                                     .call = { .frame = i, .time = i },
                                                     .rpc_status = STATUS_NONE,
                                                     .status = STATUS_NONE,
                                                     .path = 2 } });
}

static void made(unsigned operations)
{
    struct output *output;
    struct nfsr_writer *writer = begin(&output);

    put_first(writer);
    put_operations(writer, operations);
    end(writer, output);
}

static struct nfsdigest_trace *opened(const char *const *options)
{
    struct nfsdigest_trace *trace;

    assert_int_equal(nfsdigest_open(path, options, &trace), 0);
    return trace;
}

static void stream_of(struct nfsdigest_trace *trace, const char *columns, int64_t rows,
                      struct ArrowArrayStream *stream)
{
    assert_int_equal(nfsdigest_stream(trace, "operations", columns, rows, stream), 0);
}

static void test_batches(void **state)
{
    struct nfsdigest_trace *trace;
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    int64_t rows = 0;

    (void)state;
    made(1000);
    trace = opened(NULL);
    stream_of(trace, "xid,path_text,call_frame,reply_frame", 300, &stream);
    nfsdigest_close(trace); /* the stream does not need it any more */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stream.get_next(&stream, &array), 0);
        assert_int_equal(array.length, i < 3 ? 300 : 100);
        assert_int_equal(array.n_children, 4);
        assert_int_equal(array.children[3]->null_count, array.length);
        for (int64_t row = 0; row < array.length; row++) {
            rows++;
            assert_int_equal(((const uint32_t *)array.children[0]->buffers[1])[row], rows);
            assert_int_equal(((const int64_t *)array.children[2]->buffers[1])[row], rows);
            assert_int_equal(((const int64_t *)array.children[3]->buffers[1])[row], 0);
        }
        array.release(&array);
        assert_null(array.release);
    }
    assert_int_equal(stream.get_next(&stream, &array), 0);
    assert_null(array.release); /* the end */
    assert_int_equal(stream.get_next(&stream, &array), 0);
    assert_null(array.release);
    assert_null(stream.get_last_error(&stream));
    stream.release(&stream);
    assert_null(stream.release);
}

/* Numbers that come several at a time, from any bit of the byte of what is valid. */
static void test_numbers(void **state)
{
    enum { ROWS = 2000 };
    struct builder builder;
    struct ArrowArray array;
    int64_t nulls = 0;

    (void)state;
    builder_init(&builder, COLUMN_U16);
    for (int64_t rows = 0, count; rows < ROWS; rows += count) {
        int64_t numbers[BUILDER_NUMBERS];
        uint64_t there = 0;

        count = rows % BUILDER_NUMBERS + 1;
        for (int64_t i = 0; i < count; i++) {
            numbers[i] = rows + i;
            there |= (uint64_t)((rows + i) % 3 > 0) << i;
        }
        assert_int_equal(builder_put_numbers(&builder, there, numbers, (unsigned)count), 0);
    }
    assert_int_equal(builder_take(&builder, &array), 0);
    assert_true(array.length >= ROWS);
    for (int64_t row = 0; row < array.length; row++) {
        const bool valid = ((const uint8_t *)array.buffers[0])[row / 8] >> row % 8 & 1;

        assert_int_equal(valid, row % 3 > 0);
        assert_int_equal(((const uint16_t *)array.buffers[1])[row], valid ? row : 0);
        nulls += !valid;
    }
    assert_int_equal(array.null_count, nulls);
    array.release(&array);
    builder_free(&builder);
}

/* A child that was moved outlives its parent, with its dictionary. */
static void test_moved(void **state)
{
    struct nfsdigest_trace *trace;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema, child_schema;
    struct ArrowArray array, child;
    const int32_t *ends;

    (void)state;
    made(10);
    trace = opened(NULL);
    stream_of(trace, "client,path_text", 0, &stream);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    stream.release(&stream);
    nfsdigest_close(trace);
    child_schema = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    child = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    assert_string_equal(child_schema.name, "client");
    assert_string_equal(child_schema.format, "i");
    assert_string_equal(child_schema.dictionary->format, "u");
    assert_int_equal(child.length, 10);
    assert_int_equal(child.dictionary->length, 1);
    ends = child.dictionary->buffers[1];
    assert_int_equal(ends[1], 8);
    assert_memory_equal(child.dictionary->buffers[2], "10.0.0.2", 8);
    child.release(&child);
    child_schema.release(&child_schema);
}

static void test_unread(void **state)
{
    struct nfsdigest_trace *trace;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;

    (void)state;
    made(10);
    trace = opened(NULL);
    stream_of(trace, NULL, 0, &stream);
    stream.release(&stream);
    stream_of(trace, NULL, 0, &stream);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    nfsdigest_close(trace);
    stream.release(&stream);
    schema.release(&schema); /* it is nobody else's */
}

static void test_reader(void **state)
{
    static const struct nfsdigest_selection all[] = {
        { "paths", "text" }, { "operations", "id" }, { "codes", NULL }, { "problems", NULL }
    };
    struct nfsdigest_trace *trace;
    struct nfsdigest_reader *reader;
    struct ArrowSchema schema;
    struct ArrowArray array;
    int64_t rows[4] = { 0 };
    unsigned number;

    (void)state;
    made(100);
    trace = opened(NULL);
    assert_int_equal(nfsdigest_reader_open(trace, all, 4, 30, &reader), 0);
    nfsdigest_close(trace);
    assert_int_equal(nfsdigest_reader_schema(reader, 1, &schema), 0);
    assert_string_equal(schema.children[0]->name, "id");
    schema.release(&schema);
    assert_int_equal(nfsdigest_reader_schema(reader, 4, &schema), NFSDIGEST_USAGE);
    while (nfsdigest_reader_next(reader, &number, &array) == 1) {
        rows[number] += array.length;
        array.release(&array);
    }
    assert_int_equal(rows[0], 2);
    assert_int_equal(rows[1], 100);
    assert_true(rows[2] > 30);
    assert_int_equal(rows[3], 0);
    nfsdigest_reader_close(reader);
}

/* All rows of a table, or the error behind them. */
static int read_all(struct nfsdigest_trace *trace, const char *table, int64_t *rows)
{
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    int result;

    *rows = 0;
    assert_int_equal(nfsdigest_stream(trace, table, NULL, 7, &stream), 0);
    while ((result = stream.get_next(&stream, &array)) == 0 && array.release) {
        *rows += array.length;
        array.release(&array);
    }
    if (result)
        assert_non_null(stream.get_last_error(&stream));
    stream.release(&stream);
    return result;
}

/* Rows before the damage come, then the error; with partial=yes there is a note instead. */
static void test_cut(void **state)
{
    static const char *const partial[] = { "partial=yes", NULL };
    struct nfsdigest_trace *trace;
    int64_t rows;

    (void)state;
    made(20000);
    assert_int_equal(truncate(path, 300000), 0);
    trace = opened(NULL);
    assert_int_not_equal(read_all(trace, "operations", &rows), 0);
    assert_true(rows > 0 && rows < 20000);
    nfsdigest_close(trace);
    trace = opened(partial);
    assert_int_equal(read_all(trace, "operations", &rows), 0);
    assert_true(rows > 0);
    nfsdigest_close(trace);
}

static void test_refused(void **state)
{
    static const char *const options[] = { "reorder-span=never", NULL };
    static const struct {
        struct record record;
        const char *table;
    } wrong[] = {
        { { .kind = RECORD_FLOW, .flow = { .id = 3 } }, "flows" },
        { { .kind = RECORD_FLOW, .flow = { .id = 1 } }, "flows" },
        { { .kind = RECORD_PATH, .path = { .id = 3, .parent = 3 } }, "paths" },
        { { .kind = RECORD_PATH, .path = { .id = 3, .object = 9 } }, "paths" },
        { { .kind = RECORD_OPERATION, .operation = { .id = 1, .flow = 1 } }, "operations" },
        { { .kind = RECORD_OPERATION, .operation = { .id = 1, .flow = 2, .call = { .frame = 1 } } },
          "operations" },
        { { .kind = RECORD_OPERATION,
            .operation = { .id = 1, .flow = 1, .path = 3, .call = { .frame = 1 } } },
          "operations" },
        { { .kind = RECORD_OPERATION,
            .operation = { .id = 1, .flow = 1, .credential = 2, .call = { .frame = 1 } } },
          "operations" },
        { { .kind = RECORD_REPEAT, .repeat = { .operation = 1, .repeat = 1 } }, "retransmissions" },
        { { .kind = RECORD_NAME, .name = { .event = 1, .object = 2 } }, "names" },
        { { .kind = RECORD_PROBLEM, .problem = { .problem = 1, .flow = 2 } }, "problems" },
    };
    struct nfsdigest_trace *trace;
    int64_t rows;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct output *output;
        struct nfsr_writer *writer = begin(&output);

        put_first(writer);
        put(writer, &wrong[i].record);
        end(writer, output);
        trace = opened(NULL);
        assert_int_not_equal(read_all(trace, wrong[i].table, &rows), 0);
        nfsdigest_close(trace);
    }
    assert_int_equal(nfsdigest_open(path, options, &trace), NFSDIGEST_USAGE);
    assert_non_null(strstr(nfsdigest_error(trace), "reorder-span"));
    nfsdigest_close(trace);
    assert_int_equal(nfsdigest_open("/nosuchfile", NULL, &trace), NFSDIGEST_INPUT);
    nfsdigest_close(trace);
    nfsdigest_close(NULL);
}

/* Anything that a stream can say: rows or an error, and no harm. */
static void test_anything(void **state)
{
    struct samples samples;
    struct nfsdigest_trace *trace;
    int64_t rows;

    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        struct output *output;
        struct nfsr_writer *writer = begin(&output);
        unsigned kind;
        const char *table;

        samples_init(&samples, seed);
        put_first(writer);
        for (int i = 0; i < 3; i++) {
            struct record record;

            do {
                kind = sample_kind(sample_u64(&samples) >> 20);
                sample_record(&samples, kind, &record);
            } while (kind == RECORD_OBJECT && record.object.id > 2);
            if (kind == RECORD_OPERATION && seed % 2) {
                record.operation.flow = 1;
                record.operation.credential %= 2;
                record.operation.object %= 2;
                record.operation.object2 %= 2;
                record.operation.new_object %= 2;
                record.operation.path %= 3;
                record.operation.path2 %= 3;
            }
            put(writer, &record);
        }
        end(writer, output);
        trace = opened(NULL);
        for (unsigned i = 0; (table = nfsdigest_table(i)); i++)
            read_all(trace, table, &rows);
        nfsdigest_close(trace);
    }
}

static void test_paths_too_deep(void **state)
{
    struct output *output;
    struct nfsr_writer *writer = begin(&output);
    struct nfsdigest_trace *trace;
    int64_t rows;

    (void)state;
    put_first(writer);
    for (uint32_t i = 3; i < 40000; i++)
        put(writer, &(struct record){ .kind = RECORD_PATH,
                                      .path = { .id = i, .parent = i - 1, .name = text("d") } });
    end(writer, output);
    trace = opened(NULL);
    assert_int_not_equal(read_all(trace, "paths", &rows), 0);
    assert_true(rows > 1000);
    nfsdigest_close(trace);
}

static int make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_moved),          cmocka_unit_test(test_unread),
        cmocka_unit_test(test_reader),         cmocka_unit_test(test_cut),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_anything),
        cmocka_unit_test(test_paths_too_deep),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
