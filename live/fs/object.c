/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/object.c
 *
 * Objects: their numbers and generations, what they are made of, and what fs.h tells about them.
 * Numbers that are free wait in a queue, so that one is used again as late as possible.
 */
#include "fs/fs_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { NSEC = 1000000000, ENTRY_TOLD = 32 /* bytes of a directory's size */ };

static bool pool_room(const struct fs *fs)
{
    return fs->inodes.count < fs->inodes.chunk_count * (uint32_t)POOL_CHUNK ||
           memory_allows(&fs->memory, POOL_CHUNK * sizeof(struct inode));
}

static void free_append(struct fs *fs, uint32_t object)
{
    struct inode *i = inode_of(fs, object);

    i->free.next = 0;
    i->free.previous = fs->free_last;
    if (fs->free_last)
        inode_of(fs, fs->free_last)->free.next = object;
    else
        fs->free_first = object;
    fs->free_last = object;
}

static void free_unlink(struct fs *fs, uint32_t object)
{
    struct inode *i = inode_of(fs, object);

    if (i->free.previous)
        inode_of(fs, i->free.previous)->free.next = i->free.next;
    else
        fs->free_first = i->free.next;
    if (i->free.next)
        inode_of(fs, i->free.next)->free.previous = i->free.previous;
    else
        fs->free_last = i->free.previous;
    i->free.next = i->free.previous = 0;
}

/* A number that was never used, with the first generation. */
static uint32_t object_new(struct fs *fs)
{
    uint32_t chunks = fs->inodes.chunk_count, object = pool_room(fs) ? pool_new(&fs->inodes) : 0;

    if (fs->inodes.chunk_count > chunks)
        fs->memory.used += POOL_CHUNK * sizeof(struct inode);
    if (object)
        inode_of(fs, object)->generation = fs->config.first_generation;
    return object;
}

uint32_t object_take(struct fs *fs, uint32_t number)
{
    uint32_t object = number ? number : fs->free_first;

    if (object)
        free_unlink(fs, object);
    else
        object = object_new(fs);
    if (!object)
        return 0;
    fs->live++;
    fs->nameless++;
    return object;
}

int object_reach(struct fs *fs, uint32_t number)
{
    while (fs->inodes.count <= number) {
        uint32_t object = object_new(fs);

        if (!object)
            return -ERR_SYSTEM;
        free_append(fs, object);
    }
    return 0;
}

void object_retire(struct fs *fs, uint32_t number)
{
    free_unlink(fs, number);
    inode_of(fs, number)->generation = 0;
}

void inode_clear(struct fs *fs, struct inode *i)
{
    if (i->type == NF3REG)
        contents_cut(&fs->memory, &i->contents, 0);
    else if (i->type == NF3DIR)
        directory_free(&fs->memory, i->directory);
    else if (i->type == NF3LNK)
        memory_give(&fs->memory, i->text, i->size);
    acl_give(&fs->memory, i->acl);
}

void object_give(struct fs *fs, uint32_t object)
{
    struct inode *i = inode_of(fs, object);
    uint32_t generation = i->generation;

    unstable_forget(fs, object);
    space_give(fs, i->uid, object_pages(i), 1);
    inode_clear(fs, i);
    *i = (struct inode){ .generation = generation + 1 };
    fs->live--;
    fs->nameless--;
    if (i->generation) /* else all were used */
        free_append(fs, object);
}

void object_known(struct fs *fs, uint32_t dir, const struct directory_entry *entry)
{
    struct inode *i = inode_of(fs, entry->object);

    i->parent = dir;
    i->cookie = entry->cookie;
    i->name_len = entry->name.len <= INODE_NAME ? (uint8_t)entry->name.len : 0;
    memcpy(i->name, entry->name.data, i->name_len);
}

void fs_object_named(struct fs *fs, uint32_t dir, const struct directory_entry *entry)
{
    struct inode *i = inode_of(fs, entry->object);

    fs->nameless -= i->type == NF3DIR ? !i->parent : !i->nlink;
    fs->names++;
    if (i->type == NF3DIR)
        inode_of(fs, dir)->nlink++;
    else
        i->nlink++;
    object_known(fs, dir, entry);
}

void object_unnamed(struct fs *fs, uint32_t dir, const struct directory_entry *entry)
{
    struct inode *i = inode_of(fs, entry->object);

    fs->names--;
    if (i->type == NF3DIR)
        inode_of(fs, dir)->nlink--;
    else
        i->nlink--;
    if (i->parent == dir && i->cookie == entry->cookie)
        i->parent = 0;
    fs->nameless += i->type == NF3DIR ? !i->parent : !i->nlink;
}

uint32_t object_pages(const struct inode *i)
{
    if (i->type == NF3LNK)
        return i->size > LINK_TEXT_FREE;
    return i->type == NF3REG ? i->contents.pages : 0;
}

/* --- the file system as one */

static bool is_later(struct nfstime3 a, struct nfstime3 b)
{
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.nseconds > b.nseconds;
}

struct nfstime3 fs_now(struct fs *fs)
{
    struct nfstime3 now;

    if (fs->config.now) {
        now = fs->config.now(fs->config.ctx);
    } else {
        struct timespec t = { 0 };

        clock_gettime(CLOCK_REALTIME, &t);
        now = (struct nfstime3){ (uint32_t)t.tv_sec, (uint32_t)t.tv_nsec };
    }
    if (!is_later(now, fs->last)) {
        now = fs->last;
        if (++now.nseconds >= NSEC)
            now = (struct nfstime3){ now.seconds + 1, 0 };
    }
    fs->last = now;
    return now;
}

static int make_root(struct fs *fs)
{
    struct directory *directory = directory_new(&fs->memory, &fs->inodes, fs->seed);
    uint32_t root = directory ? object_take(fs, 0) : 0;
    struct inode *i = inode_of(fs, root);

    if (!root) {
        directory_free(&fs->memory, directory);
        return -ERR_SYSTEM;
    }
    i->type = NF3DIR;
    i->directory = directory;
    i->mode = fs->config.root_mode & MODE_ALL;
    i->nlink = 2;
    i->uid = fs->config.root_uid;
    i->gid = fs->config.root_gid;
    i->atime = i->mtime = i->ctime = fs_now(fs);
    i->parent = root; /* without an entry */
    fs->nameless--;
    space_take(fs, i->uid, 0, 1);
    return 0;
}

struct fs *fs_new(const struct fs_config *config, struct err *err)
{
    struct fs *fs = calloc(1, sizeof(*fs));

    if (!fs) {
        err_memory(err, "the file system");
        return NULL;
    }
    fs->config = *config;
    fs->memory.most = config->memory;
    if (!fs->config.first_generation)
        fs->config.first_generation = 1;
    if (!fs->config.objects || fs->config.objects > INT32_MAX)
        fs->config.objects = INT32_MAX;
    if (getrandom(&fs->seed, sizeof(fs->seed), GRND_NONBLOCK) != sizeof(fs->seed))
        fs->seed = (uintptr_t)fs ^ (uint64_t)time(NULL) << 20;
    if (pool_init(&fs->inodes, sizeof(struct inode)))
        fs->memory.used += POOL_CHUNK * sizeof(struct inode);
    if (!fs->inodes.chunk_count || changes_room(fs, CHANGES_KEPT) < 0 ||
        space_room_user(fs, config->root_uid, 0, 0) != NFS3_OK || make_root(fs) < 0) {
        fs_free(fs);
        err_memory(err, "the file system");
        return NULL;
    }
    return fs;
}

void fs_free(struct fs *fs)
{
    if (!fs)
        return;
    for (uint32_t object = 1; object < fs->inodes.count; object++)
        if (inode_of(fs, object)->type)
            object_give(fs, object);
    pool_free(&fs->inodes);
    free(fs->users);
    table_free(&fs->user_table);
    changes_free(fs);
    free(fs);
}

uint64_t fs_memory(const struct fs *fs)
{
    return fs->memory.used;
}

/* --- what fs.h tells of an object */

uint32_t fs_root(const struct fs *fs)
{
    (void)fs;
    return FS_ROOT;
}

uint32_t fs_generation(const struct fs *fs, uint32_t object)
{
    return inode_of(fs, object)->generation;
}

uint32_t fs_find(const struct fs *fs, uint32_t object, uint32_t generation)
{
    const struct inode *i;

    if (!object || object >= fs->inodes.count)
        return 0;
    i = inode_of(fs, object);
    return i->type && i->generation == generation ? object : 0;
}

enum ftype3 fs_type(const struct fs *fs, uint32_t object)
{
    return inode_of(fs, object)->type;
}

static uint64_t size_of(const struct inode *i)
{
    return i->type == NF3DIR ? (i->directory->count + UINT64_C(2)) * ENTRY_TOLD : i->size;
}

/* Contents that are made up are told as if they were kept: some clients take files without any
 * bytes for holes, and do not read them. */
static uint64_t used_of(const struct inode *i)
{
    uint64_t used = (uint64_t)object_pages(i) * FS_PAGE, key, end;

    end = i->type == NF3REG ? contents_filled(&i->contents, &key) : 0;
    end = (end + FS_PAGE - 1) / FS_PAGE * FS_PAGE;
    return end > used ? end : used;
}

void fs_attributes(const struct fs *fs, uint32_t object, struct fattr3 *to)
{
    const struct inode *i = inode_of(fs, object);

    *to = (struct fattr3){
        .type = i->type,
        .mode = i->mode,
        .nlink = i->nlink,
        .uid = i->uid,
        .gid = i->gid,
        .size = size_of(i),
        .used = used_of(i),
        .fsid = fs->config.fsid,
        .fileid = fileid_of(fs, object),
        .atime = i->atime,
        .mtime = i->mtime,
        .ctime = i->ctime,
    };
    if (i->type == NF3BLK || i->type == NF3CHR)
        to->rdev = i->rdev;
}

void fs_before(const struct fs *fs, uint32_t object, struct wcc_attr *to)
{
    const struct inode *i = inode_of(fs, object);

    *to = (struct wcc_attr){ size_of(i), i->mtime, i->ctime };
}

uint32_t fs_parent(const struct fs *fs, uint32_t directory)
{
    const struct inode *i = inode_of(fs, directory);

    return i->type == NF3DIR ? i->parent : 0;
}
