/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/ops_columns.c
 *
 * Chosen columns of operations, as CSV (RFC 4180) or between tabs.  The contract is in ops_row.h.
 */
#include "cli/csv.h"
#include "cli/ops_row.h"
#include "engine.h"

#include <stdio.h>
#include <string.h>

static const char usual[] = "time,client,server,uid,program_name,procedure_name,path,path2,offset,"
                            "count,data_length,rpc_status_name,status_name,latency,call_frame,"
                            "reply_frame";

static int no_such(const char *name, size_t len, struct err *err)
{
    char list[512] = "";
    size_t at = 0;

    for (const struct ops_column *c = ops_columns; c->name && at < sizeof(list); c++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? " " : "", c->name);
    return err_set(err, ERR_USAGE, "--columns: no column is called \"%.*s\"; there are %s",
                   (int)(len < 40 ? len : 40), name, list);
}

int ops_choose(struct ops_chosen *chosen, const char *names, struct err *err)
{
    const char *at = names ? names : usual;

    chosen->count = 0;
    for (;;) {
        size_t len = strcspn(at, ",");
        const struct ops_column *c = ops_columns;

        while (c->name && (strlen(c->name) != len || strncmp(c->name, at, len) != 0))
            c++;
        if (!c->name)
            return no_such(at, len, err);
        if (chosen->count == OPS_CHOSEN_MAX)
            return err_set(err, ERR_USAGE, "--columns: more than %d columns", OPS_CHOSEN_MAX);
        chosen->columns[chosen->count++] = c;
        if (!at[len])
            return 0;
        at += len + 1;
    }
}

static void print_separator(const struct ops_chosen *chosen, int i)
{
    if (i)
        putchar(chosen->csv ? ',' : '\t');
}

static void print_end(const struct ops_chosen *chosen)
{
    fputs(chosen->csv ? CSV_END : "\n", stdout);
}

void ops_heading(const struct ops_chosen *chosen)
{
    for (int i = 0; i < chosen->count; i++) {
        print_separator(chosen, i);
        fputs(chosen->columns[i]->name, stdout);
    }
    print_end(chosen);
}

void ops_values(const struct ops_chosen *chosen, sqlite3_stmt *s)
{
    for (int i = 0; i < chosen->count; i++) {
        int column = chosen->columns[i]->column;
        char text[VALUE_TEXT_MAX];
        const char *value = NULL;

        print_separator(chosen, i);
        if (column == OPS_TIME)
            value = ops_when(s, text);
        else if (column == OPS_PROGRAM_NAME)
            value = ops_is_null(s, OP_PROGRAM)
                        ? NULL
                        : program_name((uint32_t)sqlite3_column_int64(s, OP_PROGRAM));
        else if (!ops_is_null(s, column) && (column == OP_OFFSET || column == OP_COUNT))
            printf("%llu", (unsigned long long)sqlite3_column_int64(s, column));
        else
            value = ops_value(s, column);
        if (value && chosen->csv)
            csv_value(value);
        else if (value) /* names have no tabs, as they are escaped */
            fputs(value, stdout);
    }
    print_end(chosen);
}
