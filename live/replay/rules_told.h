/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/rules_told.h
 *
 * What a run tells of its --rules: those that did nothing.
 */
#ifndef NFSDIGEST_REPLAY_RULES_TOLD_H
#define NFSDIGEST_REPLAY_RULES_TOLD_H

#include "player/tally.h"
#include "replay/options.h"

/* Makes room in |tally| for the rules, if there are any. */
int rules_tally(const struct replay_options *options, struct tally *tally, struct err *err);
/* Adds what rules allowed in |tally| to |all|. */
void rules_add(struct tally *all, const struct tally *tally);
/* Tells on standard error: of each rule file which rules speak of what a replay does not compare,
 * and which allowed nothing; of each built-in set how many.  |rules| NULL: nothing. */
int rules_tell(const struct rules *rules, const struct tally_rule *allowed, struct err *err);

#endif
