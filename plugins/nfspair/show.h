/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/show.h
 *
 * The fields of the packet tree.
 */
#ifndef NFSDIGEST_NFSPAIR_SHOW_H
#define NFSDIGEST_NFSPAIR_SHOW_H

#include "nfspair.h"
#include "pairs.h"

void show_register(void); /* fields and expert infos of proto_nfspair */

/* Adds a subtree for |m| to |parent|.  |parent| may be NULL: then only its expert infos are
 * counted. |tvb| is the frame's. */
void show_message(proto_tree *parent, tvbuff_t *tvb, packet_info *pinfo, const struct pairs *pairs,
                  const struct pair_message *m);

#endif
