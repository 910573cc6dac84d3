/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/rules_file.c
 *
 * Reads rule files into a struct rules.
 */
#include "base/grow.h"
#include "rules/conf.h"
#include "rules/rules_line.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct reader {
    struct rules *rules;
    struct buf requests; /* what goes under requests_digest */
    uint32_t file;
};

static const char *const group_names[RULES_GROUP_MAX] = {
    [RULES_CLASSES] = "classes",
    [RULES_FIELDS] = "fields",
    [RULES_MESSAGES] = "messages",
    [RULES_REQUESTS] = "requests",
};

static int add_rule(struct reader *r, const struct conf_line *line, int group, struct err *err)
{
    struct rules *rules = r->rules;
    struct compare_rule *rule;
    size_t len = strlen(line->group) + strlen(line->key) + strlen(line->value) + 8;

    if (GROW(rules->rules, rules->rule_count, rules->rule_cap) < 0)
        return err_memory(err, "rules");
    rule = &rules->rules[rules->rule_count++];
    *rule = (struct compare_rule){ .id = rules->rule_count,
                                   .group = (uint8_t)group,
                                   .file = r->file,
                                   .line = line->number,
                                   .key = strdup(line->key),
                                   .text = malloc(len) };
    if (!rule->key || !rule->text)
        return err_memory(err, "rules");
    snprintf(rule->text, len, "[%s] %s = %s", line->group, line->key, line->value);
    if (group == RULES_REQUESTS && buf_append(&r->requests, rule->text, strlen(rule->text) + 1) < 0)
        return err_memory(err, "rules");
    if (rule_parse(rule, line->value, err) < 0)
        return -err->code;
    return rule_check(rules, rule, err);
}

static int take_line(void *ctx, const struct conf_line *line, struct err *err)
{
    struct reader *r = ctx;

    for (int group = 0; group < RULES_GROUP_MAX; group++)
        if (strcmp(line->group, group_names[group]) == 0)
            return line->key ? add_rule(r, line, group, err) : 0;
    if (strcmp(line->group, "rules") != 0)
        return err_set(
            err, ERR_USAGE,
            "unknown section \"%.64s\": expected one of rules, classes, fields, messages, "
            "requests",
            line->group);
    if (line->key && strcmp(line->key, "name") != 0 && strcmp(line->key, "description") != 0)
        return err_set(err, ERR_USAGE, "unknown key \"%.64s\"", line->key);
    return 0;
}

static void hex_digest(const void *data, size_t len, char text[33])
{
    XXH128_hash_t hash = XXH3_128bits(data, len);

    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

/* Every class and event must have a rule without a case. */
static int check_whole(const struct rules *rules, struct err *err)
{
    for (int cls = 0; cls < CLASS_MAX; cls++) {
        uint32_t i = 0;

        while (i < rules->rule_count &&
               (rules->rules[i].group != RULES_CLASSES || rules->rules[i].has_case ||
                rules->rules[i].procedure ||
                strcmp(rules->rules[i].key, class_name((enum field_class)cls)) != 0))
            i++;
        if (i == rules->rule_count)
            return err_set(err, ERR_USAGE, "%s: [classes] does not set \"%s\"",
                           rules->files[0].name, class_name((enum field_class)cls));
    }
    for (int i = 0; i < EVENT_MAX; i++)
        if (!rules->events[i])
            return err_set(err, ERR_USAGE, "%s: [messages] does not set \"%s\"",
                           rules->files[0].name, rule_event_name((enum rule_event)i));
    return 0;
}

static int read_file(struct reader *r, const char *name, const char *text, struct err *err)
{
    struct rules_file *file = &r->rules->files[r->rules->file_count++];

    file->name = strdup(name);
    file->text = strdup(text);
    if (!file->name || !file->text)
        return err_memory(err, "rules");
    hex_digest(text, strlen(text), file->digest);
    r->file = r->rules->file_count - 1;
    return conf_read(name, text, take_line, r, err);
}

int rules_read(const char *const *names, const char *const *texts, uint32_t count,
               struct rules **out, struct err *err)
{
    struct reader r = { .rules = calloc(1, sizeof(*r.rules)) };
    struct buf all = { 0 };
    int result = 0;

    *out = NULL;
    if (r.rules)
        r.rules->files = calloc(count + 1, sizeof(*r.rules->files));
    if (!r.rules || !r.rules->files)
        result = err_memory(err, "rules");
    for (uint32_t i = 0; result == 0 && i < count; i++) {
        result = read_file(&r, names[i], texts[i], err);
        if (result == 0 && buf_append(&all, texts[i], strlen(texts[i]) + 1) < 0)
            result = err_memory(err, "rules");
    }
    if (result == 0)
        result = check_whole(r.rules, err);
    if (result == 0) {
        hex_digest(all.data, all.len, r.rules->digest);
        hex_digest(r.requests.data, r.requests.len, r.rules->requests_digest);
        *out = r.rules;
    } else {
        rules_free(r.rules);
    }
    buf_free(&all);
    buf_free(&r.requests);
    return result;
}

bool rules_is_file(const char *name)
{
    return strpbrk(name, "/.") != NULL;
}

static int load_text(const char *name, char **text, struct err *err)
{
    const struct rules_builtin *builtin = rules_builtins;

    if (rules_is_file(name)) {
        *text = conf_load(name, err);
        return *text ? 0 : -err->code;
    }
    while (builtin->name && (strcmp(builtin->name, name) != 0 || strcmp(name, "causes") == 0))
        builtin++;
    if (!builtin->name)
        return err_set(
            err, ERR_USAGE,
            "no rules are called \"%.64s\": there are default, linux-knfsd, ganesha, "
            "ftnfsd, replay, anonymized; a file is known by a '/' or '.' in its name, as in "
            "./%.64s",
            name, name);
    *text = strdup(builtin->text);
    return *text ? 0 : err_memory(err, "rules");
}

int rules_load(const char *const *names, uint32_t count, struct rules **rules, struct err *err)
{
    const char **all = calloc(count + 1, sizeof(*all));
    char **texts = calloc(count + 1, sizeof(*texts));
    int result = all && texts ? 0 : err_memory(err, "rules");

    for (uint32_t i = 0; result == 0 && i <= count; i++) {
        all[i] = i ? names[i - 1] : "default";
        result = load_text(all[i], &texts[i], err);
    }
    if (result == 0)
        result = rules_read(all, (const char *const *)texts, count + 1, rules, err);
    for (uint32_t i = 0; texts && i <= count; i++)
        free(texts[i]);
    free(texts);
    free(all);
    return result;
}
