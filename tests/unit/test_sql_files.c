/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nothing is undone while SQLite makes a temporary file.  A file system of the test's own stands
 * for the system's: when SQLite opens a file there, it tries to undo from another thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "store/sql_files.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAITS = 200, MILLISECOND = 1000 /* us */, THREADS = 64 };

static sqlite3_vfs lab;
static sqlite3_vfs *below;
static int temporary_files, other_files;
static bool temporary_held = true, other_held;

static void *undo(void *done)
{
    cleanup_hold();
    atomic_store((atomic_bool *)done, true);
    cleanup_release();
    return NULL;
}

/* Whether the list is held: another thread does not get it. */
static bool is_held(pthread_t *thread, atomic_bool *done)
{
    assert_int_equal(pthread_create(thread, NULL, undo, done), 0);
    for (int i = 0; i < WAITS && !atomic_load(done); i++)
        usleep(MILLISECOND);
    return !atomic_load(done);
}

static pthread_t threads[THREADS];
static atomic_bool dones[THREADS];
static int thread_count;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    bool held;

    (void)vfs;
    assert_true(thread_count < THREADS);
    held = is_held(&threads[thread_count], &dones[thread_count]);
    thread_count++;
    if (flags & SQLITE_OPEN_DELETEONCLOSE) {
        temporary_files++;
        temporary_held &= held;
    } else {
        other_files++;
        other_held |= held;
    }
    return below->xOpen(below, name, file, flags, out);
}

/* The file is beside a database that is a file, so that SQLite opens both kinds. */
static void temporary_files_are_held(void **state)
{
    char path[] = "/tmp/sql_files_XXXXXX";
    int fd = mkstemp(path);
    struct err err;
    sqlite3 *db;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    below = sqlite3_vfs_find(NULL);
    lab = *below;
    lab.pNext = NULL;
    lab.zName = "lab";
    lab.xOpen = open_file;
    assert_int_equal(sqlite3_vfs_register(&lab, 1), SQLITE_OK);
    assert_int_equal(sql_files_begin(&err), 0);

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 1;"
                     "CREATE TABLE here (a); CREATE TEMP TABLE t (a);"
                     "WITH n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100)"
                     "INSERT INTO t SELECT randomblob(1000) FROM n;",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    unlink(path);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    assert_true(temporary_files > 0);
    assert_true(other_files > 0);
    assert_true(temporary_held);
    assert_false(other_held);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(temporary_files_are_held) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
