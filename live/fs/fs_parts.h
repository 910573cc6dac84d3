/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/fs_parts.h
 *
 * What the files of fs.h share.
 *
 * An operation goes in three steps: it looks whether it may and can; it gets room for all that it
 * needs (memory, space, changes), which may fail; it changes things, which cannot fail.
 */
#ifndef NFSDIGEST_FS_FS_PARTS_H
#define NFSDIGEST_FS_FS_PARTS_H

#include "base/pool.h"
#include "base/table.h"
#include "fs/contents.h"
#include "fs/directory.h"
#include "fs/fs.h"
#include "fs/memory.h"

enum { INODE_HAS_VERIFIER = 1 };
enum { INODE_NAME = 23 };
enum { PERMIT_READ = 4, PERMIT_WRITE = 2, PERMIT_EXECUTE = 1 }; /* as in modes */
enum { LINK_TEXT_FREE = 59 };                                   /* longer texts count as a page */

/* An access list, and a directory's for what is made in it, behind it; never changed but for the
 * permissions of the entries of the mode. */
struct acl {
    uint16_t count, default_count;
    struct fs_acl_entry entries[]; /* by tag, then id */
};

struct unstable; /* unstable.c */

struct inode {
    uint32_t generation;
    uint8_t type; /* enum ftype3; 0: free */
    uint8_t flags;
    uint16_t mode;
    uint32_t uid, gid;
    uint32_t nlink;
    uint32_t parent; /* a name: the entry |cookie| of this directory, 0: none is known.  Of a */
    uint64_t cookie; /* directory its only one; else that by which it was last found */
    uint64_t size;   /* of files and links */
    struct nfstime3 atime, mtime, ctime;
    union {
        struct specdata3 rdev;
        uint8_t verifier[NFS3_CREATEVERFSIZE]; /* of a file made EXCLUSIVE */
    };
    union {
        struct contents contents;    /* NF3REG */
        struct directory *directory; /* NF3DIR */
        uint8_t *text;               /* NF3LNK: |size| bytes */
        struct {
            uint32_t next, previous;
        } free;
    };
    struct acl *acl; /* NULL: the mode says all */
    struct unstable *unstable;
    uint8_t name_len; /* of the name |cookie| in |parent|; 0: it is longer than these: */
    uint8_t name[INODE_NAME];
};

_Static_assert(sizeof(struct inode) == 128, "two cache lines: the pool aligns it");

struct user {
    uint32_t uid;
    uint64_t pages, objects;
};

struct change {
    uint64_t key; /* of a name its cookie, of a page its number */
    uint32_t object;
    uint8_t kind; /* enum change_kind, changes_parts.h */
};

struct changes {
    struct change *list;
    uint32_t *places;    /* list index + 1, by hash; twice as many as |cap| */
    uint32_t count, cap; /* |cap|: a power of two */
};

struct fs {
    struct fs_config config;
    struct memory memory;
    struct pool inodes;
    uint32_t free_first, free_last; /* the longest free comes first */
    uint32_t live;                  /* objects */
    uint32_t nameless;              /* of these without a name; more than the root only inside of
                                     * fs_changes_apply */
    uint64_t names, pages;
    uint64_t seed; /* of hashes */
    struct nfstime3 last;
    struct user *users; /* only with quotas */
    uint32_t user_count, user_cap;
    struct table user_table;
    struct changes changes;
    struct unstable *unstable; /* files that have some */
};

enum { FS_ROOT = 1 };
enum { CHANGES_KEPT = 64 }; /* there is always room for so many, so that one can always remove */

static inline struct inode *inode_of(const struct fs *fs, uint32_t object)
{
    return pool_at(&fs->inodes, object);
}

static inline uint64_t fileid_of(const struct fs *fs, uint32_t object)
{
    return (uint64_t)inode_of(fs, object)->generation << 32 | object;
}

/* --- object.c */

/* An object with nothing but a generation: its type and all else is the caller's to fill in, and
 * to count in space.  |number| 0: any that is free, or a new one; another one must be free.  0: no
 * memory. */
uint32_t object_take(struct fs *fs, uint32_t number);
/* All numbers up to this one exist, if only as free ones.  0 or -ERR_SYSTEM. */
int object_reach(struct fs *fs, uint32_t number);
/* A free number is never used again. */
void object_retire(struct fs *fs, uint32_t number);
/* What it holds in memory. */
void inode_clear(struct fs *fs, struct inode *i);
/* An object without a name goes, and its number is free. */
void object_give(struct fs *fs, uint32_t object);
/* Counts the name in links, parents and counters; |entry| is in |dir| already, or not any more. */
void fs_object_named(struct fs *fs, uint32_t dir, const struct directory_entry *entry);
/* The object is known by this name from now on. */
void object_known(struct fs *fs, uint32_t dir, const struct directory_entry *entry);
void object_unnamed(struct fs *fs, uint32_t dir, const struct directory_entry *entry);
/* Pages that it counts for. */
uint32_t object_pages(const struct inode *i);
/* The time of this change: later than all before. */
struct nfstime3 fs_now(struct fs *fs);

/* --- names.c */

/* NFS3_OK: a directory where |caller| may look for this name. */
enum nfsstat3 name_may_seek(const struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                            struct bytes name);
bool name_is(struct bytes name, const char *text);
bool name_is_good(struct bytes name); /* of an entry */
/* NFS3ERR_NOSPC: there can be no more names. */
enum nfsstat3 name_room(struct fs *fs, uint32_t dir, struct bytes name);
/* Into that room. */
void name_add(struct fs *fs, uint32_t dir, struct bytes name, uint32_t object);
/* Takes the entry away, and its object if that was its last name. */
void name_take(struct fs *fs, uint32_t dir, const struct directory_entry *entry,
               struct nfstime3 now);
/* The directory's entries changed. */
void dir_changed(struct fs *fs, uint32_t dir, struct nfstime3 now);

/* --- permit.c */

bool permit(const struct inode *i, const struct fs_caller *caller, uint32_t rwx);
bool permit_is_in(const struct fs_caller *caller, uint32_t gid);
bool permit_is_owner(const struct inode *i, const struct fs_caller *caller);
/* Of READ and WRITE, which know no open files. */
bool permit_data(const struct inode *i, const struct fs_caller *caller, uint32_t rwx);
/* To take the name of |victim| out of |dir|. */
bool permit_take(const struct inode *dir, const struct inode *victim,
                 const struct fs_caller *caller);
/* The mode that is left when somebody else writes or owns it (POSIX chown, write). */
uint16_t permit_without_set_id(uint16_t mode);

/* --- acl.c */

size_t acl_size(const struct acl *acl); /* NULL: 0 */
void acl_give(struct memory *m, struct acl *acl);
/* Of an object with a list, for others than uid 0. */
bool acl_permits(const struct inode *i, const struct fs_caller *caller, uint32_t rwx);
/* What the mode of a good list with entries is. */
uint16_t acl_mode(struct fs_acl_entry *entries, uint32_t count);
/* After the mode was set: the list says the same. */
void acl_follow_mode(struct inode *i);
/* What is made in |dir| inherits: |*mode| as asked becomes what it is.  0, or -ERR_SYSTEM. */
int acl_inherit(struct memory *m, const struct inode *dir, enum ftype3 type, uint16_t *mode,
                struct acl **acl);
/* Whether the entries are in order and a list that POSIX allows (none: yes). */
bool acl_is_good(const struct fs_acl_entry *entries, uint32_t count);

/* --- space.c */

/* Whether |pages| and |objects| more are there for |uid|: NFS3ERR_NOSPC, NFS3ERR_DQUOT. */
enum nfsstat3 space_room(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects);
/* Only of another owner. */
enum nfsstat3 space_room_user(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects);
void space_take(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects);
void space_give(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects);
void space_move(struct fs *fs, uint32_t from, uint32_t to, uint64_t pages, uint32_t objects);
struct user *space_user(const struct fs *fs, uint32_t uid);

/* --- unstable.c */

/* Before |len| bytes at |offset| are written UNSTABLE: keeps what is there.  0 or -ERR_SYSTEM. */
int unstable_keep(struct fs *fs, uint32_t object, uint64_t offset, uint32_t len);
/* These bytes are stable (|len| 0: all to the end). */
void unstable_settle(struct fs *fs, uint32_t object, uint64_t offset, uint64_t len);
/* The file was cut, or became longer, by a change that is stable. */
void unstable_resize(struct fs *fs, uint32_t object, uint64_t size);
void unstable_forget(struct fs *fs, uint32_t object);

/* --- changes.c */

/* Room for |count| more; 0 or -ERR_SYSTEM.  Notes nothing when nobody wants changes. */
int changes_room(struct fs *fs, uint32_t count);
void changes_free(struct fs *fs);
void changed_object(struct fs *fs, uint32_t object); /* its attributes, that it is or is not */
void changed_name(struct fs *fs, uint32_t dir, uint64_t cookie);
void changed_pages(struct fs *fs, uint32_t object, uint64_t offset, uint32_t len);
void changed_size(struct fs *fs, uint32_t object, uint64_t size); /* it was cut to that */
void changed_acl(struct fs *fs, uint32_t object);
void changed_text(struct fs *fs, uint32_t object);
void changed_fill(struct fs *fs, uint32_t object);

#endif
