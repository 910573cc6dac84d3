/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_nfsacl.c
 *
 * NFSACL versions 2 and 3, written by hand from Sun's nfs_acl.x and, for the attributes of version
 * 2, RFC 1094 s2.3.5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire_check.h"

static struct sample s;

static const struct procedure *acl(uint32_t version, uint32_t number, const char *name)
{
    const struct procedure *procedure = procedure_find(100227, version, number);

    assert_non_null(procedure);
    assert_string_equal(procedure->name, name);
    sample_reset(&s);
    return procedure;
}

static void done(const struct type *type)
{
    check_sample(&s, type);
    sample_reset(&s);
}

static void entries(const char *count_name, const char *list_name, uint32_t count, uint32_t flag)
{
    static const uint32_t types[] = { 0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x77 };
    uint32_t i;
    size_t outer;

    u32(&s, count_name, count + 1);
    u32(&s, list_name, count);
    for (i = 0; i < count; i++) {
        uint32_t type = types[i % 7];

        outer = enter(&s, list_name);
        u32(&s, "type", type | flag);
        u32(&s, type == 0x4 || type == 0x8 ? "gid" : "uid", 1000 + i);
        u32(&s, "perm", i % 8);
        leave(&s, outer);
    }
}

static void secattr(const char *name, uint32_t count, uint32_t defaults)
{
    size_t outer = enter(&s, name);

    u32(&s, "mask", 0xf);
    entries("aclcnt", "aclent", count, 0);
    entries("dfaclcnt", "dfaclent", defaults, 0x1000);
    leave(&s, outer);
}

static void fattr2(const char *name)
{
    static const char *const fields[] = {
        "type",          "mode",           "nlink",          "uid",           "gid",
        "size",          "blocksize",      "rdev",           "blocks",        "fsid",
        "fileid",        "atime.seconds",  "atime.useconds", "mtime.seconds", "mtime.useconds",
        "ctime.seconds", "ctime.useconds",
    };
    size_t outer = enter(&s, name), i;

    for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        u32(&s, fields[i], (uint32_t)(0xfffffff0 + i));
    leave(&s, outer);
}

static void handle2(const char *name)
{
    fixed(&s, name, "thirty-two bytes of NFSv2 handle", 32);
}

static void test_getacl(void **state)
{
    const struct procedure *p = acl(3, 1, "GETACL");
    int which;

    (void)state;
    handle(&s, "GETACL3args.fh", 28, 1);
    u32(&s, "GETACL3args.mask", 0xf);
    done(p->arguments);
    for (which = 0; which < 4; which++) {
        u32(&s, "GETACL3res.status", 0);
        post_op_attr(&s, "GETACL3res.resok.attr", which & 1);
        secattr("GETACL3res.resok.acl", which & 2 ? 7 : 0, which & 1 ? 4 : 0);
        done(p->result);
        u32(&s, "GETACL3res.status", 10004);
        post_op_attr(&s, "GETACL3res.resfail.attr", which & 1);
        done(p->result);
    }
    p = acl(2, 1, "GETACL");
    handle2("GETACL2args.fh");
    u32(&s, "GETACL2args.mask", 0);
    done(p->arguments);
    u32(&s, "GETACL2res.status", 0);
    fattr2("GETACL2res.resok.attr");
    secattr("GETACL2res.resok.acl", 2, 0);
    done(p->result);
    u32(&s, "GETACL2res.status", 13);
    done(p->result);
}

static void test_setacl(void **state)
{
    const struct procedure *p = acl(3, 2, "SETACL");
    int follows;

    (void)state;
    handle(&s, "SETACL3args.fh", 28, 2);
    secattr("SETACL3args.acl", 3, 7);
    done(p->arguments);
    for (follows = 0; follows < 2; follows++) {
        u32(&s, "SETACL3res.status", 0);
        post_op_attr(&s, "SETACL3res.resok.attr", follows);
        done(p->result);
        u32(&s, "SETACL3res.status", 1);
        post_op_attr(&s, "SETACL3res.resfail.attr", follows);
        done(p->result);
    }
    p = acl(2, 2, "SETACL");
    handle2("SETACL2args.fh");
    secattr("SETACL2args.acl", 0, 1);
    done(p->arguments);
    u32(&s, "SETACL2res.status", 0);
    fattr2("SETACL2res.resok.attr");
    done(p->result);
    u32(&s, "SETACL2res.status", 70);
    done(p->result);
}

static void test_version2_only(void **state)
{
    const struct procedure *p = acl(2, 3, "GETATTR");

    (void)state;
    handle2("GETATTR2args.fh");
    done(p->arguments);
    u32(&s, "GETATTR2res.status", 0);
    fattr2("GETATTR2res.resok.attr");
    done(p->result);
    u32(&s, "GETATTR2res.status", 5);
    done(p->result);

    p = acl(2, 4, "ACCESS");
    handle2("ACCESS2args.fh");
    u32(&s, "ACCESS2args.access", 0x3f);
    done(p->arguments);
    u32(&s, "ACCESS2res.status", 0);
    fattr2("ACCESS2res.resok.attr");
    u32(&s, "ACCESS2res.resok.access", 0x11);
    done(p->result);
    u32(&s, "ACCESS2res.status", 13);
    done(p->result);
}

static void test_getxattrdir(void **state)
{
    const struct procedure *p = acl(3, 3, "GETXATTRDIR");
    int follows;

    (void)state;
    for (follows = 0; follows < 2; follows++) {
        handle(&s, "GETXATTRDIR3args.fh", 28, 3);
        u32(&s, "GETXATTRDIR3args.create", follows);
        done(p->arguments);
        u32(&s, "GETXATTRDIR3res.status", 0);
        handle(&s, "GETXATTRDIR3res.resok.fh", 12, 4);
        post_op_attr(&s, "GETXATTRDIR3res.resok.attr", follows);
        done(p->result);
    }
    u32(&s, "GETXATTRDIR3res.status", 2);
    done(p->result);

    p = acl(2, 5, "GETXATTRDIR");
    handle2("GETXATTRDIR2args.fh");
    u32(&s, "GETXATTRDIR2args.create", 1);
    done(p->arguments);
    u32(&s, "GETXATTRDIR2res.status", 0);
    handle2("GETXATTRDIR2res.resok.fh");
    fattr2("GETXATTRDIR2res.resok.attr");
    done(p->result);
    u32(&s, "GETXATTRDIR2res.status", 2);
    done(p->result);
}

/* nfs_acl.x bounds a list by 1024 entries. */
static void test_bound(void **state)
{
    const struct type *type = acl(3, 2, "SETACL")->arguments;
    static uint8_t body[4 + 4 + 4 + 4 + 1025 * 12 + 8];
    struct walk walked;
    char path[WALK_PATH_MAX];
    uint32_t count, len;

    (void)state;
    for (count = 1023; count <= 1025; count++) {
        store_be32(body + 12, count);
        len = 16 + count * 12 + 8;
        assert_int_equal(walk(&walked, type, body, len, len, false, NULL),
                         count > 1024 ? WALK_MALFORMED : WALK_OK);
    }
    assert_string_equal(walked.problem, "count is above its bound");
    assert_string_equal(walk_path(&walked, NULL, path), "SETACL3args.acl.aclent");
    store_be32(body + 12, 1024);
    assert_int_equal(walk(&walked, type, body, 100, 100, false, NULL), WALK_MALFORMED);
    assert_string_equal(walked.problem, "count passes the message's end");
}

static void test_null(void **state)
{
    (void)state;
    done(acl(2, 0, "NULL")->arguments);
    done(acl(2, 0, "NULL")->result);
    done(acl(3, 0, "NULL")->arguments);
    done(acl(3, 0, "NULL")->result);
    assert_null(procedure_find(100227, 3, 4));
    assert_null(procedure_find(100227, 2, 6));
    assert_null(program_find(100227, 1));
    assert_null(program_find(100227, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_getacl),        cmocka_unit_test(test_setacl),
        cmocka_unit_test(test_version2_only), cmocka_unit_test(test_getxattrdir),
        cmocka_unit_test(test_bound),         cmocka_unit_test(test_null),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
