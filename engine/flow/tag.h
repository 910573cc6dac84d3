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
    uint32_t server;          /* the host that is asked: set before */
    uint32_t parent, parent2; /* directories of the names, 0: none */
    uint32_t object;
};

/* Sets object, object2, paths, range and dependency of |op|, a call from |scan|, and notes what it
 * changes. */
int tag_call(struct objects *o, struct record_operation *op, const struct scan *scan,
             struct tagged *about, struct err *err);

/* Learns from the result of a call: sets op->new_object.  The type of an object is that of the
 * first attributes that are seen of it, or of those with which it is made.  It becomes a directory
 * when a name is found in it or changed, also against attributes: its handle was used again, and
 * the next ones are believed.  It is guessed to be one when nothing is known and a procedure with a
 * name in it fails, unless with NFS3ERR_NOTDIR.  Calls alone tell nothing. */
int tag_reply(struct objects *o, struct waiting *w, const struct scan *scan, uint32_t server,
              struct err *err);

/* An entry of a listing of op->object, which |server| gave. */
int tag_entry(struct objects *o, const struct record_operation *op, uint32_t server,
              const struct scan_entry *entry, struct err *err);

#endif
