/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_fs_directory.c
 *
 * live/fs: large directories and deep trees.  What a directory must hold is an array by cookie.
 */
#include "fs_case.h"

enum { MANY = 200000, NAMES = 3000, DEPTH = 20000 };

static const struct fs_caller root = { 0 };
static uint64_t random_state = 1;

static uint32_t any(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

/* Names of all lengths; number |n| has its own. */
static struct bytes name_of(uint32_t n, char text[FS_NAME_MAX + 1])
{
    uint32_t len = 8 + n % 7 * (n % 36);

    memset(text, 'n', FS_NAME_MAX);
    snprintf(text, 8, "%07u", n % 10000000);
    text[7] = '-';
    return (struct bytes){ (uint8_t *)text, len > FS_NAME_MAX ? FS_NAME_MAX : len };
}

static uint32_t make(enum ftype3 type, uint32_t dir, struct bytes name)
{
    struct fs_new new_object = { .type = type, .attributes = { .set_mode = true, .mode = 0755 } };
    uint32_t object = 0;

    assert_int_equal(fs_make(fs, &root, dir, name, &new_object, &object), NFS3_OK);
    return object;
}

/* --- come and go */

static uint64_t cookie_of[NAMES]; /* 0: it is not there */
static uint32_t object_of[NAMES];

struct seen {
    uint64_t last, cookies[NAMES];
    uint32_t count, most;
};

static int see(void *ctx, const struct fs_entry *entry)
{
    struct seen *s = ctx;
    uint32_t n;
    char text[FS_NAME_MAX + 1];
    struct bytes name;

    assert_true(entry->cookie > s->last);
    if (s->count == s->most)
        return 1;
    s->last = entry->cookie;
    if (entry->cookie < 3)
        return 0;
    n = (uint32_t)strtoul((const char *)entry->name.data, NULL, 10);
    name = name_of(n, text);
    assert_int_equal(name.len, entry->name.len);
    assert_memory_equal(name.data, entry->name.data, name.len);
    assert_int_equal(cookie_of[n], entry->cookie);
    assert_int_equal(object_of[n], entry->object);
    s->cookies[s->count++] = entry->cookie;
    return 0;
}

/* From any cookie there ever was: all that are behind it, and none else. */
static void list_from(uint64_t cookie, uint32_t most)
{
    static struct seen s;
    uint32_t expected = 0;
    bool eof;

    s.last = cookie;
    s.count = 0;
    s.most = most;
    assert_int_equal(fs_list(fs, &root, 1, cookie, see, &s, &eof), NFS3_OK);
    for (uint32_t n = 0; n < NAMES; n++)
        expected += cookie_of[n] > cookie;
    assert_int_equal(s.count, expected < most ? expected : most);
    assert_int_equal(eof, expected <= most);
}

static void come_and_go(void **state)
{
    static const uint8_t tides[] = { 100, 0, 50, 90, 10, 100, 30, 0, 60, 2, 98, 1 };
    struct err err = { 0 };
    uint64_t last = 2;
    const char *what;

    (void)state;
    case_begin((struct fs_config){ 0 });
    for (uint32_t step = 0; step < 120000; step++) {
        uint32_t n = any(NAMES), object;
        char text[FS_NAME_MAX + 1];
        struct bytes name = name_of(n, text);
        bool comes = any(100) < tides[step / 10000];

        assert_int_equal(fs_lookup(fs, &root, 1, name, &object),
                         cookie_of[n] ? NFS3_OK : NFS3ERR_NOENT);
        if (comes && !cookie_of[n]) {
            object_of[n] = make(NF3FIFO, 1, name);
            cookie_of[n] = ++last;
        } else if (!comes && cookie_of[n]) {
            assert_int_equal(fs_remove(fs, &root, 1, name, false), NFS3_OK);
            cookie_of[n] = 0;
        }
        if (step % 500 == 0) {
            list_from(any((uint32_t)last + 1), any(3) ? NAMES : any(100));
            what = fs_mirror(fs, mirror);
            what = what ? what : fs_differ(fs, mirror);
            if (what)
                fail_msg("step %u: %s", step, what);
            assert_int_equal(fs_check(fs, &err), 0);
        }
    }
    case_end();
}

/* --- large and deep */

static int count_one(void *ctx, const struct fs_entry *entry)
{
    (void)entry;
    ++*(uint32_t *)ctx;
    return 0;
}

/* A listing in pieces, while all that it has passed goes. */
static void emptied_while_listed(void **state)
{
    struct fs_config config = { .root_mode = 0777 };
    uint64_t empty;
    uint32_t count = 0;
    bool eof;

    (void)state;
    fs = fs_new(&config, NULL);
    empty = fs_memory(fs);
    for (uint32_t n = 0; n < MANY; n++) {
        char text[FS_NAME_MAX + 1];

        make(NF3FIFO, 1, name_of(n, text));
    }
    for (uint64_t cookie = 2; cookie < MANY + 2;) {
        char text[FS_NAME_MAX + 1];
        uint32_t object;

        assert_int_equal(fs_remove(fs, &root, 1, name_of((uint32_t)cookie - 2, text), false),
                         NFS3_OK);
        cookie++;
        if (cookie % 1000 == 0) {
            count = 0;
            assert_int_equal(fs_list(fs, &root, 1, cookie, count_one, &count, &eof), NFS3_OK);
            assert_int_equal(count, MANY + 2 - cookie);
            assert_int_equal(fs_lookup(fs, &root, 1, name_of(MANY - 1, text), &object), NFS3_OK);
        }
    }
    assert_int_equal(fs_list(fs, &root, 1, MANY + 3, count_one, &count, &eof), NFS3ERR_BAD_COOKIE);
    /* what stays: the numbers, and spans */
    assert_true(fs_memory(fs) - empty <= (MANY + POOL_CHUNK) * sizeof(struct inode) + (64 << 10));
    fs_free(fs);
}

static void deep(void **state)
{
    struct bytes name = { (uint8_t *)"d", 1 };
    struct err err = { 0 };
    struct buf path = { 0 };
    uint32_t at = 1, half = 0;

    (void)state;
    case_begin((struct fs_config){ 0 });
    for (uint32_t i = 0; i < DEPTH; i++) {
        at = make(NF3DIR, at, name);
        if (i == DEPTH / 2)
            half = at;
    }
    assert_int_equal(fs_path(fs, at, &path), 0);
    assert_int_equal(path.len, 2 * DEPTH);
    assert_memory_equal(path.data + path.len - 4, "/d/d", 4);
    assert_int_equal(fs_rename(fs, &root, 1, name, at, name), NFS3ERR_INVAL);
    assert_int_equal(
        fs_rename(fs, &root, fs_parent(fs, half), name, 1, (struct bytes){ (uint8_t *)"e", 1 }),
        NFS3_OK);
    assert_int_equal(fs_check(fs, &err), 0);
    assert_null(fs_mirror(fs, mirror));
    assert_null(fs_differ(fs, mirror));
    path.len = 0;
    assert_int_equal(fs_path(fs, at, &path), 0);
    assert_int_equal(path.len, DEPTH);
    assert_memory_equal(path.data, "/e/d", 4);
    buf_free(&path);
    case_end();
}

/* One object by one name in two directories with tables, at other cookies: each finds its own
 * entry, whichever the object was last known by; and a name that leads to another object now. */
static void twins(void **state)
{
    const struct bytes x = { (const uint8_t *)"twin", 4 };
    uint32_t dir[2], file, other, found;
    char text[FS_NAME_MAX + 1];
    struct err err = { 0 };

    (void)state;
    case_begin((struct fs_config){ 0 });
    for (uint32_t i = 0; i < 2; i++) {
        dir[i] = make(NF3DIR, 1, name_of(i, text));
        for (uint32_t n = 0; n < 20 + i; n++)
            make(NF3REG, dir[i], name_of(n, text));
    }
    file = make(NF3REG, dir[0], x);
    assert_int_equal(fs_link(fs, &root, file, dir[1], x), NFS3_OK);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(fs_lookup(fs, &root, dir[i & 1], x, &found), NFS3_OK);
        assert_int_equal(found, file);
        assert_int_equal(fs_check(fs, &err), 0);
    }
    other = make(NF3REG, dir[0], name_of(100, text));
    assert_int_equal(fs_rename(fs, &root, dir[0], name_of(100, text), dir[1], x), NFS3_OK);
    assert_int_equal(fs_lookup(fs, &root, dir[1], x, &found), NFS3_OK);
    assert_int_equal(found, other);
    assert_int_equal(fs_check(fs, &err), 0);
    assert_int_equal(fs_remove(fs, &root, dir[0], x, false), NFS3_OK);
    assert_int_equal(fs_lookup(fs, &root, dir[0], x, &found), NFS3ERR_NOENT);
    assert_int_equal(fs_lookup(fs, &root, dir[1], x, &found), NFS3_OK);
    assert_int_equal(found, other);
    assert_int_equal(fs_check(fs, &err), 0);
    case_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_and_go),
        cmocka_unit_test(emptied_while_listed),
        cmocka_unit_test(deep),
        cmocka_unit_test(twins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
