/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_fs_model.c
 *
 * Random operations on live/fs and on the naive model (fs_model.h): statuses, attributes, listings
 * and contents must be the same after each; and a mirror that hears only of changes, too.
 */
#include "fs_case.h"
#include "fs_model.h"

enum { SEEDS = 60, STEPS = 400 };

static uint64_t random_state;
static uint32_t number_of[MODEL_OBJECTS]; /* of the model's objects, those of the file system */

static uint32_t any(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

static const char *const names[] = { "a", "b", "c", "dd", "eee", ".", ".." };

static const char *any_name(void)
{
    return names[any(any(8) ? 5 : 7)];
}

static struct bytes text_of(const char *name)
{
    return (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) };
}

static int any_object(enum ftype3 type)
{
    for (int tries = 0; tries < 200; tries++) {
        int at = (int)any(MODEL_OBJECTS);

        if (model.object[at].is && (!type || model.object[at].a.type == type))
            return at;
    }
    return 0;
}

static int any_dir(void)
{
    return any_object(any(10) ? NF3DIR : 0);
}

static struct fs_caller any_caller(void)
{
    static const uint32_t gids[] = { 7, 9 };
    static const struct fs_caller callers[] = {
        { .uid = 0 },
        { .uid = 7, .gid = 7 },
        { .uid = 8, .gid = 8, .gid_count = 2, .gids = gids },
        { .uid = 9, .gid = 9 },
    };

    return callers[any(4)];
}

static uint32_t any_mode(void)
{
    static const uint32_t modes[] = { 0777, 0755, 0700, 0644, 0666, 02775, 01777, 06777, 0, 0111 };

    return modes[any(10)];
}

static struct sattr3 any_sattr3(bool calm)
{
    struct sattr3 to = { .mode = any_mode(),
                         .uid = 7 + any(3),
                         .gid = 7 + any(3),
                         .size = any(MODEL_SIZE),
                         .atime = { 5, any(100) },
                         .mtime = { 6, 7 } };

    to.set_mode = any(2) || calm;
    to.set_uid = !any(6);
    to.set_gid = !any(6);
    to.set_size = !any(calm ? 8 : 3);
    to.set_atime = any(8) ? 0 : 1 + any(2);
    to.set_mtime = any(8) ? 0 : 1 + any(2);
    return to;
}

static enum nfsstat3 expected, got;
static char did[200];

#define DID(...) snprintf(did, sizeof(did), __VA_ARGS__)

static void make_one(const struct fs_caller *c)
{
    static const uint8_t types[] = {
        NF3REG, NF3REG, NF3REG, NF3DIR, NF3DIR, NF3LNK, NF3FIFO, NF3CHR
    };
    struct fs_new n = { .type = types[any(8)],
                        .attributes = any_sattr3(true),
                        .rdev = { any(3), 4 } };
    int dir = any_dir(), object = -1;
    const char *name = any_name();
    uint32_t made = 0;
    uint8_t text[64];

    memset(text, 't', sizeof(text));
    n.link_text = (struct bytes){ text, any(4) ? 3 : 62 };
    n.how = n.type == NF3REG ? any(3) : 0;
    n.verifier[0] = (uint8_t)any(3);
    DID("make type %d how %d in %d: %s", n.type, n.how, dir, name);
    expected = model_make(c, dir, name, &n, &object);
    got = fs_make(fs, c, number_of[dir], text_of(name), &n, &made);
    if (got != NFS3_OK || expected != NFS3_OK)
        return;
    if (model.object[object].is && !number_of[object])
        number_of[object] = made;
    assert_int_equal(number_of[object], made);
}

static void write_one(const struct fs_caller *c)
{
    static uint8_t data[3 * 4096];
    int object = any_object(any(10) ? NF3REG : 0);
    uint64_t offset = any(2) ? any(MODEL_SIZE) : any(MODEL_PAGES) * UINT64_C(4096);
    uint32_t len = any(2) ? any(sizeof(data)) : any(100);

    if (offset + len > MODEL_SIZE)
        len = (uint32_t)(MODEL_SIZE - offset);
    memset(data, any(4) ? 'a' + (int)any(20) : 0, len);
    if (len && !any(3))
        data[any(len)] = 'Z';
    DID("write %d: %u at %llu", object, len, (unsigned long long)offset);
    expected = model_write(c, object, offset, (struct bytes){ data, len });
    got = fs_write(fs, c, number_of[object], offset, (struct bytes){ data, len }, FILE_SYNC);
}

static void lookup_one(const struct fs_caller *c)
{
    int dir = any_dir(), object = -1;
    const char *name = any_name();
    uint32_t found = 0;

    DID("lookup in %d: %s", dir, name);
    expected = model_lookup(c, dir, name, &object);
    got = fs_lookup(fs, c, number_of[dir], text_of(name), &found);
    if (expected == NFS3_OK && got == NFS3_OK)
        assert_int_equal(found, number_of[object]);
}

static void do_one(void)
{
    struct fs_caller c = any_caller();
    int dir = any_dir(), other = any_dir(), object = any_object(0);
    const char *name = any_name(), *to = any_name();
    struct sattr3 set = any_sattr3(false);
    bool directory = any(3) == 0;

    switch (any(16)) {
    case 0 ... 4:
        make_one(&c);
        break;
    case 5 ... 7:
        write_one(&c);
        break;
    case 8:
        DID("setattr %d", object);
        expected = model_setattr(&c, object, &set);
        got = fs_setattr(fs, &c, number_of[object], &set, NULL);
        break;
    case 9 ... 10:
        DID("remove %d in %d: %s", directory, dir, name);
        expected = model_remove(&c, dir, name, directory);
        got = fs_remove(fs, &c, number_of[dir], text_of(name), directory);
        break;
    case 11 ... 12:
        DID("rename in %d: %s to %d: %s", dir, name, other, to);
        expected = model_rename(&c, dir, name, other, to);
        got = fs_rename(fs, &c, number_of[dir], text_of(name), number_of[other], text_of(to));
        break;
    case 13:
        DID("link %d in %d: %s", object, dir, name);
        expected = model_link(&c, object, dir, name);
        got = fs_link(fs, &c, number_of[object], number_of[dir], text_of(name));
        break;
    case 14:
        DID("fill %d", object);
        expected = model_set_fill(object, set.mode, set.size);
        got = fs_set_fill(fs, number_of[object], set.mode, set.size);
        break;
    default:
        lookup_one(&c);
    }
}

/* --- comparing */

static int list_one(void *ctx, const struct fs_entry *entry)
{
    struct buf *to = ctx;
    char text[80];
    int len = snprintf(text, sizeof(text), "%llu:%.*s=%u ", (unsigned long long)entry->cookie,
                       (int)entry->name.len, (const char *)entry->name.data, entry->object);

    return buf_append(to, text, (size_t)len);
}

static void model_listing(int dir, struct buf *to)
{
    struct fs_entry entry = { number_of[dir], 0, 1, text_of(".") };

    list_one(to, &entry);
    entry = (struct fs_entry){ number_of[model_parent(dir)], 0, 2, text_of("..") };
    list_one(to, &entry);
    for (uint64_t cookie = 3; cookie <= model.object[dir].last_cookie; cookie++)
        for (int i = 0; i < MODEL_NAMES; i++)
            if (model.name[i].is && model.name[i].dir == dir && model.name[i].cookie == cookie) {
                entry = (struct fs_entry){ number_of[model.name[i].object], 0, cookie,
                                           text_of(model.name[i].name) };
                list_one(to, &entry);
            }
}

static void compare_listing(int dir)
{
    struct fs_caller root = { 0 };
    struct buf a = { 0 }, b = { 0 };
    bool eof;

    assert_int_equal(fs_list(fs, &root, number_of[dir], 0, list_one, &a, &eof), NFS3_OK);
    model_listing(dir, &b);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    assert_true(eof);
    buf_free(&a);
    buf_free(&b);
}

static void compare_object(int object)
{
    static uint8_t data[MODEL_SIZE + 1];
    const struct model_object *o = &model.object[object];
    struct fattr3 is, should = model_attributes(object);
    struct fs_caller root = { 0 };
    uint32_t count = sizeof(data);
    struct bytes text;
    bool eof;

    fs_attributes(fs, number_of[object], &is);
    should.fileid = is.fileid;
    if (!same_attributes(&is, &should))
        fail_msg("attributes of %d after %s: mode %o %o, nlink %u %u, size %d %d, used %d %d, "
                 "ctime %u %u, mtime %u %u",
                 object, did, is.mode, should.mode, is.nlink, should.nlink, (int)is.size,
                 (int)should.size, (int)is.used, (int)should.used, is.ctime.seconds,
                 should.ctime.seconds, is.mtime.seconds, should.mtime.seconds);
    if (is.type == NF3DIR)
        compare_listing(object);
    if (is.type == NF3REG) {
        assert_int_equal(fs_read(fs, &root, number_of[object], 0, data, &count, &eof), NFS3_OK);
        assert_int_equal(count, o->a.size);
        assert_memory_equal(data, o->data, count);
    }
    if (is.type == NF3LNK) {
        assert_int_equal(fs_readlink(fs, &root, number_of[object], &text), NFS3_OK);
        assert_memory_equal(text.data, o->text, text.len);
    }
}

static void compare_all(void)
{
    struct err err = { 0 };
    const char *what;

    if (got != expected)
        fail_msg("%s: %s, but the model says %s", did, case_status(got), case_status(expected));
    for (int i = 0; i < MODEL_OBJECTS; i++)
        if (model.object[i].is)
            compare_object(i);
        else if (number_of[i]) {
            assert_int_equal(fs_type(fs, number_of[i]), 0);
            number_of[i] = 0;
        }
    if (fs_check(fs, &err) < 0)
        fail_msg("%s: %s", did, err.text);
    what = fs_mirror(fs, mirror);
    what = what ? what : fs_differ(fs, mirror);
    if (what || fs_check(mirror, &err) < 0)
        fail_msg("%s: mirror: %s", did, what ? what : err.text);
}

static struct nfstime3 model_now(void *ctx)
{
    (void)ctx;
    return model.now;
}

static void as_the_model(void **state)
{
    static uint32_t statuses[100];

    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct fs_config config = { .root_mode = 01777, .no_atime = true, .objects = 40 };

        if (seed % 3 == 1)
            config.capacity = 20 * 4096;
        if (seed % 3 == 2) {
            config.user_capacity = 8 * 4096;
            config.user_objects = 8;
        }
        random_state = seed;
        case_begin(config);
        fs->config.now = mirror->config.now = model_now;
        model_begin(&config, (struct nfstime3){ 1000, 5 });
        memset(number_of, 0, sizeof(number_of));
        number_of[0] = 1;
        for (uint32_t step = 1; step <= STEPS; step++) {
            model.now = (struct nfstime3){ 1000 + step, step };
            do_one();
            statuses[got < 100 ? got : 99]++;
            compare_all();
        }
        case_end();
    }
    /* it went through all of these */
    for (size_t i = 0; i < 11; i++) {
        static const uint8_t met[] = { NFS3_OK,       NFS3ERR_PERM,    NFS3ERR_NOENT,
                                       NFS3ERR_ACCES, NFS3ERR_EXIST,   NFS3ERR_NOTDIR,
                                       NFS3ERR_ISDIR, NFS3ERR_INVAL,   NFS3ERR_NOSPC,
                                       NFS3ERR_DQUOT, NFS3ERR_NOTEMPTY };

        if (!statuses[met[i]])
            fail_msg("never met %s", case_status(met[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_the_model) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
