/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: testlib -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* tests/unit/test_fs_memory.c
 *
 * live/fs without memory: each allocation of a long day fails once.  The operation must then say
 * NFS3ERR_NOSPC, must not have changed anything, and must work when it is tried again.  And the
 * bound on memory, and how much a file takes.
 */
#include "fs_case.h"

static bool counting;
static uint32_t said_no_space;
static uint64_t allocations, refused; /* |refused|: the number of the one that fails, 0: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool fails(void)
{
    return counting && ++allocations == refused;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* --- the day: step by step; returns NFS3ERR_NOENT at its end */

static const struct fs_caller me = { .uid = 7, .gid = 7 };
static uint8_t data[300000];

static struct bytes name_of(char text[16], uint32_t n)
{
    return (struct bytes){ (uint8_t *)text, (uint32_t)snprintf(text, 16, "name-%u", n) };
}

static enum nfsstat3 make(enum ftype3 type, uint32_t dir, uint32_t n, uint32_t *object)
{
    struct fs_new new_object = { .type = type,
                                 .attributes = { .set_mode = true, .mode = 0755 },
                                 .link_text = { data, 100 } };
    char text[16];

    return fs_make(fs, &me, dir, name_of(text, n), &new_object, object);
}

static enum nfsstat3 act(uint32_t step)
{
    static const struct fs_acl_entry list[] = { { FS_ACL_USER_OBJ, 7, 0 },
                                                { FS_ACL_USER, 5, 9 },
                                                { FS_ACL_GROUP_OBJ, 5, 0 },
                                                { FS_ACL_MASK, 7, 0 },
                                                { FS_ACL_OTHER, 5, 0 } };
    static const struct fs_acl_list both = { list, 5 };
    static const struct {
        uint64_t offset;
        uint32_t len;
    } writes[] = { { 0, 10 },          { 60, 10 },           { 4000, 200 },
                   { 100000, 300000 }, { 1ull << 40, 5000 }, { 0, 8192 },
                   { 20000, 1 } };
    static uint32_t dir, file;
    char text[16], text2[16];
    uint32_t object;

    if (step == 0)
        return make(NF3DIR, 1, 0, &dir);
    if (step == 1)
        return fs_set_acl(fs, &me, dir, &both, &both);
    if (step < 1200)
        return make(step % 3 ? NF3REG : step % 2 ? NF3LNK : NF3DIR, dir, step, &object);
    if (step == 1200)
        return make(NF3REG, 1, 1, &file);
    if (step < 1208)
        return fs_write(fs, &me, file, writes[step - 1201].offset,
                        (struct bytes){ data, writes[step - 1201].len }, UNSTABLE);
    if (step == 1208)
        return fs_set_acl(fs, &me, file, &both, NULL);
    if (step < 1250)
        return fs_rename(fs, &me, dir, name_of(text, step - 1200), 1, name_of(text2, step));
    if (step < 1290)
        return fs_link(fs, &me, file, 1, name_of(text, step));
    if (step == 1290)
        return fs_lose_unstable(fs);
    if (step == 1291)
        return fs_setattr(fs, &(struct fs_caller){ 0 }, file,
                          &(struct sattr3){ .set_uid = true, .uid = 77 }, NULL);
    if (step == 1292)
        return fs_set_fill(fs, file, 5, UINT64_C(1) << 40);
    if (step == 1293)
        return fs_write(fs, &(struct fs_caller){ 0 }, file, UINT64_C(1) << 39,
                        (struct bytes){ data, 5000 }, UNSTABLE);
    if (step == 1294)
        return fs_lose_unstable(fs);
    if (step < 2400)
        return fs_remove(fs, &me, dir, name_of(text, step - 1200),
                         !((step - 1200) % 3) && !((step - 1200) % 2));
    return NFS3ERR_NOENT;
}

static enum nfsstat3 act_counted(uint32_t step)
{
    enum nfsstat3 status;

    case_time++;
    counting = true;
    status = act(step);
    counting = false;
    return status;
}

static const struct fs_config day = { .keep_unstable = true,
                                      .user_objects = 100000,
                                      .user_capacity = 1 << 30 };

/* The day again, whose |refused|th allocation fails; false: it has not so many. */
static bool day_fails_once(struct fs *whole)
{
    struct err err = { 0 };
    bool failed = false;

    case_begin(day);
    allocations = 0;
    for (uint32_t step = 0; step < 2400; step++) {
        uint64_t before = allocations;
        enum nfsstat3 status = act_counted(step);

        if (before < refused && allocations >= refused) {
            failed = true;
            if (status == NFS3ERR_NOSPC) {
                assert_int_equal(fs_check(fs, &err), 0);
                said_no_space++;
                refused = UINT64_MAX;
                case_time--;
                status = act_counted(step);
            }
        }
        if (status != NFS3_OK && !(step >= 1291 && status == NFS3ERR_NOENT))
            fail_msg("step %u: %s", step, case_status(status));
    }
    assert_int_equal(fs_check(fs, &err), 0);
    if (whole && fs_differ(fs, whole))
        fail_msg("%s", fs_differ(fs, whole));
    return failed;
}

static void each_fails_once(void **state)
{
    struct fs *whole;
    uint64_t all, step = 1;

    (void)state;
    memset(data, 'd', sizeof(data));
    refused = UINT64_MAX;
    day_fails_once(NULL);
    all = allocations;
    assert_true(all > 500);
    whole = fs;
    fs_free(mirror);
    for (uint64_t n = 1; n <= all; n += step) {
        refused = n;
        assert_true(day_fails_once(whole));
        case_end();
        step = n < 100 ? 1 : 7;
    }
    fs_free(whole);
    assert_true(said_no_space > 150); /* the others were for what can be left undone */
}

/* fs_new itself, the set of changes, and applying it */
static void mirrors_fail(void **state)
{
    struct fs_config config = { .root_mode = 0777, .changes = true };
    struct err err;
    struct buf bytes = { 0 };
    int status = -1;

    (void)state;
    refused = UINT64_MAX;
    day_fails_once(NULL);
    assert_int_equal(fs_changes_all(fs, &err), 0);
    assert_int_equal(fs_changes_encode(fs, &bytes, &err), 0);
    for (uint64_t n = 1; status; n += n < 200 ? 1 : 97) {
        struct fs *to;

        allocations = 0;
        refused = n;
        counting = true;
        to = fs_new(&config, &err);
        status = to ? fs_changes_apply(to, (struct bytes){ bytes.data, (uint32_t)bytes.len }, &err)
                    : -ERR_SYSTEM;
        counting = false;
        assert_true(status == 0 || status == -ERR_SYSTEM);
        fs_free(to);
    }
    buf_free(&bytes);
    case_end();
}

static void bounded(void **state)
{
    struct err err = { 0 };
    uint32_t object, n = 0;
    enum nfsstat3 status;

    (void)state;
    refused = 0;
    case_begin((struct fs_config){ .memory = 2 << 20 });
    while ((status = make(NF3REG, 1, n, &object)) == NFS3_OK) {
        n++;
        fs_changes_clear(fs);
    }
    assert_int_equal(status, NFS3ERR_NOSPC);
    assert_true(n > 5000);
    assert_true(fs_memory(fs) <= 2 << 20);
    assert_int_equal(fs_check(fs, &err), 0);
    /* what goes can come again */
    for (uint32_t i = 0; i < n; i++) {
        char text[16];

        assert_int_equal(fs_remove(fs, &me, 1, name_of(text, i), false), NFS3_OK);
        fs_changes_clear(fs);
    }
    assert_int_equal(make(NF3REG, 1, n, &object), NFS3_OK);
    fs_changes_clear(fs);
    assert_int_equal(fs_write(fs, &me, object, 0, (struct bytes){ data, 300000 }, FILE_SYNC),
                     NFS3_OK);
    case_end();
}

/* Everything that was counted is given back, and a small file takes what fs.h says. */
static void counted(void **state)
{
    struct fs_config config = { .root_mode = 0777 };
    uint64_t empty, full;
    uint32_t object;

    (void)state;
    fs = fs_new(&config, NULL);
    empty = fs_memory(fs);
    for (uint32_t n = 0; n < 100000; n++) {
        char text[32];
        struct fs_new new_object = { .type = NF3REG };
        struct bytes name = { (uint8_t *)text, (uint32_t)snprintf(text, sizeof(text), "%020u", n) };

        assert_int_equal(fs_make(fs, &me, 1, name, &new_object, &object), NFS3_OK);
    }
    full = fs_memory(fs);
    assert_true((full - empty) / 100000 <= 200);
    for (uint32_t n = 0; n < 100000; n++) {
        char text[32];
        struct bytes name = { (uint8_t *)text, (uint32_t)snprintf(text, sizeof(text), "%020u", n) };

        assert_int_equal(fs_remove(fs, &me, 1, name, false), NFS3_OK);
    }
    /* the numbers stay, and some room for spans */
    assert_true(fs_memory(fs) - empty <= 100 * POOL_CHUNK * sizeof(struct inode) + 65536);
    fs_free(fs);
    fs = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fails_once),
        cmocka_unit_test(mirrors_fail),
        cmocka_unit_test(bounded),
        cmocka_unit_test(counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
