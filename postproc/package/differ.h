/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/differ.h
 *
 * Where two files differ.
 */
#ifndef NFSDIGEST_PACKAGE_DIFFER_H
#define NFSDIGEST_PACKAGE_DIFFER_H

#include "base/err.h"

#include <stdint.h>

/* Sets *|at| to the first byte, counted from 0, that differs among the first |max| bytes.  If one
 * file ends earlier, it differs there.  Sets it to -1 if there is no difference. */
int differ_at(const char *a, const char *b, uint64_t max, int64_t *at, struct err *err);

#endif
