/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/sql_json.h
 *
 * Rows as JSON (base/json.h).
 */
#ifndef NFSDIGEST_STORE_SQL_JSON_H
#define NFSDIGEST_STORE_SQL_JSON_H

#include "base/json.h"

#include <sqlite3.h>

/* Writes a value by the type of its column.  Bytes become hexadecimal digits. */
void sql_json_value(struct json *j, const char *key, sqlite3_stmt *stmt, int at);

/* Writes all columns as members of an object that was begun.  A column whose name ends with "!" is
 * a boolean, and the "!" is left out. */
void sql_json_members(struct json *j, sqlite3_stmt *stmt);

#endif
