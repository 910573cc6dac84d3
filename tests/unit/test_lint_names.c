/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Lint's rules of names, listings of several calls, and calls that were sent again: each is broken
 * once and found, and kept once and silent. */
#include "lint_lab.h"

/* |object| under |name|; 0: there is no such name. */
static struct op *lookup_call(struct lab *lab, int i, const char *name, uint32_t object)
{
    const struct state s = { NF3REG, object, 10, 1000, 0, 1 };
    uint32_t status = object ? 0 : NFS3ERR_NOENT;
    struct op *op = begin(lab, i, LOOKUP, DIR_1);

    put_name(op, name);
    op->effect.new_object = object;
    xdr_put_u32(&op->r, status);
    if (object) {
        put_handle(&op->r, object);
        put_post(&op->r, &s);
    }
    put_post(&op->r, NULL);
    called(lab, op, status);
    assert_int_equal(op->effect.arguments, WALK_OK);
    assert_int_equal(op->effect.result, WALK_OK);
    return op;
}

static void lookup(struct lab *lab, const char *name, uint32_t object, const char *wanted)
{
    done(lab, lookup_call(lab, 0, name, object));
    expect(lab, wanted);
}

static struct op *remove_call(struct lab *lab, int i, const char *name, uint32_t status)
{
    struct op *op = begin(lab, i, REMOVE, DIR_1);

    put_name(op, name);
    xdr_put_u32(&op->r, status);
    put_wcc(&op->r, NULL, NULL);
    called(lab, op, status);
    return op;
}

static void remove_name(struct lab *lab, const char *name, uint32_t status, const char *wanted)
{
    done(lab, remove_call(lab, 0, name, status));
    expect(lab, wanted);
}

/* |verifier|: 0: not exclusive. */
static struct op *create_call(struct lab *lab, const char *name, uint32_t how, uint64_t verifier,
                              uint32_t status)
{
    struct op *op = begin(lab, 1, CREATE, DIR_1);

    put_name(op, name);
    xdr_put_u32(&op->a, how);
    if (how == EXCLUSIVE)
        xdr_put_u64(&op->a, verifier);
    else
        for (int i = 0; i < 6; i++) /* sattr3: nothing is set */
            xdr_put_u32(&op->a, 0);
    xdr_put_u32(&op->r, status);
    if (status == 0) {
        xdr_put_u32(&op->r, 0); /* no handle */
        put_post(&op->r, NULL);
    }
    put_wcc(&op->r, NULL, NULL);
    called(lab, op, status);
    assert_int_equal(op->effect.arguments, WALK_OK);
    assert_int_equal(op->effect.result, WALK_OK);
    return op;
}

static void create(struct lab *lab, const char *name, uint32_t how, uint32_t status,
                   const char *wanted)
{
    done(lab, create_call(lab, name, how, 7, status));
    expect(lab, wanted);
}

/* A CREATE of which the last |cut| bytes were not captured, as one of |procedure|. */
static void create_cut_as(struct lab *lab, const char *name, uint32_t how, uint32_t cut,
                          const struct procedure *procedure, const char *wanted)
{
    struct op *op = create_call(lab, name, how, 7, 0);

    op->effect.arguments_body.len -= cut;
    op->effect.call_flags |= SIGHTING_PARTIAL;
    op->effect.asked = (struct asked){ 0 }; /* of the whole call */
    effect_decode(&op->effect);
    assert_int_equal(op->effect.arguments, WALK_TRUNCATED);
    op->effect.procedure = procedure;
    done(lab, op);
    expect(lab, wanted);
}

static void create_cut(struct lab *lab, const char *name, uint32_t how, uint32_t cut,
                       const char *wanted)
{
    create_cut_as(lab, name, how, cut, procedure_find(NFS3_PROGRAM, NFS3_VERSION, CREATE), wanted);
}

static void rename_file(struct lab *lab, const char *from, const char *to, const char *wanted)
{
    struct op *op = begin(lab, 0, RENAME, DIR_1);

    put_name(op, from);
    put_handle(&op->a, DIR_1);
    put_name(op, to);
    op->effect.parent2 = DIR_1;
    xdr_put_u32(&op->r, 0);
    put_wcc(&op->r, NULL, NULL);
    put_wcc(&op->r, NULL, NULL);
    run(lab, op, 0);
    assert_int_equal(op->effect.arguments, WALK_OK);
    expect(lab, wanted);
}

static void test_stays(void **state)
{
    struct lab *lab = *state;

    lookup(lab, "a", FILE_1, "");
    lookup(lab, "a", FILE_1, "");
    lookup(lab, "b", 0, "");
    lookup(lab, "a", 0, "name-lost");
    lookup(lab, "a", 0, ""); /* said once */
    lookup(lab, "b", FILE_2, "name-returned");
    remove_name(lab, "b", 0, "");
    lookup(lab, "b", 0, "");
    remove_name(lab, "b", 0, "name-returned");
    lookup(lab, "c", FILE_1, "");
    remove_name(lab, "c", NFS3ERR_NOENT, "name-lost");
    lookup(lab, ".", FILE_1, "");
    lookup(lab, ".", 0, "");
}

static void test_makes(void **state)
{
    struct lab *lab = *state;

    create(lab, "a", GUARDED, 0, "");
    create(lab, "a", GUARDED, NFS3ERR_EXIST, "");
    create(lab, "a", UNCHECKED, 0, "");
    create(lab, "a", GUARDED, 0, "make-exists");
    create(lab, "b", EXCLUSIVE, 0, "");
    create(lab, "b", EXCLUSIVE, 0, ""); /* the same verifier */
    done(lab, create_call(lab, "b", EXCLUSIVE, 8, 0));
    expect(lab, "make-exists");
    create(lab, "b", GUARDED, 0, "make-exists");
    remove_name(lab, "b", 0, "");
    create(lab, "b", GUARDED, NFS3ERR_EXIST, "name-returned");
    create(lab, "b", GUARDED, NFS3ERR_IO, "");
}

/* What was not captured of a call may be what allows it. */
static void test_makes_cut(void **state)
{
    struct lab *lab = *state;

    create(lab, "a", EXCLUSIVE, 0, "");
    create_cut(lab, "a", EXCLUSIVE, 8, "");
    create(lab, "a", EXCLUSIVE, 0, "");
    create_cut(lab, "a", UNCHECKED, 28, "");
    create_cut(lab, "a", GUARDED, 4, "make-exists");
    create(lab, "b", GUARDED, 0, "");
    create_cut(lab, "b", EXCLUSIVE, 8, "make-exists");
}

/* The tables say which procedures tell how they make a name, whatever these are called. */
static void test_makes_cut_by_table(void **state)
{
    struct lab *lab = *state;
    struct procedure other = *procedure_find(NFS3_PROGRAM, NFS3_VERSION, CREATE);
    struct type arguments = *other.arguments;

    other.name = "MAKE";
    create(lab, "a", GUARDED, 0, "");
    create_cut_as(lab, "a", UNCHECKED, 28, &other, "");
    arguments.roles &= ~(uint32_t)ROLE_SETS_HOW;
    other.arguments = &arguments;
    create_cut_as(lab, "a", UNCHECKED, 28, &other, "make-exists");
}

static void test_objects(void **state)
{
    struct lab *lab = *state;
    const struct state alias = { NF3REG, FILE_1, 10, 1000, 0, 1 };
    struct op *op;

    lookup(lab, "a", FILE_1, "");
    lookup(lab, "a", FILE_2, "name-changed");
    lookup(lab, "a", FILE_1, "name-changed");
    /* another handle for the fileid of FILE_1 */
    op = begin(lab, 0, GETATTR, 77);
    xdr_put_u32(&op->r, 0);
    put_fattr3(&op->r, &alias);
    run(lab, op, 0);
    lab->found[0] = '\0';
    op = begin(lab, 0, LOOKUP, DIR_1);
    put_name(op, "a");
    op->effect.new_object = 77;
    xdr_put_u32(&op->r, 0);
    put_handle(&op->r, 77);
    put_post(&op->r, &alias);
    put_post(&op->r, NULL);
    run(lab, op, 0);
    expect(lab, "handle-changed");
}

static void test_renames(void **state)
{
    struct lab *lab = *state;

    lookup(lab, "a", FILE_1, "");
    lookup(lab, "b", FILE_2, "");
    rename_file(lab, "a", "b", "");
    lookup(lab, "b", FILE_1, "");
    lookup(lab, "a", FILE_1, "name-returned");
    rename_file(lab, "a", "b", ""); /* both are the same file: nothing happens */
    lookup(lab, "a", FILE_1, "");
    lookup(lab, "c", 0, "");
    rename_file(lab, "a", "c", "");
    lookup(lab, "a", 0, "");
    lookup(lab, "c", FILE_2, "name-changed");
    rename_file(lab, "c", "c", "");
    lookup(lab, "c", FILE_2, "");
    rename_file(lab, "a", "d", "name-returned");
}

/* What overlaps is not judged, but names that it does not touch are. */
static void test_overlap(void **state)
{
    struct lab *lab = *state;
    struct op *late, *other;

    lookup(lab, "a", FILE_1, "");
    lookup(lab, "b", FILE_2, "");
    late = remove_call(lab, 1, "a", 0);
    lookup(lab, "a", 0, "");
    lookup(lab, "b", 0, "name-lost");
    done(lab, late);
    lookup(lab, "a", FILE_1, "name-returned");
    late = lookup_call(lab, 2, "a", 0);
    remove_name(lab, "a", 0, "");
    done(lab, late);
    expect(lab, "");
    late = remove_call(lab, 2, "a", NFS3ERR_NOENT);
    other = create_call(lab, "a", GUARDED, 0, 0);
    done(lab, late);
    done(lab, other);
    expect(lab, "");
    lookup(lab, "a", 0, ""); /* which one came last? */
    lookup(lab, "a", FILE_1, "name-returned");
    reply_alone(lab);
    lookup(lab, "a", 0, "");
    late = begin(lab, 0, REMOVE, DIR_1);
    put_name(late, "b");
    late->effect.pairing = REPLY_LOST;
    late->effect.rpc_status = STATUS_NONE;
    run(lab, late, 0);
    lookup(lab, "b", FILE_1, "");
    lookup(lab, "b", 0, "");
    lookup(lab, "a", FILE_1, "name-returned");
    late = begin(lab, 0, REMOVE, DIR_1); /* its name was not captured */
    run(lab, late, 0);
    lookup(lab, "a", 0, "");
}

/* Calls that were sent again. */
static void test_again(void **state)
{
    struct lab *lab = *state;
    struct op *op;

    lookup(lab, "a", FILE_1, "");
    op = remove_call(lab, 0, "a", NFS3ERR_NOENT);
    op->effect.calls_again = 1;
    done(lab, op);
    expect(lab, "executed-twice");
    op = create_call(lab, "a", GUARDED, 0, NFS3ERR_EXIST);
    op->effect.calls_again = 1;
    done(lab, op);
    expect(lab, "executed-twice");
    op = remove_call(lab, 0, "a", 0);
    op->effect.calls_again = 1;
    done(lab, op);
    expect(lab, "");
    op = remove_call(lab, 0, "a", NFS3ERR_NOENT);
    op->effect.calls_again = op->effect.replies_differ = 1;
    done(lab, op);
    expect(lab, "answers-differ");
    op = lookup_call(lab, 0, "a", 0);
    op->effect.replies_differ = true;
    done(lab, op);
    expect(lab, ""); /* it changes nothing */
}

/* XIDs of 0 flows are not known. */
static void test_xids(void **state)
{
    struct lab *lab = *state;
    static const struct {
        uint32_t flow, xid;
        int64_t wait;
        const char *wanted;
    } calls[] = {
        { 1, 7, 0, "" },
        { 2, 7, 0, "" },
        { 1, 8, 0, "" },
        { 1, 7, 1000, "xid-reused" },
        { 1, 7, INT64_C(60000000000), "" },
        { 0, 9, 0, "" },
        { 0, 9, 0, "" },
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        struct op *op = begin(lab, 0, REMOVE, DIR_1);

        lab->now += calls[i].wait;
        op->effect.flow = calls[i].flow;
        op->effect.xid = calls[i].xid;
        put_name(op, (char[]){ (char)('a' + i), '\0' });
        xdr_put_u32(&op->r, 0);
        put_wcc(&op->r, NULL, NULL);
        run(lab, op, 0);
        expect(lab, calls[i].wanted);
    }
}

static const struct entry abc[] = { { "a", 1 }, { "b", 2 }, { "c", 3 }, { 0 } };
static const struct entry ab_more[] = { { "a", 1 }, { "b", 2 }, { "\n", 0 } };
static const struct entry bc[] = { { "b", 2 }, { "c", 3 }, { 0 } };
static const struct entry c[] = { { "c", 3 }, { 0 } };

static void list_all(struct lab *lab, const struct entry *first, const struct entry *second,
                     const char *wanted)
{
    list(lab, 0, 4096, first);
    if (second)
        list(lab, 2, 4096, second);
    expect(lab, wanted);
}

static void test_listings(void **state)
{
    struct lab *lab = *state;

    list_all(lab, abc, NULL, "");
    list_all(lab, ab_more, c, "");
    list_all(lab, ab_more, bc, "listing-again");
    list_all(lab, bc, NULL, "listing-loss");
    list_all(lab, ab_more, (struct entry[]){ { 0 } }, "listing-loss");
    list(lab, 2, 4096, c); /* a part */
    expect(lab, "");
    list_all(lab, ab_more, NULL, "");
    list(lab, 1, 4096, c); /* not the cookie that comes next */
    expect(lab, "");
    remove_name(lab, "a", 0, "");
    list_all(lab, bc, NULL, "");
    list_all(lab, abc, NULL, "name-returned");
    create(lab, "d", GUARDED, 0, "");
    list_all(lab, abc, NULL, "listing-loss");
}

static void test_listings_overlap(void **state)
{
    struct lab *lab = *state;

    list_all(lab, abc, NULL, "");
    list(lab, 0, 4096, ab_more);
    create(lab, "d", GUARDED, 0, "");
    list(lab, 2, 4096, bc); /* meanwhile, the directory changed */
    expect(lab, "");
    list_all(lab, ab_more, NULL, "");
    reply_alone(lab);
    list(lab, 2, 4096, (struct entry[]){ { 0 } });
    expect(lab, "");
}

/* With room for two names, the third one takes the place of the first. */
static void test_room(void **state)
{
    struct lab *lab = *state;
    struct op *late;

    restart(lab, 2);
    lookup(lab, "a", FILE_1, "");
    lookup(lab, "b", FILE_1, "");
    lookup(lab, "c", FILE_1, "");
    lookup(lab, "c", 0, "name-lost");
    lookup(lab, "a", 0, "");
    late = remove_call(lab, 1, "x", 0);
    remove_name(lab, "e", 0, "");
    remove_name(lab, "f", 0, "");
    done(lab, late); /* a name with an operation under way stays */
    lookup(lab, "x", FILE_1, "name-returned");
    for (uint32_t i = 0; i < 3; i++) /* other objects: the directory goes with its names */
        getattr(lab, &(struct state){ NF3REG, 60 + i, 10, 1000, 0, 1 });
    lookup(lab, "x", 0, "");
}

int main(void)
{
#define LINT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LINT_TEST(test_stays),     LINT_TEST(test_makes),
        LINT_TEST(test_objects),   LINT_TEST(test_renames),
        LINT_TEST(test_overlap),   LINT_TEST(test_again),
        LINT_TEST(test_listings),  LINT_TEST(test_listings_overlap),
        LINT_TEST(test_room),      LINT_TEST(test_xids),
        LINT_TEST(test_makes_cut), LINT_TEST(test_makes_cut_by_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
