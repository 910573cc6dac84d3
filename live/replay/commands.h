/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/commands.h
 *
 * The commands of nfsreplay.  Each returns an exit code: 0, or 1 if something differs; or a
 * negative code with a message.
 */
#ifndef NFSDIGEST_REPLAY_COMMANDS_H
#define NFSDIGEST_REPLAY_COMMANDS_H

#include "replay/session.h"

int cmd_populate(int argc, char **argv, struct err *err);
int cmd_play(int argc, char **argv, struct err *err);
int cmd_run(int argc, char **argv, struct err *err);
int cmd_report(int argc, char **argv, struct err *err);
int cmd_clean(int argc, char **argv, struct err *err);

/* Makes the trees of all targets, for populate and run.  Returns 1 if a signal interrupted it. */
int make_trees(struct session *session, struct err *err);

#endif
