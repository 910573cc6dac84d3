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
    /* the package that is made again */
    struct stage again;
    struct package_options options;
    char *title, *license; /* of |options| */
    struct parts parts;    /* has a store if the capture could be read */
    bool cut;              /* the capture was not read to its end */
    struct policy *policy;
    struct audit *audit;
    struct accepted accepted; /* its accepted findings, from datapackage.json */
};

/* verify_lists.c: checks what members say about each other and about the audit */
int verify_sums(struct verifying *v, struct err *err);
/* Sets *|operations| to the number of operations that it states, or to -1 if it states none. */
int verify_datapackage(struct verifying *v, int64_t *operations, struct err *err);
int verify_audit(struct verifying *v, struct err *err);

/* A member as text, and a statement that has the text as parameter 1. */
struct member_text {
    char *text;
    size_t len;
    sqlite3_stmt *stmt;
};

/* Reads a member as text; the caller frees it.  |*text| is NULL if the member is missing, which was
 * reported before, or too large. */
int verify_text(struct verifying *v, const char *member, char **text, size_t *len, struct err *err);
/* Does that and prepares |sql|.  Returns 1 if there is no such member, or it is not JSON.  Call
 * verify_release in any case. */
int verify_member(struct verifying *v, const char *member, const char *sql,
                  struct member_text *text, struct err *err);
void verify_release(struct member_text *text);

/* verify_again.c: makes the package again from the capture, if that could be read, and compares the
 * bytes. */
int verify_again(struct verifying *v, struct err *err);

#endif
