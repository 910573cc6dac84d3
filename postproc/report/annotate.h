/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate.h
 *
 * Copies the captures of a comparison (schemas/compare.sql) as pcapng, with a comment for each
 * discrepancy on its frame, so that any Wireshark shows them.
 *
 * For OUT.pcapng, the reference's capture becomes OUT-ref.pcapng, and that of the system under test
 * OUT-sut.pcapng.  If a side has several captures, they become OUT-ref-1.pcapng, OUT-ref-2.pcapng
 * ...  A capture that has both sides becomes OUT.pcapng, or OUT-1.pcapng ...  All files appear
 * together, when they are complete.
 */
#ifndef NFSDIGEST_REPORT_ANNOTATE_H
#define NFSDIGEST_REPORT_ANNOTATE_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdint.h>

enum {
    ANNOTATE_CAPTURES_MAX = 256, /* of both sides */
    ANNOTATE_COMMENTS_MAX = 20,  /* of a frame; one more says how many were left out */
};

/* One file that was made. */
struct annotated {
    const char *path, *capture;
    uint64_t frames, commented;
};

/* Calls |take| with each name that will be written for |path|.  |dbs| is one result or, before
 * there is one, the databases of ref and sut.  Returns -ERR_USAGE if report_annotate needs the
 * captures to be named, as for databases of records. */
int annotate_names(sqlite3 *const *dbs, uint32_t count, const char *path,
                   int (*take)(void *ctx, const char *name, struct err *err), void *ctx,
                   struct err *err);

struct annotate_request {
    const char *path; /* OUT.pcapng */
    /* The captures.  They are recognized by their digests, so their compression does not matter.
     * If |count| is 0, they are looked for under the names in the result.  A side that was ingested
     * from records (.nfsr) needs the one capture that these were made from.  It is recognized by
     * the number of its frames and the times of those with discrepancies. */
    const char *const *captures;
    uint32_t count;
    /* Called for each file that was written; or NULL. */
    void (*made)(void *ctx, const struct annotated *file);
    void *ctx;
};

/* Returns -ERR_INPUT if a capture is missing or has changed. */
int report_annotate(sqlite3 *result, const struct annotate_request *request, struct err *err);

#endif
