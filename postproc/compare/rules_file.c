/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/rules_file.c
 *
 * Rule files to a struct rules.
 */
#include "compare/conf.h"
#include "compare/rules.h"

#include "base/bytes.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

struct reader {
    struct rules *rules;
    struct buf requests; /* what goes under requests_digest */
    uint32_t file;
};

static const char *const scope_names[PATTERN_SCOPE_MAX] = {
    [PATTERN_SERVER] = "server", [PATTERN_OBJECT] = "object", [PATTERN_LISTING] = "listing",
    [PATTERN_ENTRY] = "entry",   [PATTERN_VALUE] = "value",
};

static const char *const group_names[RULES_GROUP_MAX] = {
    [RULES_CLASSES] = "classes",
    [RULES_FIELDS] = "fields",
    [RULES_MESSAGES] = "messages",
    [RULES_REQUESTS] = "requests",
};

static bool parse_number(const char *text, uint64_t *value)
{
    bool octal = text[0] == '0' && text[1] >= '0' && text[1] <= '7';
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, octal ? 8 : 0);
    return !errno && !*end;
}

/* "2s", "5%", "100": ns, hundredths of a percent, or a number. */
static bool parse_amount(const char *text, struct compare_rule *rule)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = { { "ns", 1 },   { "us", 1e3 },  { "ms", 1e6 }, { "s", 1e9 },
                  { "m", 6e10 }, { "h", 36e11 }, { "%", 100 } };
    double number;
    char *end;

    if (parse_number(text, &rule->amount))
        return true;
    if (*text < '0' || *text > '9')
        return false;
    number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].unit) == 0 && number * units[i].factor < 9e18) {
            rule->amount = (uint64_t)(number * units[i].factor + 0.5);
            rule->percent = units[i].unit[0] == '%';
            return true;
        }
    return false;
}

struct name_search {
    const char *name;
    bool found;
    uint32_t value;
};

static int find_value(void *ctx, const struct field_place *place)
{
    struct name_search *search = ctx;

    for (const struct value_name *v = place->field->names; v && v->name; v++)
        if (strcmp(v->name, search->name) == 0) {
            search->found = true;
            search->value = v->value;
            return 1;
        }
    return 0;
}

/* A number, or the name of a value of any field. */
static bool parse_value(const char *text, uint64_t *value)
{
    struct name_search search = { .name = text };

    if (parse_number(text, value))
        return true;
    wire_each_field(find_value, &search);
    *value = search.value;
    return search.found;
}

static int find_procedure(void *ctx, const struct field_place *place)
{
    return strcmp(place->procedure->name, ctx) == 0;
}

static int parse_condition(struct compare_rule *rule, char *text, struct err *err)
{
    char *equals = strchr(text, '=');
    struct rule_case *when = &rule->when;
    uint64_t value;

    if (!equals)
        return err_set(err, ERR_USAGE, "condition \"%.64s\": NAME=VALUE was expected", text);
    *equals++ = '\0';
    if (strcmp(text, "procedure") == 0) {
        if (!wire_each_field(find_procedure, equals))
            return err_set(err, ERR_USAGE, "there is no procedure \"%.64s\"", equals);
        free(rule->procedure);
        rule->procedure = strdup(equals);
        return rule->procedure ? 0 : err_set(err, ERR_SYSTEM, "out of memory");
    }
    if (!parse_value(equals, &value))
        return err_set(err, ERR_USAGE, "there is no value \"%.64s\"", equals);
    rule->has_case = true;
    if (strcmp(text, "status") == 0) {
        when->has_status = true;
        when->status = (uint32_t)value;
    } else if (strcmp(text, "type") == 0) {
        when->has_type = true;
        when->type = (uint32_t)value;
    } else if (strcmp(text, "ref") == 0) {
        when->has_ref = true;
        when->ref = value;
    } else if (strcmp(text, "sut") == 0) {
        when->has_sut = true;
        when->sut = value;
    } else {
        return err_set(err, ERR_USAGE,
                       "unknown condition \"%.64s\": there are procedure, status, type, ref, sut",
                       text);
    }
    return 0;
}

/* "KIND [AMOUNT or SCOPE] [if CONDITION, ...]" */
static int parse_rule(struct compare_rule *rule, char *value, struct err *err)
{
    char *conditions = strstr(value, " if "), *word, *more = NULL, *argument;

    if (conditions) {
        *conditions = '\0';
        conditions += 4;
    }
    word = strtok_r(value, " \t", &more);
    argument = strtok_r(NULL, " \t", &more);
    if (!word || strtok_r(NULL, " \t", &more))
        return err_set(err, ERR_USAGE, "KIND, or KIND VALUE, was expected");
    for (int kind = COMPARE_UNSET + 1; kind < COMPARE_KIND_MAX; kind++)
        if (strcmp(compare_kind_name((enum compare_kind)kind), word) == 0)
            rule->kind = (uint8_t)kind;
    switch (rule->kind) {
    case COMPARE_UNSET:
        return err_set(err, ERR_USAGE,
                       "unknown kind \"%.64s\": there are bitwise, mask BITS, tolerance AMOUNT, "
                       "set, at-least, at-most, pattern SCOPE, nocase, ignored",
                       word);
    case COMPARE_MASK:
        if (!argument || !parse_number(argument, &rule->amount))
            return err_set(err, ERR_USAGE, "mask: a number was expected");
        break;
    case COMPARE_TOLERANCE:
        if (!argument || !parse_amount(argument, rule))
            return err_set(err, ERR_USAGE,
                           "tolerance: a number, a duration (2s, 10ms) or 5%% was expected");
        break;
    case COMPARE_PATTERN:
        for (rule->scope = 0; rule->scope < PATTERN_SCOPE_MAX; rule->scope++)
            if (argument && strcmp(scope_names[rule->scope], argument) == 0)
                break;
        if (rule->scope == PATTERN_SCOPE_MAX)
            return err_set(err, ERR_USAGE,
                           "pattern: server, object, listing, entry or value was expected");
        break;
    default:
        if (argument)
            return err_set(err, ERR_USAGE, "%s takes no value: \"%.64s\"", word, argument);
    }
    more = NULL;
    for (word = conditions ? strtok_r(conditions, ", \t", &more) : NULL; word;
         word = strtok_r(NULL, ", \t", &more))
        if (parse_condition(rule, word, err) < 0)
            return -err->code;
    return 0;
}

/* What a rule of this kind can be put to. */
static bool fits(const struct compare_rule *rule, const struct field *field)
{
    bool list = field->kind == XDR_LIST || field->kind == XDR_ARRAY;
    bool bytes = field->kind == XDR_FIXED || field->kind == XDR_OPAQUE || field->kind == XDR_STRING;

    switch (rule->kind) {
    case COMPARE_SET:
        return list;
    case COMPARE_NOCASE:
        return field->kind == XDR_STRING;
    case COMPARE_MASK:
    case COMPARE_TOLERANCE:
    case COMPARE_AT_LEAST:
    case COMPARE_AT_MOST:
        return !list && !bytes;
    default:
        return true;
    }
}

struct field_search {
    const struct compare_rule *rule;
    bool results; /* else arguments */
    bool found, fits;
};

static int find_field(void *ctx, const struct field_place *place)
{
    struct field_search *search = ctx;

    if (place->result == search->results &&
        fnmatch(search->rule->key, place->path, FNM_NOESCAPE) == 0) {
        search->found = true;
        search->fits |= fits(search->rule, place->field);
    }
    return 0;
}

static int check_path(const struct compare_rule *rule, bool results, struct err *err)
{
    struct field_search search = { .rule = rule, .results = results };

    wire_each_field(find_field, &search);
    if (!search.found)
        return err_set(err, ERR_USAGE, "no field of %s has the path \"%.100s\"",
                       results ? "a result" : "arguments", rule->key);
    if (!search.fits)
        return err_set(err, ERR_USAGE, "%s: %s is nothing for this kind of value", rule->key,
                       compare_kind_name((enum compare_kind)rule->kind));
    return 0;
}

static bool is_class(const char *name)
{
    int cls = 0;

    while (cls < CLASS_MAX && strcmp(class_name((enum field_class)cls), name) != 0)
        cls++;
    return cls < CLASS_MAX;
}

static int check_key(struct reader *r, struct compare_rule *rule, struct err *err)
{
    bool plain = rule->kind == COMPARE_BITWISE || rule->kind == COMPARE_IGNORED;

    rule->of_class =
        rule->group == RULES_CLASSES || (rule->group == RULES_REQUESTS && is_class(rule->key));
    switch (rule->group) {
    case RULES_CLASSES:
        if (!is_class(rule->key))
            return err_set(err, ERR_USAGE, "there is no class \"%.64s\"", rule->key);
        if (rule->kind == COMPARE_SET)
            return err_set(err, ERR_USAGE, "set is for single fields");
        return 0;
    case RULES_FIELDS:
        return check_path(rule, true, err);
    case RULES_REQUESTS:
        if (!plain || rule->has_case)
            return err_set(err, ERR_USAGE,
                           "here fields are bitwise or ignored, without conditions");
        if (strcmp(rule->key, "credential") == 0) {
            r->rules->credential = rule->id;
            return 0;
        }
        return rule->of_class ? 0 : check_path(rule, false, err);
    default:
        for (int i = 0; i < EVENT_MAX; i++)
            if (strcmp(rule_event_name((enum rule_event)i), rule->key) == 0) {
                bool counts = i == EVENT_RETRANSMISSION || i == EVENT_DISCONNECT;

                if (!plain && !(counts && rule->kind == COMPARE_TOLERANCE))
                    return err_set(err, ERR_USAGE, "%s: %s is nothing for it", rule->key,
                                   compare_kind_name((enum compare_kind)rule->kind));
                r->rules->events[i] = rule->id;
                return 0;
            }
        return err_set(err, ERR_USAGE, "unknown key \"%.64s\"", rule->key);
    }
}

static int add_rule(struct reader *r, const struct conf_line *line, int group, struct err *err)
{
    struct rules *rules = r->rules;
    struct compare_rule *rule;
    size_t len = strlen(line->group) + strlen(line->key) + strlen(line->value) + 8;

    if (rules->rule_count == rules->rule_cap) {
        uint32_t cap = rules->rule_cap ? rules->rule_cap * 2 : 128;
        void *grown = realloc(rules->rules, cap * sizeof(*rules->rules));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory");
        rules->rules = grown;
        rules->rule_cap = cap;
    }
    rule = &rules->rules[rules->rule_count++];
    *rule = (struct compare_rule){ .id = rules->rule_count,
                                   .group = (uint8_t)group,
                                   .file = r->file,
                                   .line = line->number,
                                   .key = strdup(line->key),
                                   .text = malloc(len) };
    if (!rule->key || !rule->text)
        return err_set(err, ERR_SYSTEM, "out of memory");
    snprintf(rule->text, len, "[%s] %s = %s", line->group, line->key, line->value);
    if (group == RULES_REQUESTS && buf_append(&r->requests, rule->text, strlen(rule->text) + 1) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory");
    if (parse_rule(rule, line->value, err) < 0)
        return -err->code;
    return check_key(r, rule, err);
}

static int take_line(void *ctx, const struct conf_line *line, struct err *err)
{
    struct reader *r = ctx;

    for (int group = 0; group < RULES_GROUP_MAX; group++)
        if (strcmp(line->group, group_names[group]) == 0)
            return line->key ? add_rule(r, line, group, err) : 0;
    if (strcmp(line->group, "rules") != 0)
        return err_set(err, ERR_USAGE,
                       "unknown group \"%.64s\": there are rules, classes, fields, messages, "
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
        return err_set(err, ERR_SYSTEM, "out of memory");
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
        result = err_set(err, ERR_SYSTEM, "out of memory");
    for (uint32_t i = 0; result == 0 && i < count; i++) {
        result = read_file(&r, names[i], texts[i], err);
        if (result == 0 && buf_append(&all, texts[i], strlen(texts[i]) + 1) < 0)
            result = err_set(err, ERR_SYSTEM, "out of memory");
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

static int load_text(const char *name, char **text, struct err *err)
{
    const struct rules_builtin *builtin = rules_builtins;

    if (strpbrk(name, "/.")) {
        *text = conf_load(name, err);
        return *text ? 0 : -err->code;
    }
    while (builtin->name && (strcmp(builtin->name, name) != 0 || strcmp(name, "causes") == 0))
        builtin++;
    if (!builtin->name)
        return err_set(
            err, ERR_USAGE,
            "no rules are called \"%.64s\": there are default, linux-knfsd, ganesha, anonymized; a "
            "file is known by a '/' or '.' in its name, as in ./%.64s",
            name, name);
    *text = strdup(builtin->text);
    return *text ? 0 : err_set(err, ERR_SYSTEM, "out of memory");
}

int rules_load(const char *const *names, uint32_t count, struct rules **rules, struct err *err)
{
    const char **all = calloc(count + 1, sizeof(*all));
    char **texts = calloc(count + 1, sizeof(*texts));
    int result = all && texts ? 0 : err_set(err, ERR_SYSTEM, "out of memory");

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
