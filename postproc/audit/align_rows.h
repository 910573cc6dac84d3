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

/* Reads until |count| messages are there, within the bounds.  Returns 0 or a negative code. */
int align_fill(struct align_row *q, uint32_t count, struct err *err);
/* Removes message |i| and returns it.  The caller owns it. */
struct audit_message *align_take(struct align_row *q, uint32_t i);
void align_row_free(struct align_row *q);

/* Returns true if both messages are equal in everything but time and XID. */
bool align_is_alike(const struct audit_message *o, const struct audit_message *n);
/* Returns true if the times of both messages differ by |shift|, or if the original has no time.
 * The anonymizer writes a message without a time as it came or, if it is cut, with the time of the
 * message before it. */
bool align_is_then(const struct audit_message *o, const struct audit_message *n, int64_t shift);

/* Finds by how much times were moved, and if XIDs were kept, from what most of the first messages
 * show.  The original may begin with messages that the policy drops.  So it is read until enough
 * others are there; in the worst case it is read once more to its end. */
int align_find_shift(struct audit *a, struct align_row *original, struct align_row *anonymized,
                     struct err *err);

#endif
