/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hierarchy map and what was there before, from operations made by hand. Object 1 is the root.
 */
#include "digest_steps.h"

static void names_found_were_there(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "d", .made = 2, .type = OBJECT_DIR);
    DO(NFS3_LOOKUP, 2, .name = "f", .made = 3, .type = OBJECT_REG, .size = 7);
    DO(NFS3_LOOKUP, 2, .name = "f", .made = 3);
    DO(NFS3_LOOKUP, 2, .name = ".", .made = 2);
    DO(NFS3_LOOKUP, 2, .name = "..", .made = 1);
    assert_int_equal(l.hierarchy.counts.subtrees, 1);
    assert_int_equal(l.hierarchy.counts.directories, 2);
    assert_int_equal(l.hierarchy.counts.files, 1);
    assert_int_equal(l.hierarchy.counts.bytes, 7);
    assert_string_equal(entries(), "1/d=2 -..-, 2/f=3 -..-");
    assert_string_equal(inferred(), "");
}

static void made_and_removed(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .status = NFS3ERR_NOENT);
    DO(NFS3_CREATE, 1, .name = "a", .made = 2, .how = 2);
    DO(NFS3_MKDIR, 1, .name = "d", .made = 3);
    DO(NFS3_REMOVE, 1, .name = "a");
    DO(NFS3_LOOKUP, 1, .name = "a", .status = NFS3ERR_NOENT);
    DO(NFS3_RMDIR, 1, .name = "d");
    /* the same handle again: another life */
    DO(NFS3_CREATE, 1, .name = "a", .made = 2, .how = 2);
    assert_string_equal(entries(), "1/a=2 2..4, 1/d=3 3..6, 1/a=2 7..-");
    assert_string_equal(inferred(), "");
    assert_int_equal(l.hierarchy.counts.files, 0);
    assert_int_equal(l.hierarchy.counts.subtrees, 1);
}

static void removed_unseen_was_there(void **state)
{
    (void)state;
    DO(NFS3_REMOVE, 1, .name = "old");
    DO(NFS3_RMDIR, 1, .name = "dir");
    DO(NFS3_CREATE, 1, .name = "full", .status = NFS3ERR_EXIST, .how = 2);
    DO(NFS3_RMDIR, 1, .name = "more", .status = NFS3ERR_NOTEMPTY);
    DO(NFS3_LOOKUP, 1, .name = "full", .made = 5, .type = OBJECT_REG);
    assert_string_equal(entries(), "1/old=-1 -..1, 1/dir=-2 -..2, 1/full=5 -..-, 1/more=-4 -..-");
    assert_int_equal(l.hierarchy.counts.directories, 3);
    assert_int_equal(l.hierarchy.counts.files, 2);
    assert_string_equal(inferred(), "");
}

static void renamed_over(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 2, .type = OBJECT_REG);
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 3, .type = OBJECT_REG);
    DO(NFS3_RENAME, 1, .name = "a", .object2 = 1, .name2 = "b");
    DO(NFS3_GETATTR, 3, .status = NFS3ERR_STALE);
    DO(NFS3_GETATTR, 1, .status = NFS3ERR_STALE);
    DO(NFS3_GETATTR, 99, .status = NFS3ERR_STALE);
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 2, .type = OBJECT_REG);
    assert_string_equal(entries(), "1/b=3 -..3, 1/a=2 -..3, 1/b=2 3..-");
    assert_string_equal(inferred(), "");
}

static void hard_links(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 2, .type = OBJECT_REG, .nlink = 2);
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 2, .type = OBJECT_REG, .nlink = 2);
    DO(NFS3_LINK, 2, .object2 = 1, .name2 = "c");
    DO(NFS3_REMOVE, 1, .name = "a");
    DO(NFS3_RENAME, 1, .name = "b", .object2 = 1, .name2 = "c"); /* nothing happens */
    DO(NFS3_REMOVE, 1, .name = "b");
    assert_int_equal(node_of(2)->died, TO_THE_END);
    DO(NFS3_REMOVE, 1, .name = "c");
    assert_int_not_equal(node_of(2)->died, TO_THE_END);
    assert_string_equal(entries(), "1/a=2 -..4, 1/b=2 -..6, 1/c=2 3..7");
    assert_string_equal(inferred(), "");
}

static void unknown_parents_are_roots(void **state)
{
    (void)state;
    DO(NFS3_GETATTR, 7, .type = OBJECT_REG, .size = 10);
    DO(NFS3_LOOKUP, 8, .name = "x", .made = 9, .type = OBJECT_DIR);
    assert_int_equal(l.hierarchy.counts.subtrees, 2);
    DO(NFS3_LOOKUP, 9, .name = "f", .made = 7, .type = OBJECT_REG, .size = 10);
    assert_int_equal(l.hierarchy.counts.subtrees, 1);
    assert_string_equal(entries(), "8/x=9 -..-, 9/f=7 -..-");
}

static void sizes_before_changes(void **state)
{
    (void)state;
    /* seen, then written */
    DO(NFS3_GETATTR, 2, .type = OBJECT_REG, .size = 100);
    DO(NFS3_WRITE, 2, .type = OBJECT_REG, .size = 200, .before = 100);
    assert_int_equal(node_of(2)->size, 100);
    /* written; the reply tells of before */
    DO(NFS3_WRITE, 3, .type = OBJECT_REG, .size = 200, .before = 50);
    DO(NFS3_GETATTR, 3, .type = OBJECT_REG, .size = 200);
    assert_int_equal(node_of(3)->size, 50);
    /* the call counts: what is seen before the reply may be of after */
    struct effect *write =
        make(&(struct op){ NFS3_WRITE, 4, .call = 10, .reply = 20, .before = 5 });
    struct effect *look =
        make(&(struct op){ NFS3_GETATTR, 4, .call = 11, .reply = 12, .type = 1, .size = 300 });
    called(write);
    called(look);
    done(look);
    assert_true(node_of(4)->flags & NODE_GUESSED);
    done(write);
    assert_int_equal(node_of(4)->size, 5);
    now = 20;
    /* read only: at least, then exactly */
    DO(NFS3_READ, 5, .offset = 0, .done = 4096);
    assert_int_equal(node_of(5)->size, 4096);
    assert_true(node_of(5)->flags & NODE_AT_LEAST);
    DO(NFS3_READ, 5, .offset = 4096, .done = 10, .eof = true);
    assert_int_equal(node_of(5)->size, 4106);
    assert_false(node_of(5)->flags & NODE_AT_LEAST);
    /* made here: it was nothing before */
    DO(NFS3_CREATE, 1, .name = "n", .made = 6, .how = 2, .type = OBJECT_REG, .size = 9);
    assert_int_equal(node_of(6)->knows, 0);
    assert_int_equal(l.hierarchy.counts.bytes, 100 + 50 + 5 + 4106);
}

static void create_finds_what_was_there(void **state)
{
    (void)state;
    DO(NFS3_CREATE, 1, .name = "a", .made = 2, .how = 1, .type = OBJECT_REG, .size = 5);
    DO(NFS3_GETATTR, 3, .type = OBJECT_REG);
    DO(NFS3_CREATE, 1, .name = "b", .made = 3, .how = 1, .type = OBJECT_REG);
    DO(NFS3_CREATE, 1, .name = "c", .made = 4, .how = 1, .type = OBJECT_REG);
    assert_string_equal(entries(), "1/a=2 -..-, 1/b=3 -..-, 1/c=4 4..-");
}

static void as_it_was_then(void **state)
{
    (void)state;
    learn_free(&l);
    setup_at(INT64_C(4500000000));
    DO(NFS3_CREATE, 1, .name = "a", .made = 2, .how = 2, .type = OBJECT_REG, .size = 0);
    DO(NFS3_CREATE, 1, .name = "gone", .made = 3, .how = 2, .type = OBJECT_REG);
    DO(NFS3_REMOVE, 1, .name = "gone");
    DO(NFS3_WRITE, 2, .type = OBJECT_REG, .size = 70, .before = 1);
    /* the moment */
    DO(NFS3_WRITE, 2, .type = OBJECT_REG, .size = 90, .before = 70);
    DO(NFS3_RENAME, 1, .name = "a", .object2 = 1, .name2 = "b");
    DO(NFS3_CREATE, 1, .name = "late", .made = 4, .how = 2, .type = OBJECT_REG, .size = 1000);
    DO(NFS3_LOOKUP, 1, .name = "old", .made = 5, .type = OBJECT_REG, .size = 8);
    assert_int_equal(node_of(2)->size, 70);
    assert_int_equal(l.hierarchy.counts.files, 2);
    assert_int_equal(l.hierarchy.counts.bytes, 78);
    assert_int_equal(l.hierarchy.counts.subtrees, 1);
}

static void memory_is_that_of_what_lives(void **state)
{
    (void)state;
    for (uint32_t i = 2; i < 50000; i++) {
        struct op make_it = { NFS3_CREATE, 1, .name = "t", .made = i, .how = 2 };
        struct op take_it = { NFS3_REMOVE, 1, .name = "t" };

        step_count = 0;
        do_op(&make_it);
        do_op(&take_it);
    }
    assert_true(l.hierarchy.nodes.count < 10);
    assert_true(l.hierarchy.entries.count < 10);
    assert_int_equal(l.hierarchy.peak_nodes, 2);
    assert_true(sizeof(struct node) <= 128);
    assert_true(sizeof(struct entry) <= 96);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(names_found_were_there),
        TEST(made_and_removed),
        TEST(removed_unseen_was_there),
        TEST(renamed_over),
        TEST(hard_links),
        TEST(unknown_parents_are_roots),
        TEST(sizes_before_changes),
        TEST(create_finds_what_was_there),
        TEST(as_it_was_then),
        TEST(memory_is_that_of_what_lives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
