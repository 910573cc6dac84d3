/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/verdict.h
 *
 * The result of a comparison in one sentence, for each report and for the exit code.  The verdict
 * must not say that two servers are alike because comparisons or replies are missing.
 */
#ifndef NFSDIGEST_COMPARE_VERDICT_H
#define NFSDIGEST_COMPARE_VERDICT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>

enum verdict {
    VERDICT_UNLIKE,  /* there are discrepancies that are no noise */
    VERDICT_SILENT,  /* one side answered calls to which the other has no reply: nobody knows why */
    VERDICT_NOTHING, /* nothing was compared */
    VERDICT_HARDLY,  /* less than was left out */
    VERDICT_UNHEARD, /* replies of one side are lost, or the capture ended before they came */
    VERDICT_UNCERTAIN, /* other differences that something else may explain */
    VERDICT_ALIKE,
};

/* enum verdict, or negative. */
int verdict_of(sqlite3 *result, struct err *err);

/* Whether it is one for the exit code. */
static inline bool verdict_is_finding(enum verdict verdict)
{
    return verdict == VERDICT_UNLIKE || verdict == VERDICT_SILENT;
}

/* A sentence, and a word for programs. */
const char *verdict_text(enum verdict verdict);
const char *verdict_name(enum verdict verdict);

#endif
