/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/findings.h
 *
 * Findings of checkers.  All are counted, and the first FINDINGS_SHOWN become lines of text.
 */
#ifndef NFSDIGEST_RECORD_FINDINGS_H
#define NFSDIGEST_RECORD_FINDINGS_H

#include "base/bytes.h"

#include <stdarg.h>

enum { FINDINGS_SHOWN = 100 };

/* Counts one in *|count| and appends "|where|: what |format| says" to |text| if it is to be shown.
 * A line has 500 bytes at most. 0 or -ERR_SYSTEM. */
int finding_add(struct buf *text, uint64_t *count, const char *where, const char *format,
                va_list args) __attribute__((format(printf, 4, 0)));

#endif
