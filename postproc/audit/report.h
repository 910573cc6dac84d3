/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/report.h
 *
 * Shared by the three forms of a report: its tables as rows of texts and numbers.
 */
#ifndef NFSDIGEST_AUDIT_REPORT_H
#define NFSDIGEST_AUDIT_REPORT_H

#include "audit/audit_parts.h"

enum { QUOTE_TEXT_MAX = 4 * FINDING_BYTES + 32, LINE_TEXT_MAX = 512 };

/* "name" or 0x..., in ASCII; of more than FINDING_BYTES the first, and the length; with |redact|
 * the length alone.  Returns |text|. */
const char *quote_text(const struct quote *q, bool redact, char text[QUOTE_TEXT_MAX]);

/* The place of a finding: "byte 1234, frame 7, READ3res.resok.data; original frame 3". */
const char *finding_place(const struct finding *f, bool redact, char text[LINE_TEXT_MAX]);

/* The first line. */
const char *report_warning(bool redact);

/* "clean" or "12 findings". */
const char *report_verdict(const struct audit *a, char text[LINE_TEXT_MAX]);

/* How many values were compared. */
uint64_t report_values(const struct audit *a);

/* What was compared, in lines. */
typedef residual_line report_line;
void report_coverage(const struct audit *a, bool redact, report_line *line, void *ctx);

/* "all 12", "about 4,096 of 65,536": of distinct patterns. */
const char *report_sampled(const struct audit *a, enum secret_class cls, char text[LINE_TEXT_MAX]);
uint64_t report_distinct(const struct audit *a, enum secret_class cls);

/* How many findings there are of this kind and class. */
uint64_t report_found(const struct audit *a, unsigned kind, const char *what);

/* "kept", "hidden", "mixed", "unknown". */
const char *report_name_lengths(const struct audit *a);

#endif
