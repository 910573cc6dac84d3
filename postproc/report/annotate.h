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
 *
 * The frames of a shadow's log (schemas/teelog.md) are of no capture.  For its result, the captures
 * are those of the relay's clients, and become OUT.pcapng, or OUT-1.pcapng ...  Its discrepancies
 * are found there by client, port, XID, procedure and time.
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
 * captures to be named, as for databases of records.  |captures|: as many are named. */
int annotate_names(sqlite3 *const *dbs, uint32_t count, const char *path, uint32_t captures,
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
    /* For the result of a log: gives the name of a trace database of a capture, which is used until
     * the next call. */
    int (*find)(void *ctx, const char *capture, const char **database, struct err *err);
    /* Called if |lost| of |all| discrepancies are in none of the captures; or NULL. */
    void (*lost)(void *ctx, uint64_t lost, uint64_t all);
};

/* Returns -ERR_INPUT if a capture is missing or has changed. */
int report_annotate(sqlite3 *result, const struct annotate_request *request, struct err *err);

#endif
