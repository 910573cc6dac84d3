/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/verify_parts.h
 *
 * What the parts of package_verify share.
 */
#ifndef NFSDIGEST_PACKAGE_VERIFY_PARTS_H
#define NFSDIGEST_PACKAGE_VERIFY_PARTS_H

#include "package/archive.h"
#include "store/store.h"

struct verifying {
    struct package_check *check;
    struct stage stage;
    sqlite3 *json; /* for SQLite's functions of JSON */
    struct store *again;
};

/* verify_lists.c: what members say of each other, and of the audit */
int verify_sums(struct verifying *v, struct err *err);
/* *|operations|: how many it says there are; -1: it does not say. */
int verify_datapackage(struct verifying *v, int64_t *operations, struct err *err);
int verify_audit(struct verifying *v, struct err *err);

#endif
