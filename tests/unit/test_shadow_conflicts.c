/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_conflicts.c
 *
 * live/shadow: which objects are copied again when two requests were under way at the same time, as
 * their order on the reference is not known and makes a difference.
 */
#include "touches_lab.h"

static uint32_t opened; /* objects whose times nobody knows, of the last two requests */

static uint32_t opened_by(const struct shadow *s, const struct request *r)
{
    uint32_t objects = 0, listed = 0;

    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further))
        objects |= t->opens_times ? 1u << t->object : 0;
    for (uint32_t i = 0; i < s->open_count; i++)
        listed |= 1u << s->open_times[i].object;
    assert_int_equal(objects, listed);
    return objects;
}

/* Returns the objects that are not synchronized any more, as bits. */
static uint32_t left_by(const struct asking *first, const struct asking *second, uint64_t begun)
{
    struct request *a, *b;
    struct shadow s;
    uint32_t left = 0;

    begin(&s);
    a = ask(&s, first, 10, 30);
    b = ask(&s, second, begun, 40);
    assert_int_equal(touches_meet(&s, b, &err), 0);
    for (uint32_t i = D1; i < OBJECTS_END; i++)
        left |= mirror_at(s.mirror, i)->state != MIRROR_SYNCHRONIZED ? 1u << i : 0;
    opened = opened_by(&s, a);
    assert_int_equal(opened_by(&s, b), opened);
    free(s.open_times);
    end(&s);
    return left;
}

/* In both orders of the replies; and none, if the second was called after the first's reply. */
static void expect(uint32_t left, const struct asking *a, const struct asking *b)
{
    assert_int_equal(left_by(a, b, 20), left);
    assert_int_equal(left_by(b, a, 20), left);
    assert_int_equal(left_by(a, b, 35), 0);
    assert_int_equal(left_by(b, a, 35), 0);
}

/* --- the cases */

static const struct asking mode = { .procedure = SETATTR,
                                    .on = F,
                                    .set = { .set_mode = true, .mode = 04755 } };
static const struct asking size = { .procedure = SETATTR,
                                    .on = F,
                                    .set = { .set_size = true, .size = 4 } };
static const struct asking write_0 = { .procedure = WRITE, .on = F };
static const struct asking write_5 = { .procedure = WRITE, .on = F, .offset = 5 };
static const struct asking write_10 = { .procedure = WRITE, .on = F, .offset = 10 };

static void test_contents(void **state)
{
    (void)state;
    expect(0, &write_0, &write_10);
    expect(1 << F, &write_0, &write_5);
    expect(1 << F, &size, &write_0);
}

/* Writing, and truncating, takes the set-id bits away. */
static void test_attributes(void **state)
{
    (void)state;
    expect(1 << F, &mode, &mode);
    expect(1 << F, &mode, &write_0);
    expect(1 << F, &mode, &size);
}

static void expect_open(uint32_t open, const struct asking *a, const struct asking *b)
{
    assert_int_equal(left_by(a, b, 20), 0);
    assert_int_equal(opened, open);
    assert_int_equal(left_by(b, a, 20), 0);
    assert_int_equal(opened, open);
    expect(0, a, b);
    assert_int_equal(opened, 0);
}

/* All but the times is the same in either order. */
static void test_times(void **state)
{
    const struct sattr3 to_1 = { .set_mtime = SET_TO_CLIENT_TIME, .mtime = { 1, 0 } };
    const struct asking file = { .procedure = SETATTR, .on = F, .set = to_1 };
    const struct asking directory = { .procedure = SETATTR, .on = D1, .set = to_1 };
    const struct asking create = { .procedure = CREATE, .on = D1, .made = G, .name = "x" };
    const struct asking move = {
        .procedure = RENAME, .on = D2, .to = D1, .moved = G, .name = "a", .name2 = "b"
    };
    struct asking with_mode = file;

    (void)state;
    expect_open(1 << D1, &directory, &create);
    expect_open(1 << D1, &directory, &move);
    expect_open(1 << F, &file, &write_0);
    expect_open(1 << F, &file, &file);
    expect_open(1 << F, &file, &mode);
    expect_open(1 << F, &file, &size);
    expect_open(0, &file, &create);
    with_mode.set.set_mode = true;
    expect_open(1 << F, &file, &with_mode);
    expect(1 << F, &with_mode, &write_0);
    expect(1 << F, &with_mode, &mode);
}

/* What is made in a directory inherits from it. */
static void test_inherited(void **state)
{
    const struct asking group = { .procedure = SETATTR,
                                  .on = D1,
                                  .set = { .set_gid = true, .gid = 7 } };
    const struct asking mkdir = { .procedure = MKDIR, .on = D1, .made = D2, .name = "x" };
    const struct asking create = { .procedure = CREATE, .on = D1, .made = G, .name = "x" };
    const struct asking remove = { .procedure = REMOVE, .on = D1, .gone = G, .name = "x" };
    const struct asking link = { .procedure = LINK, .on = G, .to = D1, .name2 = "x" };

    (void)state;
    expect(1 << D1 | 1 << D2, &group, &mkdir);
    expect(1 << D1 | 1 << G, &group, &create);
    expect(0, &group, &remove);
    expect(0, &group, &link);
}

/* An UNCHECKED CREATE of a file that is there sets its size. */
static void test_created_again(void **state)
{
    const struct asking empty = {
        .procedure = CREATE, .on = D1, .made = F, .name = "x", .set = { .set_size = true }
    };
    struct asking as_it_is = empty;

    (void)state;
    as_it_is.set.set_size = false;
    expect(1 << F, &empty, &write_0);
    expect(1 << F, &empty, &size);
    expect(0, &as_it_is, &write_0);
}

static void test_names(void **state)
{
    const struct asking first = {
        .procedure = RENAME, .on = D1, .to = D2, .moved = F, .name = "a", .name2 = "b"
    };
    const struct asking second = {
        .procedure = RENAME, .on = D2, .to = D3, .moved = G, .name = "b", .name2 = "c"
    };
    const struct asking other = {
        .procedure = RENAME, .on = D2, .to = D3, .moved = G, .name = "d", .name2 = "e"
    };
    const struct asking remove = { .procedure = REMOVE, .on = D1, .gone = G, .name = "y" };

    (void)state;
    /* D3/c is what was moved, or what had been there: nobody knows of any of the three */
    expect(1 << D1 | 1 << D2 | 1 << D3 | 1 << F | 1 << G, &first, &second);
    expect(0, &first, &other);
    expect(0, &first, &remove);
}

/* A file that lost its only name had got another one before, but the reply came later. */
static void test_linked_late(void **state)
{
    const struct asking link = { .procedure = LINK, .on = F, .to = D2, .name2 = "y" };
    const struct asking remove = { .procedure = REMOVE, .on = D1, .gone = F, .name = "x" };

    (void)state;
    assert_int_equal(left_by(&remove, &link, 20), 1 << D1 | 1 << D2 | 1 << F);
    assert_int_equal(left_by(&link, &remove, 20), 0);
    assert_int_equal(left_by(&remove, &link, 35), 0);
    expect(0, &link, &mode);
}

/* The bits of |a| beside |b|, whichever reply comes first. */
static uint32_t bits_beside(const struct asking *a, const struct asking *b)
{
    uint32_t bits[2];

    for (int first = 0; first < 2; first++) {
        struct request *r[2];
        struct shadow s;

        begin(&s);
        r[first] = ask(&s, a, 10, 30 + (uint64_t)first * 10);
        r[!first] = ask(&s, b, 20, 40 - (uint64_t)first * 10);
        assert_int_equal(touches_meet(&s, r[1], &err), 0);
        bits[first] = r[first]->overlap;
        end(&s);
    }
    assert_int_equal(bits[0], bits[1]);
    return bits[0];
}

/* Outcomes that depend on the order. */
static void test_outcomes(void **state)
{
    const struct asking rmdir = { .procedure = RMDIR, .on = D1, .gone = D2, .name = "d" };
    const struct asking not_empty = {
        .procedure = RMDIR, .on = D1, .named = D2, .name = "d", .failed = NFS3ERR_NOTEMPTY
    };
    const struct asking remove = { .procedure = REMOVE, .on = D2, .gone = F, .name = "x" };
    const struct asking owner = { .procedure = SETATTR,
                                  .on = D2,
                                  .set = { .set_uid = true, .uid = 7 } };
    const struct asking move = {
        .procedure = RENAME, .on = D1, .to = D2, .name = "x", .name2 = "y", .failed = NFS3ERR_ACCES
    };
    const struct asking mkdir = { .procedure = MKDIR, .on = D1, .made = D3, .name = "m" };
    const struct asking exists = {
        .procedure = MKDIR, .on = D1, .named = D3, .name = "m", .failed = NFS3ERR_EXIST
    };
    const struct asking no_move = { .procedure = RENAME,
                                    .on = D1,
                                    .to = D3,
                                    .name = "d",
                                    .name2 = "e",
                                    .named = D2,
                                    .failed = NFS3ERR_ISDIR };
    const struct asking inside = { .procedure = REMOVE, .on = D3, .gone = F, .name = "x" };
    const struct asking create = {
        .procedure = CREATE, .on = D1, .named = F, .name = "f", .failed = NFS3ERR_ACCES
    };
    const struct asking refused = { .procedure = SETATTR,
                                    .on = F,
                                    .set = { .set_mode = true, .mode = 0 },
                                    .failed = NFS3ERR_PERM };

    (void)state;
    assert_true(bits_beside(&rmdir, &remove) & OVERLAP_NAME);
    assert_true(bits_beside(&not_empty, &remove) & OVERLAP_NAME);
    assert_true(bits_beside(&remove, &rmdir) & OVERLAP_RIGHTS);
    assert_true(bits_beside(&not_empty, &owner) & OVERLAP_NAME);
    assert_true(bits_beside(&move, &owner) & OVERLAP_RIGHTS);
    assert_true(bits_beside(&move, &rmdir) & OVERLAP_RIGHTS);
    /* on the SUT, the one that failed may be first, and succeed */
    assert_true(bits_beside(&mkdir, &exists) & OVERLAP_NAME);
    assert_true(bits_beside(&exists, &mkdir) & OVERLAP_NAME);
    assert_true(bits_beside(&mode, &refused) & OVERLAP_OBJECT);
    /* what is moved may have names; of what is there, only a CREATE can use something */
    assert_false(bits_beside(&no_move, &remove) & OVERLAP_NAME);
    assert_true(bits_beside(&no_move, &owner) & OVERLAP_NAME);
    assert_int_equal(bits_beside(&exists, &inside), 0);
    assert_true(bits_beside(&create, &mode) & OVERLAP_NAME);
    /* two that failed change nothing in any order, and others do not meet */
    assert_int_equal(bits_beside(&exists, &exists), 0);
    assert_int_equal(bits_beside(&exists, &not_empty), 0);
    assert_int_equal(bits_beside(&not_empty, &write_0), 0);
}

/* A listing is told which names may be there or not. */
static void test_listed(void **state)
{
    static const uint8_t zeros[CHANGING_BYTES + 1];
    const struct asking list = { .procedure = READDIR, .on = D2 };
    struct asking move = {
        .procedure = RENAME, .on = D1, .to = D2, .moved = F, .name = "from", .name2 = "to"
    };
    struct request *r[2];
    struct shadow s;

    (void)state;
    for (int i = 0; i < 6; i++) {
        size_t late = i < 4 && i & 1, kept = i == 5 ? sizeof(zeros) : 0;

        move.failed = i & 2 ? NFS3ERR_EXIST : 0; /* in another order it may not */
        begin(&s);
        s.forgotten = i == 4 ? 30 : 0;
        r[0] = ask(&s, &move, 10, 30);
        r[1] = ask(&s, &list, late ? 35 : 20, 40);
        if (kept)
            assert_int_equal(buf_append(&requests_exchange(r[1], &err)->changing, zeros, kept), 0);
        assert_int_equal(touches_meet(&s, r[1], &err), 0);
        assert_null(r[0]->rest->sut);
        assert_int_equal(sut_of(r[1])->changing.len, late ? 0 : kept ? kept : 3);
        if (!late && !kept)
            assert_memory_equal(r[1]->rest->sut->changing.data, "to", 3);
        assert_int_equal(r[1]->rest->names_left, i >= 4); /* there may be more */
        end(&s);
    }
}

/* A request that was under way with one that is judged now, and still is. */
static void test_still_called(void **state)
{
    const struct asking list = { .procedure = READDIR, .on = D2 };
    const struct asking make = { .procedure = MKDIR, .on = D2, .name = "new" };
    struct request *r[2];
    struct shadow s;

    (void)state;
    for (int late = 0; late < 2; late++) {
        begin(&s);
        r[0] = ask(&s, &make, late ? 50 : 30, 0);
        r[0]->stage = STAGE_CALLED;
        s.called.first = r[0]->id;
        r[1] = ask(&s, &list, 20, 40);
        assert_int_equal(touches_meet(&s, r[1], &err), 0);
        assert_int_equal(r[1]->overlap, 0);
        assert_int_equal(touches_meet_called(&s, r[1], &err), 0);
        assert_int_equal(r[1]->overlap, late ? 0 : OVERLAP_OBJECT);
        assert_int_equal(sut_of(r[1])->changing.len, late ? 0 : 4);
        end(&s);
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),      cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_times),         cmocka_unit_test(test_inherited),
        cmocka_unit_test(test_created_again), cmocka_unit_test(test_names),
        cmocka_unit_test(test_linked_late),   cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_listed),        cmocka_unit_test(test_still_called),
    };

    struct copy_setup setup = { 0 };
    int failed;

    wire_init();
    loop = setup.loop = loop_new(&err);
    copy = copy_new(&setup, &err);
    if (!copy || nfs3_structs_init(&err) < 0)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    copy_free(copy);
    loop_free(loop);
    return failed;
}
