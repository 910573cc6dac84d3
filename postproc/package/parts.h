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
    /* set by the caller before any call */
    const struct package_options *options;
    const char *name;
    char *description;   /* or NULL */
    struct stage *stage; /* its folder has the capture */
    /* set by the caller before parts_make */
    const struct policy *policy;
    const struct audit *audit;
    const struct accepted *accepted; /* findings of |audit| */
    /* made here; all zeros at first */
    struct store *store;
    struct facts facts;
};

/* Makes the database from the capture.  Returns 1 if the capture was cut; |err| says where, and the
 * database is complete.  Returns -ERR_INPUT if the capture cannot be read. */
int parts_database(struct parts *p, struct err *err);

/* Makes the members: the capture and all other files.  The database must exist.  Returns -ERR_INPUT
 * if it has no operation. */
int parts_make(struct parts *p, struct err *err);

/* Writes the archive of the members. */
int parts_pack(struct parts *p, output_writer *write, void *ctx, struct err *err);

void parts_free(struct parts *p);

#endif
