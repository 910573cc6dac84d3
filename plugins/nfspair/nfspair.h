/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/nfspair.h
 *
 * What the plugin's files know of each other.  It has two modes:
 *
 * Record mode, tshark -z nfspair,out=FILE: record.c takes frames from the "frame" tap and gives
 * them to the engine in a worker's thread; or, when Wireshark takes the headers off, payload.c
 * stands between.
 *
 * Tree mode, everywhere else: tree.c is a postdissector that feeds each frame to an engine, once,
 * and show.c shows what pairs.c kept of it; menu.c has the entries under Tools.
 *
 * Both take their frames from feed.c.  All but the worker runs in libwireshark's one thread.
 */
#ifndef NFSDIGEST_NFSPAIR_H
#define NFSDIGEST_NFSPAIR_H

#include "compat.h"
#include "link/frame.h"

#include <epan/packet.h>

/* The protocol "nfspair", as proto_register_protocol gave it. */
extern int proto_nfspair;

/* --- feed.c --- */

/* Makes |out| of a whole frame, without its number; |tvb| is the frame's own.  False: this record
 * is no packet.  |out| points into |tvb|. */
bool feed_frame(const packet_info *pinfo, tvbuff_t *tvb, struct frame *out);

/* --- record.c --- */

void record_register(void);   /* adds -z nfspair */
bool record_is_running(void); /* then there is no tree */

/* --- payload.c: decap=wireshark --- */

/* Creates the handles that take the place of TCP's and UDP's. */
void payload_register(void);
/* From now on IP payloads are kept until payload_take or the next frame. */
void payload_start(void);
/* What frame |number| carried, |*count| of them, in the order in which they were found. */
const struct ip_payload *payload_take(uint32_t number, unsigned *count);
void payload_free(void);

/* --- tree.c --- */

struct pairs;

void tree_register(void); /* fields and preferences */
void tree_handoff(void);  /* the postdissector */
/* What is known of the open capture, or NULL. */
const struct pairs *tree_pairs(void);

/* --- menu.c --- */

void menu_register(void);

#endif
