/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_nfs3.c
 *
 * NFSv3, RFC 1813 s3.3: the procedures on one object, arguments and both arms of every result, with
 * each optional part there and not there; and values that no message may have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nfs3_case.h"

static void test_null(void **state)
{
    const struct procedure *p = nfs(0, "NULL");

    (void)state;
    done(p->arguments);
    done(p->result);
}

static void test_getattr(void **state)
{
    const struct procedure *p = nfs(1, "GETATTR");
    uint32_t len;

    (void)state;
    for (len = 0; len <= 64; len++) {
        handle(&s, "GETATTR3args.object", len, 1);
        done(p->arguments);
    }
    ok("GETATTR3res");
    fattr3_at(&s, "GETATTR3res.resok.obj_attributes");
    done(p->result);
    failed("GETATTR3res", 70);
    done(p->result);
}

static void test_setattr(void **state)
{
    const struct procedure *p = nfs(2, "SETATTR");
    uint32_t how;

    (void)state;
    for (how = 0; how < 6; how++) {
        handle(&s, "SETATTR3args.object", 28, 2);
        sattr3_at(&s, "SETATTR3args.new_attributes", how % 3);
        u32(&s, "SETATTR3args.guard.check", how > 2);
        if (how > 2)
            nfstime3(&s, "SETATTR3args.guard.obj_ctime", 99);
        done(p->arguments);
    }
    for (how = 0; how < 4; how++) {
        ok("SETATTR3res");
        wcc_data(&s, "SETATTR3res.resok.obj_wcc", how & 1, how & 2);
        done(p->result);
    }
    wcc_fail(p->result, "SETATTR3res", "SETATTR3res.resfail.obj_wcc");
}

static void test_access(void **state)
{
    const struct procedure *p = nfs(4, "ACCESS");
    int follows;

    (void)state;
    handle(&s, "ACCESS3args.object", 28, 5);
    u32(&s, "ACCESS3args.access", 0x3f);
    done(p->arguments);
    for (follows = 0; follows < 2; follows++) {
        ok("ACCESS3res");
        post_op_attr(&s, "ACCESS3res.resok.obj_attributes", follows);
        u32(&s, "ACCESS3res.resok.access", 0x1f);
        done(p->result);
    }
    attributes_fail(p->result, "ACCESS3res", "ACCESS3res.resfail.obj_attributes");
}

static void test_readlink(void **state)
{
    const struct procedure *p = nfs(5, "READLINK");
    int follows;

    (void)state;
    handle(&s, "READLINK3args.symlink", 28, 6);
    done(p->arguments);
    for (follows = 0; follows < 2; follows++) {
        ok("READLINK3res");
        post_op_attr(&s, "READLINK3res.resok.symlink_attributes", follows);
        string(&s, "READLINK3res.resok.data", follows ? "../some/where" : "");
        done(p->result);
    }
    attributes_fail(p->result, "READLINK3res", "READLINK3res.resfail.symlink_attributes");
}

static void test_read(void **state)
{
    const struct procedure *p = nfs(6, "READ");
    uint32_t len;

    (void)state;
    handle(&s, "READ3args.file", 28, 7);
    u64(&s, "READ3args.offset", 0xfedcba9876543210ULL);
    u32(&s, "READ3args.count", 65536);
    done(p->arguments);
    for (len = 0; len < 10; len++) {
        ok("READ3res");
        post_op_attr(&s, "READ3res.resok.file_attributes", len & 1);
        u32(&s, "READ3res.resok.count", len);
        u32(&s, "READ3res.resok.eof", len & 1);
        file_data(&s, "READ3res.resok.data", "0123456789", len);
        done(p->result);
    }
    attributes_fail(p->result, "READ3res", "READ3res.resfail.file_attributes");
}

static void test_write(void **state)
{
    const struct procedure *p = nfs(7, "WRITE");
    uint32_t n;

    (void)state;
    for (n = 0; n < 10; n++) {
        handle(&s, "WRITE3args.file", 28, 8);
        u64(&s, "WRITE3args.offset", 1ULL << 33);
        u32(&s, "WRITE3args.count", n);
        u32(&s, "WRITE3args.stable", n % 4); /* 3 is in no list, and kept */
        file_data(&s, "WRITE3args.data", "abcdefghij", n);
        done(p->arguments);
    }
    for (n = 0; n < 4; n++) {
        ok("WRITE3res");
        wcc_data(&s, "WRITE3res.resok.file_wcc", n & 1, n & 2);
        u32(&s, "WRITE3res.resok.count", 10);
        u32(&s, "WRITE3res.resok.committed", 2);
        fixed(&s, "WRITE3res.resok.verf", "VERIFIER", 8);
        done(p->result);
    }
    wcc_fail(p->result, "WRITE3res", "WRITE3res.resfail.file_wcc");
}

static void test_fsstat(void **state)
{
    static const char *const sizes[] = {
        "FSSTAT3res.resok.tbytes", "FSSTAT3res.resok.fbytes", "FSSTAT3res.resok.abytes",
        "FSSTAT3res.resok.tfiles", "FSSTAT3res.resok.ffiles", "FSSTAT3res.resok.afiles",
    };
    const struct procedure *p = nfs(18, "FSSTAT");
    size_t i;
    int follows;

    (void)state;
    handle(&s, "FSSTAT3args.fsroot", 28, 15);
    done(p->arguments);
    for (follows = 0; follows < 2; follows++) {
        ok("FSSTAT3res");
        post_op_attr(&s, "FSSTAT3res.resok.obj_attributes", follows);
        for (i = 0; i < 6; i++)
            u64(&s, sizes[i], (uint64_t)i << 40 | i);
        u32(&s, "FSSTAT3res.resok.invarsec", 3600);
        done(p->result);
    }
    attributes_fail(p->result, "FSSTAT3res", "FSSTAT3res.resfail.obj_attributes");
}

static void test_fsinfo(void **state)
{
    static const char *const sizes[] = {
        "FSINFO3res.resok.rtmax",  "FSINFO3res.resok.rtpref", "FSINFO3res.resok.rtmult",
        "FSINFO3res.resok.wtmax",  "FSINFO3res.resok.wtpref", "FSINFO3res.resok.wtmult",
        "FSINFO3res.resok.dtpref",
    };
    const struct procedure *p = nfs(19, "FSINFO");
    size_t i;
    int follows;

    (void)state;
    handle(&s, "FSINFO3args.fsroot", 28, 16);
    done(p->arguments);
    for (follows = 0; follows < 2; follows++) {
        ok("FSINFO3res");
        post_op_attr(&s, "FSINFO3res.resok.obj_attributes", follows);
        for (i = 0; i < 7; i++)
            u32(&s, sizes[i], (uint32_t)(1048576 + i));
        u64(&s, "FSINFO3res.resok.maxfilesize", 0x7fffffffffffffffULL);
        nfstime3(&s, "FSINFO3res.resok.time_delta", 0);
        u32(&s, "FSINFO3res.resok.properties", 0x1b);
        done(p->result);
    }
    attributes_fail(p->result, "FSINFO3res", "FSINFO3res.resfail.obj_attributes");
}

static void test_pathconf(void **state)
{
    const struct procedure *p = nfs(20, "PATHCONF");
    int follows;

    (void)state;
    handle(&s, "PATHCONF3args.object", 28, 17);
    done(p->arguments);
    for (follows = 0; follows < 2; follows++) {
        ok("PATHCONF3res");
        post_op_attr(&s, "PATHCONF3res.resok.obj_attributes", follows);
        u32(&s, "PATHCONF3res.resok.linkmax", 32000);
        u32(&s, "PATHCONF3res.resok.name_max", 255);
        u32(&s, "PATHCONF3res.resok.no_trunc", 1);
        u32(&s, "PATHCONF3res.resok.chown_restricted", 0);
        u32(&s, "PATHCONF3res.resok.case_insensitive", 0);
        u32(&s, "PATHCONF3res.resok.case_preserving", 1);
        done(p->result);
    }
    attributes_fail(p->result, "PATHCONF3res", "PATHCONF3res.resfail.obj_attributes");
}

static void test_commit(void **state)
{
    const struct procedure *p = nfs(21, "COMMIT");
    int which;

    (void)state;
    handle(&s, "COMMIT3args.file", 28, 18);
    u64(&s, "COMMIT3args.offset", 0);
    u32(&s, "COMMIT3args.count", 0);
    done(p->arguments);
    for (which = 0; which < 4; which++) {
        ok("COMMIT3res");
        wcc_data(&s, "COMMIT3res.resok.file_wcc", which & 1, which & 2);
        fixed(&s, "COMMIT3res.resok.verf", "verifier", 8);
        done(p->result);
    }
    wcc_fail(p->result, "COMMIT3res", "COMMIT3res.resfail.file_wcc");
}

static void assert_bad(const struct type *type, const char *problem, const char *where_bad,
                       uint32_t offset)
{
    struct walk walked;
    char path[WALK_PATH_MAX];

    assert_int_equal(walk(&walked, type, s.bytes, s.len, s.len, false, NULL), WALK_MALFORMED);
    assert_string_equal(walked.problem, problem);
    assert_string_equal(walk_path(&walked, NULL, path), where_bad);
    assert_int_equal(walked.offset, offset);
    sample_reset(&s);
}

static void test_bad_values(void **state)
{
    uint8_t long_handle[65] = { 0 };

    (void)state;
    sample_reset(&s);
    opaque(&s, "", long_handle, 65);
    assert_bad(procedure_find(100003, 3, 1)->arguments, "length is above its bound",
               "GETATTR3args.object", 0);
    where("", "new");
    put_u32(&s, 3); /* there are three createmodes */
    assert_bad(procedure_find(100003, 3, 8)->arguments, "no such value", "CREATE3args.how.mode",
               4 + 28 + 4 + 4);
    put_u32(&s, 0);
    put_u32(&s, 2); /* attributes_follow */
    assert_bad(procedure_find(100003, 3, 6)->result, "boolean is neither 0 nor 1",
               "READ3res.resok.file_attributes", 4);
    put_u32(&s, 0);
    put_u32(&s, 0);
    put_u32(&s, 5);
    put_u32(&s, 0xffffffff); /* eof */
    assert_bad(procedure_find(100003, 3, 6)->result, "boolean is neither 0 nor 1",
               "READ3res.resok.eof", 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),     cmocka_unit_test(test_getattr),
        cmocka_unit_test(test_setattr),  cmocka_unit_test(test_access),
        cmocka_unit_test(test_readlink), cmocka_unit_test(test_read),
        cmocka_unit_test(test_write),    cmocka_unit_test(test_fsstat),
        cmocka_unit_test(test_fsinfo),   cmocka_unit_test(test_pathconf),
        cmocka_unit_test(test_commit),   cmocka_unit_test(test_bad_values),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
