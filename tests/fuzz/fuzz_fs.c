/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations on live/fs without any sense: whatever they are, the file system stays whole, and one
 * that hears of the changes is the same.  Then changes that came from anywhere: they are refused,
 * or what they make is whole.
 *
 * Input: one byte (what to do), one byte (the configuration), then
 *
 *     0: 8 bytes for each operation
 *     1: the same; then the bytes of the changes are harmed by the last operations before they are
 *        applied
 *     2: changes as they are, for an empty file system */
#include "fs_config.h"
#include "fs_same.h"

enum { OPERATION = 8, OPERATIONS_MAX = 400, HARM_MAX = 16, LARGE = 70000 };

#define require(good) ((good) ? (void)0 : failed(#good))

static struct fs *fs, *mirror;
static uint32_t ticks;

static void failed(const char *what)
{
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

static struct nfstime3 now(void *ctx)
{
    (void)ctx;
    return (struct nfstime3){ 1000 + ticks / 3, 5 };
}

static struct fs *begin(uint8_t how)
{
    struct fs_config config = fs_config_of(how, now);

    return fs_new(&config, NULL);
}

/* Any object that is; the root if there is none of that number. */
static uint32_t object_of(uint8_t byte)
{
    uint32_t object = 1 + byte % 40;

    if (object >= fs->inodes.count || !fs_find(fs, object, fs_generation(fs, object)))
        return fs_root(fs);
    return object;
}

static struct bytes name_of(uint8_t byte)
{
    static uint8_t text[300];
    static const char *const names[] = { "a", "b", "c", ".", "..", "", "a/b", "d" };
    uint32_t len;

    if (byte < 200) { /* many, so that directories get tables */
        len = (uint32_t)snprintf((char *)text, sizeof(text), "%u", byte % 50);
        return (struct bytes){ text, len };
    }
    if (byte > 250) {
        memset(text, byte, sizeof(text));
        return (struct bytes){ text, byte == 255 ? 256 : 255 };
    }
    len = (uint32_t)strlen(names[byte % 8]);
    memcpy(text, names[byte % 8], len);
    return (struct bytes){ text, len };
}

static struct fs_caller caller_of(uint8_t byte)
{
    static const uint32_t gids[] = { 7, 9 };
    static const struct fs_caller callers[] = {
        { .uid = 0 },
        { .uid = 7, .gid = 7 },
        { .uid = 8, .gid = 8, .gid_count = 2, .gids = gids },
    };

    return callers[byte % 3];
}

static struct sattr3 sattr3_of(const uint8_t in[OPERATION])
{
    return (struct sattr3){
        .set_mode = in[4] & 1,
        .set_uid = in[4] & 2,
        .set_gid = in[4] & 4,
        .set_size = in[4] & 8,
        .set_atime = in[4] >> 4 & 3,
        .set_mtime = in[4] >> 6 & 3,
        .mode = (uint32_t)in[5] << 4 | 7,
        .uid = 7 + in[6] % 3,
        .gid = 7 + in[6] / 3 % 3,
        .size = in[7] & 128 ? UINT64_C(1) << (in[7] & 63) : in[7] * UINT64_C(600),
        .atime = { in[6], in[7] },
        .mtime = { in[7], in[6] },
    };
}

static void make_one(const struct fs_caller *caller, const uint8_t in[OPERATION])
{
    struct fs_new new_object = {
        .type = in[5] % 9, .how = in[6] % 4, .rdev = { in[6], in[7] }, .verifier = { in[7] }
    };
    static uint8_t text[300];
    uint32_t object;

    new_object.attributes = sattr3_of(in);
    memset(text, 'l', sizeof(text));
    new_object.link_text = (struct bytes){ text, in[7] };
    fs_make(fs, caller, object_of(in[2]), name_of(in[3]), &new_object, &object);
}

static void write_one(const struct fs_caller *caller, const uint8_t in[OPERATION])
{
    static uint8_t data[LARGE];
    uint64_t offset = in[4] & 128 ? (UINT64_C(1) << (in[4] & 63)) - in[5] : in[5] * UINT64_C(300);
    uint32_t len = in[6] & 128 ? (in[6] & 127) * 550u : in[6];

    memset(data, in[7] & 3 ? in[7] : 0, len);
    if (in[7] & 4 && len)
        data[len / 2] = 1;
    fs_write(fs, caller, object_of(in[2]), offset, (struct bytes){ data, len }, in[7] >> 3 & 3);
}

static void list_set(const struct fs_caller *caller, const uint8_t in[OPERATION])
{
    static const uint16_t tags[] = { FS_ACL_USER_OBJ, FS_ACL_USER,  FS_ACL_GROUP_OBJ, FS_ACL_GROUP,
                                     FS_ACL_MASK,     FS_ACL_OTHER, FS_ACL_USER,      0 };
    struct fs_acl_entry list[8];
    struct fs_acl_list lists[2];
    uint32_t count = 0;

    for (uint32_t i = 0; i < 8; i++)
        if (in[4] >> i & 1)
            list[count++] = (struct fs_acl_entry){ tags[i], (in[5] >> i | in[6] << (8 - i)) & 7,
                                                   i == 1 || i == 3 || i == 6 ? 7u + i % 3 : 0 };
    lists[0] = (struct fs_acl_list){ list, count };
    lists[1] = (struct fs_acl_list){ list + (in[7] >> 2) % (count + 1), 0 };
    lists[1].count = count - (uint32_t)(lists[1].entries - list);
    if (in[7] & 2) /* both, of which one may be wrong */
        fs_set_acl(fs, caller, object_of(in[2]), &lists[in[7] & 1], &lists[!(in[7] & 1)]);
    else
        fs_set_acl(fs, caller, object_of(in[2]), in[7] & 1 ? NULL : lists,
                   in[7] & 1 ? lists : NULL);
}

static int few(void *ctx, const struct fs_entry *entry)
{
    require(entry->name.len && entry->object);
    return !(*(uint8_t *)ctx)--;
}

static void look(const struct fs_caller *caller, const uint8_t in[OPERATION])
{
    static uint8_t data[LARGE];
    uint32_t object = object_of(in[2]), count = in[6] * 200u, found;
    uint8_t entries = in[5];
    struct buf path = { 0 };
    struct bytes text;
    bool eof;

    fs_lookup(fs, caller, object, name_of(in[3]), &found);
    fs_list(fs, caller, object, in[4], few, &entries, &eof);
    fs_read(fs, caller, object, in[4] * UINT64_C(500), data, &count, &eof);
    fs_readlink(fs, caller, object, &text);
    fs_access(fs, caller, object, in[7]);
    require(fs_path(fs, object, &path) == 0);
    buf_free(&path);
}

static void synchronize(void)
{
    const char *what = fs_mirror(fs, mirror);

    if (!what)
        what = fs_differ(fs, mirror);
    if (what)
        failed(what);
}

static void do_one(const uint8_t in[OPERATION])
{
    struct fs_caller caller = caller_of(in[1]);
    struct sattr3 set = sattr3_of(in);
    uint8_t name[256];
    struct bytes from = name_of(in[3]);

    ticks++;
    switch (in[0] % 16) {
    case 0 ... 4:
        make_one(&caller, in);
        break;
    case 5 ... 6:
        write_one(&caller, in);
        break;
    case 7:
        fs_setattr(fs, &caller, object_of(in[2]), &set, NULL);
        break;
    case 8:
        fs_remove(fs, &caller, object_of(in[2]), from, in[4] & 1);
        break;
    case 9 ... 10:
        memcpy(name, from.data, from.len > 255 ? 255 : from.len);
        from.data = name;
        from.len = from.len > 255 ? 255 : from.len;
        fs_rename(fs, &caller, object_of(in[2]), from, object_of(in[4]), name_of(in[5]));
        break;
    case 11:
        fs_link(fs, &caller, object_of(in[2]), object_of(in[4]), from);
        break;
    case 12:
        list_set(&caller, in);
        break;
    case 13:
        look(&caller, in);
        break;
    case 14:
        if (in[4] & 1)
            fs_commit(fs, &caller, object_of(in[2]), in[5] * 1000u, in[6] * 1000u);
        else if (in[4] & 2)
            fs_lose_unstable(fs);
        break;
    default:
        if (in[4] & 2)
            fs_set_fill(fs, object_of(in[2]), in[5], set.size);
        if (in[4] & 1)
            synchronize();
    }
}

/* Harms the bytes of changes as the operations say, and applies them. */
static void harmed(const uint8_t *data, size_t operations)
{
    struct buf bytes = { 0 };
    struct err err;

    require(fs_changes_encode(fs, &bytes, &err) == 0);
    for (size_t i = operations > HARM_MAX ? operations - HARM_MAX : 0; i < operations; i++) {
        const uint8_t *in = data + i * OPERATION;

        bytes.data[(in[0] << 16 | in[1] << 8 | in[2]) % bytes.len] = in[3];
        if (in[4] == 255)
            bytes.len -= in[5] % bytes.len;
    }
    if (fs_changes_apply(mirror, (struct bytes){ bytes.data, (uint32_t)bytes.len }, &err) == 0 &&
        fs_check(mirror, &err) < 0)
        failed(err.text);
    buf_free(&bytes);
}

/* A third one, which begins with everything that there is. */
static void from_nothing(uint8_t how)
{
    struct err err = { 0 };
    const char *what;

    fs_free(mirror);
    mirror = begin(how & ~FS_CONFIG_LITTLE);
    if (fs_changes_all(fs, &err) < 0)
        return; /* the bound on memory */
    what = fs_mirror(fs, mirror);
    if (!what)
        what = fs_differ(fs, mirror);
    if (what || fs_check(mirror, &err) < 0)
        failed(what ? what : err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { 0 };
    size_t operations = size < 2 ? 0 : (size - 2) / OPERATION;

    if (size < 2 || size > 1 << 16)
        return 0;
    if (operations > OPERATIONS_MAX)
        operations = OPERATIONS_MAX;
    ticks = 0;
    fs = begin(data[1]);
    mirror = begin(data[1] & ~FS_CONFIG_LITTLE);
    require(fs && mirror);
    if (data[0] % 3 == 2) {
        if (fs_changes_apply(mirror, (struct bytes){ data + 2, (uint32_t)size - 2 }, &err) == 0 &&
            fs_check(mirror, &err) < 0)
            failed(err.text);
    } else {
        for (size_t i = 0; i < operations; i++)
            do_one(data + 2 + i * OPERATION);
        if (fs_check(fs, &err) < 0)
            failed(err.text);
        if (data[0] % 3 == 1) {
            harmed(data + 2, operations);
        } else {
            synchronize();
            from_nothing(data[1]);
        }
    }
    fs_free(fs);
    fs_free(mirror);
    return 0;
}
