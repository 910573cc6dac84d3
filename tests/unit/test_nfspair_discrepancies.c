/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a comparison as the packet tree sees it: which frames it knows, which it has seen,
 * and whether it is about this capture at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plugins/nfspair/discrepancies.c"

#include <stdio.h>

enum { SECOND = 1000000000 };

static char path[] = "/tmp/discrepancies.XXXXXX";
static struct discrepancies *opened;
static char said[4096];
static unsigned shown;

static char *schema(void)
{
    char name[4096];
    const char *src = getenv("SRC");
    snprintf(name, sizeof name, "%s/schemas/compare.sql", src ? src : ".");
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 1000);
    fclose(file);
    return text;
}

static void run(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Two captures, of 100 and 90 frames; frames of the first one's discrepancies are made at as many
 * seconds, those of the second one 7 later. */
static int make(void **state)
{
    (void)state;
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fclose(file);
    char *tables = schema();
    run(tables);
    free(tables);
    run("PRAGMA application_id = 0x4e465343; PRAGMA user_version = 7;"
        "INSERT INTO code VALUES ('kind', 4, 'value', ''), ('kind', 3, 'status', '');"
        "INSERT INTO side (id, name, database, path, digest, operations) VALUES"
        " (1, 'ref', 'r', 'r', '', 0), (2, 'sut', 's', 's', '', 0);"
        "INSERT INTO source (side, id, name, digest, frames) VALUES"
        " (1, 1, 'a.pcap', x'01', 100), (2, 1, 'b.pcap', x'02', 90);"
        "INSERT INTO discrepancy_group (id, kind, class, operation, field, difference, reason, "
        "count,"
        " compared, is_noise) VALUES (1, 4, 'size', 'NFS READ', 'READ3res.resok.count', 'd', 'why',"
        " 3, 9, 0), (2, 3, NULL, 'NFS READ', 'READ3res.status', 'd', 'why', 1, 9, 1);"
        "INSERT INTO discrepancy (id, discrepancy_group, ref_text, sut_text) VALUES"
        " (1, 1, '1', '2'), (2, 1, '3', NULL), (3, 2, 'NFS3_OK', 'NFS3ERR_IO'), (4, 1, '4', '5');"
        "INSERT INTO frame (side, source, frame, xid, discrepancy, other_source, other_frame, time)"
        " VALUES (1, 1, 10, 500, 1, 1, 20, 10000000000), (2, 1, 20, 501, 1, 1, 10, 27000000000),"
        " (1, 1, 10, 500, 3, 1, 20, 10000000000), (2, 1, 20, 501, 3, 1, 10, 27000000000),"
        " (1, 1, 30, 4294967295, 2, NULL, NULL, 30000000000), (1, 1, 10, 777, 4, 1, 40, NULL),"
        " (2, 1, 40, 502, 4, 1, 10, 47000000000)");
    said[0] = 0;
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    discrepancies_close(opened);
    opened = NULL;
    remove(path);
    return 0;
}

static void open_as(enum side_code side)
{
    struct err err;
    opened = discrepancies_open(path, side, &err);
    if (!opened)
        fail_msg("%s", err.text);
}

static void see(uint32_t from, uint32_t to, int64_t offset)
{
    for (uint32_t i = from; i <= to; i++)
        discrepancies_seen(opened, i, (int64_t)i * SECOND + offset);
}

static void note(void *ctx, const struct discrepancy *d)
{
    (void)ctx;
    size_t len = strlen(said);
    shown++;
    assert_true(d->number > 0);
    snprintf(said + len, sizeof said - len, "%s %s %s %s/%s %u%s%s%s\n", d->side, d->kind, d->field,
             d->ref ? d->ref : "-", d->sut ? d->sut : "-", d->other_frame, d->other_file ? " " : "",
             d->other_file && d->other_frame ? d->other_file : "", d->is_noise ? " noise" : "");
}

static int64_t of(uint32_t frame, uint32_t xid)
{
    struct err err;
    said[0] = 0;
    shown = 0;
    return discrepancies_of(opened, frame, xid, note, NULL, &err);
}

static void test_of(void **state)
{
    (void)state;
    open_as(SIDE_BOTH);
    assert_int_equal(of(10, 500), 0); /* not seen yet */
    see(1, 100, 0);
    assert_int_equal(of(10, 500), 2);
    assert_string_equal(said, "ref value READ3res.resok.count 1/2 20 b.pcap\n"
                              "ref status READ3res.status NFS3_OK/NFS3ERR_IO 20 b.pcap noise\n");
    assert_int_equal(of(10, 777), 1);
    assert_string_equal(said, "ref value READ3res.resok.count 4/5 40 b.pcap\n");
    assert_int_equal(of(30, UINT32_MAX), 1);
    assert_string_equal(said, "ref value READ3res.resok.count 3/- 0 \n");
    assert_int_equal(of(10, 501), 0);
    assert_int_equal(of(11, 500), 0);
    assert_int_equal(of(20, 501), 0); /* the other capture's */
    assert_int_equal(of(0, 0), 0);
    assert_int_equal(of(UINT32_MAX, UINT32_MAX), 0);
}

static void test_other_side(void **state)
{
    struct err err;
    (void)state;
    open_as(SIDE_BOTH);
    see(1, 90, (int64_t)7 * SECOND + TIME_TOLERANCE - 1);
    assert_int_equal(of(20, 501), 2);
    assert_int_equal(of(10, 500), 0);
    assert_int_equal(of(40, 502), 1);
    assert_true(discrepancies_fit(opened, 90, &err));
}

static void test_forced_side(void **state)
{
    struct err err;
    (void)state;
    open_as(SIDE_SUT);
    see(1, 100, 0);
    assert_int_equal(of(10, 500), 0);
    assert_false(discrepancies_fit(opened, 99, &err));
    discrepancies_close(opened);
    open_as(SIDE_REF);
    see(1, 100, 0);
    assert_int_equal(of(10, 500), 2);
    assert_non_null(strstr(said, "b.pcap")); /* still knows the other side's name */
}

static void test_fit(void **state)
{
    struct err err;
    (void)state;
    open_as(SIDE_BOTH);
    see(1, 9, 0);
    assert_false(discrepancies_fit(opened, 9, &err));
    assert_non_null(strstr(err.text, "begins with frame 10"));
    see(11, 30, TIME_TOLERANCE);
    see(30, 30, -TIME_TOLERANCE);
    assert_false(discrepancies_fit(opened, 30, &err));
    assert_non_null(strstr(err.text, "none of the 4 frames"));
    see(30, 30, 1 - TIME_TOLERANCE);
    assert_true(discrepancies_fit(opened, 30, &err));
    discrepancies_close(opened);

    run("DELETE FROM frame WHERE side = 2");
    open_as(SIDE_BOTH);
    see(1, 90, SECOND);
    assert_true(discrepancies_fit(opened, 90, &err)); /* b.pcap, of which nothing is said */
    assert_false(discrepancies_fit(opened, 91, &err));
    discrepancies_close(opened);

    run("DELETE FROM frame");
    open_as(SIDE_BOTH);
    assert_true(discrepancies_fit(opened, 5, &err));
}

static void test_next(void **state)
{
    (void)state;
    run("INSERT INTO source VALUES (1, 2, 'c.pcap', x'03', 100);"
        "INSERT INTO frame (side, source, frame, xid, discrepancy, time) VALUES"
        " (1, 2, 25, 9, 4, 25000000000), (1, 2, 28, 9, 4, 1), (1, 2, 4294967295, 9, 4, NULL)");
    open_as(SIDE_BOTH);
    assert_int_equal(discrepancies_next(opened, 0), 0);
    see(1, 100, 0);
    assert_int_equal(discrepancies_next(opened, 0), 10);
    assert_int_equal(discrepancies_next(opened, 10), 25); /* 20 is of the other capture */
    assert_int_equal(discrepancies_next(opened, 25), 30);
    assert_int_equal(discrepancies_next(opened, 30), 0);
    assert_int_equal(discrepancies_previous(opened, UINT32_MAX), 30);
    assert_int_equal(discrepancies_previous(opened, 30), 25);
    assert_int_equal(discrepancies_previous(opened, 25), 10);
    assert_int_equal(discrepancies_previous(opened, 10), 0);
    assert_int_equal(discrepancies_previous(opened, 0), 0);
    discrepancies_seen(opened, UINT32_MAX, 5);
    assert_int_equal(discrepancies_next(opened, 30), UINT32_MAX);
    assert_int_equal(discrepancies_next(opened, UINT32_MAX), 0);
}

/* No more than so many are shown, but all are counted. */
static void test_many(void **state)
{
    (void)state;
    run("WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 1000)"
        "INSERT INTO discrepancy (id, discrepancy_group) SELECT x, 1 FROM n;"
        "INSERT INTO frame (side, source, frame, xid, discrepancy, time)"
        " SELECT 1, 1, 50, 5, id, 50000000000 FROM discrepancy WHERE id >= 10;"
        "INSERT INTO frame (side, source, frame, xid, discrepancy, time)"
        " SELECT 2, 1, 50, 5, id, 50000000000 FROM discrepancy WHERE id < 13");
    open_as(SIDE_BOTH);
    see(1, 100, 0);
    assert_int_equal(of(50, 5), 991 + 7);
    assert_int_equal(shown, DISCREPANCIES_MOST);
}

/* A capture with both servers. */
static void test_same_file(void **state)
{
    (void)state;
    run("UPDATE source SET digest = x'07'");
    open_as(SIDE_BOTH);
    see(1, 100, 0);
    assert_int_equal(of(10, 777), 1);
    assert_string_equal(said, "ref value READ3res.resok.count 4/5 40\n");
    discrepancies_close(opened);
    run("UPDATE source SET digest = x'0701' WHERE side = 2");
    open_as(SIDE_BOTH);
    see(1, 100, 0);
    assert_int_equal(of(10, 777), 1);
    assert_non_null(strstr(said, "b.pcap"));
}

static void refused(const char *words)
{
    struct err err;
    opened = discrepancies_open(path, SIDE_BOTH, &err);
    assert_null(opened);
    assert_int_equal(err.code, ERR_INPUT);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
}

static void test_refused(void **state)
{
    (void)state;
    run("PRAGMA user_version = 8");
    refused("version 8, and this plugin reads version 7");
    run("PRAGMA user_version = 0");
    refused("version 0, and this plugin reads version 7");
    run("PRAGMA user_version = 7; PRAGMA application_id = 1");
    refused("not the result of a comparison");
    run("PRAGMA application_id = 0x4e465343;"
        "UPDATE frame SET frame = 0 WHERE frame = 10 AND xid = 777");
    refused("frame 0");
    run("UPDATE frame SET frame = 4294967296 WHERE frame = 0");
    refused("frame 4294967296");
    run("DROP TABLE rule; CREATE VIEW rule AS SELECT 1 AS id, 'x' AS text");
    refused("an incomplete result");
    remove(path);
    refused("No such file");
}

/* The database may be damaged behind what was read when it was opened. */
static void test_damaged_later(void **state)
{
    struct err err;
    (void)state;
    open_as(SIDE_BOTH);
    see(1, 100, 0);
    run("DROP TABLE code");
    assert_true(discrepancies_of(opened, 10, 500, note, NULL, &err) < 0);
    assert_int_equal(err.code, ERR_INPUT);
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
    const struct CMUnitTest tests[] = {
        TEST(test_of),        TEST(test_other_side), TEST(test_forced_side),
        TEST(test_fit),       TEST(test_next),       TEST(test_many),
        TEST(test_same_file), TEST(test_refused),    TEST(test_damaged_later),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
