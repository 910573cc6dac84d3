/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/initial.h
 *
 * What nodes were like at the hierarchy's moment (its beginning, unless another one was asked for).
 *
 * Of what came before the moment the last counts.  Of what comes after it the first: attributes
 * that were seen before the first change of them are exact, and so is what a reply to the first
 * change tells of before.  A change counts from its call on, for nobody knows when the server makes
 * it. What was seen after a change only is kept as a guess.  Without attributes a READ tells the
 * size: at its end exactly, elsewhere at least.
 */
#ifndef NFSDIGEST_TREE_INITIAL_H
#define NFSDIGEST_TREE_INITIAL_H

#include "effect/effect.h"
#include "tree/hierarchy.h"

/* A call: what it may change cannot be learned exactly any more. */
int initial_called(struct hierarchy *h, const struct effect *effect, struct err *err);

/* Its result, of objects that have a node. */
int initial_done(struct hierarchy *h, const struct effect *effect, struct err *err);

/* Attributes of |node| that the result of |effect| shows. */
void initial_learn(struct hierarchy *h, uint32_t node, const struct effect *effect,
                   const struct attributes *attributes);

/* The node was changed by an operation on one of its names. */
void initial_taint(struct hierarchy *h, uint32_t node, const struct effect *effect, uint16_t bits);

#endif
