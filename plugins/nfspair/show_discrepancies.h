/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/show_discrepancies.h
 *
 * The fields nfspair.discrepancy of a message, and their expert infos.
 */
#ifndef NFSDIGEST_NFSPAIR_SHOW_DISCREPANCIES_H
#define NFSDIGEST_NFSPAIR_SHOW_DISCREPANCIES_H

#include "nfspair.h"
#include "pairs.h"

#include <epan/expert.h>

/* Adds them to proto_nfspair and its expert infos. */
void show_discrepancies_register(expert_module_t *experts);

/* Those of the message |xid| of this frame, as subtrees of |tree|; NULL: only their expert infos
 * are counted. */
void show_discrepancies(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                        const struct pairs *pairs, uint32_t xid);

#endif
