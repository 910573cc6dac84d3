/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/acl.c
 *
 * Access lists of POSIX.1e draft 17 (fs.h).  The mode and the list always say the same: its group
 * bits are the mask, or without a mask the owning group's entry.  A list that says no more than the
 * mode is not kept.
 */
#include "fs/fs_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MINIMAL = 3 };

size_t acl_size(const struct acl *acl)
{
    return acl ? sizeof(*acl) +
                     ((size_t)acl->count + acl->default_count) * sizeof(struct fs_acl_entry)
               : 0;
}

void acl_give(struct memory *m, struct acl *acl)
{
    memory_give(m, acl, acl_size(acl));
}

static bool is_named(const struct fs_acl_entry *entry)
{
    return entry->tag == FS_ACL_USER || entry->tag == FS_ACL_GROUP;
}

static int compare(const void *a, const void *b)
{
    const struct fs_acl_entry *x = a, *y = b;

    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

bool acl_is_good(const struct fs_acl_entry *entries, uint32_t count)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t tag = entries[i].tag;

        if (!tag || tag & (tag - 1) || tag > FS_ACL_OTHER || entries[i].permissions > 7)
            return false;
        if (!is_named(&entries[i]) && entries[i].id)
            return false;
        if (i && compare(&entries[i - 1], &entries[i]) >= 0)
            return false;
        seen |= tag;
    }
    if (seen & (FS_ACL_USER | FS_ACL_GROUP) && !(seen & FS_ACL_MASK))
        return false;
    return !count || (seen & FS_ACL_USER_OBJ && seen & FS_ACL_GROUP_OBJ && seen & FS_ACL_OTHER);
}

/* The one of this tag, or NULL. */
static struct fs_acl_entry *find(struct fs_acl_entry *entries, uint32_t count, uint32_t tag)
{
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].tag == tag)
            return &entries[i];
    return NULL;
}

/* The entry that the mode's group bits are. */
static struct fs_acl_entry *group_class(struct fs_acl_entry *entries, uint32_t count)
{
    struct fs_acl_entry *mask = find(entries, count, FS_ACL_MASK);

    return mask ? mask : find(entries, count, FS_ACL_GROUP_OBJ);
}

uint16_t acl_mode(struct fs_acl_entry *entries, uint32_t count)
{
    return (uint16_t)(find(entries, count, FS_ACL_USER_OBJ)->permissions << 6 |
                      group_class(entries, count)->permissions << 3 |
                      find(entries, count, FS_ACL_OTHER)->permissions);
}

bool acl_permits(const struct inode *i, const struct fs_caller *caller, uint32_t rwx)
{
    struct fs_acl_entry *entries = i->acl->entries;
    const struct fs_acl_entry *mask = find(entries, i->acl->count, FS_ACL_MASK);
    uint32_t masked = mask ? mask->permissions : 7;
    bool in_group = false;

    if (caller->uid == i->uid)
        return (entries[0].permissions & rwx) == rwx;
    for (uint32_t e = 0; e < i->acl->count; e++) {
        uint32_t allowed = entries[e].permissions & masked;

        if (entries[e].tag == FS_ACL_USER && entries[e].id == caller->uid)
            return (allowed & rwx) == rwx;
        if ((entries[e].tag == FS_ACL_GROUP_OBJ && permit_is_in(caller, i->gid)) ||
            (entries[e].tag == FS_ACL_GROUP && permit_is_in(caller, entries[e].id))) {
            if ((allowed & rwx) == rwx)
                return true;
            in_group = true;
        }
    }
    return !in_group && (entries[i->acl->count - 1].permissions & rwx) == rwx;
}

void acl_follow_mode(struct inode *i)
{
    struct fs_acl_entry *entries;
    uint32_t count = i->acl ? i->acl->count : 0;

    if (!count)
        return;
    entries = i->acl->entries;
    find(entries, count, FS_ACL_USER_OBJ)->permissions = i->mode >> 6 & 7;
    group_class(entries, count)->permissions = i->mode >> 3 & 7;
    find(entries, count, FS_ACL_OTHER)->permissions = i->mode & 7;
}

/* Both lists as one; |*to| NULL: none are needed. */
static int join(struct memory *m, const struct fs_acl_list *access,
                const struct fs_acl_list *defaults, struct acl **to)
{
    struct acl join = { (uint16_t)access->count, (uint16_t)defaults->count }, *acl;

    *to = NULL;
    if (!access->count && !defaults->count)
        return 0;
    acl = memory_take(m, acl_size(&join));
    if (!acl)
        return -ERR_SYSTEM;
    acl->count = join.count;
    acl->default_count = join.default_count;
    if (access->count)
        memcpy(acl->entries, access->entries, access->count * sizeof(*access->entries));
    if (defaults->count)
        memcpy(acl->entries + access->count, defaults->entries,
               defaults->count * sizeof(*defaults->entries));
    *to = acl;
    return 0;
}

static struct fs_acl_list access_of(const struct acl *acl)
{
    return acl ? (struct fs_acl_list){ acl->entries, acl->count } : (struct fs_acl_list){ 0 };
}

static struct fs_acl_list defaults_of(const struct acl *acl)
{
    return acl ? (struct fs_acl_list){ acl->entries + acl->count, acl->default_count }
               : (struct fs_acl_list){ 0 };
}

int acl_inherit(struct memory *m, const struct inode *dir, enum ftype3 type, uint16_t *mode,
                struct acl **acl)
{
    struct fs_acl_entry list[FS_ACL_MAX], *group;
    uint32_t count = dir->acl ? dir->acl->default_count : 0;
    struct fs_acl_list access, defaults;

    *acl = NULL;
    if (!count || type == NF3LNK)
        return 0;
    memcpy(list, dir->acl->entries + dir->acl->count, count * sizeof(*list));
    find(list, count, FS_ACL_USER_OBJ)->permissions &= *mode >> 6 & 7;
    group = group_class(list, count);
    group->permissions &= *mode >> 3 & 7;
    find(list, count, FS_ACL_OTHER)->permissions &= *mode & 7;
    *mode = (uint16_t)((*mode & ~0777) | acl_mode(list, count));
    access = (struct fs_acl_list){ list, count == MINIMAL ? 0 : count };
    defaults = defaults_of(type == NF3DIR ? dir->acl : NULL);
    return join(m, &access, &defaults, acl);
}

/* --- what fs.h has */

enum nfsstat3 fs_acl(const struct fs *fs, const struct fs_caller *caller, uint32_t object,
                     bool defaults, struct fs_acl_entry *to, uint32_t *count)
{
    const struct inode *i = inode_of(fs, object);
    const struct acl *acl = i->acl;

    (void)caller; /* whoever sees attributes sees these */
    *count = acl ? (defaults ? acl->default_count : acl->count) : 0;
    if (*count) {
        memcpy(to, acl->entries + (defaults ? acl->count : 0), *count * sizeof(*to));
    } else if (!defaults) {
        to[0] = (struct fs_acl_entry){ FS_ACL_USER_OBJ, i->mode >> 6 & 7, 0 };
        to[1] = (struct fs_acl_entry){ FS_ACL_GROUP_OBJ, i->mode >> 3 & 7, 0 };
        to[2] = (struct fs_acl_entry){ FS_ACL_OTHER, i->mode & 7, 0 };
        *count = MINIMAL;
    }
    return NFS3_OK;
}

/* In order, and without a mask that says nothing: Solaris's clients always send one. */
static uint32_t tidy(struct fs_acl_entry *list, uint32_t count)
{
    qsort(list, count, sizeof(*list), compare);
    for (uint32_t i = 0; i < count; i++)
        if (!is_named(&list[i]))
            list[i].id = 0;
    if (count == MINIMAL + 1 && list[1].tag == FS_ACL_GROUP_OBJ && list[2].tag == FS_ACL_MASK &&
        list[1].permissions == list[2].permissions) {
        list[2] = list[3];
        count--;
    }
    return count;
}

/* Copies |from| to |list| as it is kept, and makes |to| lead there; false: it is not allowed. */
static bool keep(const struct fs_acl_list *from, struct fs_acl_entry list[FS_ACL_MAX],
                 struct fs_acl_list *to)
{
    if (from->count > FS_ACL_MAX)
        return false;
    if (from->count)
        memcpy(list, from->entries, from->count * sizeof(*list));
    *to = (struct fs_acl_list){ list, tidy(list, from->count) };
    return acl_is_good(list, to->count);
}

/* What an access list makes of the mode. */
static void set_mode(struct inode *i, const struct fs_caller *caller, struct fs_acl_entry *list,
                     uint32_t count)
{
    if (count)
        i->mode = (uint16_t)((i->mode & ~0777) | acl_mode(list, count));
    if (caller->uid && !permit_is_in(caller, i->gid))
        i->mode &= (uint16_t)~MODE_SETGID;
}

enum nfsstat3 fs_set_acl(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                         const struct fs_acl_list *access, const struct fs_acl_list *defaults)
{
    struct inode *i = inode_of(fs, object);
    struct fs_acl_entry lists[2][FS_ACL_MAX];
    struct fs_acl_list of_mode = access_of(i->acl), of_new = defaults_of(i->acl), kept;
    struct acl *acl;

    if (i->type == NF3LNK)
        return NFS3ERR_NOTSUPP;
    if (!permit_is_owner(i, caller))
        return NFS3ERR_PERM;
    if (defaults && i->type != NF3DIR) {
        if (defaults->count)
            return NFS3ERR_ACCES; /* as Linux */
        defaults = NULL;
    }
    if ((access && !keep(access, lists[0], &of_mode)) ||
        (defaults && !keep(defaults, lists[1], &of_new)))
        return NFS3ERR_INVAL;
    if (!access && !defaults)
        return NFS3_OK;
    kept = of_mode;
    if (access && kept.count == MINIMAL)
        kept.count = 0;
    if (changes_room(fs, 2) < 0 || join(&fs->memory, &kept, &of_new, &acl) < 0)
        return NFS3ERR_NOSPC;
    if (access)
        set_mode(i, caller, lists[0], of_mode.count);
    acl_give(&fs->memory, i->acl);
    i->acl = acl;
    i->ctime = fs_now(fs);
    changed_acl(fs, object);
    changed_object(fs, object);
    return NFS3_OK;
}
