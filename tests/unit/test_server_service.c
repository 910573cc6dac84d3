/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_server_service.c
 *
 * live/server: handles, exports by their names, callers after squashing, and what --export takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/options.h"
#include "server/service.h"

#include <stdlib.h>
#include <string.h>

static struct bytes text(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

/* --- handles */

static void handles(void **state)
{
    uint8_t key[HANDLE_KEY_LENGTH] = { 1, 2, 3 }, data[HANDLE_LENGTH];
    struct handle from = { 2, 0xdeadbeef, 77 }, to = { 0 };
    struct bytes bytes = { data, HANDLE_LENGTH };

    (void)state;
    handle_write(key, &from, data);
    assert_true(handle_read(key, bytes, &to));
    assert_int_equal(to.export, 2);
    assert_int_equal(to.object, 0xdeadbeef);
    assert_int_equal(to.generation, 77);
    for (int bit = 0; bit < HANDLE_LENGTH * 8; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(handle_read(key, bytes, &to));
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(handle_read(key, bytes, &to));
    key[15] ^= 1;
    assert_false(handle_read(key, bytes, &to));
    key[15] ^= 1;
    for (bytes.len = 0; bytes.len < HANDLE_LENGTH; bytes.len++)
        assert_false(handle_read(key, bytes, &to));
}

/* MOUNT 1's handles have 32 bytes: zeros follow. */
static void long_handles(void **state)
{
    uint8_t key[HANDLE_KEY_LENGTH] = { 9 }, data[32] = { 0 };
    struct handle from = { 1, 2, 3 }, to;

    (void)state;
    handle_write(key, &from, data);
    assert_true(handle_read(key, (struct bytes){ data, 32 }, &to));
    data[31] = 1;
    assert_false(handle_read(key, (struct bytes){ data, 32 }, &to));
    data[31] = 0;
    assert_false(handle_read(key, (struct bytes){ data, 31 }, &to));
}

/* --- exports */

static struct service *new_service(const char *const *names)
{
    struct service *service = calloc(1, sizeof(*service));

    assert_non_null(service);
    assert_int_equal(service_init(service, NULL), 0);
    for (; *names; names++)
        assert_int_equal(service_export(service, &(struct export_options){ .name = *names },
                                        fs_new(&(struct fs_config){ .root_mode = 0755 }, NULL),
                                        NULL),
                         0);
    return service;
}

static void free_service(struct service *service)
{
    service_free(service);
    free(service);
}

static void export_names(void **state)
{
    static const char *const names[] = { "/a", "/b/c", "/ab", NULL };
    static const struct {
        const char *path;
        const char *export, *rest; /* NULL: none */
    } found[] = {
        { "/a", "/a", "" },        { "/a/", "/a", "" },    { "/a//x/y", "/a", "x/y" },
        { "/ab", "/ab", "" },      { "/abc", NULL, NULL }, { "/b", NULL, NULL },
        { "/b/c/d", "/b/c", "d" }, { "", NULL, NULL },     { "/", NULL, NULL },
        { "a", NULL, NULL },
    };
    struct service *service = new_service(names);

    (void)state;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        struct bytes rest;
        const struct export *e = service_find_export(service, text(found[i].path), &rest);

        assert_int_equal(e != NULL, found[i].export != NULL);
        if (!e)
            continue;
        assert_string_equal(e->name, found[i].export);
        assert_int_equal(rest.len, strlen(found[i].rest));
        assert_memory_equal(rest.data, found[i].rest, rest.len);
    }
    free_service(service);
}

static void refused_names(void **state)
{
    static const char *const names[] = { "/a/b", NULL };
    static const char *const refused[] = { "", "a", "/", "/x/", "/x//y", "/a", "/a/b", "/a/b/c" };
    struct service *service = new_service(names);

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct err err = { 0 };

        assert_int_equal(service_export(service, &(struct export_options){ .name = refused[i] },
                                        fs_new(&(struct fs_config){ 0 }, NULL), &err),
                         -ERR_USAGE);
        assert_true(strlen(err.text) > 0);
    }
    assert_int_equal(service->export_count, 1);
    free_service(service);
}

/* A handle of one export is none of another, and stale when its object is gone. */
static void finding(void **state)
{
    static const char *const names[] = { "/a", "/b", NULL };
    static const struct fs_caller root = { 0, 0, 0, NULL };
    struct service *service = new_service(names);
    const struct export *a = service_export_at(service, 1), *export;
    struct fs_new file = { .type = NF3REG };
    uint8_t data[HANDLE_LENGTH];
    struct bytes handle = { data, HANDLE_LENGTH };
    uint32_t made, object;

    (void)state;
    assert_int_equal(fs_make(a->fs, &root, fs_root(a->fs), text("x"), &file, &made), NFS3_OK);
    service_handle(service, a, made, data);
    assert_int_equal(service_find(service, handle, &export, &object), NFS3_OK);
    assert_ptr_equal(export, a);
    assert_int_equal(object, made);
    assert_int_equal(fs_remove(a->fs, &root, fs_root(a->fs), text("x"), false), NFS3_OK);
    assert_int_equal(service_find(service, handle, &export, &object), NFS3ERR_STALE);
    data[3] ^= 1;
    assert_int_equal(service_find(service, handle, &export, &object), NFS3ERR_BADHANDLE);
    assert_null(service_export_at(service, 0));
    assert_null(service_export_at(service, 3));
    free_service(service);
}

/* --- callers */

static void callers(void **state)
{
    static const struct {
        enum squash squash;
        uint32_t uid, gid, gid2; /* of an AUTH_SYS credential */
        uint32_t as_uid, as_gid, as_gid2;
        uint32_t gid_count;
    } cases[] = {
        { SQUASH_NONE, 0, 0, 0, 0, 0, 0, 1 },     { SQUASH_NONE, 5, 6, 7, 5, 6, 7, 1 },
        { SQUASH_ROOT, 5, 6, 7, 5, 6, 7, 1 },     { SQUASH_ROOT, 0, 6, 7, 100, 200, 0, 0 },
        { SQUASH_ROOT, 5, 0, 0, 5, 200, 200, 1 }, { SQUASH_ALL, 5, 6, 7, 100, 200, 0, 0 },
        { SQUASH_ALL, 0, 0, 0, 100, 200, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct export export = { .squash = cases[i].squash,
                                 .anonymous_uid = 100,
                                 .anonymous_gid = 200 };
        struct rpc_auth credential = { .flavor = RPC_AUTH_SYS,
                                       .valid = true,
                                       .uid = cases[i].uid,
                                       .gid = cases[i].gid,
                                       .gid_count = 1,
                                       .gids = { cases[i].gid2 } };
        struct caller caller;

        export_caller(&export, &credential, &caller);
        assert_int_equal(caller.as.uid, cases[i].as_uid);
        assert_int_equal(caller.as.gid, cases[i].as_gid);
        assert_int_equal(caller.as.gid_count, cases[i].gid_count);
        if (caller.as.gid_count)
            assert_int_equal(caller.as.gids[0], cases[i].as_gid2);
        credential.flavor = RPC_AUTH_NONE;
        export_caller(&export, &credential, &caller);
        assert_int_equal(caller.as.uid, 100);
        assert_int_equal(caller.as.gid_count, 0);
    }
}

/* --- --export */

static void wanted(void **state)
{
    static const struct {
        const char *text, *name, *directory;
        bool read_only;
        enum squash squash;
        uint32_t uid;
    } good[] = {
        { "/a", "/a", NULL, false, 0, 1 },
        { "/a=/srv/x,y(1)", "/a", "/srv/x,y(1)", false, 0, 1 },
        { "/a(ro)", "/a", NULL, true, 0, 1 },
        { "/a(ro,rw)=/x", "/a", "/x", false, 0, 1 },
        { "/a(all_squash,anonuid=7,anongid=8)=.", "/a", ".", false, SQUASH_ALL, 7 },
        { "/a(root_squash)", "/a", NULL, false, SQUASH_ROOT, 1 },
    };
    static const char *const bad[] = {
        "/a(",     "/a(ro", "/a(ro)x",      "/a=",           "/a()",
        "/a(rw,)", "/a(x)", "/a(anonuid=)", "/a(anonuid=x)", "/a(anonuid=4294967296)",
        "/a(roo)"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct export_wanted e = { .anonymous_uid = 1 };

        assert_int_equal(export_wanted_parse(good[i].text, &e, NULL), 0);
        assert_string_equal(e.name, good[i].name);
        assert_int_equal(e.directory != NULL, good[i].directory != NULL);
        if (e.directory)
            assert_string_equal(e.directory, good[i].directory);
        assert_int_equal(e.read_only, good[i].read_only);
        assert_int_equal(e.squash, good[i].squash);
        assert_int_equal(e.anonymous_uid, good[i].uid);
        free(e.name);
        free(e.directory);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct export_wanted e = { 0 };
        struct err err = { 0 };

        if (export_wanted_parse(bad[i], &e, &err) != -ERR_USAGE)
            fail_msg("%s was taken", bad[i]);
        assert_true(strlen(err.text) > 0);
        free(e.name);
        free(e.directory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles),      cmocka_unit_test(long_handles),
        cmocka_unit_test(export_names), cmocka_unit_test(refused_names),
        cmocka_unit_test(finding),      cmocka_unit_test(callers),
        cmocka_unit_test(wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
