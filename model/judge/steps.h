/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/steps.h
 *
 * The granularity of the times of a server's files.  It is kept for each file system, because a
 * server can have exports of several kinds; for each kind of time; and separately for times from
 * before and after an operation.  Times that clients set are not evidence: no time counts as finer
 * than ctime, which clients cannot set.
 *
 * Memory: 64 bytes for each file system, at most STEPS_MAX.  Nothing is known about further ones.
 */
#ifndef NFSDIGEST_JUDGE_STEPS_H
#define NFSDIGEST_JUDGE_STEPS_H

#include "rules/place.h"

enum { STEPS_MAX = 1024, STEP_TIMES = 4 }; /* by enum stamp */

struct step {
    uint64_t fsid;
    int64_t ns[2][STEP_TIMES]; /* after and before the operation; 0: not known */
};

struct steps {
    struct step *steps;
    uint32_t count, cap;
    uint32_t last; /* the last one used */
};

/* Returns the granularity of the coarsest clock that can have given this time, ns. */
int64_t step_of_time(int64_t time);

/* Notes the times in the reply of the objects that the operation changed. */
int steps_note(struct steps *steps, const struct effect *e, struct err *err);

/* Returns the granularity, ns; 0: not known. */
int64_t steps_find(struct steps *steps, uint64_t fsid, bool of_before, enum stamp stamp);

/* Sets a granularity that was found before.  Ignores file systems above STEPS_MAX.  Returns 0 or
 * -ERR_SYSTEM. */
int steps_set(struct steps *steps, uint64_t fsid, bool of_before, enum stamp stamp, int64_t ns,
              struct err *err);
void steps_free(struct steps *steps);

#endif
