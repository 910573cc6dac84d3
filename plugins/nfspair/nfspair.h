/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/nfspair.h
 *
 * What the plugin's files know of each other.  It has two modes:
 *
 * Record mode, tshark -z nfspair,out=FILE: record.c says what is recorded; how that is done is in
 * common/recorder.h.
 *
 * Tree mode, everywhere else: tree.c is a postdissector that feeds each frame to an engine, once,
 * and show.c shows what pairs.c kept of it; menu.c has the entries under Tools.
 *
 * All but the recorder's worker runs in libwireshark's one thread.
 */
#ifndef NFSDIGEST_NFSPAIR_H
#define NFSDIGEST_NFSPAIR_H

#include <epan/packet.h>

/* The protocol "nfspair", as proto_register_protocol gave it. */
extern int proto_nfspair;

/* --- record.c --- */

void record_register(void); /* adds -z nfspair */

/* --- tree.c --- */

struct pairs;

void tree_register(void); /* fields and preferences */
void tree_handoff(void);  /* the postdissector */
/* What is known of the open capture, or NULL. */
const struct pairs *tree_pairs(void);

/* --- menu.c --- */

void menu_register(void);

#endif
