/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/compare_report.h
 *
 * Reports of a result (schemas/compare.sql), from that database alone.
 */
#ifndef NFSDIGEST_REPORT_COMPARE_REPORT_H
#define NFSDIGEST_REPORT_COMPARE_REPORT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_options {
    uint32_t examples; /* of each group, at most; 0: the table alone */
    bool one_sided;    /* list operations without a counterpart */
};

/* The table of fields, counts and reasons, then each group with its examples, what was withheld,
 * and latencies. */
int report_text(sqlite3 *result, const struct report_options *options, FILE *out, struct err *err);

/* One JSON object, as schemas/compare.schema.json says. */
int report_json(sqlite3 *result, const struct report_options *options, FILE *out, struct err *err);

#endif
