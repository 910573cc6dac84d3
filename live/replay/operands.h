/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/operands.h
 *
 * What stands behind the options of a command: DUMP[@DELAY]... [SERVER=]TARGET...
 *
 * A target has "nfs://" in it, and a dump has not.  Behind the last @ of a dump stands a time with
 * its unit; other text there is a part of the dump's name.
 */
#ifndef NFSDIGEST_REPLAY_OPERANDS_H
#define NFSDIGEST_REPLAY_OPERANDS_H

#include "replay/options.h"

/* |argv| is the |argc| operands, which are changed, and must stay. */
int operands_parse(struct replay_options *options, int argc, char **argv, struct err *err);

/* How much later than the run the dump |index| of the session begins: its own DELAY, or by chance
 * up to --start-delay.  ns. */
int64_t operands_delay(const struct replay_options *options, const struct replay_dump *dump,
                       uint32_t index);

#endif
