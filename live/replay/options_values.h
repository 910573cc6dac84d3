/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/options_values.h
 *
 * The values of options of nfsreplay's commands, for the table in options.c.  All are as args.h
 * wants them: they return 0, or -ERR_USAGE with what is allowed.
 */
#ifndef NFSDIGEST_REPLAY_OPTIONS_VALUES_H
#define NFSDIGEST_REPLAY_OPTIONS_VALUES_H

#include "replay/options.h"
#include "show/args.h"

/* |to| is the number. */
int options_number(void *to, const char *value, struct err *err); /* 1 to 65,536 */
int options_copies(void *to, const char *value, struct err *err);
int options_points(void *to, const char *value, struct err *err);
int options_stop_after(void *to, const char *value, struct err *err);
int options_end(void *to, const char *value, struct err *err); /* a duration above 0 */

/* |to| is the struct replay_options. */
int options_fill(void *to, const char *value, struct err *err);
int options_pace(void *to, const char *value, struct err *err);
int options_scale(void *to, const char *value, struct err *err);
int options_rate(void *to, const char *value, struct err *err);
int options_order(void *to, const char *value, struct err *err);
int options_pick(void *to, const char *value, struct err *err);
int options_warm_up(void *to, const char *value, struct err *err);
int options_ignore(void *to, const char *value, struct err *err);
int options_rules(void *to, const char *value, struct err *err); /* may be given again */

#endif
