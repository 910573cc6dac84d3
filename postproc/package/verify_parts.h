/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/verify_parts.h
 *
 * Shared by the files of package_verify.
 */
#ifndef NFSDIGEST_PACKAGE_VERIFY_PARTS_H
#define NFSDIGEST_PACKAGE_VERIFY_PARTS_H

#include "package/accepted.h"
#include "package/archive.h"
#include "package/parts.h"

struct verifying {
    const char *path; /* of the archive */
    struct package_check *check;
    struct stage stage;
    sqlite3 *json; /* for SQLite's functions of JSON */
    /* what is made again */
    struct stage again;
    struct package_options options;
    char *title, *license; /* of these */
    struct parts parts;    /* with a store when the capture could be read */
    bool cut;              /* not to its end */
    struct policy *policy;
    struct audit *audit;
    struct accepted accepted; /* findings of it, as datapackage.json says */
};

/* verify_lists.c: what members say of each other, and of the audit */
int verify_sums(struct verifying *v, struct err *err);
/* *|operations|: how many it says there are; -1: it does not say. */
int verify_datapackage(struct verifying *v, int64_t *operations, struct err *err);
int verify_audit(struct verifying *v, struct err *err);

/* A member as text, and a statement with the text as parameter 1. */
struct member_text {
    char *text;
    size_t len;
    sqlite3_stmt *stmt;
};

/* A member as text, to be freed: NULL when it is missing, which was found before, or too large for
 * that. */
int verify_text(struct verifying *v, const char *member, char **text, size_t *len, struct err *err);
/* That, and |sql| prepared; 1: there is none, or it is no JSON.  In any case to be released. */
int verify_member(struct verifying *v, const char *member, const char *sql,
                  struct member_text *text, struct err *err);
void verify_release(struct member_text *text);

/* verify_again.c: makes all of it again from the capture, when that could be read, and compares
 * bytes. */
int verify_again(struct verifying *v, struct err *err);

#endif
