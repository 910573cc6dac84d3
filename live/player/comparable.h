/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/comparable.h
 *
 * Which rules (rules/rules.h) speak of values that a replay compares: verdict.h never asks for the
 * others.
 */
#ifndef NFSDIGEST_PLAYER_COMPARABLE_H
#define NFSDIGEST_PLAYER_COMPARABLE_H

#include "rules/rules.h"

/* Sets comparable[id - 1] for each rule. */
void rules_comparable(const struct rules *rules, bool *comparable);

#endif
