/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/rules_line.h
 *
 * Parses one line of a rule file, and checks that the rule has a meaning for its fields.  A rule
 * that could never apply is refused, because it would do nothing.
 */
#ifndef NFSDIGEST_RULES_RULES_LINE_H
#define NFSDIGEST_RULES_RULES_LINE_H

#include "rules/rules.h"

/* Parses "KIND [AMOUNT or SCOPE] [if CONDITION, ...]" into |rule|, whose key and group are set.
 * Overwrites |value|. */
int rule_parse(struct compare_rule *rule, char *value, struct err *err);

/* Enters a rule of [messages] or a credential in |rules|. */
int rule_check(struct rules *rules, const struct compare_rule *rule, struct err *err);

/* Returns true for seconds that form one value with a fraction after them (place.h), in ns. */
bool rule_is_time(const struct field *field);

/* Returns true if the rule's key is this field's class or path, and its procedure matches.  For a
 * time, the path without the last part also counts ("READ3res.resok.file_attributes.mtime"). */
bool rule_names(const struct compare_rule *rule, const struct field_place *place);

/* Returns true if the rule's kind and conditions have a meaning for values of this kind. */
bool rule_fits(const struct compare_rule *rule, const struct field *field);

bool class_is_known(const char *name);

/* rules_group.c: conditions for whole groups.  Returns an enum rule_group_word, or -1. */
int rule_group_word(const char *name);
int rule_put_group_word(struct compare_rule *rule, int word, const char *value, struct err *err);
/* Checks that its other parts fit such conditions. */
int rule_check_group(const struct compare_rule *rule, struct err *err);

#endif
