/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_values.h
 *
 * The values that each group of a policy file can have.
 */
#ifndef NFSDIGEST_ANON_POLICY_VALUES_H
#define NFSDIGEST_ANON_POLICY_VALUES_H

#include "anon/policy_parts.h"

#include <glib.h>

struct policy_reader {
    struct policy *policy;
    GArray *overrides; /* struct policy_override */
    struct err *err;
};

struct policy_group {
    const char *name;
    /* Takes a value, without blanks around it.  An error message names neither file nor line. */
    int (*set)(struct policy_reader *r, const char *key, char *value);
    bool needed;
};

extern const struct policy_group policy_groups[]; /* ended by a NULL name */

/* Reports that there is no such key.  Returns -ERR_INPUT. */
int policy_unknown_key(struct policy_reader *r, const char *key);

#endif
