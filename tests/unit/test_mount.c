/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_mount.c
 *
 * MOUNT versions 1 and 3, written by hand from RFC 1094 appendix A and RFC 1813 s5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire_check.h"

static struct sample s;

static const struct procedure *mount(uint32_t version, uint32_t number)
{
    sample_reset(&s);
    return procedure_find(100005, version, number);
}

static void done(const struct type *type)
{
    check_sample(&s, type);
    sample_reset(&s);
}

static void test_mnt_1(void **state)
{
    static const uint8_t root[32] = { 1, 0, 6, 0, 0xff, 'r', 'o', 'o', 't' };
    const struct procedure *p = mount(1, 1);

    (void)state;
    string(&s, "MNTargs.dirpath", "/export/home");
    done(p->arguments);
    u32(&s, "fhstatus.status", 0);
    fixed(&s, "fhstatus.directory", root, sizeof(root));
    done(p->result);
    u32(&s, "fhstatus.status", 13);
    done(p->result);
    u32(&s, "fhstatus.status", 4711);
    done(p->result);
    assert_string_equal(status_name(p, 13), "EACCES");
}

static void test_mnt_3(void **state)
{
    const struct procedure *p = mount(3, 1);
    uint32_t flavors, i, len;
    size_t outer;

    (void)state;
    string(&s, "MNT3args.dirpath", "/");
    done(p->arguments);
    for (flavors = 0; flavors < 4; flavors++) {
        u32(&s, "mountres3.fhs_status", 0);
        outer = enter(&s, "mountres3.mountinfo");
        len = flavors == 3 ? 64 : flavors * 13;
        handle(&s, "fhandle", len, (uint8_t)flavors);
        u32(&s, "auth_flavors", flavors);
        for (i = 0; i < flavors; i++)
            u32(&s, "auth_flavors.flavor", i == 2 ? 390003 : i);
        leave(&s, outer);
        done(p->result);
    }
    u32(&s, "mountres3.fhs_status", 10006);
    done(p->result);
    assert_string_equal(status_name(p, 10006), "MNT3ERR_SERVERFAULT");
}

/* |list|: its type, and the names of an element's two fields; 3 elements and none. */
static void mounts(const struct type *type, const char *list, const char *host, const char *path)
{
    size_t outer;
    int i;

    for (i = 0; i < 3; i++) {
        u32(&s, list, 1);
        outer = enter(&s, list);
        string(&s, host, i == 1 ? "" : "client.example");
        string(&s, path, "/export/home");
        leave(&s, outer);
    }
    u32(&s, list, 0);
    done(type);
    u32(&s, list, 0);
    done(type);
}

static void test_dump(void **state)
{
    (void)state;
    mounts(mount(1, 2)->result, "mountlist", "hostname", "directory");
    mounts(mount(3, 2)->result, "mountlist", "ml_hostname", "ml_directory");
}

static void exports(const struct type *type, const char *list, const char *path, const char *groups,
                    const char *group)
{
    size_t outer, inner;
    int i, k;

    for (i = 0; i < 3; i++) {
        u32(&s, list, 1);
        outer = enter(&s, list);
        string(&s, path, "/export");
        for (k = 0; k < i; k++) {
            u32(&s, groups, 1);
            inner = enter(&s, groups);
            string(&s, group, k ? "@netgroup" : "host");
            leave(&s, inner);
        }
        u32(&s, groups, 0);
        leave(&s, outer);
    }
    u32(&s, list, 0);
    done(type);
    u32(&s, list, 0);
    done(type);
}

static void test_export(void **state)
{
    (void)state;
    exports(mount(1, 5)->result, "exportlist", "filesys", "groups", "grname");
    exports(mount(1, 6)->result, "exportlist", "filesys", "groups", "grname");
    exports(mount(3, 5)->result, "exports", "ex_dir", "ex_groups", "gr_name");
}

static void test_others(void **state)
{
    static const uint32_t void_arguments[] = { 0, 2, 4, 5 }, void_results[] = { 0, 3, 4 };
    uint32_t version, i;

    (void)state;
    for (version = 1; version <= 3; version += 2) {
        string(&s, version == 1 ? "UMNTargs.dirpath" : "UMNT3args.dirpath", "/export/home");
        done(procedure_find(100005, version, 3)->arguments);
        for (i = 0; i < 4; i++)
            done(mount(version, void_arguments[i])->arguments);
        for (i = 0; i < 3; i++)
            done(mount(version, void_results[i])->result);
    }
    done(mount(1, 6)->arguments);
    assert_null(mount(3, 6));
    assert_null(mount(2, 1));
}

/* Limits: RFC 1094 A.3, RFC 1813 s5.1.4. */
static void test_bounds(void **state)
{
    static uint8_t body[2048];
    struct walk walked;

    (void)state;
    store_be32(body, 1024);
    assert_int_equal(walk(&walked, mount(3, 1)->arguments, body, 1028, 1028, false, NULL), WALK_OK);
    store_be32(body, 1025);
    assert_int_equal(walk(&walked, mount(3, 1)->arguments, body, 1032, 1032, false, NULL),
                     WALK_MALFORMED);
    memset(body, 0, 8);
    store_be32(body + 4, 65);
    assert_int_equal(walk(&walked, mount(3, 1)->result, body, 80, 80, false, NULL), WALK_MALFORMED);
    assert_string_equal(walked.problem, "length is above its bound");
    store_be32(body, 1);
    store_be32(body + 4, 256);
    assert_int_equal(walk(&walked, mount(1, 2)->result, body, 300, 300, false, NULL),
                     WALK_MALFORMED);
}

/* What names and pairing read: the path of MNT's call names the handle of its reply. */
static int count_roles(void *ctx, const struct field_place *place)
{
    int *found = ctx;

    if (place->program->number != 100005 || !place->field->role)
        return 0;
    assert_int_equal(place->procedure->number, 1);
    if (place->field->role == ROLE_ROOT_PATH) {
        assert_false(place->result);
        assert_int_equal(place->field->cls, CLASS_PATH);
    } else if (place->field->role == ROLE_NEW_OBJECT) {
        assert_true(place->result);
        assert_int_equal(place->field->cls, CLASS_HANDLE);
    } else {
        assert_int_equal(place->field->role, ROLE_STATUS);
    }
    ++*found;
    return 0;
}

static void test_roles(void **state)
{
    int found = 0;

    (void)state;
    assert_int_equal(wire_each_field(count_roles, &found), 0);
    assert_int_equal(found, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mnt_1),  cmocka_unit_test(test_mnt_3),  cmocka_unit_test(test_dump),
        cmocka_unit_test(test_export), cmocka_unit_test(test_others), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_roles),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
