/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/command.h
 *
 * What the subcommands share: their table, the options of the engine, messages and progress.
 * A subcommand gets its own argv (argv[0] is its name) and returns the program's exit code.
 */
#ifndef NFSDIGEST_CLI_COMMAND_H
#define NFSDIGEST_CLI_COMMAND_H

#include "base/err.h"
#include "capture/capture.h"
#include "engine.h"

#include <getopt.h>
#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_SYSTEM = 4 };

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

int cmd_check(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_ingest(int argc, char **argv);
int cmd_ops(int argc, char **argv);
int cmd_record(int argc, char **argv);

/* "nfsdigest: " and the text on standard error; returns the exit code of the error. */
int command_fail(const struct err *err);

/* The same for a wrong command line: ends with a hint at --help. Returns EXIT_USAGE. */
int command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Options of every command that feeds captures to the engine. */
#define ENGINE_LONG_OPTIONS                                                                        \
    { "rpc-port", required_argument, NULL, OPTION_RPC_PORT },                                      \
        { "window", required_argument, NULL, OPTION_WINDOW },                                      \
        { "retransmit-span", required_argument, NULL, OPTION_RETRANSMIT_SPAN },                    \
    {                                                                                              \
        "reorder-span", required_argument, NULL, OPTION_REORDER_SPAN                               \
    }
#define ENGINE_HELP                                                                                \
    "  --rpc-port=PORT           this port carries RPC too (may be repeated)\n"                    \
    "  --window=BYTES            out-of-order bytes kept for a direction of a connection\n"        \
    "                            (k, M: times 1024; default 4M)\n"                                 \
    "  --retransmit-span=SECONDS equal calls within are one operation (default 900)\n"             \
    "  --reorder-span=SECONDS    a reply may be captured before its call by this (default 2)\n"

enum {
    OPTION_RPC_PORT = 0x1000,
    OPTION_WINDOW,
    OPTION_RETRANSMIT_SPAN,
    OPTION_REORDER_SPAN,
    OPTION_OTHERS, /* first value for options of a command's own */
};

enum { ENGINE_PORTS_MAX = 64 };

struct engine_settings {
    struct engine_options options;
    uint16_t ports[ENGINE_PORTS_MAX];
};

/* Takes one of the options above: 1; 0 if |option| is none of them; -ERR_USAGE if |value| is wrong.
 */
int engine_setting(struct engine_settings *settings, int option, const char *value,
                   struct err *err);

/* Feeds all frames of a capture to |engine|, numbered from |*frames| + 1, which is moved on.  Shows
 * progress on standard error when it is a terminal and this takes long. Returns 0 at the end, or
 * the error that ended it; all frames before were fed. */
int feed_capture(struct engine *engine, struct input *input, struct capture *capture,
                 uint64_t *frames, struct err *err);

#endif
