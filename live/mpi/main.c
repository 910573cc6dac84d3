/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/main.c
 *
 * nfsreplay-mpi: nfsreplay's play for several processes, which mpirun starts.
 */
#include "base/escape.h"
#include "mpi/run.h"
#include "show/tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
    { "play", cmd_play_ranks, "play the operations of a dump, in several processes" },
    { 0 },
};

static const struct tool tool = {
    .name = "nfsreplay-mpi",
    .version = NFSDIGEST_VERSION,
    .about =
        "usage: mpirun -n N nfsreplay-mpi play [OPTION...] DUMP [SERVER=]TARGET...\n\n"
        "Plays traces of NFSv3 traffic on a server, as nfsreplay does, in N processes on one\n"
        "machine or several.  \"nfsreplay populate\" makes the tree before, \"nfsreplay clean\"\n"
        "removes it, and \"nfsreplay report\" shows what -o RUN has kept.\n",
    .codes =
        "\"nfsreplay-mpi play --help\" lists the options.  Exit codes: 0 success; 1 something\n"
        "differs, or was interrupted; 2 wrong usage; 3 a dump or server that cannot be\n"
        "used; 4 a system error: memory, no connection, a rank that was lost.\n",
    .commands = commands,
    .prepare = wire_init,
};

static const char *const others[] = { "populate", "run", "curve", "report", "clean", NULL };

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result = 0;

    for (int i = 0; others[i] && argc > 1; i++)
        if (strcmp(argv[1], others[i]) == 0)
            result = err_set(&err, ERR_USAGE, "%s is done by one process: \"nfsreplay %s\"",
                             others[i], others[i]);
    if (result == 0)
        result = tool_run(&tool, argc, argv, &err);
    if (fflush(stdout) != 0 && result >= 0)
        result = err_set(&err, ERR_SYSTEM, "standard output: cannot be written");
    if (err.code) {
        fputs("nfsreplay-mpi: ", stderr);
        escape_print(stderr, err.text);
        putc('\n', stderr);
    }
    result = result < 0 ? -result : result;
    if (!world_close())
        _exit(result);
    return result;
}
