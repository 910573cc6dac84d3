/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exports in databases that the engine does not make: paths that lead in circles or nowhere, ids
 * that are large, negative or unknown, and objects without a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/exports.h"
#include "store/sql.h"

#include <stdlib.h>

static const char made[] =
    "CREATE TABLE flow (id INTEGER PRIMARY KEY, server);"
    "CREATE TABLE object (id INTEGER PRIMARY KEY, server, fsid);"
    "CREATE TABLE path (id INTEGER PRIMARY KEY, parent, object, name);"
    "CREATE TABLE name_event (id INTEGER PRIMARY KEY, name, object, parent);"
    "INSERT INTO flow VALUES (1, '10.0.0.1');"
    "INSERT INTO object VALUES (1, '10.0.0.1', 5), (2, '10.0.0.1', 5), (3, '10.0.0.1', NULL),"
    " (4, '10.0.0.1', -1), (5, '10.0.0.9', 5), (6, '10.0.0.1', 6), (7, '10.0.0.1', 6);"
    "INSERT INTO name_event VALUES (1, '/a', 1, NULL), (2, '/again', 1, NULL), (3, '/b', 6, NULL),"
    " (4, '/c', 7, NULL), (5, '/lost', 99, NULL), (6, 'x', 3, 1);"
    "INSERT INTO path VALUES (1, NULL, NULL, '/a'), (2, 1, NULL, 'f'),"
    " (3, 4, NULL, 'circle'), (4, 3, NULL, 'circle'), (5, 5, NULL, 'itself'),"
    " (6, 77, NULL, 'without a parent'), (7, -3, NULL, 'negative'), (8, NULL, 99, ''),"
    " (9, NULL, 3, ''), (5000000, 1, NULL, 'far');"
    "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 11000)"
    " INSERT INTO path SELECT i, CASE i WHEN 1000 THEN 1 ELSE i - 1 END, NULL, 'd' FROM n;";

/* what an operation names: flow, path, object, new object | its export; NULL: none */
static const struct {
    struct export_of of;
    const char *label;
} cases[] = {
    { { 1, 1, 0, 0 }, "10.0.0.1:/a" },
    { { 1, 2, 2, 0 }, "10.0.0.1:/a" },
    { { 1, 2, 5, 0 }, "10.0.0.9:/a" }, /* what was said of the object before is not taken */
    { { 1, 2, 2, 0 }, "10.0.0.1:/a" },
    { { 7, 1, 0, 0 }, ":/a" },
    { { 1, 3, 0, 0 }, NULL },
    { { 1, 4, 2, 0 }, "10.0.0.1:/a" },
    { { 1, 5, 3, 0 }, NULL },
    { { 1, 6, 0, 0 }, NULL },
    { { 1, 7, 4, 0 }, "10.0.0.1 fsid 0xffffffffffffffff" },
    { { 1, 8, 0, 0 }, NULL },
    { { 1, 9, 2, 0 }, "10.0.0.1:/a" },
    { { 1, 5000000, 1, 0 }, "10.0.0.1:/a" },
    { { 1, 88, 0, 0 }, NULL },
    { { 1, -5, 0, 0 }, NULL },
    { { 1, 0, 0, 0 }, NULL },
    { { 1, 0, 0, 2 }, "10.0.0.1:/a" },
    { { 1, 0, 99, 0 }, NULL },
    { { 1, 0, -1, 0 }, NULL },
    { { 1, 0, 5, 0 }, "10.0.0.9 fsid 0x5" },
    { { 1, 0, 6, 0 }, "10.0.0.1:/b" },
    { { 1, 0, 7, 0 }, "10.0.0.1:/c" },
    { { 1, 4000, 0, 0 }, "10.0.0.1:/a" },
    { { 1, 11000, 0, 0 }, NULL }, /* too deep at once */
};

static void hostile_databases(void **state)
{
    struct err err = { 0 };
    struct exports *exports;
    sqlite3 *db;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sql_run(db, made, &err), 0);
    exports = exports_new(db, &err);
    assert_non_null(exports);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases);
         i++) { /* the second time from memory */
        size_t k = i % (sizeof(cases) / sizeof(*cases));
        uint32_t number = exports_find(exports, &cases[k].of, &err);

        if (number == EXPORT_NONE) {
            assert_null(cases[k].label);
        } else {
            char *label;

            assert_int_not_equal(number, UINT32_MAX);
            label = exports_label(exports, number);
            assert_non_null(cases[k].label);
            assert_string_equal(label, cases[k].label);
            free(label);
        }
    }
    exports_free(exports);
    sqlite3_close(db);
}

static void databases_that_fail(void **state)
{
    const struct export_of of = { 1, 2, 2, 0 };
    struct err err = { 0 };
    struct exports *exports;
    sqlite3 *db;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_null(exports_new(db, &err));
    assert_int_not_equal(err.code, 0);
    assert_int_equal(sql_run(db, made, &err), 0);
    exports = exports_new(db, &err);
    assert_non_null(exports);
    assert_int_equal(sql_run(db, "DROP TABLE path", &err), 0);
    err = (struct err){ 0 };
    assert_int_equal(exports_find(exports, &of, &err), UINT32_MAX);
    assert_int_not_equal(err.code, 0);
    exports_free(exports);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_databases),
        cmocka_unit_test(databases_that_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
