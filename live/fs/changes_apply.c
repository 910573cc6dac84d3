/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/changes_apply.c
 *
 * Makes a file system what another one was (changes.h).  The bytes may come from anywhere: every
 * step looks whether it can be done.  Steps go by kind, not by record, so that the order of records
 * does not matter: names go, objects go and come, contents and attributes are set, names come.
 */
#include "fs/changes_parts.h"

#include <stdlib.h>

enum { NSEC = 1000000000, CLIMBS_MOST = 16 };

struct reader {
    const uint8_t *at;
    size_t left;
    bool failed;
};

struct applying {
    struct fs *fs;
    struct err *err;
    uint32_t records, object;
    uint32_t numbers; /* of objects that there were before */
    uint32_t climbs;  /* directories whose way up was looked at */
    struct inode *i;  /* NULL: the object is not */
    struct reader body;
};

struct descriptor {
    uint32_t generation, type, flags, mode, nlink, uid, gid, data[2];
    uint64_t size, last_cookie;
    struct nfstime3 atime, mtime, ctime;
};

/* --- reading */

static const uint8_t *take(struct reader *r, size_t len)
{
    const uint8_t *at = r->at;

    if (r->failed || r->left < len) {
        r->failed = true;
        return NULL;
    }
    r->at += len;
    r->left -= len;
    return at;
}

static uint32_t u32(struct reader *r)
{
    const uint8_t *at = take(r, 4);

    return at ? load_be32(at) : 0;
}

static uint64_t u64(struct reader *r)
{
    const uint8_t *at = take(r, 8);

    return at ? load_be64(at) : 0;
}

static struct bytes opaque(struct reader *r)
{
    uint32_t len = u32(r);
    const uint8_t *at = take(r, ((size_t)len + 3) & ~(size_t)3);

    return at ? (struct bytes){ at, len } : (struct bytes){ 0 };
}

static struct nfstime3 time_of(struct reader *r)
{
    struct nfstime3 time = { u32(r), 0 };

    time.nseconds = u32(r);
    if (time.nseconds >= NSEC)
        r->failed = true;
    return time;
}

static struct descriptor descriptor_of(struct reader *r)
{
    struct descriptor d = { .generation = u32(r) };

    d.type = u32(r);
    d.flags = u32(r);
    d.mode = u32(r);
    d.nlink = u32(r);
    d.uid = u32(r);
    d.gid = u32(r);
    d.size = u64(r);
    d.data[0] = u32(r);
    d.data[1] = u32(r);
    d.atime = time_of(r);
    d.mtime = time_of(r);
    d.ctime = time_of(r);
    d.last_cookie = u64(r);
    if (d.type > NF3FIFO || d.mode > MODE_ALL || d.size > FS_SIZE_MAX ||
        d.last_cookie > DIRECTORY_COOKIE_MAX || d.flags > INODE_HAS_VERIFIER)
        r->failed = true;
    return d;
}

static int bad(const struct applying *a, const char *what)
{
    return err_set(a->err, ERR_INPUT, "changes of object %u: %s", a->object, what);
}

static int no_memory(const struct applying *a)
{
    return err_memory(a->err, "changes of a file system");
}

/* --- the steps */

static int names_go(struct applying *a)
{
    struct directory_entry entry;
    uint64_t cookie = u64(&a->body);

    if (!a->i || a->i->type != NF3DIR || !directory_at(a->i->directory, cookie, &entry))
        return 0;
    directory_remove(&a->fs->memory, a->i->directory, cookie);
    object_unnamed(a->fs, a->object, &entry);
    return 0;
}

static int begin(struct applying *a, const struct descriptor *d)
{
    struct directory *directory = NULL;

    if (d->type == NF3DIR &&
        !(directory = directory_new(&a->fs->memory, &a->fs->inodes, a->fs->seed)))
        return no_memory(a);
    if (space_room_user(a->fs, d->uid, 0, 0) == NFS3ERR_NOSPC) {
        directory_free(&a->fs->memory, directory);
        return no_memory(a);
    }
    object_take(a->fs, a->object);
    a->i->generation = d->generation;
    a->i->type = (uint8_t)d->type;
    a->i->uid = d->uid;
    space_take(a->fs, d->uid, 0, 1);
    if (directory) {
        a->i->directory = directory;
        a->i->nlink = 2;
    }
    return 0;
}

static int objects_go_and_come(struct applying *a)
{
    struct descriptor d = descriptor_of(&a->body);
    struct fs *fs = a->fs;

    if (a->body.failed)
        return bad(a, "no such attributes");
    if (!a->object || a->object >= a->numbers + (uint64_t)a->records)
        return bad(a, "too high a number");
    if (object_reach(fs, a->object) < 0)
        return no_memory(a);
    a->i = inode_of(fs, a->object);
    if (a->i->type && a->i->type == d.type && a->i->generation == d.generation)
        return 0;
    if (a->i->type) {
        if (a->i->type == d.type && a->object == FS_ROOT)
            return bad(a, "another root");
        if (a->object == FS_ROOT ||
            (a->i->type == NF3DIR ? a->i->parent || a->i->directory->count : a->i->nlink))
            return bad(a, "it goes, but has names");
        object_give(fs, a->object);
    }
    if (!a->i->generation && (d.type || d.generation))
        return bad(a, "a number that cannot be used again");
    if (d.type)
        return d.generation ? begin(a, &d) : bad(a, "no generation");
    a->i->generation = d.generation ? d.generation : a->i->generation;
    if (!d.generation && a->i->generation)
        object_retire(fs, a->object);
    return 0;
}

static int sizes_cut(struct applying *a)
{
    uint64_t size = u64(&a->body);

    if (a->i && a->i->type == NF3REG && size < a->i->size) {
        uint32_t pages = a->i->contents.pages;

        contents_cut(&a->fs->memory, &a->i->contents, size);
        space_give(a->fs, a->i->uid, pages - a->i->contents.pages, 0);
        a->i->size = size;
    }
    return 0;
}

static int texts_come(struct applying *a)
{
    struct bytes text = opaque(&a->body);

    if (!a->i || a->i->type != NF3LNK)
        return 0;
    if (!text.len || text.len > FS_LINK_TEXT_MAX || memchr(text.data, 0, text.len))
        return bad(a, "no such text");
    if (a->i->text)
        return a->i->size == text.len && !memcmp(a->i->text, text.data, text.len)
                   ? 0
                   : bad(a, "another text of the same link");
    a->i->text = memory_take(&a->fs->memory, text.len);
    if (!a->i->text)
        return no_memory(a);
    memcpy(a->i->text, text.data, text.len);
    a->i->size = text.len;
    space_take(a->fs, a->i->uid, object_pages(a->i), 0);
    return 0;
}

static int acls_come(struct applying *a)
{
    uint32_t count = u32(&a->body), defaults = u32(&a->body);
    struct acl size = { 0 }, *acl = NULL;

    if (!a->i)
        return 0;
    if (count > FS_ACL_MAX || defaults > FS_ACL_MAX ||
        (count && (count < 4 || a->i->type == NF3LNK)) || (defaults && a->i->type != NF3DIR) ||
        a->body.left != (size_t)12 * (count + defaults))
        return bad(a, "no such access list");
    if (count + defaults) {
        size.count = (uint16_t)count;
        size.default_count = (uint16_t)defaults;
        acl = memory_take(&a->fs->memory, acl_size(&size));
        if (!acl)
            return no_memory(a);
        *acl = size;
        for (uint32_t e = 0; e < count + defaults; e++) {
            uint32_t tag = u32(&a->body), permissions = u32(&a->body);

            acl->entries[e] =
                (struct fs_acl_entry){ tag > UINT16_MAX ? 0 : (uint16_t)tag,
                                       permissions > 7 ? 8 : (uint16_t)permissions, u32(&a->body) };
        }
        if (!acl_is_good(acl->entries, count) || !acl_is_good(acl->entries + count, defaults)) {
            acl_give(&a->fs->memory, acl);
            return bad(a, "no such access list");
        }
    }
    acl_give(&a->fs->memory, a->i->acl);
    a->i->acl = acl;
    acl_follow_mode(a->i);
    return 0;
}

static int attributes_come(struct applying *a)
{
    struct descriptor d = descriptor_of(&a->body);
    struct inode *i = a->i;

    if (!i)
        return 0;
    if (i->type == NF3DIR && d.last_cookie < i->directory->last_cookie)
        return bad(a, "cookies that were used");
    if (i->type != NF3REG && (d.flags || (i->type == NF3LNK && d.size != i->size)))
        return bad(a, "attributes of another type");
    if (space_room_user(a->fs, d.uid, 0, 0) == NFS3ERR_NOSPC)
        return no_memory(a);
    if (d.uid != i->uid)
        space_move(a->fs, i->uid, d.uid, object_pages(i), 1);
    if (i->type == NF3REG && d.size < i->size) {
        uint32_t pages = i->contents.pages;

        contents_cut(&a->fs->memory, &i->contents, d.size);
        space_give(a->fs, d.uid, pages - i->contents.pages, 0);
    }
    if (i->type == NF3REG)
        i->size = d.size;
    if (i->type == NF3DIR)
        i->directory->last_cookie = d.last_cookie;
    i->flags = (uint8_t)d.flags;
    i->mode = (uint16_t)d.mode;
    i->uid = d.uid;
    i->gid = d.gid;
    i->rdev = (struct specdata3){ d.data[0], d.data[1] };
    i->atime = d.atime;
    i->mtime = d.mtime;
    i->ctime = d.ctime;
    acl_follow_mode(i);
    return 0;
}

static int names_come(struct applying *a)
{
    struct directory_entry entry = { 0 }, other;
    struct fs *fs = a->fs;
    const struct inode *of;

    entry.cookie = u64(&a->body);
    entry.object = u32(&a->body);
    entry.name = opaque(&a->body);
    if (!entry.object)
        return 0;
    if (!a->i || a->i->type != NF3DIR || entry.object >= fs->inodes.count)
        return bad(a, "a name of nothing");
    of = inode_of(fs, entry.object);
    if (!of->type || (of->type == NF3DIR && of->parent))
        return bad(a, "a name of what is not, or has another one");
    if (!name_is_good(entry.name) || entry.cookie < DIRECTORY_FIRST_COOKIE ||
        entry.cookie > a->i->directory->last_cookie ||
        directory_at(a->i->directory, entry.cookie, &other) ||
        directory_find(a->i->directory, entry.name, &other))
        return bad(a, "a name that cannot be");
    if (directory_reserve(&fs->memory, a->i->directory, entry.cookie, entry.name.len) < 0)
        return no_memory(a);
    directory_add(a->i->directory, &entry);
    fs_object_named(fs, a->object, &entry);
    return 0;
}

static int backgrounds_come(struct applying *a)
{
    uint64_t key = u64(&a->body), end = u64(&a->body);

    if (!a->i || a->i->type != NF3REG)
        return 0;
    if (end > a->i->size)
        return bad(a, "made-up contents behind its end");
    return contents_fill(&a->fs->memory, &a->i->contents, key, end) < 0 ? no_memory(a) : 0;
}

static int pages_come(struct applying *a)
{
    uint64_t index = u64(&a->body), start = index * FS_PAGE, used;
    uint32_t there = u32(&a->body);
    struct bytes data = opaque(&a->body);
    struct contents_spare spare;
    uint8_t page[FS_PAGE] = { 0 };
    struct inode *i = a->i;

    if (!i || i->type != NF3REG)
        return 0;
    if (!there) {
        uint32_t pages = i->contents.pages;

        contents_drop(&a->fs->memory, &i->contents, index);
        space_give(a->fs, i->uid, pages - i->contents.pages, 0);
        return 0;
    }
    if (index > FS_SIZE_MAX / FS_PAGE || start >= i->size)
        return bad(a, "a page behind its end");
    used = i->size - start < FS_PAGE ? i->size - start : FS_PAGE;
    if (data.len > used)
        return bad(a, "bytes behind its end");
    if (data.len)
        memcpy(page, data.data, data.len);
    data = (struct bytes){ page, (uint32_t)used };
    if (contents_prepare(&a->fs->memory, &i->contents, start, data, true, &spare) < 0)
        return no_memory(a);
    space_take(a->fs, i->uid, spare.count, 0);
    contents_put(&i->contents, start, data, &spare);
    return 0;
}

static int links_are_right(struct applying *a)
{
    struct descriptor d = descriptor_of(&a->body);

    if (!a->i)
        return 0;
    if (a->i->nlink != d.nlink || (a->i->type == NF3LNK && !a->i->text))
        return bad(a, "its number of names, or no text");
    return 0;
}

/* A circle has a directory that got its name now, and all of its directories have others in them.
 * Of many directories all_lead_up looks. */
static int no_circle(struct applying *a)
{
    const struct fs *fs = a->fs;
    uint32_t object, at, left = fs->live;

    u64(&a->body);
    at = object = u32(&a->body);
    if (!object || inode_of(fs, object)->type != NF3DIR || inode_of(fs, object)->nlink <= 2 ||
        ++a->climbs > CLIMBS_MOST)
        return 0;
    while (at && at != FS_ROOT && left--)
        at = inode_of(fs, at)->parent;
    return at == FS_ROOT ? 0 : bad(a, "directories in a circle");
}

/* --- all of them */

static const struct {
    uint8_t kind;
    int (*step)(struct applying *a);
} steps[] = {
    { CHANGED_NAME, names_go },   { CHANGED_OBJECT, objects_go_and_come },
    { CHANGED_SIZE, sizes_cut },  { CHANGED_TEXT, texts_come },
    { CHANGED_ACL, acls_come },   { CHANGED_OBJECT, attributes_come },
    { CHANGED_NAME, names_come }, { CHANGED_FILL, backgrounds_come },
    { CHANGED_PAGE, pages_come }, { CHANGED_OBJECT, links_are_right },
    { CHANGED_NAME, no_circle },
};

/* Runs |step| over all records of its kind; without one only looks whether they are whole. */
static int run(struct applying *a, struct reader in, uint8_t kind, int (*step)(struct applying *))
{
    for (uint32_t r = 0; r < a->records; r++) {
        uint32_t this_kind = u32(&in);
        struct bytes body;

        a->object = u32(&in);
        body = opaque(&in);
        if (in.failed || !this_kind || this_kind >= CHANGED_END)
            return bad(a, "a record that is cut, or of no kind");
        if (!step || this_kind != kind)
            continue;
        a->body = (struct reader){ body.data, body.len, false };
        a->i = a->object && a->object < a->fs->inodes.count ? inode_of(a->fs, a->object) : NULL;
        if (a->i && !a->i->type)
            a->i = NULL;
        if (step(a) < 0)
            return -a->err->code;
        if (a->body.failed)
            return bad(a, "a record that is cut");
    }
    return in.left ? bad(a, "bytes behind the last record") : 0;
}

/* Every directory's way up must end at the root: marks those of which that is known. */
static int all_lead_up(struct applying *a)
{
    const struct fs *fs = a->fs;
    uint8_t *marks = calloc(fs->inodes.count, 1);
    int status = marks ? 0 : no_memory(a);

    for (uint32_t object = 1; marks && !status && object < fs->inodes.count; object++) {
        uint32_t at = object;

        if (inode_of(fs, object)->type != NF3DIR)
            continue;
        for (; at && at != FS_ROOT && !marks[at]; at = inode_of(fs, at)->parent)
            marks[at] = 1; /* on this way */
        if (!at || marks[at] == 1)
            status = bad(a, "directories in a circle");
        for (at = object; at && at != FS_ROOT && marks[at] == 1; at = inode_of(fs, at)->parent)
            marks[at] = 2;
    }
    free(marks);
    return status;
}

int fs_changes_apply(struct fs *fs, struct bytes from, struct err *err)
{
    struct err own;
    struct reader in = { from.data, from.len, false };
    struct applying a = { .fs = fs, .err = err ? err : &own, .numbers = fs->inodes.count };
    uint32_t magic = u32(&in);
    struct nfstime3 last = time_of(&in);

    a.records = u32(&in);
    if (in.failed || magic != CHANGES_MAGIC)
        return err_set(a.err, ERR_INPUT, "changes of a file system: bytes that are something else");
    if (run(&a, in, 0, NULL) < 0)
        return -a.err->code;
    for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++)
        if (run(&a, in, steps[s].kind, steps[s].step) < 0)
            return -a.err->code;
    if (a.climbs > CLIMBS_MOST && all_lead_up(&a) < 0)
        return -a.err->code;
    if (fs->nameless)
        return err_set(a.err, ERR_INPUT, "changes of a file system: an object without a name");
    if (last.seconds > fs->last.seconds ||
        (last.seconds == fs->last.seconds && last.nseconds > fs->last.nseconds))
        fs->last = last;
    return 0;
}
