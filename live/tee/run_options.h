/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/run_options.h
 *
 * The options of nfstee run: those of relay and shadow, from their tables, and how they are given
 * to these two.
 */
#ifndef NFSDIGEST_TEE_RUN_OPTIONS_H
#define NFSDIGEST_TEE_RUN_OPTIONS_H

#include "tee/relay_options.h"
#include "tee/shadow_options.h"

enum { PASSED_WORDS = 640, RUN_ROWS = RELAY_ARGS + SHADOW_ARGS, RUN_OPTION = 24 };

/* Options and their values, as the command line had them. */
struct passed {
    const char *words[PASSED_WORDS];
    uint32_t count;
};

struct run_row {
    struct arg of_command;
    struct passed *to;
    char option[RUN_OPTION]; /* with dashes */
};

/* Must not move after run_options_parse. */
struct run_options {
    struct relay_options relay;   /* without attach */
    struct shadow_options shadow; /* without attach, relay and duration */
    struct passed to_relay, to_shadow;
    bool restart;
    struct run_row rows[RUN_ROWS];
    uint32_t row_count;
};

/* Returns 1, 0 if only help was wanted and printed, or -ERR_USAGE. */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err);

#endif
