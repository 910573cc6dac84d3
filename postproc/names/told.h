/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/told.h
 *
 * Puts records, and before each one those that it refers to, if the stream does not have them yet:
 * a stream that goes on from a state, or that is of one server only, has no others.
 *
 * Ids of objects, paths, connections and credentials are in sequence in the stream (nfsr.md section
 * 5), so they are others than those of the records if some are left out.
 *
 * Memory: 4 bytes for each object, path, connection and credential; credentials; 4 bytes for each
 * name of the longest path.
 */
#ifndef NFSDIGEST_NAMES_TOLD_H
#define NFSDIGEST_NAMES_TOLD_H

#include "base/arena.h"
#include "flow/object.h"
#include "names/flows.h"

struct told_ids {
    uint32_t *at; /* by id: that in the stream; 0: it was not put */
    uint32_t cap, count;
};

struct told {
    struct sink out;
    bool whole; /* nothing is left out: connections and credentials keep their ids */
    const struct objects *objects;
    const struct flows *flows;
    struct record_credential *credentials; /* by id; 0 is none */
    uint32_t credential_count, credential_cap;
    struct arena arena; /* of credentials */
    struct told_ids object, path, flow, credential;
    uint32_t *way; /* of a path: those above it that were not put yet */
    uint32_t way_count, way_cap;
};

int told_init(struct told *t, const struct objects *objects, const struct flows *flows,
              struct err *err);
void told_free(struct told *t);

/* Puts a record.  For struct sink. */
int told_put(void *told, const struct record *record, struct err *err);

/* Notes a credential of an earlier stream. */
int told_keep(struct told *t, const struct record_credential *credential, struct err *err);

#endif
