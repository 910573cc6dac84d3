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

/* Adds the fields to proto_nfspair, and the expert infos to |experts|. */
void show_discrepancies_register(expert_module_t *experts);

/* Shows the discrepancies of the message |xid| of this frame as subtrees of |tree|.  NULL: only
 * counts their expert infos. */
void show_discrepancies(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                        const struct pairs *pairs, uint32_t xid);

#endif
