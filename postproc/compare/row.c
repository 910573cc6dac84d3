/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/row.h"

uint32_t row_id(sqlite3_stmt *stmt, int column)
{
    int64_t id = sqlite3_column_int64(stmt, column);

    return id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

static uint32_t number(sqlite3_stmt *stmt, int column)
{
    return (uint32_t)sqlite3_column_int64(stmt, column);
}

void row_effect(sqlite3_stmt *stmt, int at, struct effect *e)
{
    int64_t reply = sql_column(stmt, at + ROW_REPLY_TIME, INT64_MIN);
    int64_t call = sql_column(stmt, at + ROW_CALL_TIME, reply);

    *e = (struct effect){ .id = sqlite3_column_int64(stmt, at + ROW_ID),
                          .call_time = call,
                          .done_time = reply > call ? reply : call,
                          .program = number(stmt, at + ROW_PROGRAM),
                          .version = number(stmt, at + ROW_VERSION),
                          .pairing = (uint8_t)number(stmt, at + ROW_PAIRING),
                          .call_flags = number(stmt, at + ROW_CALL_FLAGS),
                          .reply_flags = number(stmt, at + ROW_REPLY_FLAGS),
                          .rpc_status = sql_column(stmt, at + ROW_RPC_STATUS, STATUS_NONE),
                          .status = sql_column(stmt, at + ROW_STATUS, STATUS_NONE),
                          .object = row_id(stmt, at + ROW_OBJECT),
                          .parent2 = row_id(stmt, at + ROW_OBJECT2),
                          .new_object = row_id(stmt, at + ROW_NEW_OBJECT),
                          .arguments_body = sql_column_bytes(stmt, at + ROW_ARGUMENTS),
                          .result_body = sql_column_bytes(stmt, at + ROW_RESULT),
                          .arguments_length = number(stmt, at + ROW_ARGUMENTS_LENGTH),
                          .result_length = number(stmt, at + ROW_RESULT_LENGTH) };
    if (e->id && sqlite3_column_type(stmt, at + ROW_PROGRAM) != SQLITE_NULL)
        e->procedure = procedure_find(e->program, e->version, number(stmt, at + ROW_PROCEDURE));
    if (e->id)
        effect_decode(e);
}
