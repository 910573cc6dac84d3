/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/copy_case.h
 *
 * Each test of live/copy with a lab of its own, and a tree that has something of everything.
 */
#ifndef NFSDIGEST_UNIT_COPY_CASE_H
#define NFSDIGEST_UNIT_COPY_CASE_H

#include "copy_lab.h"

static struct lab lab;
static uint32_t countdown;

static const struct fs_config usual = { .fsid = 1, .root_mode = 0755 };

static int begin(void **state)
{
    (void)state;
    memset(&lab, 0, sizeof(lab));
    lab_begin_servers(&lab);
    lab_begin_fs(&lab, &usual, REF);
    lab_begin_fs(&lab, &usual, SUT_SIDE);
    lab.setup.host = lab_host(&lab);
    countdown = 0;
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
static inline void fill(struct fs *fs)
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

#endif
