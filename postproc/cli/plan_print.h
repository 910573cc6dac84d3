/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/plan_print.h
 *
 * Prints the figures of a plan for a replay, as text or as a JSON object.
 */
#ifndef NFSDIGEST_CLI_PLAN_PRINT_H
#define NFSDIGEST_CLI_PLAN_PRINT_H

#include "base/json.h"
#include "plan/plan.h"

struct plan_made { /* a dump */
    enum granularity granularity;
    const char *file;
    uint64_t bytes;
    uint32_t copies; /* at least 1 */
};

void plan_print(const struct plan_counts *counts, const struct plan_made *made, bool json);

/* Prints only the figures of the initial tree. */
void plan_print_before(const struct plan_counts *counts);

/* Print only the figures of the operations, without the dependencies.  The JSON form adds members
 * to an object. */
void plan_print_operations(const struct plan_counts *counts);
void plan_print_operations_json(struct json *json, const struct plan_counts *counts);

#endif
