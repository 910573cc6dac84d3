/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/differ.h
 *
 * Where two files differ.
 */
#ifndef NFSDIGEST_PACKAGE_DIFFER_H
#define NFSDIGEST_PACKAGE_DIFFER_H

#include "base/err.h"

#include <stdint.h>

/* *|at|: the first byte, counted from 0, among the first |max| in which they are not the same, also
 * because one of them ends there; -1: there is none. */
int differ_at(const char *a, const char *b, uint64_t max, int64_t *at, struct err *err);

#endif
