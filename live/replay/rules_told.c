/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/rules_told.h"
#include "base/escape.h"
#include "player/comparable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int rules_tally(const struct replay_options *o, struct tally *tally, struct err *err)
{
    return o->rules ? tally_rules(tally, o->rules->rule_count, err) : 0;
}

void rules_add(struct tally *all, const struct tally *tally)
{
    for (uint32_t i = 0; i < tally->rule_count && i < all->rule_count; i++) {
        all->rules[i].operations += tally->rules[i].operations;
        all->rules[i].differ += tally->rules[i].differ;
    }
}

static bool allowed_some(const struct tally_rule *allowed)
{
    return allowed->operations || allowed->differ;
}

/* Some only take back what another rule allows. */
static bool can_allow(const struct compare_rule *rule)
{
    return rule->kind != COMPARE_BITWISE && rule->kind != COMPARE_SET &&
           rule->kind != COMPARE_PATTERN;
}

static void tell_rule(const struct rules *rules, const struct compare_rule *rule, const char *what)
{
    fputs("nfsreplay: ", stderr);
    escape_print(stderr, rules->files[rule->file].name);
    fprintf(stderr, " line %" PRIu32 ": \"", rule->line);
    escape_print(stderr, rule->text);
    fprintf(stderr, "\" %s\n", what);
}

/* A set that is built in is for any trace: most of it may do nothing. */
static void tell_file(const struct rules *rules, uint32_t file, const bool *comparable,
                      const struct tally_rule *allowed)
{
    bool own = rules_is_file(rules->files[file].name);
    uint32_t all = 0, used = 0, others = 0;

    for (uint32_t i = 0; i < rules->rule_count; i++) {
        const struct compare_rule *rule = &rules->rules[i];

        if (rule->file != file)
            continue;
        all++;
        others += !comparable[i];
        used += allowed_some(&allowed[i]);
        if (own && !comparable[i])
            tell_rule(rules, rule, "speaks of what a replay does not compare");
        else if (own && can_allow(rule) && !allowed_some(&allowed[i]))
            tell_rule(rules, rule, "allowed nothing");
    }
    if (!own)
        fprintf(stderr,
                "nfsreplay: rules %s: %" PRIu32 " of %" PRIu32 " allowed something; %" PRIu32
                " speak of what a replay does not compare\n",
                rules->files[file].name, used, all, others);
}

int rules_tell(const struct rules *rules, const struct tally_rule *allowed, struct err *err)
{
    bool *comparable = rules ? calloc(rules->rule_count + 1, sizeof(*comparable)) : NULL;

    if (rules && !comparable)
        return err_memory(err, "rules");
    if (rules)
        rules_comparable(rules, comparable);
    for (uint32_t file = 1; rules && file < rules->file_count; file++) /* 0: default */
        tell_file(rules, file, comparable, allowed);
    free(comparable);
    return 0;
}
