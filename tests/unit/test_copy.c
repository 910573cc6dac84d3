/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_copy.c
 *
 * live/copy: what the SUT has when everything is synchronized.
 */
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

/* --- servers that refuse, restart, and say what is not so */

/* Little by little: the copy has to try again. */
static void no_space(struct lab *l, uint32_t procedure, struct fault_effects *effects)
{
    (void)l;
    if ((procedure == 7 || procedure == 8) && countdown) {
        countdown--;
        effects->set |= 1u << FAULT_STATUS;
        effects->value[FAULT_STATUS] = NFS3ERR_NOSPC;
    }
}

static void refusals(void **state)
{
    (void)state;
    fill(lab_fs(&lab, REF));
    countdown = 20;
    lab.side[SUT_SIDE].faults = no_space;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(countdown, 0);
    assert_true(lab.failed[COPY_NO_SPACE] > 0);
    assert_int_equal(copy_counts(lab.copy).failed[COPY_NO_SPACE], lab.failed[COPY_NO_SPACE]);
}

static void no_plus(struct lab *l, uint32_t procedure, struct fault_effects *effects)
{
    (void)l;
    if (procedure == 17) {
        effects->set |= 1u << FAULT_STATUS;
        effects->value[FAULT_STATUS] = NFS3ERR_NOTSUPP;
    }
    effects->set |= UINT64_C(1) << FAULT_NO_ATTRIBUTES;
}

static void without_readdirplus(void **state)
{
    (void)state;
    fill(lab_fs(&lab, REF));
    lab.side[REF].faults = lab.side[SUT_SIDE].faults = no_plus;
    lab.setup.list_bytes = 1024;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(lab.side[REF].calls[17], 1);
}

static void bad_cookies(struct lab *l, uint32_t procedure, struct fault_effects *effects)
{
    (void)l;
    if ((procedure == 16 || procedure == 17) && ++countdown % 3 == 0) {
        effects->set |= 1u << FAULT_STATUS;
        effects->value[FAULT_STATUS] = NFS3ERR_BAD_COOKIE;
    }
}

static void lost_cookies(void **state)
{
    (void)state;
    fill(lab_fs(&lab, REF));
    fill(lab_fs(&lab, SUT_SIDE));
    lab.side[REF].faults = lab.side[SUT_SIDE].faults = bad_cookies;
    lab_begin_copy(&lab);
    same(true);
}

/* Each 25th call is executed, the connection ends, and it is executed again. */
static void closes(struct lab *l, uint32_t procedure, struct fault_effects *effects)
{
    (void)l, (void)procedure;
    if (++countdown % 25 == 0)
        effects->set |= 1u << FAULT_CLOSE;
}

static void lost_connections(void **state)
{
    (void)state;
    fill(lab_fs(&lab, REF));
    fill(lab_fs(&lab, SUT_SIDE));
    lab_make(lab_fs(&lab, SUT_SIDE), fs_root(lab_fs(&lab, SUT_SIDE)), "surplus", NF3DIR);
    lab.side[REF].faults = lab.side[SUT_SIDE].faults = closes;
    lab.setup.piece = 4096;
    lab.setup.objects = 1; /* few calls are sent again */
    lab_begin_copy(&lab);
    same(true);
    assert_true(rpc_client_stats(lab.side[SUT_SIDE].client).connects > 3);
}

static void restarts(struct lab *l, uint32_t procedure, struct fault_effects *effects)
{
    (void)l;
    if ((procedure == 7 || procedure == 21) && countdown && --countdown % 40 == 0)
        effects->set |= 1u << FAULT_LOSE_UNSTABLE | 1u << FAULT_VERIFIER;
}

static void lost_writes(void **state)
{
    struct fs_config config = { .fsid = 2, .root_mode = 0755, .keep_unstable = true };
    uint32_t file;

    (void)state;
    service_free(&lab.side[SUT_SIDE].service);
    lab_begin_fs(&lab, &config, SUT_SIDE);
    file = lab_make(lab_fs(&lab, REF), fs_root(lab_fs(&lab, REF)), "f", NF3REG);
    lab_write(lab_fs(&lab, REF), file, 0, 100000, 5);
    countdown = 200;
    lab.side[SUT_SIDE].faults = restarts;
    lab.setup.piece = 1024;
    lab_begin_copy(&lab);
    same(true);
    assert_true(copy_counts(lab.copy).again >= 2);
}

/* Another file system with another root is there; then a part of it is lost. */
static void another_sut(void **state)
{
    struct err err = { 0 };
    uint8_t a[HANDLE_LENGTH], b[HANDLE_LENGTH];
    struct fs *fs;

    (void)state;
    fill(lab_fs(&lab, REF));
    lab_begin_copy(&lab);
    same(true);
    service_free(&lab.side[SUT_SIDE].service);
    lab_begin_fs(&lab, &usual, SUT_SIDE);
    fs = lab_fs(&lab, SUT_SIDE);
    assert_int_equal(copy_begin(lab.copy, lab_handle(&lab, REF, fs_root(lab_fs(&lab, REF)), a),
                                lab_handle(&lab, SUT_SIDE, fs_root(fs), b), &err),
                     0);
    same(true);
    assert_int_equal(fs_remove(fs, &lab_root_user, fs_root(fs),
                               (struct bytes){ (const uint8_t *)"file1", 5 }, false),
                     NFS3_OK);
    for (struct mirror_object *o = mirror_next(lab.mirror, NULL); o; o = mirror_next(lab.mirror, o))
        assert_int_equal(mirror_set_state(lab.mirror, o, MIRROR_QUEUED, &err), 0);
    copy_wake(lab.copy);
    same(false); /* names were made again */
    assert_true(lab.failed[COPY_LOST] <= 1);
}

/* --- the reference */

static uint32_t changing;

static void change_behind(struct lab *l, int side, uint32_t procedure)
{
    if (side == REF && procedure == 6 && countdown) {
        countdown--;
        lab_write(lab_fs(l, REF), changing, 0, 1, (uint8_t)countdown);
    }
}

static void changed_behind(void **state)
{
    (void)state;
    changing = lab_make(lab_fs(&lab, REF), fs_root(lab_fs(&lab, REF)), "f", NF3REG);
    lab_write(lab_fs(&lab, REF), changing, 0, 10000, 5);
    countdown = 150;
    lab.executed = change_behind;
    lab.setup.piece = 512;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(countdown, 0);
    assert_true(lab.failed[COPY_CHANGED_BEHIND] > 0);
    assert_true(copy_counts(lab.copy).again > 3);
}

/* A directory of names that nobody may have, and of itself. */
static bool odd_listing(struct lab *l, uint32_t procedure, struct xdr_put *to)
{
    static const struct {
        const char *name;
        uint32_t len;
    } names[] = { { "..", 2 }, { "a/b", 3 }, { "", 0 }, { "a\0b", 3 }, { "/", 1 }, { "self", 4 } };
    struct entryplus3 entries[6];
    struct READDIRPLUS3res res = { .entries = { entries, 5 + countdown, 6 }, .eof = true };
    uint8_t handle[HANDLE_LENGTH];

    if (procedure != 17)
        return false;
    for (uint32_t i = 0; i < 6; i++)
        entries[i] = (struct entryplus3){
            .fileid = i,
            .cookie = i + 1,
            .name = { (const uint8_t *)names[i].name, names[i].len },
            .name_attributes = { true, { .type = NF3DIR, .nlink = 2 } },
            .name_handle_follows = true,
            .name_handle = lab_handle(l, REF, fs_root(lab_fs(l, REF)), handle),
        };
    assert_int_equal(bind_write(nfs3_binding(17)->result, to, &res), 0);
    return true;
}

static void hostile_names(void **state)
{
    (void)state;
    lab.craft = odd_listing;
    countdown = 0;
    lab_begin_copy(&lab);
    same(false);
    assert_int_equal(copy_counts(lab.copy).refused_names, 4);
    countdown = 1;
    assert_int_equal(mirror_set_state(lab.mirror, mirror_at(lab.mirror, 1), MIRROR_QUEUED, NULL),
                     0);
    copy_wake(lab.copy);
    lab_run(&lab, 50000000);
    assert_true(lab.failed[COPY_REFERENCE] > 0);
    countdown = 0;
    same(false);
    assert_int_equal(mirror_count(lab.mirror), 1);
}

/* --- order, bounds */

static bool is_not_excluded(void *ctx, const struct mirror_object *object)
{
    struct lab *l = ctx;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything, begin, end),
        cmocka_unit_test_setup_teardown(surplus, begin, end),
        cmocka_unit_test_setup_teardown(refusals, begin, end),
        cmocka_unit_test_setup_teardown(without_readdirplus, begin, end),
        cmocka_unit_test_setup_teardown(lost_cookies, begin, end),
        cmocka_unit_test_setup_teardown(lost_connections, begin, end),
        cmocka_unit_test_setup_teardown(lost_writes, begin, end),
        cmocka_unit_test_setup_teardown(another_sut, begin, end),
        cmocka_unit_test_setup_teardown(changed_behind, begin, end),
        cmocka_unit_test_setup_teardown(hostile_names, begin, end),
        cmocka_unit_test_setup_teardown(excluded, begin, end),
        cmocka_unit_test_setup_teardown(popular, begin, end),
        cmocka_unit_test_setup_teardown(paced, begin, end),
        cmocka_unit_test_setup_teardown(many, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
