/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_copy.c
 *
 * live/copy: what the SUT has when everything is synchronized.
 */
#include "copy_lab.h"

static struct lab lab;

static const struct fs_config usual = { .fsid = 1, .root_mode = 0755 };

static int begin(void **state)
{
    (void)state;
    memset(&lab, 0, sizeof(lab));
    lab_begin_servers(&lab);
    lab_begin_fs(&lab, &usual, REF);
    lab_begin_fs(&lab, &usual, SUT_SIDE);
    lab.setup.host = lab_host(&lab);
    return 0;
}

static int end(void **state)
{
    (void)state;
    lab_end_servers(&lab);
    lab_end_copy(&lab);
    loop_free(lab.loop);
    return 0;
}

static void same(bool times)
{
    const char *differ;

    if (!lab_settle(&lab, 20))
        fail_msg("it does not end: %s", lab.last_failure);
    differ = lab_differ(&lab, times);
    if (differ)
        fail_msg("%s", differ);
    assert_int_equal(fs_check(lab_fs(&lab, SUT_SIDE), NULL), 0);
}

/* Every type, sizes around a piece, holes, links. */
static void fill(struct fs *fs)
{
    static const uint32_t sizes[] = { 0, 1, 511, 512, 513, 1024, 5000, 70000 };
    uint32_t root = fs_root(fs), dir = lab_make(fs, root, "d", NF3DIR), file;
    char name[32];

    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        snprintf(name, sizeof(name), "file%u", i);
        file = lab_make(fs, i & 1 ? root : dir, name, NF3REG);
        if (sizes[i])
            lab_write(fs, file, 0, sizes[i], (uint8_t)i);
        fs_setattr(fs, &lab_root_user, file, &(struct sattr3){ .set_uid = true, .uid = i }, NULL);
        fs_setattr(fs, &lab_root_user, file,
                   &(struct sattr3){ .set_mode = true, .mode = i & 1 ? 06711 : 0444 }, NULL);
    }
    fs_setattr(fs, &lab_root_user, dir,
               &(struct sattr3){ .set_uid = true,
                                 .uid = 1000,
                                 .set_gid = true,
                                 .gid = 1000,
                                 .set_mode = true,
                                 .mode = 03775 },
               NULL);
    file = lab_make(fs, dir, "sparse", NF3REG);
    lab_write(fs, file, 300000, 4, 1);
    lab_write(fs, file, 0, 10, 1);
    assert_int_equal(fs_link(fs, &lab_root_user, file, root, lab_text("again")), NFS3_OK);
    file = lab_make(fs, dir, "hole", NF3REG);
    fs_setattr(fs, &lab_root_user, file,
               &(struct sattr3){ .set_size = true, .size = UINT64_C(1) << 40 }, NULL);
    lab_make(fs, dir, "link", NF3LNK);
    lab_make(fs, dir, "fifo", NF3FIFO);
    lab_make(fs, dir, "sock", NF3SOCK);
    lab_make(fs, dir, "chr", NF3CHR);
    lab_make(fs, dir, "blk", NF3BLK);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "sub%d", i);
        dir = lab_make(fs, dir, name, NF3DIR);
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything, begin, end),
        cmocka_unit_test_setup_teardown(surplus, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
