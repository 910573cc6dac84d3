/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/schema.c
 *
 * schemas/trace.sql, taken into the program as it is by the assembler (TRACE_SQL is its path), and
 * run section by section.
 */
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "nfsdigest_trace_sql:\n"
        ".incbin \"" TRACE_SQL "\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char nfsdigest_trace_sql[];

/* Runs what stands between the line "--- |name|" and the next such line. */
static int run_section(sqlite3 *db, const char *name, struct err *err)
{
    char mark[32];
    const char *start, *end;
    char *sql;
    int result;

    snprintf(mark, sizeof(mark), "\n--- %s\n", name);
    start = strstr(nfsdigest_trace_sql, mark);
    if (!start)
        return err_set(err, ERR_SYSTEM, "schemas/trace.sql has no section %s", name);
    start += strlen(mark);
    end = strstr(start, "\n--- ");
    sql = end ? strndup(start, (size_t)(end - start)) : strdup(start);
    if (!sql)
        return err_set(err, ERR_SYSTEM, "out of memory");
    result = sql_exec(db, sql, err);
    free(sql);
    return result;
}

int schema_create(sqlite3 *db, struct err *err)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "PRAGMA application_id = %d; PRAGMA user_version = %d;"
             "INSERT INTO meta VALUES ('created_by', 'nfsdigest " NFSDIGEST_VERSION "');",
             STORE_APPLICATION_ID, STORE_VERSION);
    if (run_section(db, "tables", err) < 0 || run_section(db, "views", err) < 0 ||
        sql_exec(db, sql, err) < 0)
        return -err->code;
    return dictionary_fill(db, err);
}

int schema_index(sqlite3 *db, struct err *err)
{
    return run_section(db, "indexes", err);
}
