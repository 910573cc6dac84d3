/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Lint: each rule is broken once and found, and kept once and silent; operations that overlap are
 * not compared. */
#include "lint_lab.h"

static void test_rules_have_texts(void **state)
{
    struct lab *lab = *state;
    struct lint_rules rules;

    for (int i = 0; i < LINT_RULES; i++)
        assert_int_equal(lint_rule_find(lab->rules.rule[i].name), i);
    assert_int_equal(lint_rule_find("none"), -1);
    assert_true(lint_listed(&lab->rules, READ, NFS3ERR_NXIO));
    assert_true(lint_listed(&lab->rules, READ, NFS3ERR_JUKEBOX));
    assert_true(lint_listed(&lab->rules, READDIR, NFS3ERR_TOOSMALL));
    assert_false(lint_listed(&lab->rules, READ, NFS3ERR_ISDIR));
    assert_false(lint_listed(&lab->rules, READ, NFS3ERR_TOOSMALL));
    assert_int_equal(lint_rules_read(&rules, "x", "[read-count]\nlevel = error\n", &lab->err),
                     -ERR_USAGE);
    lint_rules_free(&rules);
    assert_int_equal(lint_rules_read(&rules, "x", "[unknown]\n", &lab->err), -ERR_USAGE);
    lint_rules_free(&rules);
}

static void test_statuses(void **state)
{
    struct lab *lab = *state;

    fails(lab, GETATTR, FILE_1, NFS3ERR_STALE);
    fails(lab, GETATTR, FILE_1, NFS3ERR_JUKEBOX);
    expect(lab, "");
    fails(lab, GETATTR, FILE_1, NFS3ERR_NOENT);
    expect(lab, "status-unlisted");
    fails(lab, GETATTR, FILE_1, 4711);
    expect(lab, "status-undefined");
}

static void test_attributes(void **state)
{
    struct lab *lab = *state;
    struct state s = { NF3REG, FILE_1, 5, 1000, 999999999 };

    getattr(lab, &s);
    expect(lab, "");
    s.atime_ns = 1000000000;
    getattr(lab, &s);
    expect(lab, "nanoseconds");
    s.atime_ns = 0;
    s.type = 8;
    getattr(lab, &s);
    expect(lab, "type-undefined type-changed");
}

static void test_identity(void **state)
{
    struct lab *lab = *state;
    struct state s = { NF3REG, FILE_1, 5, 1000, 0 };
    struct op *op;

    getattr(lab, &s);
    s.type = NF3LNK;
    getattr(lab, &s);
    expect(lab, "type-changed");
    getattr(lab, &s);
    expect(lab, ""); /* said once */
    op = begin(lab, 0, GETATTR, FILE_1);
    s.object = 99; /* its fileid */
    xdr_put_u32(&op->r, 0);
    put_fattr3(&op->r, &s);
    run(lab, op, 0);
    expect(lab, "fileid-changed");
}

static void test_types(void **state)
{
    struct lab *lab = *state;
    const struct state s = { NF3DIR, FILE_1, 5, 1000, 0 };
    const struct state file = { NF3REG, FILE_2, 0, 1000, 0 };
    struct op *op;

    read_file(lab, &(struct reading){ 0, 5, 5, 5, true }, &s);
    expect(lab, "type-wrong");
    op = begin(lab, 0, MKDIR, DIR_1);
    xdr_put_opaque(&op->a, (struct bytes){ (const uint8_t *)"d", 1 });
    for (int i = 0; i < 6; i++) /* sattr3: nothing is set */
        xdr_put_u32(&op->a, 0);
    xdr_put_u32(&op->r, 0);
    xdr_put_u32(&op->r, 0); /* no handle */
    put_post(&op->r, &file);
    put_wcc(&op->r, NULL, NULL);
    op->effect.new_object = FILE_2;
    run(lab, op, 0);
    assert_int_equal(op->effect.result, WALK_OK);
    expect(lab, "type-wrong");
}

static void test_read(void **state)
{
    struct lab *lab = *state;
    const struct state s = { NF3REG, FILE_1, 100, 1000, 0 };

    read_file(lab, &(struct reading){ 0, 60, 60, 60, false }, &s);
    read_file(lab, &(struct reading){ 60, 60, 40, 40, true }, &s);
    read_file(lab, &(struct reading){ 60, 60, 20, 20, false }, &s); /* may be short */
    read_file(lab, &(struct reading){ 200, 60, 0, 0, true }, &s);
    read_file(lab, &(struct reading){ UINT64_MAX, 60, 0, 0, true }, &s);
    expect(lab, "");
    read_file(lab, &(struct reading){ 0, 50, 60, 60, false }, &s);
    expect(lab, "read-count");
    read_file(lab, &(struct reading){ 0, 60, 60, 56, false }, &s);
    expect(lab, "read-data");
    read_file(lab, &(struct reading){ 0, 60, 60, 60, true }, &s);
    expect(lab, "read-eof");
    read_file(lab, &(struct reading){ 60, 60, 40, 40, false }, &s);
    expect(lab, "read-eof");
}

static void test_write(void **state)
{
    struct lab *lab = *state;
    const struct state empty = { NF3REG, FILE_1, 0, 1000, 0 };
    const struct state ten = { NF3REG, FILE_1, 10, 2000, 0 };
    const struct state nine = { NF3REG, FILE_1, 9, 2000, 0 };

    getattr(lab, &empty);
    write_file(lab, &(struct writing){ 0, 10, 10, FILE_SYNC, 10, FILE_SYNC, NULL }, &empty, &ten);
    write_file(lab, &(struct writing){ 0, 10, 10, UNSTABLE, 5, FILE_SYNC, NULL }, &ten, &ten);
    expect(lab, "");
    write_file(lab, &(struct writing){ 0, 8, 8, UNSTABLE, 10, UNSTABLE, NULL }, &ten, &ten);
    expect(lab, "write-count");
    write_file(lab, &(struct writing){ 0, 8, 10, UNSTABLE, 8, UNSTABLE, NULL }, &ten, &ten);
    expect(lab, "write-data");
    write_file(lab, &(struct writing){ 0, 8, 8, FILE_SYNC, 8, DATA_SYNC, NULL }, &ten, &ten);
    expect(lab, "write-committed");
    write_file(lab, &(struct writing){ 0, 10, 10, UNSTABLE, 10, UNSTABLE, NULL }, &ten, &nine);
    expect(lab, "size-written");
}

static void test_verifiers(void **state)
{
    struct lab *lab = *state;
    const struct state ten = { NF3REG, FILE_1, 10, 2000, 0 };
    const struct writing one = { 0, 10, 10, UNSTABLE, 10, UNSTABLE, "one     " };
    const struct writing two = { 0, 10, 10, UNSTABLE, 10, UNSTABLE, "two     " };
    struct op *late;

    write_file(lab, &one, NULL, &ten);
    commit(lab, FILE_2, "one     ");
    expect(lab, "");
    late = write_call(lab, 1, &one, NULL, &ten);
    write_file(lab, &two, NULL, &ten);
    expect(lab, "verifier-changed");
    done(lab, late); /* it was called before: the order is not known */
    expect(lab, "");
    commit(lab, FILE_2, "two     ");
    expect(lab, "");
    commit(lab, FILE_2, "one     ");
    expect(lab, "verifier-returned");
    commit(lab, FILE_2, "one     ");
    expect(lab, "");
    commit(lab, FILE_2, "two     ");
    expect(lab, "verifier-returned");
}

static void set_size(struct lab *lab, uint64_t size, const int64_t *guard, uint64_t becomes)
{
    const struct state before = { NF3REG, FILE_1, 10, 2000000001, 0 };
    const struct state after = { NF3REG, FILE_1, becomes, 3000000000, 0 };
    struct op *op = setattr(lab, size, guard);

    xdr_put_u32(&op->r, 0);
    put_wcc(&op->r, &before, &after);
    run(lab, op, 0);
    assert_int_equal(op->effect.arguments, WALK_OK);
}

static void test_setattr(void **state)
{
    struct lab *lab = *state;
    const struct state before = { NF3REG, FILE_1, 10, 2000000001, 0 };
    const int64_t right = 2000000001, wrong = 2000000000;
    struct op *op;

    set_size(lab, 5, NULL, 5);
    restart(lab, 0);
    set_size(lab, 5, &right, 5);
    expect(lab, "");
    restart(lab, 0);
    set_size(lab, 5, &wrong, 5);
    expect(lab, "guard");
    restart(lab, 0);
    set_size(lab, 5, NULL, 6);
    expect(lab, "size-set");
    for (int i = 0; i < 2; i++) {
        restart(lab, 0);
        op = setattr(lab, 5, i ? &right : &wrong);
        xdr_put_u32(&op->r, NFS3ERR_NOT_SYNC);
        put_wcc(&op->r, &before, &before);
        run(lab, op, NFS3ERR_NOT_SYNC);
        expect(lab, i ? "guard-refused" : "");
    }
}

static void test_listing(void **state)
{
    struct lab *lab = *state;
    static const struct entry good[] = { { "a", 1 }, { "b", 2 }, { "ab", 3 }, { 0 } };
    static const struct entry names[] = { { "a", 1 }, { "b", 2 }, { "a", 3 }, { 0 } };
    static const struct entry cookies[] = { { "a", 1 }, { "b", 2 }, { "c", 1 }, { 0 } };
    static const struct entry empty[] = { { "", 1 }, { 0 } };
    static const struct entry slash[] = { { "a/b", 1 }, { 0 } };
    /* 4 + 8 before the entries, 4 + 8 + 8 + 8 each, 4 + 4 behind them */
    const uint32_t three = 12 + 3 * 28 + 8;

    list(lab, 0, three, good);
    expect(lab, "");
    list(lab, 0, three - 1, good);
    expect(lab, "listing-size");
    restart(lab, 0);
    list(lab, 0, 4096, names);
    expect(lab, "listing-double");
    restart(lab, 0);
    list(lab, 0, 4096, cookies);
    expect(lab, "listing-double");
    restart(lab, 0);
    list(lab, 0, 4096, empty);
    expect(lab, "listing-name");
    restart(lab, 0);
    list(lab, 0, 4096, slash);
    expect(lab, "listing-name");
}

static void test_malformed(void **state)
{
    struct lab *lab = *state;
    struct op *op = begin(lab, 0, GETATTR, FILE_1);

    xdr_put_u32(&op->a, 1); /* left over */
    xdr_put_u32(&op->r, NFS3ERR_IO);
    xdr_put_u32(&op->r, 1);
    op->effect.call_flags = op->effect.reply_flags = SIGHTING_MALFORMED;
    run(lab, op, NFS3ERR_IO);
    expect(lab, "malformed-call malformed-reply");
}

/* The attributes before a REMOVE are those of the directory, which the path does not show. */
static void test_changed_directory(void **state)
{
    struct lab *lab = *state;
    const struct state one = { NF3DIR, FILE_1, 10, 2000, 0 };
    const struct state two = { NF3DIR, FILE_1, 10, 1000, 0 };
    struct op *op;

    getattr(lab, &one);
    expect(lab, "");
    op = begin(lab, 0, REMOVE, FILE_1);
    put_name(op, "gone");
    xdr_put_u32(&op->r, NFS3_OK);
    put_wcc(&op->r, &two, &one);
    run(lab, op, NFS3_OK);
    expect(lab, "changed-unseen");
    assert_string_equal(lab->text,
                        "of the directory: size 10 and mtime 1970-01-01 00:00:00.000001000,"
                        " and were 10 and 1970-01-01 00:00:00.000002000: the mtime went"
                        " back");
}

/* A change that nobody made, and changes that somebody may have made. */
static void test_changes(void **state)
{
    struct lab *lab = *state;
    const struct state one = { NF3REG, FILE_1, 10, 1000, 0 };
    const struct state two = { NF3REG, FILE_1, 20, 2000, 0 };
    const struct writing w = { 10, 10, 10, FILE_SYNC, 10, FILE_SYNC, NULL };
    struct op *late, *other;

    getattr(lab, &one);
    getattr(lab, &one);
    expect(lab, "");
    getattr(lab, &two);
    expect(lab, "changed-unseen");
    assert_string_equal(lab->text,
                        "size 20 and mtime 1970-01-01 00:00:00.000002000, and were 10 and"
                        " 1970-01-01 00:00:00.000001000");
    getattr(lab, &two);
    expect(lab, "");
    write_file(lab, &w, &one, &two); /* before it, there was something else */
    expect(lab, "changed-unseen");
    late = write_call(lab, 1, &w, &two, &two);
    getattr(lab, &one); /* meanwhile */
    read_file(lab, &(struct reading){ 0, 60, 20, 20, false }, &two);
    done(lab, late);
    getattr(lab, &two);
    expect(lab, "");
    getattr(lab, &one);
    expect(lab, "changed-unseen");
    late = write_call(lab, 1, &w, &two, &two);
    other = write_call(lab, 2, &w, &two, &two);
    done(lab, late);
    done(lab, other);
    getattr(lab, &two); /* until now, the state behind both is not known */
    expect(lab, "");
}

static void test_unanswered(void **state)
{
    struct lab *lab = *state;
    const struct state one = { NF3REG, FILE_1, 10, 1000, 0 };
    const struct state two = { NF3REG, FILE_1, 20, 2000, 0 };
    struct op *late;

    getattr(lab, &one);
    write_unanswered(lab, FILE_1);
    getattr(lab, &two);
    getattr(lab, &one);
    expect(lab, "");
    assert_int_equal(lint_counts(lab->lint).unanswered, 1);
    restart(lab, 0);
    getattr(lab, &one);
    reply_alone(lab);
    getattr(lab, &two);
    expect(lab, "");
    getattr(lab, &one);
    expect(lab, "changed-unseen");
    assert_int_equal(lint_counts(lab->lint).unknown, 1);
    late = read_call(lab, 1, &(struct reading){ 0, 9, 9, 9, true }, &one);
    reply_alone(lab); /* it may have written the last byte */
    done(lab, late);
    expect(lab, "");
}

/* A reply tells nothing of what happened after its call. */
static void test_overlap(void **state)
{
    struct lab *lab = *state;
    const struct state one = { NF3REG, FILE_1, 10, 1000, 0 };
    const struct state two = { NF3REG, FILE_1, 20, 2000, 0 };
    struct op *late;

    getattr(lab, &one);
    late = getattr_call(lab, 1, &one);
    getattr(lab, &two);
    expect(lab, "changed-unseen");
    done(lab, late);
    expect(lab, "");
    restart(lab, 0);
    late = read_call(lab, 1, &(struct reading){ 0, 60, 10, 10, true }, &two);
    write_file(lab, &(struct writing){ 10, 10, 10, 0, 10, 0, NULL }, &one, &two);
    done(lab, late); /* read before it, attributes from behind it */
    expect(lab, "");
    late = getattr_call(lab, 1, &two);
    fails(lab, GETATTR, FILE_1, NFS3ERR_STALE);
    done(lab, late);
    expect(lab, "");
}

static void test_stale(void **state)
{
    struct lab *lab = *state;
    const struct state s = { NF3REG, FILE_1, 10, 1000, 0 };

    getattr(lab, &s);
    fails(lab, GETATTR, FILE_1, NFS3ERR_STALE);
    fails(lab, GETATTR, FILE_1, NFS3ERR_STALE);
    expect(lab, "");
    getattr(lab, &s);
    expect(lab, "stale-works");
    getattr(lab, &s);
    expect(lab, "");
}

/* With room for two objects, the third one takes the place of the first. */
static void test_memory(void **state)
{
    struct lab *lab = *state;
    struct state s = { NF3REG, FILE_1, 10, 1000, 0 };
    struct op *late;

    restart(lab, 2);
    late = write_call(lab, 1, &(struct writing){ 0, 5, 5, FILE_SYNC, 5, FILE_SYNC, NULL }, NULL,
                      &(struct state){ NF3REG, 50, 10, 1000, 0 });
    for (uint32_t i = 0; i < 5; i++) {
        s.object = FILE_1 + i;
        getattr(lab, &s);
    }
    assert_int_equal(lint_counts(lab->lint).objects_forgotten, 4);
    done(lab, late); /* an object with an operation under way stays */
    getattr(lab, &(struct state){ NF3REG, 50, 11, 1000, 0 });
    expect(lab, "changed-unseen");
    s.object = FILE_1;
    s.size = 20;
    getattr(lab, &s); /* forgotten */
    expect(lab, "");
}

int main(void)
{
#define LINT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LINT_TEST(test_rules_have_texts),
        LINT_TEST(test_changed_directory),
        LINT_TEST(test_statuses),
        LINT_TEST(test_attributes),
        LINT_TEST(test_identity),
        LINT_TEST(test_types),
        LINT_TEST(test_read),
        LINT_TEST(test_write),
        LINT_TEST(test_verifiers),
        LINT_TEST(test_setattr),
        LINT_TEST(test_listing),
        LINT_TEST(test_malformed),
        LINT_TEST(test_changes),
        LINT_TEST(test_unanswered),
        LINT_TEST(test_stale),
        LINT_TEST(test_overlap),
        LINT_TEST(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
