/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/naming.h
 *
 * Gives operations that were recorded before their objects, paths and dependencies again, from what
 * their records keep of arguments and results.  For records of pieces of a capture, whose engines
 * did not know what happened before: calls and replies must come here in the order in which one
 * engine would have taken them.
 *
 * Memory: that of objects (object.h), and a struct waiting for each call until its reply.
 */
#ifndef NFSDIGEST_FLOW_NAMING_H
#define NFSDIGEST_FLOW_NAMING_H

#include "flow/calls.h"
#include "flow/object.h"

/* Makes a call that waits for its reply, from the record of its operation.  Copies arguments and
 * digests of blocks, with |answered| also the result, and forgets everything that an earlier engine
 * said of objects and paths.  The caller frees it.  Returns NULL if there is no memory. */
struct waiting *naming_begin(const struct record_operation *op, bool answered, struct err *err);

/* Takes the call, which went to the host |server|.  w->operation gets its objects, paths and
 * dependency.  w->operation.id must be set, and be larger than those of earlier calls. */
int naming_call(struct objects *o, struct waiting *w, uint32_t server, struct err *err);

/* Gives |w| the reply that another record of its operation has, which must outlive |w|.  Id, flow,
 * credential, objects, paths and dependency stay. */
void naming_answer(struct waiting *w, const struct record_operation *op);

/* Takes the reply, which |w| has.  w->operation gets its new object. */
int naming_reply(struct objects *o, struct waiting *w, uint32_t server, struct err *err);

#endif
