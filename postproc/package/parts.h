/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/parts.h
 *
 * Makes the files of a package that follow from its other files: the anonymized capture, the audit,
 * the policy and the texts of its maker.  package and package --verify both use it.
 */
#ifndef NFSDIGEST_PACKAGE_PARTS_H
#define NFSDIGEST_PACKAGE_PARTS_H

#include "anon/policy.h"
#include "audit/audit.h"
#include "package/facts.h"
#include "package/package.h"
#include "package/stage.h"
#include "store/store.h"

struct parts {
    /* the caller's, before any call */
    const struct package_options *options;
    const char *name;
    char *description;   /* or NULL */
    struct stage *stage; /* has the capture in its folder */
    /* the same, before parts_make */
    const struct policy *policy;
    const struct audit *audit;
    const struct accepted *accepted; /* findings of that */
    /* made here; all zeros at first */
    struct store *store;
    struct facts facts;
};

/* The database, from the capture.  1: that was cut, |err| says where, and the database is whole.
 * -ERR_INPUT: it cannot be read. */
int parts_database(struct parts *p, struct err *err);

/* The capture and all other files, as members, when there is a database.  -ERR_INPUT: it holds no
 * operation. */
int parts_make(struct parts *p, struct err *err);

/* Writes the archive of these. */
int parts_pack(struct parts *p, output_writer *write, void *ctx, struct err *err);

void parts_free(struct parts *p);

#endif
