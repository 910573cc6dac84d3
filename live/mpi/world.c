/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mpi/world.h"
#include "net/loop.h"

#include <mpi.h>

enum { ROUNDS = 64, TAG = 1 };

static enum { CLOSED, OPEN, BROKEN } state; /* of MPI, which a process begins once */

int world_open(struct world *w, struct err *err)
{
    int rank = 0, count = 0, beside = 0;
    MPI_Comm machine;

    *w = (struct world){ 0 };
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return err_set(err, ERR_SYSTEM, "MPI cannot be started: run it with mpirun");
    state = OPEN;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &beside);
    MPI_Comm_free(&machine);
    w->rank = (uint32_t)rank;
    w->count = (uint32_t)count;
    w->beside = (uint32_t)beside;
    return 0;
}

void world_broken(void)
{
    state = BROKEN;
}

bool world_close(void)
{
    if (state == OPEN)
        MPI_Finalize();
    return state != BROKEN;
}

int world_agree(const struct world *w, int result, struct err *err)
{
    int mine = (int)(result < 0 ? w->rank : w->count), first = 0;
    struct err of_first = *err;

    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if ((uint32_t)first == w->count)
        return 0;
    MPI_Bcast(&of_first, sizeof(of_first), MPI_BYTE, first, MPI_COMM_WORLD);
    of_first.text[sizeof(of_first.text) - 1] = '\0';
    *err = of_first;
    if (first)
        err_prefix(err, "rank %d", first);
    return -(err->code ? err->code : ERR_SYSTEM);
}

void world_share(const struct world *w, void *data, size_t size)
{
    (void)w;
    MPI_Bcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void world_gather(const struct world *w, const void *mine, size_t size, void *to)
{
    (void)w;
    MPI_Allgather(mine, (int)size, MPI_BYTE, to, (int)size, MPI_BYTE, MPI_COMM_WORLD);
}

/* --- clocks */

/* Rank 0 asks |rank| for its time.  The answer that came fastest is the best one: the clock was
 * read at most half its way earlier or later than in its middle. */
static void ask_clock(int rank, int64_t answer[2])
{
    int64_t best = INT64_MAX;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t before = loop_clock(), theirs = 0, after;

        MPI_Send(&before, 1, MPI_INT64_T, rank, TAG, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_INT64_T, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        after = loop_clock();
        if (after - before >= best)
            continue;
        best = after - before;
        answer[0] = theirs - (before + best / 2);
        answer[1] = best / 2;
    }
    MPI_Send(answer, 2, MPI_INT64_T, rank, TAG, MPI_COMM_WORLD);
}

static void answer_clock(int64_t answer[2])
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t theirs = 0, mine;

        MPI_Recv(&theirs, 1, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = loop_clock();
        MPI_Send(&mine, 1, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Recv(answer, 2, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void world_clocks(struct world *w)
{
    int64_t answer[2] = { 0, 0 };

    for (uint32_t rank = 1; rank < w->count && !w->rank; rank++)
        ask_clock((int)rank, answer);
    if (w->rank)
        answer_clock(answer);
    w->offset = w->rank ? answer[0] : 0;
    w->unsure = w->rank ? answer[1] : 0;
}

int64_t world_moment(const struct world *w, int64_t ahead)
{
    int64_t moment = loop_clock() + ahead;

    world_share(w, &moment, sizeof(moment)); /* by the clock of rank 0 */
    return moment + w->offset;
}
