/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/fs.h
 *
 * A file system in memory with the operations of NFSv3 (RFC 1813 s3.3) and the rules of POSIX.
 * One thread.  No sockets, no messages: whoever serves it decodes requests, finds objects by
 * their handles and encodes what it returns.
 *
 * An object is a number from 1 on; 0 is none.  A number is used again when its object is gone, with
 * another generation: the pair never comes twice.  Every function takes objects that fs_find, or
 * another function, gave since the last change.
 *
 * Functions of type |enum nfsstat3| change nothing unless they return NFS3_OK.  When memory, the
 * configured capacity or a quota is used up they return NFS3ERR_NOSPC or NFS3ERR_DQUOT; the file
 * system stays whole.  A status is one that RFC 1813 lists for the procedure; where the RFC leaves
 * a choice, or lists none that fits, that of Linux's server.
 *
 * With |changes|, every operation notes what it changed (changes.h), so that it can be made the
 * same elsewhere before the client hears of it.
 *
 * Memory: at most 300 bytes for an empty file with a name of 20 bytes, its entry included; 4 KiB
 * for each page of contents that is not all zeros, less for small files; of sparse files up to
 * 4 KiB more a page.  Contents that are made up (fs_set_fill) take 32 bytes a file.
 */
#ifndef NFSDIGEST_FS_FS_H
#define NFSDIGEST_FS_FS_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/nfs3_structs.h"

enum { FS_NAME_MAX = 255, FS_LINK_TEXT_MAX = 4095, FS_LINK_MAX = 65000, FS_PAGE = 4096 };
#define FS_SIZE_MAX ((uint64_t)INT64_MAX)

struct fs;

struct fs_config {
    uint64_t fsid;
    uint64_t capacity; /* bytes of contents; 0: 1 TiB is told, memory is the bound */
    uint64_t objects;  /* how many, and how many names; 0: 2^31 - 1 */
    uint64_t user_capacity, user_objects; /* of each uid but 0; 0: no quota */
    uint64_t memory;                      /* bytes of all that is kept; 0: until malloc refuses */
    uint32_t
        first_generation; /* of all numbers; 0: 1.  Another one a start makes old handles stale */
    uint32_t root_mode, root_uid, root_gid;
    bool
        keep_unstable; /* so that fs_lose_unstable can bring the past back: costs copies of pages */
    bool no_atime;     /* reading does not change access times */
    bool changes;      /* note them; whoever asks for this takes them (changes.h) */
    /* The time of an operation; NULL: CLOCK_REALTIME.  Times of changes grow even where it does
     * not. */
    struct nfstime3 (*now)(void *ctx);
    void *ctx;
};

/* After squashing.  uid 0 may do everything but what root may not (remove a directory that is not
 * empty, ...). */
struct fs_caller {
    uint32_t uid, gid, gid_count;
    const uint32_t *gids;
};

struct fs *fs_new(const struct fs_config *config, struct err *err);
void fs_free(struct fs *fs);
uint64_t fs_memory(const struct fs *fs); /* bytes kept now */

/* --- objects */

uint32_t fs_root(const struct fs *fs);
uint32_t fs_generation(const struct fs *fs, uint32_t object);
/* The object, or 0: there is none of this generation any more.  Takes any numbers. */
uint32_t fs_find(const struct fs *fs, uint32_t object, uint32_t generation);
enum ftype3 fs_type(const struct fs *fs, uint32_t object);
void fs_attributes(const struct fs *fs, uint32_t object, struct fattr3 *to);
void fs_before(const struct fs *fs, uint32_t object, struct wcc_attr *to);
/* Of a directory, its own parent; the root's is the root.  Of another object: 0. */
uint32_t fs_parent(const struct fs *fs, uint32_t directory);
/* A path from the root, for messages and fault rules: of a file by the name that it was last found
 * or made by; when that name is gone, "(object N)".  Returns 0 or -ERR_SYSTEM. */
int fs_path(const struct fs *fs, uint32_t object, struct buf *to);

/* --- asking */

enum nfsstat3 fs_lookup(struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                        struct bytes name, uint32_t *object);
/* Those of |wanted| (ACCESS3_...) that are granted. */
uint32_t fs_access(const struct fs *fs, const struct fs_caller *caller, uint32_t object,
                   uint32_t wanted);
enum nfsstat3 fs_readlink(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                          struct bytes *text); /* lives until the next change */
/* At most |*count| bytes from |offset| to |to|; |*count| is how many there were. */
enum nfsstat3 fs_read(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                      uint64_t offset, uint8_t *to, uint32_t *count, bool *eof);

struct fs_entry {
    uint32_t object;
    uint64_t fileid, cookie; /* |cookie|: the place behind it */
    struct bytes name;
};
/* Entries behind |cookie| (0: from the beginning, with "." and ".."), in order, until |each|
 * returns non-zero for one, which then was not taken.  A cookie stays good while entries come and
 * go; one that never was is NFS3ERR_BAD_COOKIE.  |*eof|: the last one was taken.  If |each|
 * took not even the first of some, the access time stays.  |each| must not change the file system.
 */
enum nfsstat3 fs_list(struct fs *fs, const struct fs_caller *caller, uint32_t dir, uint64_t cookie,
                      int (*each)(void *ctx, const struct fs_entry *entry), void *ctx, bool *eof);

struct fs_space {
    uint64_t total_bytes, free_bytes, available_bytes; /* available: to this caller */
    uint64_t total_objects, free_objects, available_objects;
};
void fs_space(const struct fs *fs, const struct fs_caller *caller, struct fs_space *to);

/* --- changing */

/* |guard|: the ctime that it must have, else NFS3ERR_NOT_SYNC; or NULL. */
enum nfsstat3 fs_setattr(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                         const struct sattr3 *to, const struct nfstime3 *guard);
/* All of |data| or nothing.  |stable|: FILE_SYNC is always what happened; UNSTABLE matters only
 * with |keep_unstable|. */
enum nfsstat3 fs_write(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                       uint64_t offset, struct bytes data, enum stable_how stable);
enum nfsstat3 fs_commit(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                        uint64_t offset, uint32_t count);
/* All contents and sizes that were written UNSTABLE and not committed are as before; what a crash
 * does.  Times of such files are now's, so that clients see that they changed.  NFS3ERR_NOSPC:
 * there was no memory to note the changes; nothing was lost. */
enum nfsstat3 fs_lose_unstable(struct fs *fs);

/* What a name is to stand for. */
struct fs_new {
    enum ftype3 type;
    enum createmode3 how; /* files */
    struct sattr3 attributes;
    uint8_t verifier[NFS3_CREATEVERFSIZE]; /* EXCLUSIVE */
    struct bytes link_text;
    struct specdata3 rdev;
};
enum nfsstat3 fs_make(struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                      struct bytes name, const struct fs_new *new_object, uint32_t *object);
/* |directory|: RMDIR, else REMOVE. */
enum nfsstat3 fs_remove(struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                        struct bytes name, bool directory);
enum nfsstat3 fs_rename(struct fs *fs, const struct fs_caller *caller, uint32_t from_dir,
                        struct bytes from, uint32_t to_dir, struct bytes to);
enum nfsstat3 fs_link(struct fs *fs, const struct fs_caller *caller, uint32_t object, uint32_t dir,
                      struct bytes name);

/* --- access lists (POSIX.1e draft 17), as NFSACL carries them */

enum { FS_ACL_MAX = 1024 };
enum { /* |tag|: without NFSACL's bit for defaults (0x1000) */
       FS_ACL_USER_OBJ = NA_USER_OBJ,
       FS_ACL_USER = NA_USER,
       FS_ACL_GROUP_OBJ = NA_GROUP_OBJ,
       FS_ACL_GROUP = NA_GROUP,
       FS_ACL_MASK = NA_CLASS_OBJ,
       FS_ACL_OTHER = NA_OTHER_OBJ,
};
struct fs_acl_entry {
    uint16_t tag, permissions; /* rwx */
    uint32_t id;               /* of USER and GROUP; else 0 */
};
/* |defaults|: of a directory, for what is made in it.  Without a list of its own an object shows
 * the three entries of its mode; a directory without defaults none.  |to| has room for FS_ACL_MAX
 * entries, in order: by tag, then id. */
enum nfsstat3 fs_acl(const struct fs *fs, const struct fs_caller *caller, uint32_t object,
                     bool defaults, struct fs_acl_entry *to, uint32_t *count);
struct fs_acl_list {
    const struct fs_acl_entry *entries; /* in any order */
    uint32_t count;                     /* 0: the list is taken away */
};
/* Sets both lists or none; one that is NULL stays.  NFS3ERR_INVAL: not a list that POSIX allows. */
enum nfsstat3 fs_set_acl(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                         const struct fs_acl_list *access, const struct fs_acl_list *defaults);

/* --- for whoever fills it without a client: all at once, without permissions or quotas */

/* Mode, owner, group, times, and the size of a file. */
enum nfsstat3 fs_set_all(struct fs *fs, uint32_t object, const struct fattr3 *to);

/* A file gets |size| bytes that are made up of |key| (fill/fill.h), instead of all that it had.
 * They take no pages, and count for no capacity or quota, until they are written: a page that is
 * written in part keeps the others.  What is cut off does not come back: a file that becomes longer
 * again has zeros there. */
enum nfsstat3 fs_set_fill(struct fs *fs, uint32_t object, uint64_t key, uint64_t size);

/* Checks everything that must be so: link counts, parents, sizes, space, entries and tables against
 * each other.  0, or -ERR_INPUT with what is wrong.  Linear. */
int fs_check(const struct fs *fs, struct err *err);

#endif
