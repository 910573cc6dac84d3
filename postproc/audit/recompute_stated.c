/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/recompute_stated.c
 *
 * Whether the policy that the anonymized file states is the expected one, by its SHA-256, also
 * without the key.  It is taken of all that a policy says in the anonymizer's words, so the
 * anonymizer is asked for it.
 */
#include "anon/policy.h"
#include "audit/audit_parts.h"

static void find(struct audit *a, const char *text)
{
    struct finding f = { .kind = FOUND_POLICY, .what = "policy", .offset = -1 };

    snprintf(f.text, sizeof(f.text), "%s", text);
    audit_find(a, &f);
}

static void compare(struct audit *a, const struct policy *policy)
{
    char expected[2 * sizeof(policy->digest) + 1];

    for (size_t i = 0; i < sizeof(policy->digest); i++)
        snprintf(expected + 2 * i, 3, "%02x", policy->digest[i]);
    if (strcmp(expected, a->stated_digest) != 0)
        find(a, "the SHA-256 that the file states is not that of this policy: it was made under "
                "another one of the name");
}

int recompute_stated(struct audit *a, struct err *err)
{
    const struct policy *own = a->options->key_policy;
    const struct policy_builtin *row = policy_builtins;
    struct policy *policy = NULL;

    /* without a statement the form differs, with another name the rules */
    if (!a->has_provenance || strcmp(a->policy, a->stated_policy) != 0)
        return 0;
    if (own) {
        compare(a, own);
        return 0;
    }
    /* a name that the file states is looked up, and opens nothing */
    while (row->name && strcmp(row->name, a->policy) != 0)
        row++;
    if (!row->name) {
        find(a, "no rule of the policy that the file states is known: give its file with --policy");
        return 0;
    }
    if (policy_load(row->name, &policy, err) < 0)
        return -err->code;
    compare(a, policy);
    policy_free(policy);
    return 0;
}
