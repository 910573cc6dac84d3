/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "cli/ops_row.h"
#include "engine.h"
#include "store/sql_json.h"

#include <stdio.h>

/* Columns that go to JSON as they are. */
static void print_columns(struct json *j, sqlite3_stmt *s)
{
    for (const struct ops_column *c = ops_columns; c->name; c++)
        if (c->column < 0 || c->column == OP_ID)
            continue;
        else if (!ops_is_null(s, c->column) && (c->column == OP_OFFSET || c->column == OP_COUNT))
            json_u64(j, c->name, (uint64_t)sqlite3_column_int64(s, c->column));
        else
            sql_json_value(j, c->name, s, c->column);
}

void ops_json(sqlite3_stmt *s, bool fields)
{
    const char *program = program_name((uint32_t)sqlite3_column_int64(s, OP_PROGRAM));
    char text[VALUE_TEXT_MAX];
    struct fields_body bodies[2];
    struct json j = { .out = stdout };
    bool is_result[2];
    int count;

    json_object(&j, NULL);
    json_i64(&j, "id", sqlite3_column_int64(s, OP_ID));
    json_text(&j, "time", ops_when(s, text));
    json_text(&j, "program_name", ops_is_null(s, OP_PROGRAM) ? NULL : program);
    print_columns(&j, s);
    sql_json_value(&j, "data_digest", s, OP_DATA_DIGEST);
    count = fields ? ops_bodies(s, bodies, is_result) : 0;
    for (int i = 0; i < count; i++)
        fields_json(&j, is_result[i] ? "result" : "arguments", &bodies[i]);
    json_object_end(&j);
    json_end(&j);
}
