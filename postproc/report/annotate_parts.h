/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate_parts.h
 *
 * Shared by the files that annotate: annotate_targets.c finds the captures and the names of their
 * copies, and annotate.c writes these.
 */
#ifndef NFSDIGEST_REPORT_ANNOTATE_PARTS_H
#define NFSDIGEST_REPORT_ANNOTATE_PARTS_H

#include "align/codes.h"
#include "base/output.h"
#include "capture/input.h"
#include "report/annotate.h"

#include <stdbool.h>

/* A capture to copy: a source of one side, or of both. */
struct target {
    uint8_t digest[INPUT_DIGEST_LEN];
    int64_t source[3]; /* by SIDE_REF and SIDE_SUT; 0: none */
    uint64_t frames;
    bool records;              /* an .nfsr stream and its digest, until its capture is found */
    char *name, *found, *path; /* name in the result, path of the capture, path of the copy */
    struct output *output;
    uint64_t copied, commented;
};

struct annotate {
    sqlite3 *db;
    struct err *err;
    struct target *targets;
    uint32_t count;
    sqlite3_stmt *row; /* discrepancies of the current capture, by frame */
    bool has_row;
};

static inline int annotate_no_memory(struct annotate *a)
{
    return err_memory(a->err, "a report");
}

/* |path| is that of --annotate.  Call annotate_finish also after an error. */
int annotate_start(struct annotate *a, const char *path);
void annotate_finish(struct annotate *a);

/* Finds the captures of the result, and the names of their copies. */
int annotate_targets(struct annotate *a, const struct annotate_request *request);

/* annotate_log.c: whether the result is that of a shadow's log (1, 0, or negative), whose frames
 * are of no capture. */
int annotate_is_log(struct annotate *a);

/* Then each capture is a target.  Makes temp.frame, which takes the place of the result's table. */
int annotate_log_targets(struct annotate *a, const struct annotate_request *request);
int annotate_log_names(struct annotate *a, uint32_t captures);

/* Of discrepancies whose requests clients have sent: how many there are, and how many no target
 * has. */
int annotate_log_lost(struct annotate *a, uint64_t *lost, uint64_t *all);

#endif
