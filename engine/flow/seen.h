/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/seen.h
 *
 * When something was seen: a small struct that the transports pass by value.
 */
#ifndef NFSDIGEST_FLOW_SEEN_H
#define NFSDIGEST_FLOW_SEEN_H

#include <stdint.h>

/* The frame in which something was noticed. */
struct seen {
    uint64_t frame;
    int64_t time; /* of that frame, or TIME_NONE */
};

#endif
