/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/options.h
 *
 * The command line of nfsreplay's commands:
 *
 *     nfsreplay COMMAND [OPTION...] DUMP[@DELAY]... [SERVER=]TARGET...
 */
#ifndef NFSDIGEST_REPLAY_OPTIONS_H
#define NFSDIGEST_REPLAY_OPTIONS_H

#include "player/player.h"
#include "replay/contents.h"

enum {
    REPLAY_TARGETS_MAX = 16,
    REPLAY_RULES_MAX = 16,
    REPLAY_DUMPS_MAX = 256 /* dumps and copies */
};

struct replay_dump {
    const char *path;
    int64_t delay; /* ns; -1: not said */
};

struct replay_target {
    const char *server; /* of the trace, as the dump has it; NULL: the only one */
    uint32_t server_len;
    const char *address; /* nfs://... */
};

struct replay_options {
    struct replay_dump dumps[REPLAY_DUMPS_MAX];
    uint32_t dump_count;
    uint64_t copies;     /* of each dump; at least 1 */
    uint64_t rounds;     /* at least 1 */
    int64_t start_delay; /* ns: dumps begin by chance up to so much later */
    struct replay_target targets[REPLAY_TARGETS_MAX];
    uint32_t target_count;
    struct contents contents;
    bool contents_said;
    uint64_t connections, outstanding;
    int64_t timeout;
    bool udp, privileged, check, force, quiet;
    bool check_contents; /* also of files; with |check| */
    /* playing; as in player.h */
    enum player_pace pace;
    enum player_order order;
    enum player_pick pick;
    double scale, rate;
    bool pace_said, scale_said;
    uint64_t seed, stop_after;
    int64_t warm_up;
    uint64_t warm_up_operations;
    int64_t duration, give_up;
    uint32_t ignore; /* RDUMP_EXPECT_ */
    const char *rule_names[REPLAY_RULES_MAX];
    uint32_t rule_count;
    struct rules *rules; /* these, loaded; NULL: there are none */
    bool partial, json;
    bool trees_json;    /* what populate and clean say is JSON, a line for each */
    const char *output; /* folder for the report; or NULL */
    const char *record; /* file for the traffic; or NULL */
    uint64_t points;    /* of a curve */
};

/* Bits for the commands. */
enum replay_command {
    REPLAY_POPULATE = 1,
    REPLAY_CLEAN = 2,
    REPLAY_PLAY = 4,
    REPLAY_RUN = REPLAY_POPULATE | REPLAY_PLAY, /* it has the options of both, without --check */
    REPLAY_RANKS = REPLAY_PLAY | 64,            /* play, of nfsreplay-mpi */
    REPLAY_CURVE = REPLAY_RUN | 32 /* those of run, but for the pace and --json, and its own */
};

enum {
    REPLAY_PACE_TEXT = 64,
    REPLAY_NAMES_TEXT = 256,
    REPLAY_OPTIONS_TEXT = 384,
    REPLAY_POINTS_MAX = 100
};

/* Parses the arguments of a command.  Returns 1 if it should run, 0 after --help was printed, or a
 * negative code. */
int replay_options(struct replay_options *options, enum replay_command command, int argc,
                   char **argv, struct err *err);

/* Frees the rules. */
void replay_options_free(struct replay_options *options);

/* The pace in words; returns |text|. */
const char *replay_pace_text(const struct replay_options *options, char text[REPLAY_PACE_TEXT]);

/* Options that change what a run does or compares, as on the command line, if they are not the
 * usual ones.  Without the seed, which differs between runs of one kind, and without what the texts
 * of the pace and the dumps say. */
const char *replay_options_text(const struct replay_options *options,
                                char text[REPLAY_OPTIONS_TEXT]);

/* All dumps, with how many copies and rounds; and all targets.  They return |text|, which may be
 * cut. */
const char *replay_dumps_text(const struct replay_options *options, char text[REPLAY_NAMES_TEXT]);
const char *replay_targets_text(const struct replay_options *options, char text[REPLAY_NAMES_TEXT]);

#endif
