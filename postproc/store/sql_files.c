/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sql_files.h"
#include "base/cleanup.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_vfs ours;
static sqlite3_vfs *system_vfs; /* of which |ours| is a copy */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *flags_out)
{
    int result;

    (void)vfs;
    if (!(flags & SQLITE_OPEN_DELETEONCLOSE))
        return system_vfs->xOpen(system_vfs, name, file, flags, flags_out);
    cleanup_hold();
    result = system_vfs->xOpen(system_vfs, name, file, flags, flags_out);
    cleanup_release();
    return result;
}

int sql_files_begin(struct err *err)
{
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);

    if (!found)
        return err_set(err, ERR_SYSTEM, "SQLite cannot be used");
    system_vfs = found;
    ours = *found;
    ours.pNext = NULL;
    ours.zName = "nfsdigest";
    ours.xOpen = open_file;
    if (sqlite3_vfs_register(&ours, 1) != SQLITE_OK)
        return err_memory(err, "SQLite");
    return 0;
}
