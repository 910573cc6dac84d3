/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/align_rows.h
 *
 * Messages of a capture that were read ahead, and by how much one capture's times were moved.  For
 * audit_align.c; functions are in align_shift.c.
 *
 * Memory: ALIGN_MESSAGES, and ALIGN_BYTES of them with one more.
 */
#ifndef NFSDIGEST_AUDIT_ALIGN_ROWS_H
#define NFSDIGEST_AUDIT_ALIGN_ROWS_H

#include "audit/audit_parts.h"
#include "audit/source.h"

/* The messages of one capture that were read ahead. */
struct align_row {
    struct source *source;
    struct audit_message *all[ALIGN_MESSAGES];
    uint32_t count;
    uint64_t bytes;
    bool ended;
};

/* Reads until there are |count|, within the bounds. 0 or negative. */
int align_fill(struct align_row *q, uint32_t count, struct err *err);
/* The |i|th, which is the caller's then. */
struct audit_message *align_take(struct align_row *q, uint32_t i);
void align_row_free(struct align_row *q);

/* Everything but time and XID. */
bool align_is_alike(const struct audit_message *o, const struct audit_message *n);
/* What has no time is written as it came, or, if it is cut, with the time before it. */
bool align_is_then(const struct audit_message *o, const struct audit_message *n, int64_t shift);

/* By how much times were moved, and whether XIDs stayed: what most of the first messages say.  As
 * many as a policy drops may stand before these in the original: it is read until they are there,
 * at the worst once more to its end. */
int align_find_shift(struct audit *a, struct align_row *original, struct align_row *anonymized,
                     struct err *err);

#endif
