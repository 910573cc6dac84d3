/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/suggest.h
 *
 * Suggests a rule file (schemas/rules) for a result: one rule for each group, which accepts exactly
 * this group.
 */
#ifndef NFSDIGEST_REPORT_SUGGEST_H
#define NFSDIGEST_REPORT_SUGGEST_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdio.h>

/* Writes the rules, each below a comment with its count, its explanation, an example, and a reason
 * to fill in.  Groups that no rule can tell apart get one rule. */
int report_rules(sqlite3 *result, FILE *out, struct err *err);

#endif
