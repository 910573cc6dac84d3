/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/package_rdump.h"

int package_rdump(sqlite3 *db, const char *path, struct plan_counts *counts, bool *made,
                  struct err *err)
{
    (void)db;
    (void)path;
    (void)counts;
    (void)err;
    *made = false;
    return 0;
}

int package_rdump_check(const char *path, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: replay dumps cannot be read", path);
}
