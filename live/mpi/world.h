/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/world.h
 *
 * What nfsreplay-mpi does with MPI: the ranks learn who they are, agree, and set their clocks.
 * While they play, and when they add up what they saw, they use links (live/ranks) instead: MPI
 * cannot wait together with sockets, and a call of MPI does not return when a rank has died.
 *
 * All ranks call these functions in the same order, world_open and world_close apart.
 */
#ifndef NFSDIGEST_MPI_WORLD_H
#define NFSDIGEST_MPI_WORLD_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct world {
    uint32_t rank, count;
    uint32_t beside; /* ranks on this machine, this one too */
    int64_t offset;  /* ns that this machine's clock is ahead of rank 0's; world_clocks sets it */
    int64_t unsure;  /* ns: half the way there and back, the most that |offset| is off */
};

int world_open(struct world *world, struct err *err);
/* A rank has died. */
void world_broken(void);
/* Ends MPI, if it was begun.  Returns false if a rank has died: MPI would wait for it, so it was
 * not ended, and the process must end without exit handlers. */
bool world_close(void);

/* Returns 0 if |result| is not negative in any rank.  Otherwise all get the code and the message of
 * the first one that failed. */
int world_agree(const struct world *world, int result, struct err *err);
/* All get what rank 0 has. */
void world_share(const struct world *world, void *data, size_t size);
/* All get what all have: |to| is by rank. */
void world_gather(const struct world *world, const void *mine, size_t size, void *to);
/* Compares this machine's clock with rank 0's. */
void world_clocks(struct world *world);
/* A time by this machine's clock that is the same moment for all, |ahead| ns from now. */
int64_t world_moment(const struct world *world, int64_t ahead);

#endif
