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

/* Counts a finding in *|count|.  If it is one of the first FINDINGS_SHOWN, appends the line
 * "|where|: |format|", of at most 500 bytes, to |text|.  Returns 0 or -ERR_SYSTEM. */
int finding_add(struct buf *text, uint64_t *count, const char *where, const char *format,
                va_list args) __attribute__((format(printf, 4, 0)));

#endif
