/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Lint's rule of link counts: what LINK, REMOVE, RENAME and RMDIR do to them, and when nobody can
 * tell. */
#include "lint_lab.h"

enum { RMDIR = 13 };

/* FILE_1 or FILE_2 with |nlink| links. */
static struct state file(uint32_t object, uint32_t nlink)
{
    return (struct state){ NF3REG, object, 10, 1000, 0, nlink };
}

static void see(struct lab *lab, uint32_t object, uint32_t nlink, const char *wanted)
{
    const struct state s = file(object, nlink);

    getattr(lab, &s);
    expect(lab, wanted);
}

static void lookup(struct lab *lab, const char *name, uint32_t object, uint32_t nlink,
                   const char *wanted)
{
    const struct state s = file(object, nlink);
    uint32_t status = object ? 0 : NFS3ERR_NOENT;
    struct op *op = begin(lab, 0, LOOKUP, DIR_1);

    put_name(op, name);
    op->effect.new_object = object;
    xdr_put_u32(&op->r, status);
    if (object) {
        put_handle(&op->r, object);
        put_post(&op->r, &s);
    }
    put_post(&op->r, NULL);
    run(lab, op, status);
    expect(lab, wanted);
}

static struct op *link_call(struct lab *lab, int i, const char *name, const struct state *s)
{
    struct op *op = begin(lab, i, LINK, s->object);

    put_handle(&op->a, DIR_1);
    put_name(op, name);
    op->effect.parent2 = DIR_1;
    xdr_put_u32(&op->r, 0);
    put_post(&op->r, s);
    put_wcc(&op->r, NULL, NULL);
    called(lab, op, 0);
    assert_int_equal(op->effect.arguments, WALK_OK);
    return op;
}

static void link_file(struct lab *lab, const char *name, uint32_t nlink, const char *wanted)
{
    const struct state s = file(FILE_1, nlink);

    done(lab, link_call(lab, 0, name, &s));
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

static void rename_file(struct lab *lab, const char *from, const char *to)
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
    expect(lab, "");
}

static void test_link(void **state)
{
    struct lab *lab = *state;

    link_file(lab, "a", 2, "");
    link_file(lab, "b", 3, "");
    link_file(lab, "c", 3, "link-count");
    see(lab, FILE_1, 3, "");
    see(lab, FILE_1, 4, "link-count");
    see(lab, FILE_1, 4, ""); /* said once */
    restart(lab, 0);
    link_file(lab, "a", 1, "link-count"); /* at least two */
}

/* Of names that are known. */
static void test_remove(void **state)
{
    struct lab *lab = *state;

    lookup(lab, "a", FILE_1, 3, "");
    done(lab, remove_call(lab, 0, "a", 0));
    see(lab, FILE_1, 2, "");
    lookup(lab, "b", FILE_1, 2, "");
    done(lab, remove_call(lab, 0, "b", 0));
    see(lab, FILE_1, 2, "link-count");
    lookup(lab, "c", FILE_1, 2, "");
    done(lab, remove_call(lab, 0, "c", NFS3ERR_ACCES));
    see(lab, FILE_1, 1, "link-count");
    see(lab, FILE_2, 5, "");
    lookup(lab, "d", FILE_1, 1, "");
    done(lab, remove_call(lab, 0, "d", 0));
    see(lab, FILE_1, 1, ""); /* the handle may stand for a new file */
    see(lab, FILE_2, 4, "link-count");
}

/* Of names that are not known, or that another operation changes at the same time. */
static void test_remove_unknown(void **state)
{
    struct lab *lab = *state;
    const struct state three = file(FILE_1, 3);
    struct op *one, *two;

    see(lab, FILE_1, 3, "");
    done(lab, remove_call(lab, 0, "x", 0));
    see(lab, FILE_1, 2, "");
    done(lab, remove_call(lab, 0, "x", NFS3ERR_NOENT)); /* known not to be there */
    see(lab, FILE_1, 1, "link-count");
    one = remove_call(lab, 1, "y", 0);
    see(lab, FILE_1, 2, "");
    done(lab, one);
    see(lab, FILE_1, 3, "");
    lookup(lab, "z", FILE_1, 3, "");
    lookup(lab, "u", FILE_2, 3, "");
    one = remove_call(lab, 1, "z", 0);
    see(lab, FILE_1, 2, "");
    two = link_call(lab, 2, "z", &three); /* before or behind the other */
    done(lab, one);
    see(lab, FILE_2, 4, "");
    done(lab, two);
    see(lab, FILE_1, 7, "");
    see(lab, FILE_2, 7, "");
    see(lab, FILE_2, 8, "link-count");
}

static void test_remove_unanswered(void **state)
{
    struct lab *lab = *state;
    struct op *op;

    lookup(lab, "a", FILE_1, 3, "");
    see(lab, FILE_2, 3, "");
    op = remove_call(lab, 1, "a", 0);
    op->effect.calls_again = 1; /* it may have been executed more than once */
    done(lab, op);
    see(lab, FILE_1, 3, "");
    see(lab, FILE_2, 2, "link-count");
    lookup(lab, "b", FILE_1, 3, "");
    op = remove_call(lab, 1, "b", 0);
    op->effect.pairing = REPLY_LOST;
    op->effect.rpc_status = STATUS_NONE;
    op->effect.succeeded = false;
    done(lab, op);
    see(lab, FILE_1, 3, "");
    see(lab, FILE_1, 2, ""); /* now */
    see(lab, FILE_2, 3, "link-count");
}

static void test_rename(void **state)
{
    struct lab *lab = *state;

    lookup(lab, "a", FILE_1, 2, "");
    lookup(lab, "b", FILE_2, 2, "");
    rename_file(lab, "a", "b");
    see(lab, FILE_1, 2, "");
    see(lab, FILE_2, 2, "link-count");
    lookup(lab, "c", 0, 0, "");
    rename_file(lab, "b", "c");
    see(lab, FILE_1, 1, "link-count");
    lookup(lab, "d", FILE_1, 1, ""); /* two names of one object: nothing happens */
    rename_file(lab, "c", "d");
    see(lab, FILE_1, 1, "");
    lookup(lab, "e", FILE_2, 2, "");
    rename_file(lab, "f", "e"); /* what was renamed? */
    see(lab, FILE_2, 2, "");
    see(lab, FILE_1, 3, "link-count");
    rename_file(lab, "g", "h"); /* and what replaced? */
    see(lab, FILE_1, 2, "");
}

static void see_directory(struct lab *lab, uint32_t nlink, const char *wanted)
{
    const struct state s = { NF3DIR, DIR_1, 4096, 1000, 0, nlink };

    getattr(lab, &s);
    expect(lab, wanted);
}

static void change_directory(struct lab *lab, uint32_t procedure, uint32_t nlink,
                             const char *wanted)
{
    const struct state s = { NF3DIR, DIR_1, 4096, 1000, 0, nlink };
    struct op *op = begin(lab, 0, procedure, DIR_1);

    put_name(op, "x");
    if (procedure == MKDIR)
        for (int i = 0; i < 6; i++) /* sattr3: nothing is set */
            xdr_put_u32(&op->a, 0);
    op->effect.parent = DIR_1;
    xdr_put_u32(&op->r, 0);
    if (procedure == MKDIR) {
        xdr_put_u32(&op->r, 0); /* no handle */
        put_post(&op->r, NULL);
    }
    put_wcc(&op->r, NULL, &s);
    run(lab, op, 0);
    assert_int_equal(op->effect.result, WALK_OK);
    expect(lab, wanted);
}

static void test_directory(void **state)
{
    struct lab *lab = *state;

    see_directory(lab, 4, "");
    see_directory(lab, 4, "");
    change_directory(lab, MKDIR, 5, "");
    change_directory(lab, RMDIR, 4, "");
    change_directory(lab, MKDIR, 4, ""); /* a file system that does not count them */
    see_directory(lab, 5, "link-count");
    change_directory(lab, RMDIR, 6, "link-count");
    change_directory(lab, MKDIR, 8, "link-count");
    change_directory(lab, RMDIR, 6, "link-count");
    change_directory(lab, MKDIR, 1, ""); /* too many to count */
}

int main(void)
{
#define LINT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LINT_TEST(test_link),           LINT_TEST(test_remove),
        LINT_TEST(test_remove_unknown), LINT_TEST(test_remove_unanswered),
        LINT_TEST(test_rename),         LINT_TEST(test_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
