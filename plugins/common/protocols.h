/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/protocols.h
 *
 * Switches off everything that libwireshark would do with a frame.  This makes tshark several times
 * as fast.  "frame" itself and its tap cannot be switched off.
 */
#ifndef NFSDIGEST_PLUGINS_PROTOCOLS_H
#define NFSDIGEST_PLUGINS_PROTOCOLS_H

#include <epan/packet.h>

/* The protocols that were switched off, for protocols_on. */
struct protocols_off {
    GArray *disabled;          /* int, ids of protocols */
    dissector_handle_t *encap; /* behind a frame, by WTAP_ENCAP_ value */
    int encap_count;
};

/* Switches everything off.  The caller frees the result with protocols_off_free. */
struct protocols_off *protocols_off(void);
void protocols_off_free(struct protocols_off *off);
/* Switches on what protocols_off switched off. */
void protocols_on(const struct protocols_off *off);

#endif
