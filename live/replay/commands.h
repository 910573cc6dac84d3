/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/commands.h
 *
 * The commands of nfsreplay.  Each returns an exit code: 0, or 1 if something differs; or a
 * negative code with a message.
 */
#ifndef NFSDIGEST_REPLAY_COMMANDS_H
#define NFSDIGEST_REPLAY_COMMANDS_H

#include "replay/session.h"
#include "report/report.h"

int cmd_populate(int argc, char **argv, struct err *err);
int cmd_play(int argc, char **argv, struct err *err);
int cmd_run(int argc, char **argv, struct err *err);
int cmd_report(int argc, char **argv, struct err *err);
int cmd_curve(int argc, char **argv, struct err *err);
int cmd_clean(int argc, char **argv, struct err *err);

/* What a command ends with: |result|, or 1 and a word on standard error, if a signal left a
 * question without an answer. */
int command_result(const struct session *session, int result);

/* Makes the trees of all targets, for populate and run.  Returns 1 if a signal interrupted it.
 * |differs|, if not NULL: becomes true if something is not as the dump wants it, but for devices
 * that a server does not make. */
int make_trees(struct session *session, bool *differs, struct err *err);

/* -ERR_INPUT in words: a tree that is not this program's, or of another dump.  Changes nothing. */
int check_removable(const struct session *session, struct err *err);
/* Removes the trees of all targets that have one of this dump, if check_removable allows it.
 * Returns 1 if a signal interrupted it. */
int remove_trees(struct session *session, struct err *err);
/* Reads the markers of all targets again, which the two above change. */
int look_at_markers(struct session *session, struct err *err);
/* When the trees were found: names the dumps in the report, notes their trees there, and frees
 * these.  |report| may be NULL. */
void drop_trees(struct session *session, struct report *report);

/* Makes a folder for what a run shows, before anything runs.  |what| needs it: "a run".
 * -ERR_USAGE: something is there already. */
int make_folder(const char *path, const char *what, struct err *err);

#endif
