/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_copy.c
 *
 * live/copy: what the SUT has when everything is synchronized; the order; bounds.
 */
#include "copy_case.h"

static void everything(void **state)
{
    struct copy_counts counts;

    (void)state;
    fill(lab_fs(&lab, REF));
    lab.setup.piece = 512;
    lab.setup.list_bytes = 1024;
    lab_begin_copy(&lab);
    same(true);
    counts = copy_counts(lab.copy);
    assert_int_equal(counts.files, 10);
    assert_int_equal(counts.directories, 102);
    assert_int_equal(counts.links, 1);
    assert_int_equal(counts.others, 4);
    assert_int_equal(counts.linked, 1);
    assert_true(counts.holes > 250000);
    assert_int_equal(counts.again, 0);
    assert_int_equal(lab.synchronized, lab.played);
    assert_int_equal(mirror_count_state(lab.mirror, MIRROR_SYNCHRONIZED), mirror_count(lab.mirror));
}

/* Another tree stands there: other types, longer files, other links, and much more. */
static void surplus(void **state)
{
    struct fs *sut = lab_fs(&lab, SUT_SIDE);
    uint32_t root = fs_root(sut), dir, file;
    char name[32];

    (void)state;
    fill(lab_fs(&lab, REF));
    dir = lab_make(sut, root, "file1", NF3DIR);
    lab_make(sut, dir, "x", NF3REG);
    file = lab_make(sut, root, "file3", NF3REG);
    lab_write(sut, file, 0, 200000, 9);
    assert_int_equal(fs_link(sut, &lab_root_user, file, root, lab_text("file5")), NFS3_OK);
    assert_int_equal(fs_link(sut, &lab_root_user, file, root, lab_text("file9")), NFS3_OK);
    lab_make(sut, root, "again", NF3LNK);
    dir = lab_make(sut, root, "d", NF3DIR);
    lab_make(sut, dir, "link", NF3LNK);
    lab_make(sut, dir, "sparse", NF3CHR);
    lab_write(sut, lab_make(sut, dir, "file6", NF3REG), 0, 100000, 3);
    for (int i = 0; i < 300; i++) { /* wide, and deep */
        snprintf(name, sizeof(name), "wide%d", i);
        lab_make(sut, dir, name, i & 1 ? NF3REG : NF3DIR);
    }
    for (int i = 0; i < 300; i++) {
        dir = lab_make(sut, dir, "deep", NF3DIR);
        lab_make(sut, dir, "file", NF3REG);
    }
    lab.setup.piece = 512;
    lab.setup.list_bytes = 1024;
    lab_begin_copy(&lab);
    same(true);
    assert_true(copy_counts(lab.copy).removed > 600);
}

/* --- order, bounds */

static bool is_not_excluded(void *ctx, struct mirror_object *object,
                            const struct mirror_object *directory, struct bytes name)
{
    struct lab *l = ctx;

    (void)directory, (void)name;
    return mirror_name(l->mirror, object).len != 1;
}

static void excluded(void **state)
{
    struct lab_names names;
    uint32_t root;

    (void)state;
    fill(lab_fs(&lab, REF));
    lab.setup.host.is_wanted = is_not_excluded;
    lab_begin_copy(&lab);
    assert_true(lab_settle(&lab, 10));
    root = fs_root(lab_fs(&lab, SUT_SIDE));
    names = lab_list(lab_fs(&lab, SUT_SIDE), root);
    assert_int_equal(names.count, 6); /* "d" is there, and empty */
    assert_string_equal(names.list[1].name, "d");
    free(names.list);
    names = lab_list(lab_fs(&lab, SUT_SIDE),
                     fs_find(lab_fs(&lab, SUT_SIDE), 2, fs_generation(lab_fs(&lab, SUT_SIDE), 2)));
    free(names.list);
    assert_int_equal(mirror_count_state(lab.mirror, MIRROR_EXCLUDED), 1);
    assert_int_equal(mirror_count_state(lab.mirror, MIRROR_SYNCHRONIZED),
                     mirror_count(lab.mirror) - 1);
}

/* The deepest file is used most: its directories and it come first. */
static void popular(void **state)
{
    struct fs *fs = lab_fs(&lab, REF);
    uint32_t dir = fs_root(fs), file;
    uint8_t handle[HANDLE_LENGTH];
    struct mirror_object *object;
    char name[16];

    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        lab_make(fs, dir, name, NF3REG);
    }
    dir = lab_make(fs, dir, "d", NF3DIR);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "g%d", i);
        lab_make(fs, dir, name, NF3REG);
    }
    file = lab_make(fs, dir, "popular", NF3REG);
    lab.setup.objects = 1;
    lab_begin_copy(&lab);
    object = mirror_add(lab.mirror, lab_handle(&lab, REF, file, handle), NULL);
    mirror_accessed(lab.mirror, object, 1000);
    object = mirror_add(lab.mirror, lab_handle(&lab, REF, dir, handle), NULL);
    mirror_accessed(lab.mirror, object, 1000);
    same(true);
    assert_int_equal(lab.order[0], 1); /* the root */
    assert_int_equal(lab.order[1], 3);
    assert_int_equal(lab.order[2], 2);
}

static void paced(void **state)
{
    int64_t began = loop_clock();
    char name[16];

    (void)state;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        lab_write(lab_fs(&lab, REF),
                  lab_make(lab_fs(&lab, REF), fs_root(lab_fs(&lab, REF)), name, NF3REG), 0, 100000,
                  (uint8_t)i);
    }
    lab.setup.bytes_per_second = 2 << 20;
    lab_begin_copy(&lab);
    same(true);
    /* a tenth of a second is free */
    assert_true(loop_clock() - began > INT64_C(300000000));
    assert_int_equal(copy_counts(lab.copy).bytes_read, 1000000);
}

static void many(void **state)
{
    enum { FILES = 3000, SIZE = 22 << 10 };
    struct fs *fs = lab_fs(&lab, REF);
    uint32_t dir = fs_root(fs);
    char name[16];
    int64_t began, took;

    (void)state;
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "%d", i);
        if (i % 100 == 0)
            dir = lab_make(fs, fs_root(fs), name, NF3DIR);
        lab_write(fs, lab_make(fs, dir, name, NF3REG), 0, SIZE, (uint8_t)i);
    }
    lab_begin_copy(&lab);
    began = loop_clock();
    while (!lab_is_idle(&lab))
        lab_run(&lab, 1000000);
    took = loop_clock() - began;
    same(true);
    print_message("%d files of %d KiB: %.0f a second\n", FILES, SIZE >> 10,
                  FILES / ((double)took / 1e9));
    /* one READ; a CREATE, a WRITE and a SETATTR; few for directories */
    assert_in_range(copy_counts(lab.copy).reference_calls, FILES, FILES * 11 / 10);
    assert_in_range(copy_counts(lab.copy).sut_calls, 3 * FILES, FILES * 31 / 10);
}

/* On the SUT another request made a directory where the reference has a file, and its handle was
 * taken for the file's. */
static void handle_of_other_type(void **state)
{
    struct fs *ref = lab_fs(&lab, REF), *sut = lab_fs(&lab, SUT_SIDE);
    uint32_t file = lab_make(ref, fs_root(ref), "f", NF3REG), directory;
    struct mirror_object *object, *root;
    uint8_t handle[HANDLE_LENGTH];
    struct bytes twin;

    (void)state;
    lab_begin_copy(&lab);
    same(true);
    object = mirror_find(lab.mirror, lab_handle(&lab, REF, file, handle));
    root = mirror_find(lab.mirror, lab_handle(&lab, REF, fs_root(ref), handle));
    assert_int_equal(fs_remove(sut, &lab_root_user, fs_root(sut), lab_text("f"), false), NFS3_OK);
    directory = lab_make(sut, fs_root(sut), "f", NF3DIR);
    lab_make(sut, directory, "g", NF3REG);
    twin = lab_handle(&lab, SUT_SIDE, directory, handle);
    assert_int_equal(mirror_set_sut_handle(lab.mirror, object, twin, NULL), 0);
    assert_int_equal(mirror_set_state(lab.mirror, object, MIRROR_UNKNOWN, NULL), 0);
    assert_int_equal(mirror_set_state(lab.mirror, root, MIRROR_QUEUED, NULL), 0);
    copy_wake(lab.copy);
    same(false);
    assert_int_equal(object->state, MIRROR_SYNCHRONIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything, begin, end),
        cmocka_unit_test_setup_teardown(surplus, begin, end),
        cmocka_unit_test_setup_teardown(excluded, begin, end),
        cmocka_unit_test_setup_teardown(popular, begin, end),
        cmocka_unit_test_setup_teardown(paced, begin, end),
        cmocka_unit_test_setup_teardown(many, begin, end),
        cmocka_unit_test_setup_teardown(handle_of_other_type, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
