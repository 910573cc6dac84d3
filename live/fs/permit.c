/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/permit.c
 *
 * Who may do what: the mode or the access list, and where NFS differs from POSIX.
 */
#include "fs/fs_parts.h"

bool permit_is_in(const struct fs_caller *caller, uint32_t gid)
{
    if (caller->gid == gid)
        return true;
    for (uint32_t i = 0; i < caller->gid_count; i++)
        if (caller->gids[i] == gid)
            return true;
    return false;
}

bool permit_is_owner(const struct inode *i, const struct fs_caller *caller)
{
    return !caller->uid || caller->uid == i->uid;
}

bool permit(const struct inode *i, const struct fs_caller *caller, uint32_t rwx)
{
    uint32_t shift = 0;

    if (!caller->uid) /* executes only what somebody may */
        return i->type == NF3DIR || !(rwx & PERMIT_EXECUTE) || (i->mode & 0111);
    if (i->acl && i->acl->count)
        return acl_permits(i, caller, rwx);
    if (caller->uid == i->uid)
        shift = 6;
    else if (permit_is_in(caller, i->gid))
        shift = 3;
    return (i->mode >> shift & rwx) == rwx;
}

/* A client checks when it opens a file; later requests must not fail for a mode that changed since.
 * So the owner may always, and who may execute may read (RFC 1813 s4.4). */
bool permit_data(const struct inode *i, const struct fs_caller *caller, uint32_t rwx)
{
    return permit_is_owner(i, caller) || permit(i, caller, rwx) ||
           (rwx == PERMIT_READ && permit(i, caller, PERMIT_EXECUTE));
}

bool permit_take(const struct inode *dir, const struct inode *victim,
                 const struct fs_caller *caller)
{
    if (!permit(dir, caller, PERMIT_WRITE | PERMIT_EXECUTE))
        return false;
    return !(dir->mode & MODE_STICKY) || permit_is_owner(dir, caller) ||
           permit_is_owner(victim, caller);
}

uint16_t permit_without_set_id(uint16_t mode)
{
    mode &= (uint16_t)~MODE_SETUID;
    return mode & 010 ? mode & (uint16_t)~MODE_SETGID : mode; /* without: mandatory locking */
}

/* What ACCESS asks for, as Linux's server understands it: of a directory everything but READ needs
 * that names can be looked up.  A file is never granted DELETE. */
uint32_t fs_access(const struct fs *fs, const struct fs_caller *caller, uint32_t object,
                   uint32_t wanted)
{
    static const struct {
        uint32_t access;
        uint8_t of_file, of_directory;
    } rules[] = {
        { ACCESS3_READ, PERMIT_READ, PERMIT_READ },
        { ACCESS3_LOOKUP, 0, PERMIT_EXECUTE },
        { ACCESS3_MODIFY, PERMIT_WRITE, PERMIT_WRITE | PERMIT_EXECUTE },
        { ACCESS3_EXTEND, PERMIT_WRITE, PERMIT_WRITE | PERMIT_EXECUTE },
        { ACCESS3_DELETE, 0, PERMIT_WRITE | PERMIT_EXECUTE },
        { ACCESS3_EXECUTE, PERMIT_EXECUTE, 0 },
    };
    const struct inode *i = inode_of(fs, object);
    uint32_t granted = 0;

    for (size_t r = 0; r < sizeof(rules) / sizeof(*rules); r++) {
        uint32_t rwx = i->type == NF3DIR ? rules[r].of_directory : rules[r].of_file;

        if (wanted & rules[r].access && rwx && permit(i, caller, rwx))
            granted |= rules[r].access;
    }
    return granted;
}
