/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_object_types.c
 *
 * What the engine tells of the types of objects: what attributes say, what names prove, and what is
 * guessed.
 */
#include "object_lab.h"

/* RFC 1813 s3.3.3: the object that a name is asked for in need not be a directory. */
static void a_name_does_not_make_a_directory(void **state)
{
    struct buf b;

    (void)state;
    fail_lookup("file", NOTDIR); /* nothing was known of it */
    assert_int_equal(type_of("file"), OBJECT_UNKNOWN);
    getattr("file");
    assert_int_equal(type_of("file"), OBJECT_REG);
    fail_lookup("file", NOTDIR);
    fail_lookup("file", STALE);
    assert_int_equal(type_of("file"), OBJECT_REG);
    b = call(NFS, RMDIR); /* maybe for what has the name */
    put_name_in(&b, "dir", "file");
    refuse(&b, NOTDIR, 2);
    b = call(NFS, RENAME);
    put_rename(&b, "dir", "name", "dir2", "name");
    refuse(&b, NOTDIR, 4);
    b = call(NFS, LINK);
    put_text(&b, "file");
    put_name_in(&b, "dir3", "name");
    refuse(&b, NOTDIR, 3);
    b = call(NFS, LOOKUP); /* without a reply */
    put_name_in(&b, "dir4", "name");
    lab_udp(&lab, C, S, &b);
    b.len = 0;
    put_call(&b, ++xid, NFS, 3, LOOKUP); /* refused by RPC */
    put_name_in(&b, "dir5", "name");
    lab_udp(&lab, C, S, &b);
    b.len = 0;
    put_reply(&b, xid, 5); /* SYSTEM_ERR */
    answer(S, &b);
    lab_end(&lab);
    assert_int_equal(type_of("file"), OBJECT_REG);
    assert_int_equal(type_of("dir"), OBJECT_UNKNOWN);
    assert_int_equal(type_of("dir2"), OBJECT_UNKNOWN);
    assert_int_equal(type_of("dir3"), OBJECT_UNKNOWN);
    assert_int_equal(type_of("dir4"), OBJECT_UNKNOWN);
    assert_int_equal(type_of("dir5"), OBJECT_UNKNOWN);
}

static void names_that_are_there_show_directories(void **state)
{
    (void)state;
    lookup("dir", "name", "file", 1);
    rename_it("dir2", "name", "dir3", "name");
    hard_link("file", "dir4", "name");
    assert_int_equal(type_of("dir"), OBJECT_DIR);
    assert_int_equal(type_of("dir2"), OBJECT_DIR);
    assert_int_equal(type_of("dir3"), OBJECT_DIR);
    assert_int_equal(type_of("dir4"), OBJECT_DIR);
    fail_lookup("dir5", NOENT);
    assert_int_equal(type_of("dir5"), OBJECT_DIR);
}

/* A guess is made where nothing is known, and lasts until attributes come. */
static void attributes_correct_guesses(void **state)
{
    (void)state;
    fail_lookup("file", STALE);
    assert_int_equal(type_of("file"), OBJECT_DIR);
    getattr("file");
    assert_int_equal(type_of("file"), OBJECT_REG);
    getattr_of(S, "odd", 99); /* no type at all */
    fail_lookup("odd", NOENT);
    assert_int_equal(type_of("odd"), OBJECT_DIR);
    getattr("odd");
    assert_int_equal(type_of("odd"), OBJECT_REG);
}

/* Servers may use a handle again for another object. */
static void a_handle_that_was_used_again(void **state)
{
    (void)state;
    getattr("old");
    lookup("old", "name", "file", 1); /* is a directory by now */
    assert_int_equal(type_of("old"), OBJECT_DIR);
    getattr_of(S, "old", 2);
    assert_int_equal(type_of("old"), OBJECT_DIR);
    make(CREATE, "dir", "name", "old");
    assert_int_equal(type_of("old"), OBJECT_REG);
    make(MKDIR, "dir", "name", "old");
    assert_int_equal(type_of("old"), OBJECT_DIR);
    assert_int_equal(last_word(object("old"))->fileid, 6);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_lab, close_lab)
    const struct CMUnitTest tests[] = {
        TEST(a_name_does_not_make_a_directory),
        TEST(names_that_are_there_show_directories),
        TEST(attributes_correct_guesses),
        TEST(a_handle_that_was_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
