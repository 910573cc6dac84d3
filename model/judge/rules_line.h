/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/rules_line.h
 *
 * Parses one line of a rule file, and checks that it has a meaning for what it names.  A rule that
 * could never apply is refused, because it would do nothing.
 */
#ifndef NFSDIGEST_JUDGE_RULES_LINE_H
#define NFSDIGEST_JUDGE_RULES_LINE_H

#include "judge/judge_rules.h"

/* "KIND [AMOUNT or SCOPE] [if CONDITION, ...]" into |rule|, whose key and group are set.  |value|
 * is taken to pieces. */
int rule_parse(struct compare_rule *rule, char *value, struct err *err);

/* Enters a rule of [messages] or a credential in |rules|. */
int rule_check(struct rules *rules, const struct compare_rule *rule, struct err *err);

/* Seconds with a fraction beside them, which are one value (place.h): ns. */
bool rule_is_time(const struct field *field);

/* Whether the rule's key is this field's class, path, or for a time its path without the last part
 * ("READ3res.resok.file_attributes.mtime"), and its procedure this one. */
bool rule_names(const struct compare_rule *rule, const struct field_place *place);

/* Whether the kind of the rule and its conditions have a meaning for values of this kind. */
bool rule_fits(const struct compare_rule *rule, const struct field *field);

bool class_is_known(const char *name);

#endif
