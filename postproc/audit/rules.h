/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/rules.h
 *
 * Checks each value against the rule of the policy: a kept value is equal, an emptied one is zeros,
 * a value of one length has this length, and a mapped one differs from its original, except for
 * numbers that the policy keeps.  It knows the built-in policies, and reads others from files.
 *
 * Memory: a policy, below 2 MiB.
 */
#ifndef NFSDIGEST_AUDIT_RULES_H
#define NFSDIGEST_AUDIT_RULES_H

#include "audit/audit_parts.h"

enum rule_word {
    WORD_NONE,
    WORD_KEEP,
    WORD_KEYED,
    WORD_TOKEN,
    WORD_SAME,
    WORD_ZERO,
    WORD_NOISE,
    WORD_SHIFT,
    WORD_OWNER
};

/* The rules of a policy.  Its texts point into |text|. */
struct policy_rules {
    char name[64], *text;                              /* |text| NULL: no rules are known */
    uint8_t words[ITEM_CLASSES];                       /* enum rule_word */
    char **kept[ITEM_CLASSES], **suffixes, **prefixes; /* ended by NULL; or NULL */
    struct policy_field {
        const char *path;
        uint8_t word;
    } *fields;
    uint32_t field_count, field_cap;
};

/* Opens the expected policy, after all comments of the anonymized file were read.  It is the one in
 * the options, a name or a file.  Without one, it is the built-in policy that the file states. */
int policy_rules_open(struct audit *a, struct err *err);
void policy_rules_free(struct policy_rules *rules);

/* Returns true if the policy replaces such values by zeros. */
bool policy_rules_empty(const struct audit *a, const struct place *p, const struct item *o);

/* Checks a value and what it became against the rule. */
void policy_rules_value(struct audit *a, const struct place *p, const struct item *o,
                        const struct item *n);

#endif
