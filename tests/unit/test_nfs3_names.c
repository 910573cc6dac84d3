/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_nfs3_names.c
 *
 * NFSv3, RFC 1813 s3.3: the procedures that take names or give them, arguments and both arms of
 * every result, with each optional part there and not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nfs3_case.h"

/* The result of CREATE, MKDIR, SYMLINK and MKNOD. */
static void made_result(const struct type *type, const char *name, const char *fail)
{
    size_t outer;
    int which;

    for (which = 0; which < 16; which++) {
        ok(name);
        outer = enter(&s, name);
        u32(&s, "resok.obj", which & 1);
        if (which & 1)
            handle(&s, "resok.obj.handle", 28, 9);
        post_op_attr(&s, "resok.obj_attributes", which & 2);
        wcc_data(&s, "resok.dir_wcc", which & 4, which & 8);
        leave(&s, outer);
        done(type);
    }
    wcc_fail(type, name, fail);
}

static void test_lookup(void **state)
{
    const struct procedure *p = nfs(3, "LOOKUP");
    int which;

    (void)state;
    handle(&s, "LOOKUP3args.what.dir", 32, 3);
    string(&s, "LOOKUP3args.what.name", "passwd");
    done(p->arguments);
    handle(&s, "LOOKUP3args.what.dir", 32, 3);
    string(&s, "LOOKUP3args.what.name", "");
    done(p->arguments);
    for (which = 0; which < 4; which++) {
        ok("LOOKUP3res");
        handle(&s, "LOOKUP3res.resok.object", 24 + (uint32_t)which, 4);
        post_op_attr(&s, "LOOKUP3res.resok.obj_attributes", which & 1);
        post_op_attr(&s, "LOOKUP3res.resok.dir_attributes", which & 2);
        done(p->result);
    }
    attributes_fail(p->result, "LOOKUP3res", "LOOKUP3res.resfail.dir_attributes");
}

static void test_create(void **state)
{
    const struct procedure *p = nfs(8, "CREATE");
    uint32_t mode;

    (void)state;
    for (mode = 0; mode < 3; mode++) {
        where("CREATE3args.where", "new");
        u32(&s, "CREATE3args.how.mode", mode);
        if (mode < 2)
            sattr3_at(&s, "CREATE3args.how.obj_attributes", 1 + mode);
        else
            fixed(&s, "CREATE3args.how.verf", "\1\2\3\4\5\6\7\10", 8);
        done(p->arguments);
    }
    made_result(p->result, "CREATE3res", "CREATE3res.resfail.dir_wcc");
}

static void test_mkdir(void **state)
{
    const struct procedure *p = nfs(9, "MKDIR");

    (void)state;
    where("MKDIR3args.where", "dir");
    sattr3_at(&s, "MKDIR3args.attributes", 2);
    done(p->arguments);
    made_result(p->result, "MKDIR3res", "MKDIR3res.resfail.dir_wcc");
}

static void test_symlink(void **state)
{
    const struct procedure *p = nfs(10, "SYMLINK");

    (void)state;
    where("SYMLINK3args.where", "link");
    sattr3_at(&s, "SYMLINK3args.symlink.symlink_attributes", 0);
    string(&s, "SYMLINK3args.symlink.symlink_data", "/etc/motd");
    done(p->arguments);
    made_result(p->result, "SYMLINK3res", "SYMLINK3res.resfail.dir_wcc");
}

static void test_mknod(void **state)
{
    const struct procedure *p = nfs(11, "MKNOD");
    uint32_t type;

    (void)state;
    for (type = 0; type < 10; type++) {
        where("MKNOD3args.where", "node");
        u32(&s, "MKNOD3args.what.type", type);
        if (type == 3 || type == 4) { /* block and character devices */
            sattr3_at(&s, "MKNOD3args.what.device.dev_attributes", 2);
            u32(&s, "MKNOD3args.what.device.spec.specdata1", 8);
            u32(&s, "MKNOD3args.what.device.spec.specdata2", 1);
        } else if (type == 6 || type == 7) { /* sockets and pipes */
            sattr3_at(&s, "MKNOD3args.what.pipe_attributes", 1);
        }
        done(p->arguments);
    }
    made_result(p->result, "MKNOD3res", "MKNOD3res.resfail.dir_wcc");
}

static void test_remove(void **state)
{
    const struct procedure *p = nfs(12, "REMOVE");
    int which;

    (void)state;
    where("REMOVE3args.object", "gone");
    done(p->arguments);
    for (which = 0; which < 4; which++) {
        ok("REMOVE3res");
        wcc_data(&s, "REMOVE3res.resok.dir_wcc", which & 1, which & 2);
        done(p->result);
    }
    wcc_fail(p->result, "REMOVE3res", "REMOVE3res.resfail.dir_wcc");
}

static void test_rmdir(void **state)
{
    const struct procedure *p = nfs(13, "RMDIR");
    int which;

    (void)state;
    where("RMDIR3args.object", "gone");
    done(p->arguments);
    for (which = 0; which < 4; which++) {
        ok("RMDIR3res");
        wcc_data(&s, "RMDIR3res.resok.dir_wcc", which & 1, which & 2);
        done(p->result);
    }
    wcc_fail(p->result, "RMDIR3res", "RMDIR3res.resfail.dir_wcc");
}

static void test_rename(void **state)
{
    const struct procedure *p = nfs(14, "RENAME");
    int which;

    (void)state;
    where("RENAME3args.from", "old");
    where("RENAME3args.to", "newer");
    done(p->arguments);
    for (which = 0; which < 16; which++) {
        ok("RENAME3res");
        wcc_data(&s, "RENAME3res.resok.fromdir_wcc", which & 1, which & 2);
        wcc_data(&s, "RENAME3res.resok.todir_wcc", which & 4, which & 8);
        done(p->result);
        failed("RENAME3res", 18);
        wcc_data(&s, "RENAME3res.resfail.fromdir_wcc", which & 1, which & 2);
        wcc_data(&s, "RENAME3res.resfail.todir_wcc", which & 4, which & 8);
        done(p->result);
    }
}

static void test_link(void **state)
{
    const struct procedure *p = nfs(15, "LINK");
    int which;

    (void)state;
    handle(&s, "LINK3args.file", 28, 11);
    where("LINK3args.link", "second");
    done(p->arguments);
    for (which = 0; which < 8; which++) {
        ok("LINK3res");
        post_op_attr(&s, "LINK3res.resok.file_attributes", which & 4);
        wcc_data(&s, "LINK3res.resok.linkdir_wcc", which & 1, which & 2);
        done(p->result);
        failed("LINK3res", 31);
        post_op_attr(&s, "LINK3res.resfail.file_attributes", which & 4);
        wcc_data(&s, "LINK3res.resfail.linkdir_wcc", which & 1, which & 2);
        done(p->result);
    }
}

static void test_readdir(void **state)
{
    const struct procedure *p = nfs(16, "READDIR");
    static const char *const names[] = { "a", "ab", "abcd" };
    const char *entry = "READDIR3res.resok.reply.entries";
    uint32_t count, i;
    size_t outer;

    (void)state;
    handle(&s, "READDIR3args.dir", 28, 12);
    u64(&s, "READDIR3args.cookie", 0x0102030405060708ULL);
    fixed(&s, "READDIR3args.cookieverf", "cookieve", 8);
    u32(&s, "READDIR3args.count", 4096);
    done(p->arguments);
    for (count = 0; count < 4; count++) {
        ok("READDIR3res");
        post_op_attr(&s, "READDIR3res.resok.dir_attributes", count & 1);
        fixed(&s, "READDIR3res.resok.cookieverf", "12345678", 8);
        for (i = 0; i < count; i++) {
            u32(&s, entry, 1);
            outer = enter(&s, entry);
            u64(&s, "fileid", 12345678901ULL + i);
            string(&s, "name", names[i]);
            u64(&s, "cookie", 0xffffffffffffff00ULL + i);
            leave(&s, outer);
        }
        u32(&s, entry, 0);
        u32(&s, "READDIR3res.resok.reply.eof", count & 1);
        done(p->result);
    }
    attributes_fail(p->result, "READDIR3res", "READDIR3res.resfail.dir_attributes");
}

static void test_readdirplus(void **state)
{
    const struct procedure *p = nfs(17, "READDIRPLUS");
    const char *entry = "READDIRPLUS3res.resok.reply.entries";
    uint32_t count, i;
    size_t outer;

    (void)state;
    handle(&s, "READDIRPLUS3args.dir", 28, 13);
    u64(&s, "READDIRPLUS3args.cookie", 0);
    fixed(&s, "READDIRPLUS3args.cookieverf", "\0\0\0\0\0\0\0\0", 8);
    u32(&s, "READDIRPLUS3args.dircount", 1024);
    u32(&s, "READDIRPLUS3args.maxcount", 8192);
    done(p->arguments);
    for (count = 0; count < 5; count++) {
        ok("READDIRPLUS3res");
        post_op_attr(&s, "READDIRPLUS3res.resok.dir_attributes", count & 1);
        fixed(&s, "READDIRPLUS3res.resok.cookieverf", "12345678", 8);
        for (i = 0; i < count; i++) {
            u32(&s, entry, 1);
            outer = enter(&s, entry);
            u64(&s, "fileid", i);
            string(&s, "name", "x");
            u64(&s, "cookie", i);
            post_op_attr(&s, "name_attributes", i & 1);
            u32(&s, "name_handle", !!(i & 2));
            if (i & 2)
                handle(&s, "name_handle.handle", 20 + i, 14);
            leave(&s, outer);
        }
        u32(&s, entry, 0);
        u32(&s, "READDIRPLUS3res.resok.reply.eof", 1);
        done(p->result);
    }
    attributes_fail(p->result, "READDIRPLUS3res", "READDIRPLUS3res.resfail.dir_attributes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),      cmocka_unit_test(test_create),
        cmocka_unit_test(test_mkdir),       cmocka_unit_test(test_symlink),
        cmocka_unit_test(test_mknod),       cmocka_unit_test(test_remove),
        cmocka_unit_test(test_rmdir),       cmocka_unit_test(test_rename),
        cmocka_unit_test(test_link),        cmocka_unit_test(test_readdir),
        cmocka_unit_test(test_readdirplus),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
