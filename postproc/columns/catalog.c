/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/catalog.c
 *
 * The list of tables, and the value of a column in a row that a record is.
 */
#include "base/escape.h"
#include "columns/known.h"
#include "wire/rpc.h"

static bool is_retransmission(const struct record *record)
{
    return !repeat_is_copy(record->repeat.repeat);
}

static bool is_copy(const struct record *record)
{
    return repeat_is_copy(record->repeat.repeat);
}

const struct table_columns table_list[] = {
    { "operations", "operation", operation_columns, RECORD_OPERATION },
    { "retransmissions", "retransmission", retransmission_columns, RECORD_REPEAT,
      is_retransmission },
    { "copies", "copy", copy_columns, RECORD_REPEAT, is_copy },
    { "problems", "problem", problem_columns, RECORD_PROBLEM },
    { "connection_events", "connection_event", connection_event_columns, RECORD_CONNECTION_EVENT },
    { "objects", "object", object_columns, RECORD_OBJECT },
    { "paths", "path", path_columns, RECORD_PATH },
    { "names", "name_event", name_event_columns, RECORD_NAME },
    { "credentials", "credential", credential_columns, RECORD_CREDENTIAL },
    { "flows", "flow", flow_columns, RECORD_FLOW },
    { "contents", "contents", contents_columns, RECORD_CONTENTS },
    { "sources", "source", source_columns, ROWS_ARE_SOURCES },
    { "counters", "counter", counter_columns, RECORD_COUNTER },
    { "programs", "program", program_columns },
    { "procedures", "procedure", procedure_columns },
    { "status_names", "status_name", status_name_columns },
    { "fields", "field", field_columns },
    { "codes", "code", code_columns },
    { NULL },
};

const struct table_columns *table_named(const char *name)
{
    for (const struct table_columns *table = table_list; table->name; table++)
        if (strcmp(table->name, name) == 0 || strcmp(table->sql, name) == 0)
            return table;
    return NULL;
}

const struct column *column_named(const struct table_columns *table, const char *name, size_t len)
{
    for (const struct column *column = table->columns; column->name; column++)
        if (strlen(column->name) == len && memcmp(column->name, name, len) == 0)
            return column;
    return NULL;
}

static unsigned operation_has(const struct record_operation *op)
{
    bool call = op->call.frame, reply = op->reply.frame;
    unsigned has = 0;

    if (call) {
        has |= NEEDS_CALL;
        if (!(op->call.flags & SIGHTING_HEADER))
            has |= NEEDS_CALL_BODY;
    }
    if (reply) {
        has |= NEEDS_REPLY;
        if (!(op->reply.flags & SIGHTING_HEADER))
            has |= NEEDS_REPLY_BODY;
    }
    if (call && reply && op->call.time != TIME_NONE && op->reply.time != TIME_NONE)
        has |= NEEDS_LATENCY;
    if (op->call.flags & SIGHTING_OFFSET)
        has |= NEEDS_OFFSET;
    if (op->call.flags & SIGHTING_COUNT)
        has |= NEEDS_COUNT;
    if ((op->call.flags | op->reply.flags) & SIGHTING_DATA) {
        has |= NEEDS_DATA;
        if (!bytes_are_zeros(op->data_digest, sizeof(op->data_digest)))
            has |= NEEDS_DIGEST;
    }
    if (op->counterpart.number)
        has |= NEEDS_COUNTERPART;
    return has;
}

unsigned column_has(const struct record *r)
{
    switch (r->kind) {
    case RECORD_OPERATION:
        return operation_has(&r->operation);
    case RECORD_CREDENTIAL:
        return !r->credential.valid                   ? 0
               : r->credential.flavor == RPC_AUTH_SYS ? NEEDS_AUTH_SYS
               : r->credential.flavor == RPC_GSS      ? NEEDS_GSS
                                                      : 0;
    case RECORD_OBJECT:
        return r->object.fileid ? NEEDS_IDENTITY : 0;
    case RECORD_PROBLEM:
        return r->problem.flow ? NEEDS_FLOW : 0;
    case RECORD_CONNECTION_EVENT:
        return connection_event_has_value(r->connection_event.event) ? NEEDS_VALUE : 0;
    }
    return 0;
}

static int get_text(struct known *known, struct bytes name, struct cell *cell)
{
    known->text.len = 0;
    cell->bytes = (struct bytes){ (const uint8_t *)"", 0 };
    if (!name.len)
        return 0;
    if (escape_name(name, true, &known->text) < 0)
        return -ERR_SYSTEM;
    cell->bytes = (struct bytes){ known->text.data, (uint32_t)known->text.len };
    return 0;
}

static int get_address(struct known *known, const struct address *address, struct cell *cell)
{
    known->text.len = 0;
    if (buf_reserve(&known->text, ADDRESS_TEXT_MAX) < 0)
        return -ERR_SYSTEM;
    address_text(address, (char *)known->text.data);
    cell->bytes =
        (struct bytes){ known->text.data, (uint32_t)strlen((const char *)known->text.data) };
    return 0;
}

static int load(const struct column *column, const struct row *row, struct cell *cell)
{
    const uint8_t *at = (const uint8_t *)row->at + column->offset;
    uint64_t frame;

    switch ((enum from)column->from) {
    case FROM_FRAME:
        memcpy(&frame, at, sizeof(frame));
        known_source_of(row->known, &frame);
        cell->number = (int64_t)frame;
        break;
    case FROM_SOURCE:
        memcpy(&frame, at, sizeof(frame));
        cell->number = known_source_of(row->known, &frame);
        break;
    case FROM_BYTES:
        memcpy(&cell->bytes, at, sizeof(cell->bytes));
        break;
    case FROM_TEXT:
        return get_text(row->known, *(const struct bytes *)(const void *)at, cell);
    case FROM_ADDRESS:
        return get_address(row->known, (const struct address *)(const void *)at, cell);
    case FROM_DIGEST:
        cell->bytes = (struct bytes){ at, 16 };
        break;
    default:
        cell->number = column_number(column, row->at);
    }
    return 0;
}

int column_cell(const struct column *column, const struct row *row, struct cell *cell)
{
    int result;

    cell->there = (row->has & column->needs) == column->needs;
    if (!cell->there)
        return 0;
    result = column->get ? column->get(row, cell) : load(column, row, cell);
    if (column->null == NULL_EMPTY)
        cell->there = cell->there && cell->bytes.len > 0;
    else
        cell->there = cell->there && !column_is_null(column, cell->number);
    return result;
}
