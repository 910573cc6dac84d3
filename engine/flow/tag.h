/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/tag.h
 *
 * Finds what an operation is about: objects, paths and the change that it depends on, by the roles
 * of its fields; and what its result teaches about objects and names.
 */
#ifndef NFSDIGEST_FLOW_TAG_H
#define NFSDIGEST_FLOW_TAG_H

#include "flow/calls.h"
#include "flow/object.h"
#include "flow/scan.h"

struct tagged {
    uint32_t server;          /* the host that the call went to; the caller sets it */
    uint32_t parent, parent2; /* directories of the names; 0: there is no name */
    uint32_t object;
    bool no_paths; /* the caller sets it: the operation gets none */
};

/* Sets object, object2, paths, range and dependency of |op|, a call, from its |scan|.  Notes which
 * objects it changes. */
int tag_call(struct objects *o, struct record_operation *op, const struct scan *scan,
             struct tagged *about, struct err *err);

/* Notes in |w| what tag_reply must know of the names in the arguments, which |scan| found in
 * |body|. w->procedure is set. */
void tag_keep(struct waiting *w, const struct scan *scan, const uint8_t *body);

/* Learns from the result of a call, and sets op->new_object.  An object gets its type from the
 * first attributes that are seen of it, or from those with which it is made.  It becomes a
 * directory when a name in it is found or changed, even if its attributes say something else: then
 * the handle was used again, and the next attributes are believed.  If nothing is known of an
 * object, and a procedure with a name in it fails, it is guessed to be a directory, unless the
 * status is NFS3ERR_NOTDIR.  A call alone teaches nothing. */
int tag_reply(struct objects *o, struct waiting *w, const struct scan *scan, uint32_t server,
              struct err *err);

/* Learns from an entry of a listing of op->object, which came from |server|. */
int tag_entry(struct objects *o, const struct record_operation *op, uint32_t server,
              const struct scan_entry *entry, struct err *err);

#endif
