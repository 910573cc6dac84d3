/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify.h
 *
 * Checks a trace database.
 */
#ifndef NFSDIGEST_STORE_STORE_VERIFY_H
#define NFSDIGEST_STORE_STORE_VERIFY_H

#include "store/store.h"

/* Calls |show| for each finding, at most VERIFY_SHOWN times for each kind.  Sets *|findings| to the
 * number of all findings.  Returns -ERR_INPUT if the database cannot be read. */
enum { VERIFY_SHOWN = 20 };
int verify(struct store *store, void (*show)(void *ctx, const char *text), void *ctx,
           uint64_t *findings, struct err *err);

#endif
