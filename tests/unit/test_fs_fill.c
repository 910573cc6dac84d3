/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_fs_fill.c
 *
 * live/fs: files whose contents are made up (fs_set_fill), against the function and plain memory.
 */
#include "fs_case.h"

#include "fill/fill.h"

enum { KEY = 77, SIZE = 100000, ROOM = 1 << 18 };

static const struct fs_caller root = { 0 };
static uint8_t should[ROOM], is[ROOM];

static uint32_t make(const char *name)
{
    struct fs_new new_object = { .type = NF3REG };
    uint32_t object = 0;

    assert_int_equal(fs_make(fs, &root, 1,
                             (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) },
                             &new_object, &object),
                     NFS3_OK);
    return object;
}

/* The file reads as |should|, is whole, and the same in the mirror. */
static void compare(uint32_t object, uint32_t size)
{
    uint32_t count = ROOM;
    struct err err = { 0 };
    const char *what;
    bool eof;

    assert_int_equal(fs_read(fs, &root, object, 0, is, &count, &eof), NFS3_OK);
    assert_int_equal(count, size);
    assert_memory_equal(is, should, size);
    if (fs_check(fs, &err) < 0)
        fail_msg("%s", err.text);
    what = fs_mirror(fs, mirror);
    what = what ? what : fs_differ(fs, mirror);
    if (what || fs_check(mirror, &err) < 0)
        fail_msg("mirror: %s", what ? what : err.text);
}

static void put(uint32_t object, uint32_t offset, int byte, uint32_t len, enum stable_how how)
{
    static uint8_t data[ROOM];

    memset(data, byte, len);
    memset(should + offset, byte, len);
    assert_int_equal(fs_write(fs, &root, object, offset, (struct bytes){ data, len }, how),
                     NFS3_OK);
}

static void resize(uint32_t object, uint64_t size)
{
    struct sattr3 to = { .set_size = true, .size = size };

    assert_int_equal(fs_setattr(fs, &root, object, &to, NULL), NFS3_OK);
    if (size < ROOM)
        memset(should + size, 0, ROOM - size);
}

static uint64_t used(uint32_t object)
{
    struct fattr3 a;

    fs_attributes(fs, object, &a);
    return a.used;
}

static uint32_t filled(const char *name)
{
    uint32_t object = make(name);

    memset(should, 0, sizeof(should));
    fill_copy(KEY, 0, should, SIZE);
    assert_int_equal(fs_set_fill(fs, object, KEY, SIZE), NFS3_OK);
    return object;
}

static void written(void **state)
{
    uint32_t object;

    (void)state;
    case_begin((struct fs_config){ .no_atime = true });
    object = filled("f");
    compare(object, SIZE);
    assert_int_equal(used(object), 25 * 4096);
    put(object, 10, 'x', 3, FILE_SYNC); /* a part of the first page */
    compare(object, SIZE);
    put(object, 8192, 0, 4096, FILE_SYNC); /* zeros, which no page is not */
    compare(object, SIZE);
    put(object, 20000, 0, 10, FILE_SYNC);
    compare(object, SIZE);
    put(object, 40950, 'y', 9000, FILE_SYNC); /* over several */
    compare(object, SIZE);
    put(object, SIZE - 5, 'z', 10, FILE_SYNC); /* over the end */
    compare(object, SIZE + 5);
    put(object, SIZE + 50000, 'z', 10, FILE_SYNC); /* a hole behind it */
    compare(object, SIZE + 50010);
    resize(object, 41000);
    compare(object, 41000);
    resize(object, 200000); /* zeros, not what was made up */
    compare(object, 200000);
    assert_int_equal(used(object), 11 * 4096);
    resize(object, 0);
    compare(object, 0);
    resize(object, 5000);
    compare(object, 5000);
    assert_int_equal(used(object), 0);
    case_end();
}

/* Every way to cut and to write around the end of what is made up. */
static void ends(void **state)
{
    static const uint32_t places[] = { 1, 63, 64, 4095, 4096, 4097, 8192, 12288, 12289 };
    enum { PLACES = sizeof(places) / sizeof(places[0]) };

    (void)state;
    case_begin((struct fs_config){ .no_atime = true });
    for (int size = 0; size < PLACES; size++)
        for (int cut = 0; cut < PLACES; cut++)
            for (int at = 0; at < PLACES; at++) {
                uint32_t object = make("f"), end = places[at] + 100;

                memset(should, 0, sizeof(should));
                fill_copy(KEY, 0, should, places[size]);
                assert_int_equal(fs_set_fill(fs, object, KEY, places[size]), NFS3_OK);
                resize(object, places[cut]);
                compare(object, places[cut]);
                put(object, places[at], at % 2 ? 'w' : 0, 100, FILE_SYNC);
                compare(object, end > places[cut] ? end : places[cut]);
                assert_int_equal(
                    fs_remove(fs, &root, 1, (struct bytes){ (const uint8_t *)"f", 1 }, false),
                    NFS3_OK);
            }
    case_end();
}

static void lost(void **state)
{
    uint32_t object;

    (void)state;
    case_begin((struct fs_config){ .no_atime = true, .keep_unstable = true });
    object = filled("f");
    put(object, 5, 'u', 10000, UNSTABLE);
    put(object, 50000, 0, 4096, UNSTABLE);
    put(object, SIZE - 10, 'v', 30, UNSTABLE);
    compare(object, SIZE + 20);
    assert_int_equal(fs_lose_unstable(fs), NFS3_OK);
    memset(should, 0, sizeof(should));
    fill_copy(KEY, 0, should, SIZE);
    compare(object, SIZE);
    assert_int_equal(fs->pages, 0); /* they are made up again */
    put(object, 4096, 0, 4096, FILE_SYNC);
    put(object, 4000, 'u', 5000, UNSTABLE);
    assert_int_equal(fs_lose_unstable(fs), NFS3_OK);
    fill_copy(KEY, 0, should, SIZE);
    memset(should + 4096, 0, 4096);
    compare(object, SIZE);
    assert_int_equal(fs->pages, 1);
    resize(object, 60000); /* is stable */
    put(object, 59000, 'u', 5000, UNSTABLE);
    assert_int_equal(fs_lose_unstable(fs), NFS3_OK);
    memset(should, 0, sizeof(should));
    fill_copy(KEY, 0, should, 60000);
    memset(should + 4096, 0, 4096);
    compare(object, 60000);
    case_end();
}

static void largest(void **state)
{
    uint32_t object, count = 100;
    uint64_t place = FS_SIZE_MAX - 50;
    struct err err = { 0 };
    bool eof;

    (void)state;
    case_begin((struct fs_config){ .no_atime = true });
    object = make("f");
    assert_int_equal(fs_set_fill(fs, object, UINT64_MAX, FS_SIZE_MAX), NFS3_OK);
    assert_int_equal(fs_set_fill(fs, object, 1, FS_SIZE_MAX + 1), NFS3ERR_FBIG);
    assert_int_equal(fs_set_fill(fs, 1, 1, 1), NFS3ERR_INVAL);
    assert_int_equal(used(object), (uint64_t)1 << 63);
    assert_int_equal(fs_read(fs, &root, object, place, is, &count, &eof), NFS3_OK);
    assert_int_equal(count, 50);
    assert_true(eof);
    assert_int_equal(fill_same(UINT64_MAX, place, (struct bytes){ is, 50 }), 50);
    assert_int_equal(fs_write(fs, &root, object, place + 10,
                              (struct bytes){ (const uint8_t *)"abc", 3 }, FILE_SYNC),
                     NFS3_OK);
    assert_int_equal(fs_read(fs, &root, object, place, is, &count, &eof), NFS3_OK);
    assert_int_equal(fill_same(UINT64_MAX, place, (struct bytes){ is, 50 }), 10);
    assert_memory_equal(is + 10, "abc", 3);
    assert_int_equal(fill_same(UINT64_MAX, place + 13, (struct bytes){ is + 13, 37 }), 37);
    assert_int_equal(fs_check(fs, &err), 0);
    assert_null(fs_mirror(fs, mirror));
    assert_null(fs_differ(fs, mirror));
    case_end();
}

/* No pages, little memory; all of it comes back; again over what was written. */
static void counted(void **state)
{
    struct err err = { 0 };
    uint64_t before, empty;
    uint32_t object;

    (void)state;
    case_begin((struct fs_config){ .no_atime = true, .capacity = 8 * 4096 });
    object = make("f");
    fs_changes_clear(fs);
    before = fs_memory(fs);
    assert_int_equal(fs_set_fill(fs, object, KEY, UINT64_C(1) << 50), NFS3_OK);
    empty = fs_memory(fs);
    assert_true(empty - before <= 32);
    put(object, 0, 'x', 8 * 4096, FILE_SYNC);
    assert_int_equal(fs_write(fs, &root, object, 99999, (struct bytes){ should, 1 }, FILE_SYNC),
                     NFS3ERR_NOSPC);
    assert_int_equal(fs_set_fill(fs, object, KEY + 1, SIZE), NFS3_OK);
    assert_int_equal(fs->pages, 0);
    assert_int_equal(fs_memory(fs), empty);
    assert_int_equal(fs_set_fill(fs, object, KEY, 0), NFS3_OK);
    assert_int_equal(fs_memory(fs), before);
    assert_int_equal(fs_check(fs, &err), 0);
    case_end();
}

/* A mirror that begins with everything. */
static void mirrored(void **state)
{
    struct fs_config config = { .no_atime = true, .changes = true, .root_mode = 0777 };
    struct err err = { 0 };
    uint32_t object;

    (void)state;
    case_begin(config);
    object = filled("f");
    put(object, 30000, 'x', 100, FILE_SYNC);
    resize(object, 70000);
    resize(object, 90000);
    make("other");
    fs_free(mirror);
    mirror = fs_new(&config, &err);
    fs_changes_clear(fs);
    assert_int_equal(fs_changes_all(fs, &err), 0);
    compare(object, 90000);
    case_end();
}

/* Changes from anywhere: none may make up bytes behind a file's end. */
static void harmed(void **state)
{
    struct buf bytes = { 0 };
    struct err err = { 0 };

    (void)state;
    case_begin((struct fs_config){ .no_atime = true });
    filled("f");
    assert_int_equal(fs_changes_encode(fs, &bytes, &err), 0);
    for (size_t at = 0; at + 8 <= bytes.len; at++)
        if (load_be64(bytes.data + at) == SIZE && load_be64(bytes.data + at - 8) == KEY)
            store_be64(bytes.data + at, SIZE + 1);
    assert_int_equal(
        fs_changes_apply(mirror, (struct bytes){ bytes.data, (uint32_t)bytes.len }, &err),
        -ERR_INPUT);
    assert_non_null(strstr(err.text, "made-up contents behind its end"));
    buf_free(&bytes);
    case_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written), cmocka_unit_test(ends),    cmocka_unit_test(lost),
        cmocka_unit_test(largest), cmocka_unit_test(counted), cmocka_unit_test(mirrored),
        cmocka_unit_test(harmed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
