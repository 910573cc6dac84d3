/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/engine_args.h
 *
 * Makes the engine's options (flow/options.h) options of a command.
 */
#ifndef NFSDIGEST_CLI_ENGINE_ARGS_H
#define NFSDIGEST_CLI_ENGINE_ARGS_H

#include "engine.h"
#include "show/args.h"

enum { ENGINE_ARG_COUNT = 2 * ENGINE_OPTIONS + 1, ENGINE_HELP_MAX = 256 };
struct engine_args {
    struct engine_settings settings;
    struct engine_arg {
        struct engine_args *args;
        const struct engine_option *option;
        char help[ENGINE_HELP_MAX];
    } each[ENGINE_OPTIONS];
};
/* Fills |table|, including its last row.  Parsing the arguments then sets |to|, which must not
 * move.  |objects|: the command keeps objects and paths. */
void engine_arg_table(struct engine_args *to, bool objects, struct arg table[ENGINE_ARG_COUNT]);

/* An option of commands that make records of captures: engine_options.block_digests. */
#define BLOCK_DIGESTS_HELP                                                                         \
    "keep digests of file contents by blocks of 4 KiB, for\nlint; 2 bytes for each 1024 of "       \
    "contents"

#endif
