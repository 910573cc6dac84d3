/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/waiting.h
 *
 * Saves calls that wait for a reply, and restores them (base/pack.h).
 */
#ifndef NFSDIGEST_FLOW_WAITING_H
#define NFSDIGEST_FLOW_WAITING_H

#include "base/pack.h"
#include "flow/calls.h"

uint64_t waiting_layout(uint64_t hash);
int waiting_save(const struct waiting *waiting, struct buf *out);

/* Returns one that free() frees, or NULL; then |in| has failed, or there is no memory.  Its parts
 * lie within its body; ids of objects and others are as they were saved. */
struct waiting *waiting_restore(struct unpack *in);

#endif
