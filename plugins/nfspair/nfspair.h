/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/nfspair.h
 *
 * Shared by the files of the plugin.  It has two modes:
 *
 * Record mode, tshark -z nfspair,out=FILE: common/recorder.h records what record.c defines.
 *
 * Tree mode, everywhere else: tree.c is a postdissector that feeds each frame to an engine, once.
 * show.c shows what pairs.c keeps of it.  show_discrepancies.c shows what discrepancies.c finds in
 * the result of a comparison.  menu.c and menu_discrepancies.c have the entries under Tools.
 *
 * All of it runs in libwireshark's only thread, except the worker of the recorder.
 */
#ifndef NFSDIGEST_NFSPAIR_H
#define NFSDIGEST_NFSPAIR_H

#include "discrepancies.h"

#include <epan/packet.h>
#include <epan/plugin_if.h>

/* The protocol "nfspair", as proto_register_protocol gave it. */
extern int proto_nfspair;

/* --- record.c --- */

void record_register(void); /* adds -z nfspair */

/* --- tree.c --- */

struct pairs;

void tree_register(void); /* fields and preferences */
void tree_handoff(void);  /* the postdissector */
/* Returns the operations of the open capture, or NULL. */
const struct pairs *tree_pairs(void);

/* Returns the discrepancies of the open capture, or NULL. */
const struct discrepancies *tree_found(void);
/* Calls |show| for the discrepancies of a message in the frame that is shown as |number|: see
 * discrepancies_of.  Returns 0 if there are none or no database, or after an error, which it
 * reports. */
int64_t tree_discrepancies(uint32_t number, uint32_t xid, discrepancy_show show, void *ctx);

/* --- menu.c, menu_discrepancies.c --- */

void menu_register(void);
void menu_discrepancies_register(ext_menu_t *menu);
/* Returns the number of the selected frame; 0: none. */
uint32_t menu_frame(void);

#endif
