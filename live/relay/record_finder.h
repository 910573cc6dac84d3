/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/record_finder.h
 *
 * Finds the first bytes of RPC messages in the bytes of a TCP connection (record marking, RFC 5531
 * s11).  It follows the lengths of fragments, believes every one of them, and keeps nothing else.
 */
#ifndef NFSDIGEST_RELAY_RECORD_FINDER_H
#define NFSDIGEST_RELAY_RECORD_FINDER_H

#include <stdbool.h>
#include <stdint.h>

enum { RECORD_HEAD_MAX = 848 }; /* a call's header with authenticators of 400 bytes: 840 */

struct record_finder {
    uint64_t offset; /* of the stream: behind the bytes that were taken */
    uint32_t need;   /* bytes of a head, 1 to RECORD_HEAD_MAX */
    /* the message that was found: */
    uint64_t begun;    /* offset of its record mark */
    uint32_t head_len; /* less than |need| only if the message is shorter */
    bool whole;        /* the message ends with its head */
    uint8_t head[RECORD_HEAD_MAX];
    /* of the finder itself: */
    bool under_way, told, last;
    uint8_t mark_len;
    uint32_t mark, left;
};

/* Begins at |offset|, where a message begins. */
void record_finder_begin(struct record_finder *finder, uint32_t need, uint64_t offset);

/* Takes bytes up to the end of the next head, or all.  Returns how many; |*found|: a head is
 * complete. */
uint32_t record_finder_take(struct record_finder *finder, const uint8_t *data, uint32_t len,
                            bool *found);

#endif
