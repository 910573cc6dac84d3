/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/plan_print.h
 *
 * What became of a trace when it was made ready for replay, in words or as a JSON object.
 */
#ifndef NFSDIGEST_CLI_PLAN_PRINT_H
#define NFSDIGEST_CLI_PLAN_PRINT_H

#include "digest/plan.h"

/* |file|, |bytes|: what was written, or NULL. */
void plan_print(const struct plan_counts *counts, enum granularity granularity, const char *file,
                uint64_t bytes, bool json);

#endif
