/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/batch.c
 *
 * Rows of one table as an array of structs with its schema (arrow.apache.org/docs/format/
 * CDataInterface.html).  The contract is in batch.h.
 */
#include "columns/batch.h"

#include <stdlib.h>
#include <string.h>

void batch_free(struct batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++)
        builder_free(&batch->builders[i]);
    free(batch->builders);
    free(batch->columns);
    free(batch->others);
    free(batch->waiting);
}

static int add_column(struct batch *batch, const struct column *column, bool plain)
{
    const struct column **columns = realloc(batch->columns, (batch->count + 1) * sizeof(*columns));
    struct builder *builders;
    unsigned *others;

    if (!columns)
        return -ERR_SYSTEM;
    batch->columns = columns;
    builders = realloc(batch->builders, (batch->count + 1) * sizeof(*builders));
    if (!builders)
        return -ERR_SYSTEM;
    batch->builders = builders;
    others = realloc(batch->others, (batch->count + 1) * sizeof(*others));
    if (!others)
        return -ERR_SYSTEM;
    batch->others = others;
    columns[batch->count] = column;
    builder_init(&builders[batch->count], builder_type(column->type, plain));
    if (!builder_is_number(&builders[batch->count]))
        others[batch->other_count++] = batch->count;
    batch->count++;
    return 0;
}

int batch_init(struct batch *batch, const struct batch_request *request, struct err *err)
{
    bool plain = request->plain;

    *batch = (struct batch){ .table = table_named(request->table),
                             .limit = request->rows ? request->rows : BATCH_ROWS };
    if (!batch->table)
        return err_set(err, ERR_USAGE, "there is no table \"%.100s\"", request->table);
    for (const char *at = request->columns; at;) {
        size_t len = strcspn(at, ",");
        const struct column *column = column_named(batch->table, at, len);

        if (!column)
            return err_set(err, ERR_USAGE, "the table \"%s\" has no column \"%.*s\"",
                           batch->table->name, (int)(len < 100 ? len : 100), at);
        for (unsigned i = 0; i < batch->count; i++)
            if (batch->columns[i] == column)
                return err_set(err, ERR_USAGE, "the column \"%s\" is named twice", column->name);
        if (add_column(batch, column, plain) < 0)
            return err_memory(err, "columns");
        at = at[len] ? at + len + 1 : NULL;
    }
    for (const struct column *column = batch->table->columns; !request->columns && column->name;
         column++)
        if (add_column(batch, column, plain) < 0)
            return err_memory(err, "columns");
    return 0;
}

static int put_value(struct builder *builder, const struct column *column, const struct row *row)
{
    struct cell cell = { 0 };

    return column_cell(column, row, &cell) < 0 ? -ERR_SYSTEM : builder_put(builder, &cell);
}

int batch_settle(struct batch *batch, struct err *err)
{
    struct waiting *waiting = batch->waiting;

    if (!waiting || !waiting->count)
        return 0;
    for (unsigned i = 0; i < batch->count; i++)
        if (builder_is_number(&batch->builders[i]) &&
            waiting_put(waiting, batch->columns[i], &batch->builders[i]) < 0)
            return err_memory(err, "a batch of rows");
    waiting->count = 0;
    return 0;
}

void batch_count(struct batch *batch)
{
    enum { LOOK = 128 }; /* a look at all columns costs as much as a row of some of them */
    size_t bytes = 0;

    batch->full = ++batch->rows >= batch->limit;
    if (batch->full || batch->rows % LOOK != 0)
        return;
    for (unsigned i = 0; i < batch->count; i++)
        bytes += builder_bytes(&batch->builders[i]);
    batch->full = bytes > BATCH_BYTES_MAX;
}

/* Numbers wait for others; bytes live as long as the record, so they are put at once. */
int batch_put(struct batch *batch, const struct row *row, struct err *err)
{
    const bool waits = row->record != NULL;

    if (waits && !batch->waiting && !(batch->waiting = calloc(1, sizeof(*batch->waiting))))
        return err_memory(err, "a batch of rows");
    for (unsigned i = 0; i < (waits ? batch->other_count : batch->count); i++) {
        const unsigned at = waits ? batch->others[i] : i;

        if (put_value(&batch->builders[at], batch->columns[at], row) < 0)
            return err_memory(err, "a batch of rows");
    }
    batch_count(batch);
    if (!waits)
        return 0;
    waiting_add(batch->waiting, row);
    return batch->waiting->count < WAITING_ROWS ? 0 : batch_settle(batch, err);
}

/* The strings are the program's. */
static void release_words(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* A reader may have moved it out of its parent, so it owns its dictionary. */
static void release_child(struct ArrowSchema *schema)
{
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static int describe(const struct column *column, enum column_type type, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){ .format = builder_format(type),
                                 .name = column->name,
                                 .flags = ARROW_FLAG_NULLABLE,
                                 .release = release_child };
    if (type != COLUMN_WORD)
        return 0;
    out->dictionary = calloc(1, sizeof(*out->dictionary));
    if (!out->dictionary)
        return -ERR_SYSTEM;
    *out->dictionary = (struct ArrowSchema){ .format = "u", .name = "", .release = release_words };
    return 0;
}

int batch_schema(const struct batch *batch, struct ArrowSchema *out, struct err *err)
{
    size_t pointers = batch->count * sizeof(struct ArrowSchema *);
    char *block = calloc(1, pointers + batch->count * sizeof(struct ArrowSchema));
    struct ArrowSchema **children = (struct ArrowSchema **)(void *)block;
    struct ArrowSchema *structs = (struct ArrowSchema *)(void *)(block + pointers);

    if (!block)
        return err_memory(err, "a schema");
    *out = (struct ArrowSchema){ .format = "+s",
                                 .name = "",
                                 .n_children = batch->count,
                                 .children = children,
                                 .release = release_schema,
                                 .private_data = block };
    for (unsigned i = 0; i < batch->count; i++)
        children[i] = &structs[i];
    for (unsigned i = 0; i < batch->count; i++)
        if (describe(batch->columns[i], batch->builders[i].type, &structs[i]) < 0) {
            out->release(out);
            return err_memory(err, "a schema");
        }
    return 0;
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    free(array->private_data);
    array->release = NULL;
}

int batch_take(struct batch *batch, struct ArrowArray *out, struct err *err)
{
    size_t pointers = batch->count * sizeof(struct ArrowArray *);
    char *block = calloc(1, sizeof(void *) + pointers + batch->count * sizeof(struct ArrowArray));
    struct ArrowArray **children = (struct ArrowArray **)(void *)(block + sizeof(void *));
    struct ArrowArray *structs = (struct ArrowArray *)(void *)(block + sizeof(void *) + pointers);

    if (!block)
        return err_memory(err, "a batch of rows");
    if (batch_settle(batch, err) < 0) {
        free(block);
        return -err->code;
    }
    *out = (struct ArrowArray){ .length = batch->rows,
                                .n_buffers = 1,
                                .buffers = (const void **)(void *)block, /* no struct is NULL */
                                .n_children = batch->count,
                                .children = children,
                                .release = release_array,
                                .private_data = block };
    for (unsigned i = 0; i < batch->count; i++)
        children[i] = &structs[i];
    for (unsigned i = 0; i < batch->count; i++)
        if (builder_take(&batch->builders[i], &structs[i]) < 0) {
            out->release(out);
            return err_memory(err, "a batch of rows");
        }
    batch->rows = 0;
    batch->full = false;
    return 0;
}
