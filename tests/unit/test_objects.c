/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_objects.c
 *
 * What the engine learns about handles, names and paths from calls and replies.
 */
#include "object_lab.h"

#include <stdio.h>

static const struct endpoint S2 = { 0x0a00000a, 2049 };

/* The events of an operation, as "+dir/name=object -dir/name=object ...": + bound, * seen, -
 * removed, > moved, ! gone. */
static const char *events(uint64_t operation)
{
    static char all[1024];
    const struct record *r;
    size_t at = 0;

    all[0] = '\0';
    for (uint64_t n = 0; (r = lab_nth(&lab, RECORD_NAME, n)); n++)
        if (r->name.operation == operation && at < sizeof(all) - 100)
            at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%c%llu/%.*s=%llu", at ? " " : "",
                                   "?*+->!"[r->name.event], (unsigned long long)r -> name.parent,
                                   (int)r->name.name.len, (const char *)r->name.name.data,
                                   (unsigned long long)r->name.object);
    return all;
}

static void expect_events(uint64_t operation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void expect_events(uint64_t operation, const char *format, ...)
{
    char expected[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(expected, sizeof(expected), format, args);
    va_end(args);
    assert_string_equal(events(operation), expected);
}

#define ID(handle) (unsigned long long)object(handle)

static void paths_begin_at_the_mount(void **state)
{
    uint64_t op;

    (void)state;
    mount("/export", "root");
    lookup("root", "users", "users", 2);
    op = lookup("users", "file", "file", 1);
    assert_string_equal(path(op), "/export/users/file");
    assert_int_equal(lab_operation(&lab, op)->object, object("users"));
    assert_int_equal(lab_operation(&lab, op)->new_object, object("file"));
    assert_string_equal(path(getattr("file")), "/export/users/file");
    assert_string_equal(path(getattr("root")), "/export");
    expect_events(1, "*0//export=%llu", ID("root"));
    expect_events(op, "*%llu/file=%llu", ID("users"), ID("file"));
}

static void partial_paths_begin_at_a_handle(void **state)
{
    uint64_t before, after;

    (void)state;
    before = lookup("dir", "file", "file", 1);
    assert_string_equal(path(before), "<dir>/file");
    assert_string_equal(path(getattr("other")), "<other>");
    mount("/late", "dir"); /* from now on */
    after = getattr("file");
    assert_string_equal(path(before), "<dir>/file");
    assert_string_equal(path(after), "/late/file");
    lookup("top", "dir", "dir", 2); /* a name does not take the MOUNT path away */
    assert_string_equal(path(getattr("file")), "/late/file");
}

static void two_exports_and_two_servers(void **state)
{
    (void)state;
    mount("/one", "root1");
    mount("/two", "root2");
    lookup("root1", "file", "file1", 1);
    lookup("root2", "file", "file2", 1);
    assert_string_equal(path(getattr("file1")), "/one/file");
    assert_string_equal(path(getattr("file2")), "/two/file");
    assert_string_equal(path(getattr_on(S2, "file1")), "<file1>");
    assert_int_not_equal(object("file1"), lab_object(&lab, S2.ip, "file1"));
}

static void a_renamed_directory_takes_all_below_along(void **state)
{
    uint64_t op;

    (void)state;
    mount("/x", "root");
    make(MKDIR, "root", "a", "a");
    make(MKDIR, "a", "b", "b");
    make(CREATE, "b", "c", "c");
    assert_string_equal(path(getattr("c")), "/x/a/b/c");
    make(MKDIR, "root", "d", "d");
    op = rename_it("root", "a", "d", "new");
    assert_string_equal(path(op), "/x/a");
    assert_string_equal(path2(op), "/x/d/new");
    expect_events(op, "-%llu/a=%llu >%llu/new=%llu", ID("root"), ID("a"), ID("d"), ID("a"));
    assert_string_equal(path(getattr("c")), "/x/d/new/b/c");
    assert_string_equal(path(getattr("b")), "/x/d/new/b");
}

static void a_rename_replaces_its_target(void **state)
{
    uint64_t op;

    (void)state;
    make(CREATE, "dir", "one", "one");
    make(CREATE, "dir", "two", "two");
    op = rename_it("dir", "one", "dir", "two");
    expect_events(op, "-%llu/one=%llu -%llu/two=%llu >%llu/two=%llu", ID("dir"), ID("one"),
                  ID("dir"), ID("two"), ID("dir"), ID("one"));
    assert_string_equal(path(getattr("one")), "<dir>/two");
    op = rename_it("dir", "unseen", "dir", "two"); /* something stands there, nobody knows what */
    expect_events(op, "-%llu/unseen=0 -%llu/two=%llu", ID("dir"), ID("dir"), ID("one"));
}

/* RFC 1813 s3.3.14: if both names are of one file, nothing happens. */
static void a_rename_onto_itself_changes_nothing(void **state)
{
    (void)state;
    make(CREATE, "dir", "one", "file");
    hard_link("file", "dir", "two");
    expect_events(rename_it("dir", "one", "dir", "two"), "%s", "");
    expect_events(rename_it("dir", "one", "dir", "one"), "%s", "");
    expect_events(take_away(REMOVE, "dir", "one"), "-%llu/one=%llu", ID("dir"), ID("file"));
    expect_events(take_away(REMOVE, "dir", "two"), "-%llu/two=%llu", ID("dir"), ID("file"));
}

static void hard_links_are_names_of_one_object(void **state)
{
    uint64_t op;

    (void)state;
    make(CREATE, "dir", "one", "file");
    op = hard_link("file", "dir", "two");
    expect_events(op, "+%llu/two=%llu", ID("dir"), ID("file"));
    assert_int_equal(lab_operation(&lab, op)->object, object("file"));
    assert_int_equal(lab_operation(&lab, op)->object2, object("dir"));
    assert_string_equal(path(getattr("file")), "<dir>/one");
    take_away(REMOVE, "dir", "one");
    assert_string_equal(path(getattr("file")), "<dir>/two");
}

static void removed_names_can_come_again(void **state)
{
    uint64_t op;

    (void)state;
    make(CREATE, "dir", "name", "old");
    op = take_away(REMOVE, "dir", "name");
    expect_events(op, "-%llu/name=%llu", ID("dir"), ID("old"));
    assert_string_equal(path(getattr("old")), "<old>");
    op = make(MKDIR, "dir", "name", "new");
    expect_events(op, "+%llu/name=%llu", ID("dir"), ID("new"));
    assert_int_equal(lab_operation(&lab, op)->new_object, object("new"));
    expect_events(take_away(RMDIR, "dir", "name"), "-%llu/name=%llu", ID("dir"), ID("new"));
    expect_events(take_away(REMOVE, "dir", "never seen"), "-%llu/never seen=0", ID("dir"));
}

static void silly_renames_are_renames(void **state)
{
    (void)state;
    make(CREATE, "dir", "open", "file");
    rename_it("dir", "open", "dir", ".nfs000000000001");
    assert_string_equal(path(getattr("file")), "<dir>/.nfs000000000001");
    make(CREATE, "dir", "open", "next");
    assert_string_equal(path(getattr("next")), "<dir>/open");
    take_away(REMOVE, "dir", ".nfs000000000001");
    assert_string_equal(path(getattr("next")), "<dir>/open");
}

static void dots_are_nobodys_names(void **state)
{
    (void)state;
    lookup("dir", "sub", "sub", 2);
    expect_events(lookup("sub", "..", "dir", 2), "%s", "");
    expect_events(lookup("sub", ".", "sub", 2), "%s", "");
    assert_string_equal(path(getattr("sub")), "<dir>/sub");
    assert_string_equal(path(getattr("dir")), "<dir>");
    lookup("dir", "...", "odd", 1);
    assert_string_equal(path(getattr("odd")), "<dir>/...");
}

static void names_are_any_bytes(void **state)
{
    char longest[256];

    (void)state;
    memset(longest, 'n', 255);
    longest[255] = '\0';
    lookup("dir", longest, "long", 1);
    lookup("dir", "a/b", "slash", 1);
    lookup("dir", "new\nline", "newline", 1);
    lookup("dir", "\xff\xfe", "no utf-8", 1);
    assert_int_equal(strlen(path(getattr("long"))), 5 + 1 + 255);
    assert_string_equal(path(getattr("slash")), "<dir>/a/b");
    assert_string_equal(path(getattr("newline")), "<dir>/new\nline");
    assert_string_equal(path(getattr("no utf-8")), "<dir>/\xff\xfe");
}

/* No server allows it, but a capture may say so. */
static void directories_in_a_circle_end(void **state)
{
    uint64_t op;

    (void)state;
    lookup("a", "b", "b", 2);
    lookup("b", "a", "a", 2); /* so that b is not in a any more */
    assert_string_equal(path(getattr("b")), "<b>");
    assert_string_equal(path(getattr("a")), "<b>/a");
    lookup("self", "self", "self", 2);
    op = getattr("a");
    assert_int_not_equal(lab_operation(&lab, op)->path, 0);
    assert_int_not_equal(lab_operation(&lab, getattr("self"))->path, 0);
    assert_string_equal(path(getattr("self")), "<self>");
    lab_path(&lab, lab_operation(&lab, op)->path, text);
    assert_memory_equal(text, "<", 1);
}

static void listings_teach_names(void **state)
{
    static const char *const entries[] = { ".", "..", "file", "sub" };
    const struct record_object *told;
    struct buf b;
    uint64_t op;

    (void)state;
    b = call(NFS, READDIRPLUS);
    put_text(&b, "dir");
    put_u64(&b, 0);
    put_u64(&b, 0);
    put_u32(&b, 4096);
    put_u32(&b, 8192);
    ask(S, &b);
    put_some_attributes(&b, 2, 9);
    put_u64(&b, 0);
    for (uint32_t i = 0; i < 4; i++) {
        put_u32(&b, 1);
        put_u64(&b, 100 + i);
        put_text(&b, entries[i]);
        put_u64(&b, i + 1);
        put_some_attributes(&b, i == 2 ? 1 : 2, 100 + i);
        put_u32(&b, i != 1);
        if (i != 1) /* one entry without a handle */
            put_text(&b, i ? entries[i] : "dir");
    }
    put_u32(&b, 0);
    put_u32(&b, 1);
    op = answer(S, &b);
    expect_events(op, "*%llu/file=%llu *%llu/sub=%llu", ID("dir"), ID("file"), ID("dir"),
                  ID("sub"));
    assert_string_equal(path(getattr("sub")), "<dir>/sub");
    assert_int_equal(object(".."), 0);
    assert_int_equal(type_of("file"), OBJECT_REG);
    told = last_word(object("file"));
    assert_int_equal(told->fsid, 77);
    assert_int_equal(told->fileid, 102);
}

static void dependencies_lead_to_the_last_change(void **state)
{
    uint64_t made, wrote, op;
    struct buf b;

    (void)state;
    made = make(CREATE, "dir", "file", "file");
    op = getattr("file");
    assert_int_equal(lab_operation(&lab, op)->depends_on, made);
    b = call(NFS, WRITE);
    put_write(&b, "file", 0, "data", 4);
    ask(S, &b);
    put_no_wcc(&b);
    put_u32(&b, 4);
    put_u32(&b, 2);
    put_u64(&b, 0);
    wrote = answer(S, &b);
    assert_int_equal(lab_operation(&lab, wrote)->depends_on, made);
    assert_int_equal(lab_operation(&lab, wrote)->data_length, 4);
    assert_int_equal(lab_operation(&lab, getattr("file"))->depends_on, wrote);
    assert_int_equal(lab_operation(&lab, getattr("stranger"))->depends_on, 0);
}

/* An object is told again only when something about it is new. */
static void objects_are_told_once(void **state)
{
    uint64_t before;

    (void)state;
    lookup("dir", "file", "file", 1);
    before = lab.kinds[RECORD_OBJECT];
    for (int i = 0; i < 10; i++)
        lookup("dir", "file", "file", 1);
    assert_int_equal(lab.kinds[RECORD_OBJECT], before);
    for (int i = 0; i < 10; i++) { /* a server whose files have no numbers */
        struct buf b = call(NFS, GETATTR);
        put_text(&b, "numberless");
        ask(S, &b);
        put_attributes(&b, 1, 0);
        answer(S, &b);
    }
    assert_in_range(lab.kinds[RECORD_OBJECT], before + 1, before + 2);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_lab, close_lab)
    const struct CMUnitTest tests[] = {
        TEST(paths_begin_at_the_mount),
        TEST(partial_paths_begin_at_a_handle),
        TEST(two_exports_and_two_servers),
        TEST(a_renamed_directory_takes_all_below_along),
        TEST(a_rename_replaces_its_target),
        TEST(a_rename_onto_itself_changes_nothing),
        TEST(hard_links_are_names_of_one_object),
        TEST(removed_names_can_come_again),
        TEST(silly_renames_are_renames),
        TEST(dots_are_nobodys_names),
        TEST(names_are_any_bytes),
        TEST(directories_in_a_circle_end),
        TEST(listings_teach_names),
        TEST(dependencies_lead_to_the_last_change),
        TEST(objects_are_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
