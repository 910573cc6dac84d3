/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/seen.h
 *
 * Two small structs that the transports pass by value: when something was seen, and bytes as they
 * were captured.
 */
#ifndef NFSDIGEST_FLOW_SEEN_H
#define NFSDIGEST_FLOW_SEEN_H

#include <stdint.h>

/* In which frame something was noticed. */
struct seen {
    uint64_t frame;
    int64_t time; /* of that frame, or TIME_NONE */
};

/* Bytes of a message or stream, of which the last ones may be missing. */
struct piece {
    const uint8_t *data; /* NULL: not known */
    uint32_t cap_len;    /* those that are there */
    uint32_t wire_len;   /* all of them; >= cap_len */
};

#endif
