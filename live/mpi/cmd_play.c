/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/cmd_play.c
 *
 * nfsreplay-mpi play.
 */
#include "mpi/run.h"
#include "replay/commands.h"
#include "replay/rules_told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of nfsreplay play that several ranks do not have. */
static int refuse(int argc, char **argv, struct err *err)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--loop", 6) == 0)
            return err_set(err, ERR_USAGE,
                           "nfsreplay-mpi plays once: without --loop; \"nfsreplay play --loop\" "
                           "plays several times, in one process");
        if (strncmp(argv[i], "--record", 8) == 0)
            return err_set(err, ERR_USAGE,
                           "nfsreplay-mpi records nothing: without --record; \"nfsreplay play "
                           "--record\" does, in one process");
    }
    return 0;
}

/* The same exit code without the message, which another rank has. */
static int silent(int result, struct err *err)
{
    if (result < 0)
        err->code = ERR_NONE;
    return result < 0 ? -result : result;
}

static int check(const struct world *world, const struct replay_options *options, struct err *err)
{
    if (world->count > 1 && options->order == ORDER_TRACE)
        return err_set(err, ERR_USAGE,
                       "--order trace needs one process, because each operation waits for the "
                       "sending of all before it: mpirun -n 1, or \"nfsreplay play\"");
    return 0;
}

/* Parses the command line, before MPI is started: the help needs no other process.  All ranks find
 * the same, and only the first one says it.  Returns 1 to go on. */
static int parse(struct run *r, int argc, char **argv, struct err *err)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    bool first = !rank || strcmp(rank, "0") == 0;
    int result = refuse(argc, argv, err);
    int aside = first ? -1 : dup(STDOUT_FILENO);

    if (!first && aside >= 0 && !freopen("/dev/null", "w", stdout))
        return err_set(err, ERR_SYSTEM, "/dev/null cannot be opened");
    if (result == 0)
        result = replay_options(r->options, REPLAY_RANKS, argc, argv, err);
    if (aside >= 0 && result == 1) { /* this one prints if those before it are lost */
        fflush(stdout);
        dup2(aside, STDOUT_FILENO);
    }
    if (aside >= 0)
        close(aside);
    return first ? result : silent(result, err);
}

static int play(struct run *r, struct err *err)
{
    bool made = false;
    int result;

    r->report = report_new(err);
    r->tally = r->report ? tally_new(err) : NULL;
    result = r->tally ? rules_tally(r->options, r->tally, err) : -err->code;
    if (result == 0 && r->options->output && !r->world->rank) {
        result = make_folder(r->options->output, "a run", err);
        made = result == 0;
    }
    result = world_agree(r->world, result, err);
    if (result == 0)
        result = run_prepare(r, err);
    if (result == 0) {
        run_play(r);
        result = run_end(r, err);
    }
    if (made)
        rmdir(r->options->output); /* if there is nothing in it */
    return result;
}

int cmd_play_ranks(int argc, char **argv, struct err *err)
{
    static struct replay_options options;
    static struct run run;
    struct world world = { 0 };
    int result;

    run = (struct run){ .world = &world, .options = &options, .ended_code = -1 };
    result = parse(&run, argc, argv, err);
    if (result != 1)
        return result;
    result = world_open(&world, err);
    if (result < 0)
        return result;
    result = check(&world, &options, err);
    if (result == 0)
        result = play(&run, err);
    if (result < 0 && world.rank) /* before the run all ranks have the same message */
        result = silent(result, err);
    if (run.lost_at)
        world_broken();
    run_free(&run);
    replay_options_free(&options);
    return result;
}
