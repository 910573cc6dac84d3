/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_object_names.c
 *
 * The names that an object has at a time: hard links, what takes a name away without saying so,
 * replies in another order, mounted directories that move, servers with several addresses.
 */
#include "flow/host.h"
#include "flow/object.h"
#include "object_lab.h"

#include <stdio.h>

#define SHOWS(handle, expected) assert_string_equal(path(getattr(handle)), expected)

static void hard_links_live_on(void **state)
{
    (void)state;
    make(CREATE, "dir", "f", "file");
    hard_link("file", "dir", "g");
    hard_link("file", "other", "h");
    SHOWS("file", "<dir>/f");
    take_away(REMOVE, "dir", "f");
    SHOWS("file", "<other>/h");
    take_away(REMOVE, "other", "h");
    SHOWS("file", "<dir>/g");
    rename_it("dir", "g", "dir", "i");
    SHOWS("file", "<dir>/i");
    take_away(REMOVE, "dir", "i");
    SHOWS("file", "<file>");
}

static void a_replaced_target_loses_its_name(void **state)
{
    (void)state;
    make(CREATE, "dir", "tmp", "new");
    make(CREATE, "dir", "f", "old");
    rename_it("dir", "tmp", "dir", "f");
    SHOWS("new", "<dir>/f");
    SHOWS("old", "<old>");
    hard_link("new", "dir", "backup");
    make(CREATE, "dir", "tmp", "newer");
    rename_it("dir", "tmp", "dir", "f");
    SHOWS("newer", "<dir>/f");
    SHOWS("new", "<dir>/backup");
}

static void a_name_that_shows_another_handle(void **state)
{
    (void)state;
    lookup("dir", "f", "one", 1);
    lookup("dir", "f", "two", 1); /* replaced, and nobody saw it */
    SHOWS("two", "<dir>/f");
    SHOWS("one", "<one>");
    make(CREATE, "dir", "f", "three"); /* removed before */
    SHOWS("two", "<two>");
    SHOWS("three", "<dir>/f");
    hard_link("four", "dir", "f");
    SHOWS("three", "<three>");
    SHOWS("four", "<dir>/f");
    make(MKDIR, "dir", "f", "five");
    SHOWS("four", "<four>");
}

static void a_file_with_one_link_has_one_name(void **state)
{
    (void)state;
    lookup_linked("dir", "f", "file", 1, 2);
    lookup_linked("dir", "g", "file", 1, 2);
    SHOWS("file", "<dir>/f");
    lookup_linked("dir", "g", "file", 1, 1);
    SHOWS("file", "<dir>/g");
    lookup_linked("dir", "h", "file", 1, 1); /* renamed unseen */
    SHOWS("file", "<dir>/h");
    lookup_linked("dir", "g", "next", 1, 1);
    SHOWS("file", "<dir>/h");
}

static void a_directory_has_one_name(void **state)
{
    (void)state;
    lookup("top", "a", "sub", 2);
    lookup("sub", "f", "file", 1);
    SHOWS("file", "<top>/a/f");
    lookup("other", "b", "sub", 2);
    SHOWS("file", "<other>/b/f");
    make(MKDIR, "top", "c", "sub"); /* removed unseen; a server that uses handles again */
    SHOWS("sub", "<top>/c");
    take_away(RMDIR, "top", "c");
    SHOWS("sub", "<sub>");
}

/* Its type was not known when it was seen. */
static void a_directory_that_turns_out_to_be_one(void **state)
{
    struct buf b;

    (void)state;
    for (int i = 0; i < 2; i++) {
        b = call(NFS, LOOKUP);
        put_name_in(&b, "top", i ? "b" : "a");
        ask(S, &b);
        put_text(&b, "sub");
        put_no_attributes(&b);
        put_no_attributes(&b);
        answer(S, &b);
    }
    lookup("sub", "f", "file", 1);
    SHOWS("file", "<top>/b/f");
}

static void what_fails_changes_nothing(void **state)
{
    struct buf b;

    (void)state;
    make(CREATE, "dir", "f", "file");
    b = call(NFS, REMOVE);
    put_name_in(&b, "dir", "f");
    refuse(&b, 13, 2); /* ACCES */
    b = call(NFS, RENAME);
    put_rename(&b, "dir", "f", "dir", "g");
    refuse(&b, 13, 4);
    b = call(NFS, REMOVE);
    put_name_in(&b, "dir", "f");
    lab_udp(&lab, C, S, &b); /* never answered */
    buf_free(&b);
    SHOWS("file", "<dir>/f");
}

/* Also when the first reply of what is sent twice was lost. */
static void nothing_has_a_name_that_is_not_there(void **state)
{
    struct buf b;

    (void)state;
    make(CREATE, "dir", "f", "file");
    hard_link("file", "dir", "g");
    b = call(NFS, REMOVE);
    put_name_in(&b, "dir", "f");
    lab_udp(&lab, C, S, &b);
    refuse(&b, NOENT, 2);
    SHOWS("file", "<dir>/g");
    b = call(NFS, RENAME);
    put_rename(&b, "dir", "g", "dir", "h");
    lab_udp(&lab, C, S, &b);
    refuse(&b, NOENT, 4);
    SHOWS("file", "<file>");
    lookup("dir", "h", "file", 1);
    SHOWS("file", "<dir>/h");
    b = call(NFS, LOOKUP);
    put_name_in(&b, "dir", "h");
    refuse(&b, NOENT, 1);
    SHOWS("file", "<file>");
}

/* A second reply, other than the first: the server had no memory of the first. */
static void what_is_sent_again_does_not_happen_again(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make(CREATE, "dir", "f", "file");
    rename_it("dir", "f", "dir", "g");
    put_call(&b, xid, NFS, 3, RENAME);
    put_rename(&b, "dir", "f", "dir", "g");
    lab_udp(&lab, C, S, &b);
    b.len = 0;
    put_reply(&b, xid, 0);
    put_u32(&b, NOENT);
    put_no_wcc(&b);
    put_no_wcc(&b);
    lab_udp(&lab, S, C, &b);
    buf_free(&b);
    SHOWS("file", "<dir>/g");
}

/* Two LOOKUPs that were called before a change and answered after it. */
static void late_replies_teach_nothing_about_what_changed_since(void **state)
{
    struct buf first, second, b;
    uint32_t early;

    (void)state;
    make(CREATE, "dir", "f", "file");
    first = call(NFS, LOOKUP);
    put_name_in(&first, "dir", "f");
    lab_udp(&lab, C, S, &first);
    second = call(NFS, LOOKUP);
    put_name_in(&second, "dir", "g");
    lab_udp(&lab, C, S, &second);
    early = xid;
    rename_it("dir", "f", "dir", "g");
    first.len = second.len = 0;
    put_reply(&first, early - 1, 0);
    put_u32(&first, 0);
    put_found(&first, "file", 1, 1);
    lab_udp(&lab, S, C, &first);
    put_reply(&second, early, 0);
    put_u32(&second, NOENT);
    put_no_attributes(&second);
    lab_udp(&lab, S, C, &second);
    SHOWS("file", "<dir>/g");
    buf_free(&first);
    buf_free(&second);

    b = call(NFS, RENAME); /* what it did is seen before its reply comes */
    put_rename(&b, "dir", "g", "dir", "h");
    lab_udp(&lab, C, S, &b);
    early = xid;
    lookup_linked("dir", "h", "file", 1, 2);
    b.len = 0;
    put_reply(&b, early, 0);
    put_u32(&b, 0);
    put_no_wcc(&b);
    put_no_wcc(&b);
    lab_udp(&lab, S, C, &b);
    buf_free(&b);
    SHOWS("file", "<dir>/h");
    take_away(REMOVE, "dir", "h");
    SHOWS("file", "<file>");
}

static void mount_has_its_path(void **state)
{
    struct endpoint mountd = { S.ip, 20048 };
    struct buf b;
    uint64_t op;

    (void)state;
    assert_string_equal(path(mount("/export", "root")), "/export");
    b = call(MOUNT, MNT);
    put_text(&b, "/refused");
    lab_udp(&lab, C, mountd, &b);
    b.len = 0;
    put_reply(&b, xid, 0);
    put_u32(&b, 13);
    op = answer(mountd, &b);
    assert_string_equal(path(op), "/refused");
}

static void dots_lead_somewhere(void **state)
{
    (void)state;
    mount("/x", "root");
    lookup("root", "sub", "sub", 2);
    assert_string_equal(path(lookup("sub", "..", "root", 2)), "/x");
    assert_string_equal(path(lookup("sub", ".", "sub", 2)), "/x/sub");
    assert_string_equal(path(lookup("root", "..", "root", 2)), "/x");
    assert_string_equal(path(lookup("stranger", "..", "sub", 2)), "/x/sub");
    assert_string_equal(path(lookup("stranger", "..", "other", 2)), "<other>");
}

static void a_renamed_mounted_directory_takes_its_children_along(void **state)
{
    (void)state;
    mount("/x/a", "a"); /* its parent was not mounted */
    lookup("a", "f", "file", 1);
    lookup("top", "a", "a", 2);
    SHOWS("file", "/x/a/f");
    rename_it("top", "a", "top", "b");
    SHOWS("file", "/x/b/f");
    SHOWS("a", "/x/b");
    rename_it("top", "b", "elsewhere", "c"); /* of which nobody knows where it is */
    SHOWS("file", "<elsewhere>/c/f");
}

static void mounts_below_a_renamed_directory_move(void **state)
{
    (void)state;
    mount("/x", "root");
    mount("/x/a/sub", "sub");
    mount("/x/ab", "ab");
    mount("/y/a/sub", "other");
    lookup("sub", "f", "file", 1);
    SHOWS("file", "/x/a/sub/f");
    rename_it("root", "a", "root", "b"); /* whose handle was never seen */
    SHOWS("file", "/x/b/sub/f");
    SHOWS("ab", "/x/ab");
    SHOWS("other", "/y/a/sub");
    lookup("root", "b", "b", 2);
    lookup("b", "sub", "sub", 2);
    make(MKDIR, "root", "deep", "deep");
    rename_it("root", "b", "deep", "b");
    SHOWS("sub", "/x/deep/b/sub");
    lookup("root", "c", "b", 2); /* moved, and nobody saw it */
    SHOWS("sub", "/x/c/sub");
    take_away(RMDIR, "b", "sub");
    SHOWS("sub", "<sub>");
}

static void mounts_that_come_again(void **state)
{
    (void)state;
    mount("/x", "one");
    mount("/x", "two"); /* another file system by now */
    SHOWS("one", "<one>");
    SHOWS("two", "/x");
    mount("/alias", "two");
    SHOWS("two", "/alias");
    mount("/x", "two");
    lookup("two", "f", "file", 1);
    SHOWS("file", "/alias/f");
}

/* More than can be moved along. */
static void very_many_mounts(void **state)
{
    char where[64], handle[64];

    (void)state;
    mount("/x", "root");
    for (int i = 0; i < ROOTS_MAX + 10; i++) {
        snprintf(where, sizeof(where), "/x/a/%d", i);
        snprintf(handle, sizeof(handle), "handle %d", i);
        mount(where, handle);
    }
    rename_it("root", "a", "root", "b");
    SHOWS("handle 0", "/x/b/0");
    SHOWS("handle 1000", "/x/b/1000");
    rename_it("root", "b", "root", "c");
    SHOWS("handle 1000", "/x/c/1000");
    snprintf(where, sizeof(where), "/x/a/%d", ROOTS_MAX);
    snprintf(handle, sizeof(handle), "handle %d", ROOTS_MAX);
    SHOWS(handle, where);
}

/* --- a server under several addresses */

static const struct endpoint S2 = { 0x0a00000a, 2049 };

static int open_same(void **state)
{
    struct same_servers same = { 0 };
    struct engine_options options = { .same = &same };
    struct err err;

    (void)state;
    assert_int_equal(same_servers_add(&same, "10.0.0.9=10.0.0.10", &err), 0);
    assert_int_equal(same_servers_add(&same, "10.0.0.10=2001:db8::1", &err), 0);
    lab_open(&lab, &options);
    xid = 0;
    return 0;
}

static void one_server_has_one_set_of_handles(void **state)
{
    uint64_t op;

    (void)state;
    mount("/x", "root");
    lookup("root", "f", "file", 1);
    op = getattr_on(S2, "file");
    assert_string_equal(path(op), "/x/f");
    assert_int_equal(lab_operation(&lab, op)->object, object("file"));
    assert_int_equal(lab_object(&lab, S2.ip, "file"), 0);
    assert_int_equal(lab_nth(&lab, RECORD_FLOW, 2)->flow.server.bytes[3], 10); /* as it was */
}

static void addresses_of_one_server(void **state)
{
    static const char *const bad[] = {
        "10.0.0.1",   "10.0.0.1=", "=10.0.0.1", "10.0.0.1=host",
        "10.0.0.1=/", "",          "=",         "1.2.3.4=1.2.3.4=1"
    };
    struct same_servers same = { 0 };
    struct address a;
    struct err err;
    char one[64];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(same_servers_add(&same, bad[i], &err), -ERR_USAGE);
    assert_int_equal(same_servers_add(&same, "10.0.0.2=10.0.0.3", &err), 0);
    assert_int_equal(same_servers_add(&same, "2001:db8::1=10.0.0.2", &err), 0);
    assert_int_equal(same_servers_add(&same, "10.0.0.3=2001:DB8:0::1", &err), 0); /* is known */
    assert_int_equal(same.count, 2);
    assert_true(address_read("10.0.0.3", 8, &a));
    assert_string_equal(address_text(same_server(&same, &a), one), "2001:db8::1");
    assert_true(address_read("10.0.0.4", 8, &a));
    assert_string_equal(address_text(same_server(&same, &a), one), "10.0.0.4");
    for (uint32_t i = same.count; i < SAME_SERVERS_MAX; i++) {
        snprintf(one, sizeof(one), "10.0.0.1=10.0.1.%u", i);
        assert_int_equal(same_servers_add(&same, one, &err), 0);
    }
    assert_int_equal(same_servers_add(&same, "10.0.0.1=10.0.2.1", &err), -ERR_USAGE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_lab, close_lab)
    const struct CMUnitTest tests[] = {
        TEST(hard_links_live_on),
        TEST(a_replaced_target_loses_its_name),
        TEST(a_name_that_shows_another_handle),
        TEST(a_file_with_one_link_has_one_name),
        TEST(a_directory_has_one_name),
        TEST(a_directory_that_turns_out_to_be_one),
        TEST(what_fails_changes_nothing),
        TEST(nothing_has_a_name_that_is_not_there),
        TEST(what_is_sent_again_does_not_happen_again),
        TEST(late_replies_teach_nothing_about_what_changed_since),
        TEST(mount_has_its_path),
        TEST(dots_lead_somewhere),
        TEST(a_renamed_mounted_directory_takes_its_children_along),
        TEST(mounts_below_a_renamed_directory_move),
        TEST(mounts_that_come_again),
        TEST(very_many_mounts),
        cmocka_unit_test_setup_teardown(one_server_has_one_set_of_handles, open_same, close_lab),
        cmocka_unit_test(addresses_of_one_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
