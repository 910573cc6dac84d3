/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/payload.h
 *
 * decap=wireshark: libwireshark removes the headers up to IP, and the engine gets the IP payload.
 */
#ifndef NFSDIGEST_PLUGINS_PAYLOAD_H
#define NFSDIGEST_PLUGINS_PAYLOAD_H

#include "link/frame.h"

/* IP payloads in the order in which they were found.  They point into tvbs, which live until the
 * frame's taps have run. */
struct payloads {
    struct ip_payload *items;
    unsigned count, room;
    uint32_t frame; /* number of their frame */
    bool visited;   /* the frame was already visited when its dissection began (a later pass) */
};

/* Begins to put IP payloads into |to|, which must be all zeros. */
void payload_start(struct payloads *to);
/* Returns the payloads of frame |number| and sets *|count|.  They are valid until the next frame is
 * dissected. */
const struct ip_payload *payload_take(struct payloads *from, uint32_t number, unsigned *count);

#endif
