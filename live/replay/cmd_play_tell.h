/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/cmd_play_tell.h
 *
 * What a run tells when it is over: the report's folder, and what a person sees.
 */
#ifndef NFSDIGEST_REPLAY_CMD_PLAY_TELL_H
#define NFSDIGEST_REPLAY_CMD_PLAY_TELL_H

#include "replay/options.h"
#include "report/report.h"

/* Fills in the report, keeps it and prints it as --output, --json and --quiet ask for.  |note|: why
 * the run ended before its end; "": it did not. */
int play_tell(const struct replay_options *options, struct report *report,
              const struct tally *tally, const char *note, struct err *err);

/* True if every operation that can be played, and was, ended as in the trace. */
bool play_is_as_recorded(const struct tally *tally);

#endif
