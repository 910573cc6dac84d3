/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a signal does to an open transaction while the other thread is anywhere: in the middle of a
 * row, or of a statement that never ends. */
#include "store_records.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { ROW = 1 << 20 };

static void *undo_all(void *ctx)
{
    (void)ctx;
    cleanup_all();
    return NULL;
}

static void *undo_and_end(void *ctx)
{
    usleep(50000);
    cleanup_all();
    _exit(sqlite3_get_autocommit(ctx) ? 0 : 1);
}

/* The processes below end without a word, and cannot use what would jump out of them. */
static void write_something(void)
{
    if (store_begin(store, "y", STORE_NFSR, false, &err) < 0 || put_a_flow(1, 700) < 0)
        _exit(2);
}

static void read_a_row(void)
{
    sqlite3_stmt *stmt;
    pthread_t thread;
    const uint8_t *row;

    write_something();
    if (sqlite3_prepare_v2(store_db(store), "SELECT zeroblob(1 << 20) || 'x' FROM source", -1,
                           &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW)
        _exit(3);
    row = sqlite3_column_blob(stmt, 0);
    if (pthread_create(&thread, NULL, undo_all, NULL) || pthread_join(thread, NULL))
        _exit(4);
    for (int i = 0; i < ROW; i++)
        if (row[i])
            _exit(5);
    _exit(sqlite3_get_autocommit(store_db(store)) && row[ROW] == 'x' ? 0 : 6);
}

static void run_for_ever(void)
{
    pthread_t thread;

    write_something();
    if (pthread_create(&thread, NULL, undo_and_end, store_db(store)))
        _exit(4);
    sqlite3_exec(store_db(store),
                 "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
                 " SELECT count(*) FROM n",
                 NULL, NULL, NULL);
    pause(); /* the connection is kept, and here is nothing more to do */
}

static void ends_as_it_was(void (*run)(void))
{
    char journal[sizeof(path) + 16];
    pid_t child;
    int status;

    snprintf(journal, sizeof(journal), "%s-journal", path);
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    end(1);
    store_close(store);
    child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* CMocka's would go on with the next test */
        store = store_open(path, STORE_WRITE, &err);
        if (store)
            run();
        _exit(7);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(journal, F_OK), -1);
    store = store_open(path, STORE_WRITE, &err);
    assert_non_null(store);
    assert_string_equal(query("SELECT (SELECT count(*) FROM source), (SELECT count(*) FROM flow)"),
                        "1|1");
    nothing_wrong();
}

static void row_being_read(void **state)
{
    (void)state;
    ends_as_it_was(read_a_row);
}

static void endless_statement(void **state)
{
    (void)state;
    ends_as_it_was(run_for_ever);
}

int main(void)
{
    const struct CMUnitTest tests[] = { STORE_TEST(row_being_read), STORE_TEST(endless_statement) };

    return cmocka_run_group_tests(tests, make_path, NULL);
}
