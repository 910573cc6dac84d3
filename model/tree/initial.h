/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/initial.h
 *
 * The attributes of nodes at the moment of the hierarchy (its beginning, unless another moment was
 * asked for).
 *
 * Before the moment the latest value wins, after it the earliest.  Attributes that were seen before
 * their first change are exact.  So are those from before the operation in the reply to the first
 * change.  A change counts from its call on, because it is unknown when the server makes it.  A
 * value that was seen only after a change is kept as a guess.  Without attributes, a READ shows the
 * size: the exact size at the end of the file, a minimum elsewhere.
 */
#ifndef NFSDIGEST_TREE_INITIAL_H
#define NFSDIGEST_TREE_INITIAL_H

#include "effect/effect.h"
#include "tree/hierarchy.h"

/* Notes a call: the attributes that it may change can no longer be learned exactly. */
int initial_called(struct hierarchy *h, const struct effect *effect, struct err *err);

/* Learns from the result of an operation, for objects that have a node. */
int initial_done(struct hierarchy *h, const struct effect *effect, struct err *err);

/* Learns |attributes| of |node|, which the result of |effect| shows. */
void initial_learn(struct hierarchy *h, uint32_t node, const struct effect *effect,
                   const struct attributes *attributes);

/* Notes that an operation on one of the node's names changed its attributes |bits|. */
void initial_taint(struct hierarchy *h, uint32_t node, const struct effect *effect, uint16_t bits);

#endif
