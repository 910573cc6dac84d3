/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_copy_faults.c
 *
 * live/copy with servers that refuse, restart, disconnect, and say what is not so; and with files
 * that change all the time.
 */
#include "copy_case.h"

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

static uint64_t change_at;

/* A client writes a byte whenever the copy looks, and the host notes it. */
static void change_noted(struct lab *l, int side, uint32_t procedure)
{
    uint8_t handle[HANDLE_LENGTH], byte = (uint8_t)countdown;
    struct mirror_object *object = mirror_find(l->mirror, lab_handle(l, REF, changing, handle));
    struct change_time time = { l->ring + 1, l->ring + 2 };

    if (side != REF || (procedure != 1 && procedure != 6) || !l->side[REF].calls[6] || !countdown ||
        !object || object->state != MIRROR_COPYING || !object->has_changes)
        return;
    countdown--;
    l->ring += 2;
    lab_write(lab_fs(l, REF), changing, change_at, 1, byte);
    copy_noted(l->copy, object,
               change_note_write(mirror_changes(l->mirror, object), time, change_at, 1, &byte));
}

/* |size| bytes on the reference, then zeros up to |end|; |old| bytes on the SUT. */
static void be_busy(uint32_t size, uint32_t end, uint32_t old)
{
    struct fs *ref = lab_fs(&lab, REF), *sut = lab_fs(&lab, SUT_SIDE);

    changing = lab_make(ref, fs_root(ref), "f", NF3REG);
    lab_write(ref, changing, 0, size, 5);
    fs_setattr(ref, &lab_root_user, changing, &(struct sattr3){ .set_size = true, .size = end },
               NULL);
    lab_write(sut, lab_make(sut, fs_root(sut), "f", NF3REG), 0, old, 77);
    lab.executed = change_noted;
    lab.setup.piece = 512;
    lab_begin_copy(&lab);
    same(false);
    assert_true(copy_counts(lab.copy).failed[COPY_BUSY] == 0);
}

static void busy_with_zeros(void **state)
{
    (void)state;
    countdown = 30;
    change_at = 0;
    be_busy(3000, 10000, 20000);
    assert_true(copy_counts(lab.copy).played > 0);
}

static void busy_behind_the_end(void **state)
{
    (void)state;
    countdown = 30;
    change_at = 2000;
    be_busy(300, 300, 5000);
    assert_true(copy_counts(lab.copy).played > 0);
}

static void busy_without_room(void **state)
{
    (void)state;
    lab.pool = change_pool_open(0, 1 << 20, NULL); /* no contents are kept */
    countdown = 5;
    change_at = 2000;
    be_busy(300, 300, 5000);
    assert_true(copy_counts(lab.copy).again > 0);
}

/* --- zeros are not written: what the SUT's file had there goes before */

static void first_without_attributes(struct lab *l, uint32_t procedure,
                                     struct fault_effects *effects)
{
    (void)l;
    if (procedure == 6 && countdown) {
        countdown--;
        effects->set |= UINT64_C(1) << FAULT_NO_ATTRIBUTES;
    }
}

static void zeros_without_attributes(void **state)
{
    struct fs *ref = lab_fs(&lab, REF), *sut = lab_fs(&lab, SUT_SIDE);
    uint32_t file = lab_make(ref, fs_root(ref), "f", NF3REG);

    (void)state;
    fs_setattr(ref, &lab_root_user, file, &(struct sattr3){ .set_size = true, .size = 3000 }, NULL);
    lab_write(sut, lab_make(sut, fs_root(sut), "f", NF3REG), 0, 5000, 77);
    countdown = 1;
    lab.side[REF].faults = first_without_attributes;
    lab.setup.piece = 512;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(countdown, 0);
}

/* The first WRITE writes half of a byte. */
static void short_first(struct lab *l, uint32_t procedure, struct fault_effects *effects)
{
    (void)l;
    if (procedure == 7 && countdown) {
        countdown--;
        effects->set |= 1u << FAULT_SHORT;
    }
}

static void nothing_written(void **state)
{
    struct fs *ref = lab_fs(&lab, REF);

    (void)state;
    lab_write(ref, lab_make(ref, fs_root(ref), "f", NF3REG), 0, 1, 1);
    countdown = 1;
    lab.side[SUT_SIDE].faults = short_first;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(countdown, 0);
    assert_int_equal(lab.failed[COPY_SUT], 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refusals, begin, end),
        cmocka_unit_test_setup_teardown(without_readdirplus, begin, end),
        cmocka_unit_test_setup_teardown(lost_cookies, begin, end),
        cmocka_unit_test_setup_teardown(lost_connections, begin, end),
        cmocka_unit_test_setup_teardown(lost_writes, begin, end),
        cmocka_unit_test_setup_teardown(another_sut, begin, end),
        cmocka_unit_test_setup_teardown(changed_behind, begin, end),
        cmocka_unit_test_setup_teardown(hostile_names, begin, end),
        cmocka_unit_test_setup_teardown(busy_with_zeros, begin, end),
        cmocka_unit_test_setup_teardown(busy_behind_the_end, begin, end),
        cmocka_unit_test_setup_teardown(busy_without_room, begin, end),
        cmocka_unit_test_setup_teardown(zeros_without_attributes, begin, end),
        cmocka_unit_test_setup_teardown(nothing_written, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
