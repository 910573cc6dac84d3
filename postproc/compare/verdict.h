/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/verdict.h
 *
 * The result of a comparison in one sentence, for each report and for the exit code.  It must never
 * be "alike" only because comparisons or replies are missing.
 */
#ifndef NFSDIGEST_COMPARE_VERDICT_H
#define NFSDIGEST_COMPARE_VERDICT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>

enum verdict {
    VERDICT_UNLIKE,  /* there are discrepancies that are not noise */
    VERDICT_SILENT,  /* one side has no reply to calls that the other answered; no cause is known */
    VERDICT_NOTHING, /* nothing was compared */
    VERDICT_HARDLY,  /* less was compared than left out */
    VERDICT_UNHEARD, /* replies of one side are lost, or the capture ended before they came */
    VERDICT_UNCERTAIN, /* differences that may have another cause */
    VERDICT_ALIKE,
};

/* Returns an enum verdict, or a negative code. */
int verdict_of(sqlite3 *result, struct err *err);

/* Returns 1 if one side has no reply to calls that the other answered, and no cause is known;
 * whatever else differs.  Else 0, or a negative code. */
int verdict_is_silent(sqlite3 *result, struct err *err);

/* Returns true if the exit code must show the verdict. */
static inline bool verdict_is_finding(enum verdict verdict)
{
    return verdict == VERDICT_UNLIKE || verdict == VERDICT_SILENT;
}

/* The verdict as a sentence, and as a word for programs. */
const char *verdict_text(enum verdict verdict);
const char *verdict_name(enum verdict verdict);

#endif
