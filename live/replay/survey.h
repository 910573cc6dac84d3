/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/survey.h
 *
 * A look at all operations of a dump before the first one is played: is it whole, and what does it
 * ask of a server?
 *
 * Memory: one block.
 */
#ifndef NFSDIGEST_REPLAY_SURVEY_H
#define NFSDIGEST_REPLAY_SURVEY_H

#include "rdump/rdump.h"

struct survey {
    uint64_t operations, unplayable;
    int64_t first, last;            /* times of operations, in ns of the trace; 0: there is none */
    uint32_t read_most, write_most; /* bytes of the largest READ and WRITE */
    bool changes; /* an operation changes something: the tree is not as before afterwards */
    bool is_pipe; /* it cannot be read twice; nothing above is known */
    bool damaged;
    char damage[256]; /* in words */
};

/* 0, also for a damaged dump; -ERR_SYSTEM or -ERR_INPUT if it cannot be read at all. */
int survey_dump(const char *path, struct survey *to, struct err *err);

#endif
