/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/feed.h */
#ifndef NFSDIGEST_PLUGINS_FEED_H
#define NFSDIGEST_PLUGINS_FEED_H

#include "link/frame.h"

#include <epan/packet.h>

/* Fills |out| with a whole frame, without its number.  |tvb| is the frame's own, and |out| points
 * into it.  Returns false if the record is not a packet. */
bool feed_frame(const packet_info *pinfo, tvbuff_t *tvb, struct frame *out);

#endif
