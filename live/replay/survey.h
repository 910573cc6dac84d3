/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/survey.h
 *
 * A look at all operations of a dump before the first one is played: can all of it be played, and
 * what does it ask of a server?
 *
 * Memory: one block, and that of step_check.h.
 */
#ifndef NFSDIGEST_REPLAY_SURVEY_H
#define NFSDIGEST_REPLAY_SURVEY_H

#include "player/script.h"

struct survey {
    uint64_t operations, unplayable;
    int64_t first, last;            /* times of operations, in ns of the trace; 0: there is none */
    uint32_t read_most, write_most; /* bytes of the largest READ and WRITE */
    bool changes; /* an operation changes something: the tree is not as before afterwards */
    bool is_pipe; /* it cannot be read twice; nothing above is known */
    bool damaged;
    char damage[256]; /* in words */
};

/* Reads the file of an open dump once more.  0, also for a damaged dump: then all is about what
 * stands before the damage.  -ERR_SYSTEM or -ERR_INPUT if it cannot be read at all. */
int survey_dump(const struct script *script, struct survey *to, struct err *err);

#endif
