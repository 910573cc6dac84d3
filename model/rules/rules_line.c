/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/rules_line.c
 *
 * Parses the kind, the amount and the conditions of a line, then checks against the tables of
 * engine/wire that its field exists and the kind fits it.  Also tells which fields a rule names.
 * For rules_file.c and rules.c.  The contract is in rules_line.h.
 */
#include "rules/rules_line.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ns, 31 years: with a clock's error added this is still no overflow. */
static const uint64_t tolerance_max = 1000000000000000000;

static const char *const scope_names[PATTERN_SCOPE_MAX] = {
    [PATTERN_SERVER] = "server", [PATTERN_OBJECT] = "object", [PATTERN_LISTING] = "listing",
    [PATTERN_ENTRY] = "entry",   [PATTERN_VALUE] = "value",
};

/* --- fields */

bool rule_is_time(const struct field *field)
{
    return field->cls == CLASS_TIME && field[1].kind != XDR_END && field[1].cls == CLASS_INTERVAL;
}

bool rule_names(const struct compare_rule *rule, const struct field_place *place)
{
    const char *last = strrchr(place->path, '.');
    char *time;
    bool same;

    if (rule->procedure && strcmp(rule->procedure, place->procedure->name) != 0)
        return false;
    if (rule->of_class)
        return strcmp(rule->key, class_name((enum field_class)place->field->cls)) == 0;
    if (fnmatch(rule->key, place->path, FNM_NOESCAPE) == 0)
        return true;
    if (!last || !rule_is_time(place->field))
        return false;
    time = strndup(place->path, (size_t)(last - place->path));
    same = time && fnmatch(rule->key, time, FNM_NOESCAPE) == 0;
    free(time);
    return same;
}

bool rule_fits(const struct compare_rule *rule, const struct field *field)
{
    bool list = field->kind == XDR_LIST || field->kind == XDR_ARRAY;
    bool bytes = field->kind == XDR_FIXED || field->kind == XDR_OPAQUE || field->kind == XDR_STRING;

    if (bytes && (rule->when.has_ref || rule->when.has_sut))
        return false; /* these are numbers */
    switch (rule->kind) {
    case COMPARE_SET:
        return list;
    case COMPARE_NOCASE:
        return field->kind == XDR_STRING;
    case COMPARE_TOLERANCE:
        if (list || bytes)
            return false;
        return rule->duration  ? rule_is_time(field)
               : rule->percent ? field->cls != CLASS_TIME
                               : true;
    case COMPARE_MASK:
        return !list && !bytes && field->cls != CLASS_TIME;
    case COMPARE_AT_LEAST:
    case COMPARE_AT_MOST:
        return !list && !bytes;
    default:
        return true;
    }
}

/* --- numbers and names */

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
        if (strcmp(end, units[i].unit) == 0 && number * units[i].factor <= (double)tolerance_max) {
            rule->amount = (uint64_t)(number * units[i].factor + 0.5);
            rule->percent = units[i].unit[0] == '%';
            rule->duration = !rule->percent;
            return true;
        }
    return false;
}

enum condition { IF_PROCEDURE, IF_STATUS, IF_TYPE, IF_REF, IF_SUT, IF_MAX };

static const char *const condition_names[IF_MAX] = { "procedure", "status", "type", "ref", "sut" };

/* The value that a name has where the condition asks: of a status that comes with a field of the
 * rule, of a type of objects, of a field of the rule. */
struct name_search {
    const struct compare_rule *rule;
    enum condition condition;
    const char *name;
    const struct procedure *procedure; /* the status that was found is of its result */
    uint32_t value;
};

static bool has_name(const struct field *field, struct name_search *search)
{
    for (const struct value_name *v = field->names; v && v->name; v++)
        if (strcmp(v->name, search->name) == 0) {
            search->value = v->value;
            return true;
        }
    return false;
}

static int find_value(void *ctx, const struct field_place *place)
{
    struct name_search *search = ctx;

    if (!place->result)
        return 0;
    switch (search->condition) {
    case IF_TYPE:
        return place->field->cls == CLASS_TYPE && has_name(place->field, search);
    case IF_STATUS: /* it stands before what depends on it */
        if (place->field->role & ROLE_STATUS && has_name(place->field, search))
            search->procedure = place->procedure;
        return search->procedure == place->procedure && rule_names(search->rule, place);
    default:
        return rule_names(search->rule, place) && has_name(place->field, search);
    }
}

static int find_procedure(void *ctx, const struct field_place *place)
{
    return strcmp(place->procedure->name, ctx) == 0;
}

/* --- conditions */

static int put_procedure(struct compare_rule *rule, char *name, struct err *err)
{
    if (!wire_each_field(find_procedure, name))
        return err_set(err, ERR_USAGE, "no such procedure: \"%.64s\"", name);
    rule->procedure = strdup(name);
    return rule->procedure ? 0 : err_memory(err, "rules");
}

static int put_value(struct compare_rule *rule, enum condition condition, const char *text,
                     struct err *err)
{
    static const char *const of[IF_MAX] = { [IF_STATUS] = "a status of these fields' procedures",
                                            [IF_TYPE] = "a type of objects",
                                            [IF_REF] = "a value of these fields",
                                            [IF_SUT] = "a value of these fields" };
    struct name_search search = { .rule = rule, .condition = condition, .name = text };
    struct rule_case *when = &rule->when;
    bool whole = condition == IF_REF || condition == IF_SUT; /* 64 bits */
    uint64_t value;

    if (!parse_number(text, &value)) {
        if (!wire_each_field(find_value, &search))
            return err_set(err, ERR_USAGE, "\"%.64s\" is not %s", text, of[condition]);
        value = search.value;
    }
    if (!whole && value > UINT32_MAX)
        return err_set(err, ERR_USAGE, "\"%.64s\" is more than 32 bits", text);
    rule->has_case = true;
    if (condition == IF_STATUS) {
        when->has_status = true;
        when->status = (uint32_t)value;
    } else if (condition == IF_TYPE) {
        when->has_type = true;
        when->type = (uint32_t)value;
    } else if (condition == IF_REF) {
        when->has_ref = true;
        when->ref = value;
    } else {
        when->has_sut = true;
        when->sut = value;
    }
    return 0;
}

/* Takes the quotes from a value. */
static int unquote(char **value, struct err *err)
{
    size_t len = strlen(*value);

    if (**value != '"')
        return 0;
    if (len < 2 || strchr(*value + 1, '"') != *value + len - 1)
        return err_set(err, ERR_USAGE, "%.64s: a quote is missing", *value);
    (*value)[len - 1] = '\0';
    ++*value;
    return 0;
}

/* Returns the end of a condition: the comma outside of quotes, or NULL. */
static char *condition_end(char *text)
{
    bool quoted = false;

    for (; *text; text++) {
        quoted ^= *text == '"';
        if (*text == ',' && !quoted)
            return text;
    }
    return NULL;
}

static int parse_condition(struct compare_rule *rule, char *text, struct err *err)
{
    const struct rule_case *when = &rule->when;
    const bool known[IF_MAX] = { rule->procedure != NULL, when->has_status, when->has_type,
                                 when->has_ref, when->has_sut };
    char *equals = strchr(text, '=');
    int condition = 0;

    if (!equals || !equals[1])
        return err_set(err, ERR_USAGE, "condition \"%.64s\": NAME=VALUE was expected", text);
    *equals++ = '\0';
    if (unquote(&equals, err) < 0)
        return -err->code;
    if (rule_group_word(text) >= 0)
        return rule_put_group_word(rule, rule_group_word(text), equals, err);
    if (rule->group == RULES_MESSAGES)
        return err_set(err, ERR_USAGE,
                       "%s: here rules have no conditions but operation, difference and when",
                       rule->key);
    while (condition < IF_MAX && strcmp(condition_names[condition], text) != 0)
        condition++;
    if (condition == IF_MAX)
        return err_set(
            err, ERR_USAGE,
            "unknown condition \"%.64s\": expected one of procedure, status, type, ref, sut, "
            "operation, difference, when",
            text);
    if (known[condition])
        return err_set(err, ERR_USAGE, "the condition \"%s\" comes twice", text);
    return condition == IF_PROCEDURE ? put_procedure(rule, equals, err)
                                     : put_value(rule, (enum condition)condition, equals, err);
}

static int parse_conditions(struct compare_rule *rule, char *text, struct err *err)
{
    for (char *next = text; next;) {
        char *one = next, *end = condition_end(next);
        size_t len;

        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        one += strspn(one, " \t");
        for (len = strlen(one); len && strchr(" \t", one[len - 1]); len--)
            one[len - 1] = '\0';
        if (parse_condition(rule, one, err) < 0)
            return -err->code;
    }
    return 0;
}

int rule_parse(struct compare_rule *rule, char *value, struct err *err)
{
    char *conditions = strstr(value, " if "), *word, *more = NULL, *argument;

    if (conditions) {
        *conditions = '\0';
        conditions += 4;
    }
    rule->of_class = rule->group == RULES_CLASSES ||
                     (rule->group == RULES_REQUESTS && class_is_known(rule->key));
    word = strtok_r(value, " \t", &more);
    argument = strtok_r(NULL, " \t", &more);
    if (!word || strtok_r(NULL, " \t", &more))
        return err_set(err, ERR_USAGE, "KIND, or KIND VALUE, was expected");
    for (int kind = COMPARE_UNSET + 1; kind < COMPARE_KIND_MAX; kind++)
        if (strcmp(compare_kind_name((enum compare_kind)kind), word) == 0)
            rule->kind = (uint8_t)kind;
    switch (rule->kind) {
    case COMPARE_UNSET:
        return err_set(
            err, ERR_USAGE,
            "unknown kind \"%.64s\": expected one of bitwise, mask BITS, tolerance AMOUNT, "
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
    if (conditions && parse_conditions(rule, conditions, err) < 0)
        return -err->code;
    return rule_check_group(rule, err);
}

/* --- checks */

static bool is_plain(const struct compare_rule *rule)
{
    return rule->kind == COMPARE_BITWISE || rule->kind == COMPARE_IGNORED;
}

struct field_search {
    const struct compare_rule *rule;
    bool results;   /* else arguments */
    bool found;     /* a field of this name, */
    bool fits;      /* and one that the rule is for */
    bool half;      /* the fraction of a time without its seconds */
    bool too_large; /* a tolerance of times */
    const struct field *before;
    bool before_named;
};

static int find_field(void *ctx, const struct field_place *place)
{
    struct field_search *s = ctx;
    bool named = place->result == s->results && rule_names(s->rule, place);
    bool fraction = s->before && s->before + 1 == place->field && rule_is_time(s->before);

    if (named && fraction) {
        s->half |= !s->before_named && !s->rule->of_class;
    } else if (named) {
        bool fits = rule_fits(s->rule, place->field);

        s->found = true;
        s->fits |= fits;
        s->too_large |= fits && s->rule->kind == COMPARE_TOLERANCE && !s->rule->percent &&
                        rule_is_time(place->field) && s->rule->amount > tolerance_max;
    }
    s->before = place->field;
    s->before_named = named;
    return 0;
}

static int check_fields(const struct compare_rule *rule, bool results, struct err *err)
{
    struct field_search search = { .rule = rule, .results = results };

    wire_each_field(find_field, &search);
    if (search.half)
        return err_set(err, ERR_USAGE,
                       "\"%.100s\" has the fraction of a time, which is one value: its name ends "
                       "before \".seconds\"",
                       rule->key);
    if (!search.found && rule->of_class && !rule->procedure) /* of arguments only */
        search.fits = is_plain(rule);
    else if (!search.found)
        return err_set(err, ERR_USAGE, "no field of %s%s has the %s \"%.100s\"",
                       rule->procedure ? rule->procedure
                       : results       ? "a result"
                                       : "arguments",
                       !rule->procedure ? ""
                       : results        ? "'s result"
                                        : "'s arguments",
                       rule->of_class ? "class" : "path", rule->key);
    if (!search.fits)
        return err_set(err, ERR_USAGE, "%s: %s%s does not fit this kind of value", rule->key,
                       compare_kind_name((enum compare_kind)rule->kind),
                       rule->when.has_ref || rule->when.has_sut ? " with these conditions"
                       : rule->duration                         ? " with a duration"
                       : rule->percent                          ? " with a percentage"
                                                                : "");
    if (search.too_large)
        return err_set(err, ERR_USAGE, "%s: a time's tolerance is at most %llu ns", rule->key,
                       (unsigned long long)tolerance_max);
    return 0;
}

bool class_is_known(const char *name)
{
    int cls = 0;

    while (cls < CLASS_MAX && strcmp(class_name((enum field_class)cls), name) != 0)
        cls++;
    return cls < CLASS_MAX;
}

static int check_event(struct rules *rules, const struct compare_rule *rule, struct err *err)
{
    int event = 0;
    bool counts;

    while (event < EVENT_MAX && strcmp(rule_event_name((enum rule_event)event), rule->key) != 0)
        event++;
    if (event == EVENT_MAX)
        return err_set(err, ERR_USAGE, "unknown key \"%.64s\"", rule->key);
    counts =
        event == EVENT_RETRANSMISSION || event == EVENT_DISCONNECT || event == EVENT_OTHER_REPLIES;
    if (!is_plain(rule) && !(counts && rule->kind == COMPARE_TOLERANCE))
        return err_set(err, ERR_USAGE, "%s: %s does not fit it", rule->key,
                       compare_kind_name((enum compare_kind)rule->kind));
    if (rule->percent || rule->duration)
        return err_set(err, ERR_USAGE, "%s: its tolerance is a number", rule->key);
    if (!rule->is_of_groups)
        rules->events[event] = rule->id;
    return 0;
}

static int check_request(struct rules *rules, const struct compare_rule *rule, struct err *err)
{
    bool credential = strcmp(rule->key, "credential") == 0;

    if (!is_plain(rule) || rule->has_case || (credential && rule->procedure))
        return err_set(err, ERR_USAGE, "here fields are bitwise or ignored, without conditions");
    if (credential)
        rules->credential = rule->id;
    return credential || rule->of_class ? 0 : check_fields(rule, false, err);
}

int rule_check(struct rules *rules, const struct compare_rule *rule, struct err *err)
{
    switch (rule->group) {
    case RULES_CLASSES:
        if (!class_is_known(rule->key))
            return err_set(err, ERR_USAGE, "no such class: \"%.64s\"", rule->key);
        if (rule->kind == COMPARE_SET)
            return err_set(err, ERR_USAGE, "set is for single fields");
        return check_fields(rule, true, err);
    case RULES_FIELDS:
        return check_fields(rule, true, err);
    case RULES_REQUESTS:
        return check_request(rules, rule, err);
    default:
        return check_event(rules, rule, err);
    }
}
