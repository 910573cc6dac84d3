/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/signals.h"
#include "store/sql_files.h"
#include "wire/field.h"

#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
    { "ingest", cmd_ingest, "read captures or record streams into a trace database" },
    { "record", cmd_record, "make a record stream (.nfsr) from captures" },
    { "anonymize", cmd_anonymize, "make an anonymized capture" },
    { "piece", cmd_piece, "make the records of a piece of a large capture" },
    { "join", cmd_join, "tell if pieces fit together, and which must be made again" },
    { "names", cmd_names, "make one stream of pieces, with the paths of the whole capture" },
    { "info", cmd_info, "summarize a database, a record stream or a capture" },
    { "top", cmd_top, "show what clients do now, by client, path, user, ..." },
    { "ops", cmd_ops, "list operations" },
    { "who", cmd_who, "show who made, changed and removed a file, and when" },
    { "tree", cmd_tree, "show the files and directories that existed before the trace" },
    { "deps", cmd_deps, "show which operations depend on which" },
    { "concurrency", cmd_concurrency, "estimate how much concurrency a replay can reach" },
    { "rdump", cmd_rdump, "make, show and check replay dumps" },
    { "phase", cmd_phase, "mark a phase of a workload in the traffic, from a client" },
    { "outage", cmd_outage, "show when a server did not answer, and what became of its clients" },
    { "hang", cmd_hang, "show which calls wait at a point in time, and whose fault it seems" },
    { "starve", cmd_starve, "show how clients share a server, and who queues behind whom" },
    { "lint", cmd_lint, "check a server against RFC 1813, and against itself over time" },
    { "compare", cmd_compare, "compare how two servers answered the same requests" },
    { "report", cmd_report, "make reports of a trace or of a comparison" },
    { "check", cmd_check, "verify a database or a record stream" },
    { "key", cmd_key, "make and check keys for anonymizing" },
    { "policy", cmd_policy, "list, show and check policies for anonymizing" },
    { "unmask", cmd_unmask, "find the originals of pseudonyms, with the key" },
    { "audit", cmd_audit, "check an anonymized capture for leaks" },
    { "package", cmd_package, "make or verify a release of a trace" },
    { "help", NULL, "show the help of a command: nfsdigest help COMMAND" },
    { 0 },
};

static const struct tool tool = {
    .name = "nfsdigest",
    .version = NFSDIGEST_VERSION,
    .about = "usage: nfsdigest COMMAND [OPTION...] [ARGUMENT...]\n\n"
             "Turns captures of NFSv3 traffic into traces that you can query.\n",
    .codes = "Questions, and what answers them (FILE: a capture, or a database):\n"
             "  what is in it?                  info FILE\n"
             "  what was slow for this client?  ops --sort waited --limit 20 --client ADDRESS\n"
             "                                  --from 10:03 --to 10:04 FILE\n"
             "  what makes the load?            info --by client FILE; also user, path, export\n"
             "  what happened each second?      info --every 1s FILE; --csv: for a spreadsheet\n"
             "  which files were only read?     info --by path --sort read FILE: see \"written\"\n"
             "  which files are large?          tree --at -0s FILE | sort -k3nr | head\n"
             "  a page for others?              report --html OUT.html FILE\n"
             "  who causes the errors?          info --status error --by client FILE\n"
             "  which errors are they?          info --by status FILE\n"
             "  is a client retrying?           info --retransmitted --by client FILE\n"
             "  who changed or deleted it?      who FILE /export/file\n"
             "  why ESTALE?                     ops --status stale FILE, then who FILE PATH\n"
             "                                  ([#7] is who FILE '#7')\n"
             "  how long was the outage?        outage FILE\n"
             "  client, network or server?      hang FILE [FILE-OF-THE-SERVER'S-SIDE]\n"
             "  who slows down whom?            starve FILE\n"
             "  which server is wrong?          lint FILE; two of them: compare FILE FILE\n"
             "  is \"stable\" stable, is the duplicate request cache right?   lint FILE\n"
             "\n"
             "\"nfsdigest COMMAND --help\" lists the options of a command, and \"nfsdigest\n"
             "--version\" prints the version.  Exit codes: 0 success; 1 a check found\n"
             "something; 2 wrong usage; 3 input that cannot be used, or only part of it;\n"
             "4 a system error: memory, disk.\n",
    .commands = commands,
    .prepare = wire_init,
};

/* Standard output failed because its reader is gone, as behind "| head".  That is no news: the
 * program ends as others do, by SIGPIPE.  It ignored that so far, to clean up. */
static bool nobody_reads(const struct err *err)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return strncmp(err->text, "standard output", 15) == 0 && poll(&out, 1, 0) == 1 &&
           out.revents & (POLLERR | POLLHUP);
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of write, like a full disk */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    result = signals_begin(&err);
    if (result == 0)
        result = sql_files_begin(&err);
    if (result == 0)
        result = tool_run(&tool, argc, argv, &err);
    progress_clear();
    if (result >= 0 && finish_output(&err) < 0)
        result = -ERR_SYSTEM;
    if (result == -ERR_SYSTEM && nobody_reads(&err)) {
        signals_end();
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (result < 0)
        say_error(err.text);
    signals_end();
    return result < 0 ? -result : result;
}
