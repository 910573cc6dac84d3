/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/main.c
 *
 * nfstee: the table of its commands.
 */
#include "base/escape.h"
#include "net/control.h"
#include "show/args.h"
#include "show/tool.h"
#include "tee/commands.h"

#include <stdio.h>

static int cmd_ctl(int argc, char **argv, struct err *err)
{
    if (args_wants_table(argc, argv)) /* it has no options */
        return 0;
    return control_ctl(argc - 1, argv + 1, stdout, err);
}

static const struct command commands[] = {
    { "relay", cmd_relay, "relay connections of NFS clients to a server" },
    { "shadow", cmd_shadow, "keep a second server equal, and compare its answers" },
    { "run", cmd_run, "relay and shadow with one command" },
    { "tap", cmd_tap, "record what passes a relay that runs with --attach" },
    { "ctl", cmd_ctl, "send a command to a relay that runs with --control" },
    { 0 },
};

static const struct tool tool = {
    .name = "nfstee",
    .version = NFSDIGEST_VERSION,
    .about = "usage: nfstee COMMAND [OPTION...]\n\n"
             "Stands between NFSv3 clients and their server, and lets other processes see\n"
             "what passes.\n",
    .codes = "\"nfstee COMMAND --help\" lists the options of a command, and \"nfstee --version\"\n"
             "prints the version.  Exit codes: 0 success; 1 a shadow found differences; 2 wrong\n"
             "usage; 3 no ring of a relay; 4 a system error: memory, an address that cannot be\n"
             "used.\n",
    .commands = commands,
};

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result = tool_run(&tool, argc, argv, &err);

    if (fflush(stdout) != 0 && result >= 0)
        result = err_set(&err, ERR_SYSTEM, "standard output: cannot be written");
    if (result < 0) {
        fputs("nfstee: ", stderr);
        escape_print(stderr, err.text);
        putc('\n', stderr);
    }
    return result < 0 ? -result : result;
}
