/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/main.c
 *
 * nfsreplay: the table of its commands.
 */
#include "base/escape.h"
#include "replay/commands.h"
#include "show/tool.h"

#include <stdio.h>

static const struct command commands[] = {
    { "populate", cmd_populate, "make the tree of a dump on a server" },
    { "play", cmd_play, "play its operations on that tree" },
    { "run", cmd_run, "populate, then play" },
    { "curve", cmd_curve, "measure latency against throughput" },
    { "report", cmd_report, "show what runs have shown" },
    { "clean", cmd_clean, "remove the tree" },
    { 0 },
};

static const struct tool tool = {
    .name = "nfsreplay",
    .version = NFSDIGEST_VERSION,
    .about = "usage: nfsreplay COMMAND [OPTION...] DUMP [SERVER=]TARGET...\n\n"
             "Plays traces of NFSv3 traffic on a server.  DUMP is made by \"nfsdigest rdump\";\n"
             "TARGET is an export, nfs://HOST[:PORT]/EXPORT.\n",
    .codes = "\"nfsreplay COMMAND --help\" lists the options of a command, and \"nfsreplay\n"
             "--version\" prints the version.  Exit codes: 0 success; 1 something differs, or\n"
             "was interrupted; 2 wrong usage; 3 a dump or server that cannot be used; 4 a\n"
             "system error: memory, no connection.\n",
    .commands = commands,
    .prepare = wire_init,
};

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result = tool_run(&tool, argc, argv, &err);

    if (fflush(stdout) != 0 && result >= 0)
        result = err_set(&err, ERR_SYSTEM, "standard output: cannot be written");
    if (result < 0) {
        fputs("nfsreplay: ", stderr);
        escape_print(stderr, err.text);
        putc('\n', stderr);
    }
    return result < 0 ? -result : result;
}
