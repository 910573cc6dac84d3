/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ranks/outcomes.h
 *
 * Outcomes of operations (player.h), many in one message between two ranks:
 *
 *     flags    u8: 1 tainted, 2 |because| is not the operation itself, 4 a lesson, 8 another dump
 *     dump     number, with flag 8; dump 0 before the first one
 *     number   the difference to the last one of this message (0 before the first), as zigzag
 *     chain    number, ns
 *     because  number, with flag 2: the operation + 1, or 0 for none
 *     lesson   with flag 4: number of bytes, at least 1, and the bytes (verdict_lesson.h)
 *
 * A number has 7 bits in each byte, the lowest first; all bytes but its last have the bit 128.
 * Most outcomes take 4 to 6 bytes.  A reader checks every length: its bytes come from a socket.
 */
#ifndef NFSDIGEST_RANKS_OUTCOMES_H
#define NFSDIGEST_RANKS_OUTCOMES_H

#include "player/player.h"

/* All zeros: an empty message. */
struct outcomes {
    struct buf bytes;
    uint64_t last;
    uint32_t dump;
};

/* Appends one. */
int outcomes_add(struct outcomes *to, const struct player_outcome *outcome, struct err *err);
/* Makes it empty again. */
void outcomes_clear(struct outcomes *to);
void outcomes_free(struct outcomes *to);

struct outcomes_reader {
    struct bytes left;
    uint64_t last;
    uint32_t dump;
};

/* Reads the next one, whose lesson points into the message.  Returns 1, 0 at the end, or
 * -ERR_INPUT. */
int outcomes_next(struct outcomes_reader *from, struct player_outcome *outcome, struct err *err);

#endif
