/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/rules.c
 *
 * Finds the rule for a field.
 */
#include "rules/rules_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const kind_names[COMPARE_KIND_MAX] = {
    [COMPARE_UNSET] = "unset",     [COMPARE_BITWISE] = "bitwise",
    [COMPARE_MASK] = "mask",       [COMPARE_TOLERANCE] = "tolerance",
    [COMPARE_SET] = "set",         [COMPARE_AT_LEAST] = "at-least",
    [COMPARE_AT_MOST] = "at-most", [COMPARE_PATTERN] = "pattern",
    [COMPARE_NOCASE] = "nocase",   [COMPARE_IGNORED] = "ignored",
};

static const char *const event_names[EVENT_MAX] = {
    [EVENT_RPC_STATUS] = "rpc-status",  [EVENT_MISSING_REPLY] = "missing-reply",
    [EVENT_MALFORMED] = "malformed",    [EVENT_RETRANSMISSION] = "retransmissions",
    [EVENT_DISCONNECT] = "disconnects", [EVENT_OTHER_REPLIES] = "other-replies",
};

const char *compare_kind_name(enum compare_kind kind)
{
    return (unsigned)kind < COMPARE_KIND_MAX ? kind_names[kind] : NULL;
}

const char *rule_event_name(enum rule_event event)
{
    return (unsigned)event < EVENT_MAX ? event_names[event] : NULL;
}

const struct compare_rule *rules_at(const struct rules *rules, uint32_t id)
{
    return id && id <= rules->rule_count ? &rules->rules[id - 1] : NULL;
}

static bool holds_for(const struct compare_rule *rule, const struct field_place *place)
{
    return rule_names(rule, place) && rule_fits(rule, place->field);
}

/* Fields before classes, the later before the earlier, and nothing behind one without a case. */
const struct compare_rule **rules_for(const struct rules *rules, const struct field_place *place)
{
    const struct compare_rule **list = calloc(rules->rule_count + 1, sizeof(const void *));
    uint32_t count = 0;

    if (!list)
        return NULL;
    for (int of_class = 0; of_class < 2; of_class++)
        for (uint32_t i = rules->rule_count; i-- > 0;) {
            const struct compare_rule *rule = &rules->rules[i];

            if (rule->group != (of_class ? RULES_CLASSES : RULES_FIELDS) || rule->is_of_groups ||
                !holds_for(rule, place))
                continue;
            list[count++] = rule;
            if (!rule->has_case)
                return list;
        }
    return list;
}

static bool agrees(const struct rule_case *when, const struct rule_case *given)
{
    return (!when->has_status || (given->has_status && given->status == when->status)) &&
           (!when->has_type || (given->has_type && given->type == when->type)) &&
           (!when->has_ref || (given->has_ref && given->ref == when->ref)) &&
           (!when->has_sut || (given->has_sut && given->sut == when->sut));
}

const struct compare_rule *rules_pick(const struct compare_rule *const *list,
                                      const struct rule_case *given)
{
    while (*list && (*list)->has_case && !agrees(&(*list)->when, given))
        list++;
    return *list;
}

bool rule_allows(const struct compare_rule *rule, uint64_t a, uint64_t b)
{
    uint64_t distance = a > b ? a - b : b - a;

    switch (rule->kind) {
    case COMPARE_IGNORED:
        return true;
    case COMPARE_MASK:
        return ((a ^ b) & rule->amount) == 0;
    case COMPARE_TOLERANCE:
        return rule->percent
                   ? (double)distance * 1e4 <= (double)(a > b ? a : b) * (double)rule->amount
                   : distance <= rule->amount;
    case COMPARE_AT_LEAST:
        return b >= a;
    case COMPARE_AT_MOST:
        return b <= a;
    default:
        return a == b;
    }
}

bool rule_allows_bytes(const struct compare_rule *rule, struct bytes a, struct bytes b)
{
    if (rule->kind == COMPARE_IGNORED)
        return true;
    if (a.len != b.len)
        return false;
    if (rule->kind == COMPARE_NOCASE)
        return strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
    return !a.len || memcmp(a.data, b.data, a.len) == 0;
}

bool rules_request(const struct rules *rules, const struct field_place *place)
{
    for (int of_class = 0; of_class < 2; of_class++)
        for (uint32_t i = rules->rule_count; i-- > 0;) {
            const struct compare_rule *rule = &rules->rules[i];

            if (rule->group == RULES_REQUESTS && rule->of_class == (bool)of_class &&
                holds_for(rule, place))
                return rule->kind != COMPARE_IGNORED;
        }
    return true;
}

/* Appends a line of a comment without its "#". */
static void append_comment(const char *line, size_t len, char *to, size_t size)
{
    size_t have = strlen(to), skip = strspn(line, "# \t");

    skip = skip < len ? skip : len;
    snprintf(to + have, size - have, "%s%.*s", have ? " " : "", (int)(len - skip), line + skip);
}

const char *rules_reason(const struct rules *rules, const struct compare_rule *rule, char *to,
                         size_t size)
{
    const char *line = rules->files[rule->file].text;
    bool in_comment = false;

    to[0] = '\0';
    for (uint32_t number = 1; number < rule->line && *line; number++) {
        size_t len = strcspn(line, "\n");
        const char *text = line + strspn(line, " \t\r");

        if (*text == '#') {
            if (!in_comment)
                to[0] = '\0';
            append_comment(text, (size_t)(line + len - text), to, size);
        } else if (text >= line + len || *text == '[') {
            to[0] = '\0';
        }
        in_comment = *text == '#';
        line += len + (line[len] == '\n');
    }
    return to;
}

void rules_free(struct rules *rules)
{
    if (!rules)
        return;
    for (uint32_t i = 0; i < rules->file_count; i++) {
        free(rules->files[i].name);
        free(rules->files[i].text);
    }
    for (uint32_t i = 0; i < rules->rule_count; i++) {
        free(rules->rules[i].key);
        free(rules->rules[i].text);
        free(rules->rules[i].procedure);
        for (int word = 0; word < GROUP_WORD_MAX; word++)
            free(rules->rules[i].of_group[word]);
    }
    free(rules->files);
    free(rules->rules);
    free(rules);
}
