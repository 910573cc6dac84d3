/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify.h
 *
 * Checks a trace database.
 */
#ifndef NFSDIGEST_STORE_STORE_VERIFY_H
#define NFSDIGEST_STORE_STORE_VERIFY_H

#include "store/store.h"

/* Calls |show| for each finding, VERIFY_SHOWN of a kind at most, and counts them all in
 * *|findings|. -ERR_INPUT: the database cannot be read. */
enum { VERIFY_SHOWN = 20 };
int verify(struct store *store, void (*show)(void *ctx, const char *text), void *ctx,
           uint64_t *findings, struct err *err);

#endif
