/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/rules.c
 *
 * What the policy says of all values of a kind together.  And whether pseudonyms could depend on a
 * key.
 */
#include "audit/rules.h"

static void find(struct audit *a, unsigned kind, const char *what, const char *text)
{
    struct finding f = { .kind = (uint8_t)kind, .what = what, .offset = -1 };

    snprintf(f.text, sizeof(f.text), "%s", text);
    audit_find(a, &f);
}

static void check_policy(struct audit *a)
{
    const struct policy_rules *rules = a->rules;
    const struct name_row *names = &a->names;
    bool shifted = a->has_shift && a->shift != 0;

    if (a->policy[0] && a->stated_policy[0] && strcmp(a->policy, a->stated_policy) != 0)
        find(a, FOUND_POLICY, "name", "the file says that it was made under another policy");
    if (!rules->text)
        return;
    if (a->has_shift && shifted != (rules->words[CLASS_TIME] == WORD_SHIFT))
        find(a, FOUND_POLICY, "time",
             shifted ? "times are shifted under a policy that keeps them"
                     : "times are not shifted");
    if (rules->words[CLASS_NAME] == WORD_SAME && names->same_length != names->distinct)
        find(a, FOUND_POLICY, "name", "lengths are changed under a policy that keeps them");
    if (a->matched && a->xids_kept != (rules->words[ITEM_XID] == WORD_KEEP))
        find(a, FOUND_POLICY, "xid",
             a->xids_kept ? "XIDs stay under a policy that changes them"
                          : "XIDs are changed under a policy that keeps them");
    if (a->domains[DOMAIN_PORT].changed)
        find(a, FOUND_POLICY, "port", "ports are changed under a policy that keeps them");
}

static void check_keyed(struct audit *a)
{
    for (unsigned d = 0; d < DOMAIN_MAX; d++)
        for (unsigned width = 0; width < 3; width++)
            for (unsigned test = 0; test < KEYED_TESTS; test++) {
                const struct keyed_row *row = &a->keyed.rows[d][width];
                const char *words = keyed_verdict(row, (enum keyed_test)test);
                char text[160];

                if (!words)
                    continue;
                snprintf(text, sizeof(text),
                         "of %llu pseudonyms some %s: %llu times, by chance %.3g",
                         (unsigned long long)row->pairs, words, (unsigned long long)row->hits[test],
                         test == KEYED_ORDER ? row->expected[test] / 2 : row->expected[test]);
                find(a, FOUND_UNKEYED, domain_name(d), text);
            }
}

void rules_finish(struct audit *a)
{
    check_policy(a);
    check_keyed(a);
}
