/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/run.h
 *
 * A replay by several ranks, as this rank has it:
 *
 *     cmd_play_ranks   cmd_play.c: options, and the order of it all
 *     run_prepare      prepare.c: dumps, trees, clients, links and clocks
 *     run_play         run.c: plays, and hears what other ranks say
 *     run_end          end.c: the tallies of all come together, and one rank tells
 */
#ifndef NFSDIGEST_MPI_RUN_H
#define NFSDIGEST_MPI_RUN_H

#include "mpi/world.h"
#include "ranks/links.h"
#include "ranks/owners.h"
#include "replay/play.h"
#include "report/report.h"

struct run {
    struct world *world;
    struct replay_options *options;
    struct session session;
    struct play play;
    struct owners owners;
    struct links *links; /* NULL: one rank plays alone */
    struct player_others others;
    struct tally *tally;
    struct report *report;
    struct timer hurry; /* after the loss of a rank */
    int64_t lost_at;
    int code;       /* exit code of a failure in any rank; 0: none */
    int ended_code; /* of the run, once its teller has said so; -1: not yet */
    bool told_stop; /* the others know that this rank ended early, or said so themselves */
    char why[256];  /* the run ended early because of this; "": it did not, or this rank knows */
    struct err failure;
};

/* Begins MPI; the caller calls world_close.  A code that is not negative can have a message, too.
 */
int cmd_play_ranks(int argc, char **argv, struct err *err);

/* All ranks have the same result. */
int run_prepare(struct run *run, struct err *err);
/* Plays.  Failures are noted in |run|. */
void run_play(struct run *run);
/* Returns the exit code that all ranks have. */
int run_end(struct run *run, struct err *err);
void run_free(struct run *run);

/* run.c: for links */
extern const struct links_host run_host;

#endif
