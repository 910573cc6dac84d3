/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify_parts.h
 *
 * Shared by the files of store_verify.
 */
#ifndef NFSDIGEST_STORE_STORE_VERIFY_PARTS_H
#define NFSDIGEST_STORE_STORE_VERIFY_PARTS_H

#include "store/sql.h"
#include "store/store_verify.h"

/* Findings in their order: texts that end with a zero byte each. */
struct verify_findings {
    struct buf texts;
    uint64_t count;
    uint64_t of_kind; /* 0: the next one is the first of its kind */
    bool failed;      /* no memory: some are not in |texts| */
};
void verify_finding(struct verify_findings *f, const char *text);

/* What one pass over the operations cannot exclude.  A query finds out whether it is so. */
enum {
    SUSPECT_DEPENDS = 1 << 0,
    SUSPECT_COUNTS = 1 << 1, /* of operations */
    SUSPECT_LABEL = 1 << 2,  /* or there is neither call nor reply */
    SUSPECT_FRAMES = 1 << 3,
    SUSPECT_REFERENCES = 1 << 4,
    SUSPECT_ALL = 31,
};

/* Passes over the operations, and compares their bodies with the tables of their procedures; and
 * over their indexes, which must have the same rows.  |*suspect|: SUSPECT_ bits. */
struct verify_pass {
    sqlite3 *db;
    const char *path;
    struct verify_findings bodies, indexes;
    unsigned suspect;
};
int verify_pass(struct verify_pass *pass, struct err *err);
/* True if |name|, made by |sql|, is an index that verify_pass compares. */
bool verify_pass_compares(const char *name, const char *sql);

/* SQLite's own check, but for the indexes that verify_pass compares. */
int verify_damage(sqlite3 *db, const char *path, struct verify_findings *found, struct err *err);
#endif
