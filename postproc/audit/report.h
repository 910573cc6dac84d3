/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/report.h
 *
 * Shared by the three forms of a report: its tables as rows of texts and numbers.
 */
#ifndef NFSDIGEST_AUDIT_REPORT_H
#define NFSDIGEST_AUDIT_REPORT_H

#include "audit/audit_parts.h"

enum { QUOTE_TEXT_MAX = 4 * FINDING_BYTES + 32, LINE_TEXT_MAX = 512 };

/* Writes a value as "name" or 0x..., in ASCII.  Of a value above FINDING_BYTES it writes the first
 * bytes and the length.  With |redact| it writes only the length.  Returns |text|. */
const char *quote_text(const struct quote *q, bool redact, char text[QUOTE_TEXT_MAX]);

/* Writes the place of a finding: "byte 1234, frame 7, READ3res.resok.data; original frame 3".
 * Returns |text|. */
const char *finding_place(const struct finding *f, bool redact, char text[LINE_TEXT_MAX]);

/* Returns the first line of a report. */
const char *report_warning(bool redact);

/* Returns "clean", or the number of findings: "12 findings". */
const char *report_verdict(const struct audit *a, char text[LINE_TEXT_MAX]);

/* Returns the number of values that were compared. */
uint64_t report_values(const struct audit *a);

/* Calls |line| for each line about what was compared. */
typedef residual_line report_line;
void report_coverage(const struct audit *a, bool redact, report_line *line, void *ctx);

/* Writes how many distinct patterns were searched for: "12", or "4096 of ~65536". */
const char *report_sampled(const struct audit *a, enum secret_class cls, char text[LINE_TEXT_MAX]);
uint64_t report_distinct(const struct audit *a, enum secret_class cls);

/* Returns the number of findings of this kind and class. */
uint64_t report_found(const struct audit *a, unsigned kind, const char *what);

/* Returns what became of the lengths of names: "kept", "hidden", "mixed" or "unknown". */
const char *report_name_lengths(const struct audit *a);

#endif
