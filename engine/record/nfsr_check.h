/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr_check.h
 *
 * Reads a whole .nfsr stream and reports what is wrong with it: damage, as nfsr_read_stream does,
 * and records that cannot be right (schemas/nfsr.md section 5).  These are ids that refer to
 * nothing or come twice, times and frames out of order or outside the capture, and totals that are
 * wrong.  It is meant for the stream of one capture, which is what every writer here makes.
 *
 * Memory: 8 bytes for each object, a bit for each operation.
 */
#ifndef NFSDIGEST_RECORD_NFSR_CHECK_H
#define NFSDIGEST_RECORD_NFSR_CHECK_H

#include "record/findings.h"
#include "record/nfsr.h"

enum { NFSR_FINDINGS_SHOWN = FINDINGS_SHOWN };

struct nfsr_summary {
    uint64_t records[RECORD_KIND_MAX]; /* seen, by kind */
    struct record_end end;             /* when records[RECORD_END] is 1 */
    uint64_t findings;                 /* things wrong with the records */
    struct buf text;                   /* the first NFSR_FINDINGS_SHOWN of them, one a line */
};

/* Checks a stream.  On failure, |out| is about the records before the error.  Returns what
 * nfsr_read_stream returns; findings are not an error.  Call nfsr_summary_free afterwards. */
int nfsr_check(nfsr_read *read, void *ctx, const char *name, struct nfsr_summary *out,
               struct err *err);
void nfsr_summary_free(struct nfsr_summary *summary);

#endif
