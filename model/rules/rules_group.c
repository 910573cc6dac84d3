/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/rules_line.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[GROUP_WORD_MAX] = {
    [GROUP_OPERATION] = "operation",
    [GROUP_DIFFERENCE] = "difference",
    [GROUP_WHEN] = "when",
};

static bool fits(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, FNM_NOESCAPE) == 0;
}

static bool is_operation(const char *pattern)
{
    char name[64];

    for (const struct program *const *p = wire_programs; *p; p++)
        for (uint32_t i = 0; i < (*p)->procedure_count; i++) {
            if (!(*p)->procedures[i].name)
                continue;
            snprintf(name, sizeof(name), "%s %s", (*p)->name, (*p)->procedures[i].name);
            if (fits(pattern, name))
                return true;
        }
    return !*pattern;
}

static bool is_when(const char *text)
{
    static const char *const known[] = { "directory", "no directory", "asked", "not asked" };
    size_t i = 0;

    while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], text) != 0)
        i++;
    return i < sizeof(known) / sizeof(known[0]);
}

int rule_group_word(const char *name)
{
    int word = 0;

    while (word < GROUP_WORD_MAX && strcmp(words[word], name) != 0)
        word++;
    return word < GROUP_WORD_MAX ? word : -1;
}

int rule_put_group_word(struct compare_rule *rule, int word, const char *value, struct err *err)
{
    if (rule->of_group[word])
        return err_set(err, ERR_USAGE, "the condition \"%s\" comes twice", words[word]);
    if (word == GROUP_OPERATION && !is_operation(value))
        return err_set(err, ERR_USAGE, "no such operation: \"%.64s\": expected one as \"NFS READ\"",
                       value);
    if (word == GROUP_WHEN && !is_when(value))
        return err_set(err, ERR_USAGE,
                       "when=%.64s: expected directory, no directory, asked or not asked", value);
    rule->of_group[word] = strdup(value);
    rule->is_of_groups = rule->has_case = true;
    return rule->of_group[word] ? 0 : err_memory(err, "rules");
}

int rule_check_group(const struct compare_rule *rule, struct err *err)
{
    const struct rule_case *when = &rule->when;

    if (!rule->is_of_groups)
        return 0;
    if (rule->kind != COMPARE_IGNORED || rule->group == RULES_REQUESTS)
        return err_set(err, ERR_USAGE,
                       "operation, difference and when are conditions for \"ignored\"");
    if (rule->procedure || when->has_status || when->has_type || when->has_ref || when->has_sut)
        return err_set(err, ERR_USAGE,
                       "operation, difference and when cannot stand with other conditions");
    return 0;
}

static bool accepts(const struct compare_rule *rule, const struct rule_found *found)
{
    const char *const given[GROUP_WORD_MAX] = { found->operation, found->difference,
                                                found->when ? found->when : "" };

    if (!rule->is_of_groups || (rule->group == RULES_MESSAGES) != found->is_event)
        return false;
    if (!(rule->of_class ? found->cls && strcmp(rule->key, found->cls) == 0
                         : fits(rule->key, found->field)))
        return false;
    for (int word = 0; word < GROUP_WORD_MAX; word++)
        if (rule->of_group[word] && !fits(rule->of_group[word], given[word]))
            return false;
    return true;
}

const struct compare_rule *rules_accept(const struct rules *rules, const struct rule_found *found)
{
    for (uint32_t i = rules->rule_count; i-- > 0;)
        if (accepts(&rules->rules[i], found))
            return &rules->rules[i];
    return NULL;
}
