/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/fs_case.h
 *
 * A file system told by lines, each with what must come out:
 *
 *     "7 create d/f 644 = OK"     who (uid, also its gid, or UID+GROUP+...), what, result
 *
 * Paths are found by root, from the root; in names "@N" stands for N letters.  After each line the
 * file system must be whole, and a second one that hears only of changes must be the same.
 */
#ifndef NFSDIGEST_TESTS_FS_CASE_H
#define NFSDIGEST_TESTS_FS_CASE_H

#include "fs_same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS_MAX = 12, OUT = 8192, NAME_ROOM = 600 };

static struct fs *fs, *mirror;
static struct fs_config case_config;
static uint32_t case_time;

static struct nfstime3 case_now(void *ctx)
{
    (void)ctx;
    return (struct nfstime3){ 1000 + case_time, 5 };
}

static inline void case_begin(struct fs_config config)
{
    struct err err = { 0 };

    config.now = case_now;
    config.changes = true;
    if (!config.root_mode)
        config.root_mode = 0777;
    case_config = config;
    case_time = 0;
    fs = fs_new(&config, &err);
    mirror = fs_new(&config, &err);
    assert_non_null(fs);
    assert_non_null(mirror);
}

static inline void case_end(void)
{
    fs_free(fs);
    fs_free(mirror);
    fs = mirror = NULL;
}

static struct words {
    char text[4096];
    char *word[WORDS_MAX];
    int count;
} case_words;

static inline void case_split(const char *line)
{
    struct words *w = &case_words;
    char *at = w->text;

    assert_true(strlen(line) < sizeof(w->text));
    memcpy(w->text, line, strlen(line) + 1);
    for (w->count = 0; *at && w->count < WORDS_MAX;) {
        w->word[w->count++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = 0;
    }
    for (int i = w->count; i < WORDS_MAX; i++)
        w->word[i] = at;
}

static inline uint64_t number(const char *word)
{
    return strtoull(word, NULL, 0);
}

static inline struct fs_caller case_caller(const char *word)
{
    static uint32_t gids[16];
    struct fs_caller caller = { .gids = gids };
    char *at;

    caller.uid = caller.gid = (uint32_t)strtoul(word, &at, 10);
    while (*at == '+')
        gids[caller.gid_count++] = (uint32_t)strtoul(at + 1, &at, 10);
    return caller;
}

/* The last name of a path, and the directory of it; 0: there is none. */
static inline uint32_t case_place(const char *path, char name[NAME_ROOM], struct bytes *last)
{
    struct fs_caller root = { 0 };
    uint32_t dir = fs_root(fs);

    for (;;) {
        size_t len = strcspn(path, "/");

        if (*path == '@') {
            last->len = (uint32_t)strtoul(path + 1, NULL, 10);
            memset(name, 'x', last->len);
        } else {
            memcpy(name, path, len);
            last->len = (uint32_t)len;
        }
        last->data = (const uint8_t *)name;
        if (!path[len])
            return dir;
        if (fs_lookup(fs, &root, dir, *last, &dir) != NFS3_OK)
            return 0;
        path += len + 1;
    }
}

static inline uint32_t case_find(const char *path)
{
    struct fs_caller root = { 0 };
    char name[NAME_ROOM];
    struct bytes last;
    uint32_t dir, object = 0;

    if (!strcmp(path, "/"))
        return fs_root(fs);
    dir = case_place(path, name, &last);
    return dir && fs_lookup(fs, &root, dir, last, &object) == NFS3_OK ? object : 0;
}

static inline const char *case_status(enum nfsstat3 status)
{
    static char text[32];
    static const struct {
        enum nfsstat3 status;
        const char *name;
    } names[] = {
        { NFS3_OK, "OK" },
        { NFS3ERR_PERM, "PERM" },
        { NFS3ERR_NOENT, "NOENT" },
        { NFS3ERR_ACCES, "ACCES" },
        { NFS3ERR_EXIST, "EXIST" },
        { NFS3ERR_NOTDIR, "NOTDIR" },
        { NFS3ERR_ISDIR, "ISDIR" },
        { NFS3ERR_INVAL, "INVAL" },
        { NFS3ERR_FBIG, "FBIG" },
        { NFS3ERR_NOSPC, "NOSPC" },
        { NFS3ERR_MLINK, "MLINK" },
        { NFS3ERR_NAMETOOLONG, "NAMETOOLONG" },
        { NFS3ERR_NOTEMPTY, "NOTEMPTY" },
        { NFS3ERR_DQUOT, "DQUOT" },
        { NFS3ERR_STALE, "STALE" },
        { NFS3ERR_NOT_SYNC, "NOT_SYNC" },
        { NFS3ERR_BAD_COOKIE, "BAD_COOKIE" },
        { NFS3ERR_NOTSUPP, "NOTSUPP" },
        { NFS3ERR_BADTYPE, "BADTYPE" },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].status == status)
            return names[i].name;
    snprintf(text, sizeof(text), "status %d", status);
    return text;
}

/* --- what lines may say; each writes its result to |out| */

struct line {
    struct fs_caller caller;
    char **arg; /* behind the operation; as many as there are, then empty ones */
    const char *op;
    char *out;
    char name[2][NAME_ROOM];
    struct bytes last;
    uint32_t dir; /* of arg[0] */
};

static inline void say(struct line *l, enum nfsstat3 status)
{
    snprintf(l->out, OUT, "%s", case_status(status));
}

static inline struct nfstime3 a_time(const char *word)
{
    const char *point = strchr(word, '.');

    return (struct nfstime3){ (uint32_t)number(word), point ? (uint32_t)number(point + 1) : 0 };
}

static inline void set_one(struct sattr3 *to, const char *word)
{
    const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : word;
    uint32_t how = strcmp(value, "now") ? SET_TO_CLIENT_TIME : SET_TO_SERVER_TIME;

    if (!strncmp(word, "mode=", 5))
        to->set_mode = true, to->mode = (uint32_t)strtoul(value, NULL, 8);
    else if (!strncmp(word, "uid=", 4))
        to->set_uid = true, to->uid = (uint32_t)number(value);
    else if (!strncmp(word, "gid=", 4))
        to->set_gid = true, to->gid = (uint32_t)number(value);
    else if (!strncmp(word, "size=", 5))
        to->set_size = true, to->size = number(value);
    else if (!strncmp(word, "atime=", 6))
        to->set_atime = how, to->atime = a_time(value);
    else if (!strncmp(word, "mtime=", 6))
        to->set_mtime = how, to->mtime = a_time(value);
}

static inline void do_make(struct line *l)
{
    static const struct {
        const char *op;
        uint32_t type, how;
    } kinds[] = { { "create", NF3REG, UNCHECKED },
                  { "guarded", NF3REG, GUARDED },
                  { "excl", NF3REG, EXCLUSIVE },
                  { "mkdir", NF3DIR, 0 },
                  { "symlink", NF3LNK, 0 },
                  { "fifo", NF3FIFO, 0 },
                  { "sock", NF3SOCK, 0 },
                  { "chr", NF3CHR, 0 },
                  { "blk", NF3BLK, 0 },
                  { "bad", 8, 0 } };
    struct fs_new new_object = { 0 };
    char many[5000];
    uint32_t object;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (!strcmp(kinds[i].op, l->op)) {
            new_object.type = kinds[i].type;
            new_object.how = kinds[i].how;
        }
    if (new_object.how == EXCLUSIVE)
        memcpy(new_object.verifier, l->arg[1], strnlen(l->arg[1], 8));
    for (int i = 1; i < 6; i++)
        set_one(&new_object.attributes, l->arg[i]);
    new_object.link_text = (struct bytes){ (uint8_t *)l->arg[1], (uint32_t)strlen(l->arg[1]) };
    if (l->arg[1][0] == '@') {
        memset(many, 't', sizeof(many));
        new_object.link_text = (struct bytes){ (uint8_t *)many, (uint32_t)number(l->arg[1] + 1) };
    }
    new_object.rdev =
        (struct specdata3){ (uint32_t)number(l->arg[2]), (uint32_t)number(l->arg[3]) };
    say(l, fs_make(fs, &l->caller, l->dir, l->last, &new_object, &object));
}

static inline void do_remove(struct line *l)
{
    say(l, fs_remove(fs, &l->caller, l->dir, l->last, !strcmp(l->op, "rmdir")));
}

static inline void do_rename(struct line *l)
{
    struct bytes to;
    uint32_t dir = case_place(l->arg[1], l->name[1], &to);

    say(l, fs_rename(fs, &l->caller, l->dir, l->last, dir, to));
}

static inline void do_link(struct line *l)
{
    struct bytes to;
    uint32_t dir = case_place(l->arg[1], l->name[1], &to);

    say(l, fs_link(fs, &l->caller, case_find(l->arg[0]), dir, to));
}

static inline void do_lookup(struct line *l)
{
    uint32_t object;

    say(l, fs_lookup(fs, &l->caller, l->dir, l->last, &object));
}

static inline void do_write(struct line *l)
{
    static uint8_t many[1 << 20];
    struct bytes data = { (uint8_t *)l->arg[2], (uint32_t)strlen(l->arg[2]) };

    if (*l->arg[2] == '@' || *l->arg[2] == '0') {
        data = (struct bytes){ many, (uint32_t)number(l->arg[2] + 1) };
        memset(many, *l->arg[2] == '0' ? 0 : 'w', data.len);
    }
    say(l, fs_write(fs, &l->caller, case_find(l->arg[0]), number(l->arg[1]), data,
                    *l->arg[3] ? UNSTABLE : FILE_SYNC));
}

/* "OK text" or "OK text eof"; zeros are shown as "." */
static inline void do_read(struct line *l)
{
    uint8_t data[512];
    uint32_t count = (uint32_t)number(l->arg[2]);
    bool eof;
    enum nfsstat3 status =
        fs_read(fs, &l->caller, case_find(l->arg[0]), number(l->arg[1]), data, &count, &eof);

    say(l, status);
    if (status != NFS3_OK)
        return;
    for (uint32_t i = 0; i < count; i++)
        data[i] = data[i] ? data[i] : '.';
    snprintf(l->out, OUT, "OK %.*s%s", (int)count, (char *)data, eof ? " eof" : "");
}

static inline void do_set(struct line *l)
{
    struct sattr3 to = { 0 };
    struct nfstime3 guard;
    bool guarded = false;

    for (int i = 1; i < 8 && *l->arg[i]; i++)
        if (!strncmp(l->arg[i], "guard=", 6)) {
            guard = a_time(l->arg[i] + 6);
            guarded = true;
        } else {
            set_one(&to, l->arg[i]);
        }
    say(l, fs_setattr(fs, &l->caller, case_find(l->arg[0]), &to, guarded ? &guard : NULL));
}

static inline void do_access(struct line *l)
{
    static const char letters[] = "rlmedx";
    uint32_t granted = fs_access(fs, &l->caller, case_find(l->arg[0]), 0x3f);

    for (int i = 0; letters[i]; i++)
        if (granted >> i & 1)
            *l->out++ = letters[i];
    *l->out = 0;
}

static inline void do_stat(struct line *l)
{
    static const char types[] = "?-dbclsp";
    struct fattr3 a;
    uint32_t object = case_find(l->arg[0]);

    if (!object) {
        say(l, NFS3ERR_NOENT);
        return;
    }
    fs_attributes(fs, object, &a);
    if (!strcmp(l->op, "times"))
        snprintf(l->out, OUT, "%d %d %d", (int)a.atime.seconds - 1000, (int)a.mtime.seconds - 1000,
                 (int)a.ctime.seconds - 1000);
    else if (!strcmp(l->op, "used"))
        snprintf(l->out, OUT, "%llu", (unsigned long long)a.used);
    else if (!strcmp(l->op, "rdev"))
        snprintf(l->out, OUT, "%u %u", a.rdev.specdata1, a.rdev.specdata2);
    else
        snprintf(l->out, OUT, "%c %o %u %u %u %llu", types[a.type], a.mode, a.nlink, a.uid, a.gid,
                 (unsigned long long)a.size);
}

static inline int list_name(void *ctx, const struct fs_entry *entry)
{
    char *out = ctx;
    size_t len = strlen(out);

    snprintf(out + len, OUT - len, "%s%.*s", len ? "," : "", (int)entry->name.len,
             (const char *)entry->name.data);
    return 0;
}

static inline void do_list(struct line *l)
{
    bool eof;
    enum nfsstat3 status =
        fs_list(fs, &l->caller, case_find(l->arg[0]), number(l->arg[1]), list_name, l->out, &eof);

    if (status != NFS3_OK)
        say(l, status);
}

static inline void do_readlink(struct line *l)
{
    struct bytes text;
    enum nfsstat3 status = fs_readlink(fs, &l->caller, case_find(l->arg[0]), &text);

    say(l, status);
    if (status == NFS3_OK)
        snprintf(l->out, OUT, "%.*s", (int)text.len, (const char *)text.data);
}

static inline void do_commit(struct line *l)
{
    say(l, fs_commit(fs, &l->caller, case_find(l->arg[0]), number(l->arg[1]),
                     (uint32_t)number(l->arg[2])));
}

static inline void do_lose(struct line *l)
{
    say(l, fs_lose_unstable(fs));
}

static inline void do_path(struct line *l)
{
    struct buf path = { 0 };

    assert_int_equal(fs_path(fs, case_find(l->arg[0]), &path), 0);
    snprintf(l->out, OUT, "%.*s", (int)path.len, (const char *)path.data);
    buf_free(&path);
}

static inline void do_space(struct line *l)
{
    struct fs_space s;

    fs_space(fs, &l->caller, &s);
    snprintf(l->out, OUT, "%llu/%llu/%llu %llu/%llu/%llu", (unsigned long long)s.total_bytes,
             (unsigned long long)s.free_bytes, (unsigned long long)s.available_bytes,
             (unsigned long long)s.total_objects, (unsigned long long)s.free_objects,
             (unsigned long long)s.available_objects);
}

/* "u:rwx u5:r-x g:r-- g6:rw- m:rwx o:---" with "," between; "-": none */
static const struct {
    char letter;
    uint16_t unnamed, named;
} acl_tags[] = { { 'u', FS_ACL_USER_OBJ, FS_ACL_USER },
                 { 'g', FS_ACL_GROUP_OBJ, FS_ACL_GROUP },
                 { 'm', FS_ACL_MASK, 0 },
                 { 'o', FS_ACL_OTHER, 0 } };

static inline uint32_t acl_of(const char *text, struct fs_acl_entry *list)
{
    uint32_t count = 0;

    for (const char *at = text; *at && *at != '-'; at += *at == ',') {
        struct fs_acl_entry *e = &list[count++];
        char *end;

        *e = (struct fs_acl_entry){ .id = (uint32_t)strtoul(at + 1, &end, 10) };
        for (size_t i = 0; i < sizeof(acl_tags) / sizeof(*acl_tags); i++)
            if (acl_tags[i].letter == *at)
                e->tag = end == at + 1 ? acl_tags[i].unnamed : acl_tags[i].named;
        for (at = end + 1; *at && *at != ','; at++)
            e->permissions |= *at == 'r' ? 4 : *at == 'w' ? 2 : *at == 'x' ? 1 : 0;
    }
    return count;
}

/* "setacl FILE LIST", "setdefault DIR LIST", "setboth DIR LIST LIST": access list, then defaults */
static inline void do_setacl(struct line *l)
{
    static struct fs_acl_entry entries[2][FS_ACL_MAX];
    struct fs_acl_list access = { entries[0], 0 }, defaults = { entries[1], 0 };
    bool one = !strcmp(l->op, "setacl"), both = !strcmp(l->op, "setboth");

    if (one || both)
        access.count = acl_of(l->arg[1], entries[0]);
    if (!one)
        defaults.count = acl_of(l->arg[both ? 2 : 1], entries[1]);
    say(l, fs_set_acl(fs, &l->caller, case_find(l->arg[0]), one || both ? &access : NULL,
                      one ? NULL : &defaults));
}

static inline void do_acl(struct line *l)
{
    static struct fs_acl_entry list[FS_ACL_MAX];
    uint32_t count;
    size_t len = 0;

    fs_acl(fs, &l->caller, case_find(l->arg[0]), !strcmp(l->op, "default"), list, &count);
    snprintf(l->out, OUT, "-");
    for (uint32_t e = 0; e < count; e++)
        for (size_t i = 0; i < sizeof(acl_tags) / sizeof(*acl_tags); i++)
            if (list[e].tag == acl_tags[i].unnamed || list[e].tag == acl_tags[i].named) {
                uint32_t p = list[e].permissions;
                char id[16] = "";

                if (list[e].tag == acl_tags[i].named)
                    snprintf(id, sizeof(id), "%u", list[e].id);
                len += (size_t)snprintf(l->out + len, OUT - len, "%s%c%s:%c%c%c", e ? "," : "",
                                        acl_tags[i].letter, id, p & 4 ? 'r' : '-',
                                        p & 2 ? 'w' : '-', p & 1 ? 'x' : '-');
            }
}

/* Runs one line; |number| of it for messages. */
static inline void case_line(const char *line, int number_of)
{
    static const struct {
        const char *ops;
        void (*act)(struct line *l);
    } acts[] = { { " create guarded excl mkdir symlink fifo sock chr blk bad ", do_make },
                 { " remove rmdir ", do_remove },
                 { " rename ", do_rename },
                 { " link ", do_link },
                 { " lookup ", do_lookup },
                 { " write ", do_write },
                 { " read ", do_read },
                 { " set ", do_set },
                 { " access ", do_access },
                 { " stat times used rdev ", do_stat },
                 { " list ", do_list },
                 { " readlink ", do_readlink },
                 { " commit ", do_commit },
                 { " lose ", do_lose },
                 { " path ", do_path },
                 { " space ", do_space },
                 { " setacl setdefault setboth ", do_setacl },
                 { " acl default ", do_acl } };
    static char out[OUT];
    const char *expected = strstr(line, " = "), *what;
    char op[32], front[2048];
    struct line l = { .out = out };
    struct err err = { 0 };

    assert_non_null(expected);
    snprintf(front, sizeof(front), "%.*s", (int)(expected - line), line);
    case_split(front);
    case_time++;
    l.caller = case_caller(case_words.word[0]);
    l.op = case_words.word[1];
    l.arg = case_words.word + 2;
    if (*l.arg[0])
        l.dir = case_place(l.arg[0], l.name[0], &l.last);
    snprintf(op, sizeof(op), " %s ", l.op);
    snprintf(out, sizeof(out), "no such operation");
    for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
        if (strstr(acts[i].ops, op)) {
            *out = 0;
            acts[i].act(&l);
        }
    if (strcmp(out, expected + 3))
        fail_msg("line %d: %s\n  but: %s", number_of, line, out);
    if (fs_check(fs, &err) < 0)
        fail_msg("line %d: %s\n  is not whole: %s", number_of, line, err.text);
    what = fs_mirror(fs, mirror);
    what = what ? what : fs_differ(fs, mirror);
    if (what || fs_check(mirror, &err) < 0)
        fail_msg("line %d: %s\n  mirror: %s", number_of, line, what ? what : err.text);
}

/* Runs lines on a new file system. */
static inline void case_run(const char *const *lines, size_t count, struct fs_config config)
{
    case_begin(config);
    for (size_t i = 0; i < count; i++)
        case_line(lines[i], (int)i + 1);
    case_end();
}

#define RUN(lines, ...)                                                                            \
    case_run((lines), sizeof(lines) / sizeof(*(lines)), (struct fs_config){ __VA_ARGS__ })

#endif
