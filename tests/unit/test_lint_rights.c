/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Lint's rules of fileids that several handles share, of ACCESS, and of limits. */
#include "lint_lab.h"

enum { ACCESS = 4, FSINFO = 19 };

/* |object| with the fileid of |as|. */
static void getattr_as(struct lab *lab, uint32_t object, const struct state *as, const char *wanted)
{
    struct op *op = begin(lab, 0, GETATTR, object);

    xdr_put_u32(&op->r, 0);
    put_fattr3(&op->r, as);
    run(lab, op, 0);
    expect(lab, wanted);
}

static void test_fileids(void **state)
{
    struct lab *lab = *state;
    const struct state one = { NF3REG, FILE_1, 10, 1000, 0, 1 };
    const struct state other = { NF3REG, FILE_1, 20, 1000, 0, 1 };
    const struct state link = { NF3LNK, FILE_1, 10, 1000, 0, 1 };

    getattr_as(lab, FILE_1, &one, "");
    getattr_as(lab, 77, &link, ""); /* the first one may be gone */
    getattr_as(lab, 77, &link, "");
    getattr_as(lab, FILE_1, &one, "fileid-shared");
    getattr_as(lab, FILE_1, &one, ""); /* said once */
    restart(lab, 0);
    getattr_as(lab, FILE_1, &one, "");
    getattr_as(lab, 77, &other, "");
    getattr_as(lab, FILE_1, &one, "fileid-shared");
    restart(lab, 0);
    getattr_as(lab, FILE_1, &one, "");
    getattr_as(lab, 77, &one, ""); /* another handle for the same file */
    getattr_as(lab, FILE_1, &one, "");
    write_file(lab, &(struct writing){ 10, 10, 10, 2, 10, 2, NULL }, &one, &other);
    getattr_as(lab, 77, &other, "");
    getattr_as(lab, FILE_1, &one, "");
    expect(lab, "");
    restart(lab, 2);
    for (uint32_t i = 0; i < 3; i++) /* the first object is forgotten */
        getattr_as(lab, FILE_1 + i, &(struct state){ NF3REG, FILE_1 + i, 10, 1000, 0, 1 }, "");
    getattr_as(lab, 77, &link, "");
    getattr_as(lab, FILE_1, &one, "");
}

/* One fileid for everything. */
static void test_many_alike(void **state)
{
    struct lab *lab = *state;
    const struct state one = { NF3REG, FILE_1, 10, 1000, 0, 1 };

    restart(lab, 1000);
    for (uint32_t i = 0; i < 3000; i++)
        getattr_as(lab, 100 + i, &one, "");
    getattr_as(lab, 3099, &(struct state){ NF3REG, FILE_1, 11, 1000, 0, 1 }, "");
    assert_int_equal(lint_counts(lab->lint).objects_forgotten, 2000);
}

static void access_is(struct lab *lab, uint32_t wanted, uint32_t granted, uint32_t caller)
{
    struct op *op = begin(lab, 0, ACCESS, DIR_1);

    xdr_put_u32(&op->a, wanted);
    xdr_put_u32(&op->r, 0);
    put_post(&op->r, NULL);
    xdr_put_u32(&op->r, granted);
    op->effect.credential = caller;
    run(lab, op, 0);
    assert_int_equal(op->effect.result, WALK_OK);
}

static struct op *lookup_call(struct lab *lab, int i, uint32_t status, uint32_t caller)
{
    struct op *op = begin(lab, i, LOOKUP, DIR_1);

    put_name(op, "a");
    xdr_put_u32(&op->r, status);
    if (!status) {
        put_handle(&op->r, FILE_1);
        put_post(&op->r, NULL);
    }
    put_post(&op->r, NULL);
    op->effect.credential = caller;
    called(lab, op, status);
    return op;
}

static void lookup(struct lab *lab, uint32_t status, uint32_t caller, const char *wanted)
{
    done(lab, lookup_call(lab, 1, status, caller));
    expect(lab, wanted);
}

static void set_mode(struct lab *lab)
{
    struct op *op = begin(lab, 2, SETATTR, DIR_1);

    xdr_put_u32(&op->a, 1);
    xdr_put_u32(&op->a, 0755);
    for (int i = 0; i < 6; i++) /* uid, gid, size, times, guard */
        xdr_put_u32(&op->a, 0);
    xdr_put_u32(&op->r, 0);
    put_wcc(&op->r, NULL, NULL);
    run(lab, op, 0);
    assert_int_equal(op->effect.arguments, WALK_OK);
}

static void test_access(void **state)
{
    struct lab *lab = *state;
    struct op *late;

    access_is(lab, 0x1f, 0x1f, 5);
    lookup(lab, 0, 5, "");
    lookup(lab, NFS3ERR_ACCES, 6, ""); /* another caller */
    lookup(lab, NFS3ERR_ACCES, 5, "access-granted");
    access_is(lab, 0x1f, ACCESS3_READ, 5);
    lookup(lab, NFS3ERR_ACCES, 5, "");
    lookup(lab, 0, 5, "access-denied");
    access_is(lab, ACCESS3_READ, ACCESS3_READ, 5); /* LOOKUP was not asked for */
    lookup(lab, 0, 5, "");
    access_is(lab, 0x1f, 0, 5);
    set_mode(lab);
    lookup(lab, 0, 5, "");
    access_is(lab, 0x1f, 0x1f, 5);
    late = lookup_call(lab, 1, NFS3ERR_ACCES, 5);
    set_mode(lab);
    done(lab, late);
    access_is(lab, 0x1f, 0x1f, 5);
    reply_alone(lab);
    lookup(lab, NFS3ERR_ACCES, 5, "");
    expect(lab, "");
}

static void test_limit(void **state)
{
    const struct state huge = { NF3REG, FILE_1, UINT64_C(2) << 30, 1000, 0, 1 };
    struct lab *lab = *state;
    const struct state big = { NF3REG, FILE_1, 2000, 1000, 0, 1 };
    struct op *op = begin(lab, 0, FSINFO, FILE_1);

    xdr_put_u32(&op->r, 0);
    put_post(&op->r, &big);
    for (uint32_t i = 0; i < 7; i++) /* rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref */
        xdr_put_u32(&op->r, i == 3 ? 1000 : 5000);
    xdr_put_u64(&op->r, 1 << 30);
    xdr_put_u64(&op->r, 1); /* time_delta */
    xdr_put_u32(&op->r, 0);
    run(lab, op, 0);
    assert_int_equal(op->effect.result, WALK_OK);
    write_file(lab, &(struct writing){ 0, 1000, 1000, 2, 1000, 2, NULL }, NULL, &big);
    expect(lab, "");
    write_file(lab, &(struct writing){ 0, 1001, 1001, 2, 1001, 2, NULL }, NULL, &big);
    expect(lab, "write-limit");
    write_file(lab, &(struct writing){ (1 << 30) - 10, 10, 10, 2, 10, 2, NULL }, NULL, &huge);
    expect(lab, "");
    write_file(lab, &(struct writing){ (1 << 30) - 10, 11, 11, 2, 11, 2, NULL }, NULL, &huge);
    expect(lab, "write-limit");
    write_file(lab, &(struct writing){ UINT64_MAX - 1, 10, 10, 2, 10, 2, NULL }, NULL, &huge);
    expect(lab, "write-limit");
}

int main(void)
{
#define LINT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LINT_TEST(test_fileids),
        LINT_TEST(test_many_alike),
        LINT_TEST(test_access),
        LINT_TEST(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
