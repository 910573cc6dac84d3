/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/payload.h
 *
 * decap=wireshark: libwireshark removes the headers up to IP, and the engine gets the IP payload.
 */
#ifndef NFSDIGEST_PLUGINS_PAYLOAD_H
#define NFSDIGEST_PLUGINS_PAYLOAD_H

#include "link/frame.h"

/* What IP headers carried, in the order in which it was found.  The payloads point into tvbs, which
 * live until the frame's taps have run. */
struct payloads {
    struct ip_payload *items;
    unsigned count, room;
    uint32_t frame; /* where they were found: its number, and in which pass */
    bool visited;   /* when dissection began */
};

/* From now on IP payloads are put into |to|, which begins as all zeros. */
void payload_start(struct payloads *to);
/* Those of frame |number|, |*count| of them, which stay until the next one is dissected. */
const struct ip_payload *payload_take(struct payloads *from, uint32_t number, unsigned *count);

#endif
