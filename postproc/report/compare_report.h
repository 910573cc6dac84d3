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
    uint32_t examples; /* at most so many of each group; 0: only the table */
    bool one_sided;    /* list operations without a counterpart */
    bool phases;       /* only the table of phases, as text */
    bool baseline;     /* only what is new: the tables of baseline.h are there */
};

/* Writes the table of fields, counts and reasons, then each group with its examples, then what was
 * withheld, and latencies. */
int report_text(sqlite3 *result, const struct report_options *options, FILE *out, struct err *err);

/* Writes one JSON object in the form of schemas/compare.schema.json. */
int report_json(sqlite3 *result, const struct report_options *options, FILE *out, struct err *err);

#endif
