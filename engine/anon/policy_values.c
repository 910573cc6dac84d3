/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_values.c
 *
 * The settings that a policy can have for each kind of value, and how they are read.  For
 * the files policy_*.c.  The contract is in policy_values.h.
 */
#include "anon/policy_values.h"

#include "wire/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int policy_unknown_key(struct policy_reader *r, const char *key)
{
    return err_set(r->err, ERR_INPUT, "unknown key \"%.64s\"", key);
}

static int set_rule(struct policy_reader *r, const char *key, const char *value, uint32_t allowed,
                    uint8_t *to)
{
    GString *words;

    for (int rule = RULE_UNSET + 1; rule < RULE_MAX; rule++)
        if (allowed >> rule & 1 && strcmp(rule_name((enum rule)rule), value) == 0) {
            *to = (uint8_t)rule;
            return 0;
        }
    words = g_string_new(NULL);
    for (int rule = RULE_UNSET + 1; rule < RULE_MAX; rule++)
        if (allowed >> rule & 1)
            g_string_append_printf(words, "%s%s", words->len ? ", " : "",
                                   rule_name((enum rule)rule));
    err_set(r->err, ERR_INPUT, "%s = \"%.64s\": allowed is %s", key, value, words->str);
    g_string_free(words, TRUE);
    return -ERR_INPUT;
}

/* A list's parts; a separator at its end is allowed. NULL: one of them is empty, or too many. */
static char **split(struct policy_reader *r, const char *key, const char *value)
{
    char **parts = g_strsplit(value, ";", POLICY_LIST_MAX + 2);
    guint n = g_strv_length(parts);

    for (guint i = 0; i < n; i++)
        g_strstrip(parts[i]);
    if (n && !parts[n - 1][0]) {
        g_free(parts[--n]);
        parts[n] = NULL;
    }
    for (guint i = 0; i < n; i++)
        if (!parts[i][0] || n > POLICY_LIST_MAX) {
            err_set(r->err, ERR_INPUT,
                    parts[i][0] ? "%s: more than %d values" : "%s: an empty value", key,
                    POLICY_LIST_MAX);
            g_strfreev(parts);
            return NULL;
        }
    return parts;
}

static int set_policy(struct policy_reader *r, const char *key, char *value)
{
    size_t len = strlen(value);

    if (strcmp(key, "name") == 0) {
        if (!len || len > POLICY_NAME_MAX ||
            strspn(value, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_") != len)
            return err_set(r->err, ERR_INPUT,
                           "name: 1 to %d letters, digits, '-' and '_': it goes into what is "
                           "released",
                           POLICY_NAME_MAX);
        r->policy->name = g_strdup(value);
        return 0;
    }
    if (strcmp(key, "description") != 0)
        return policy_unknown_key(r, key);
    if (len > POLICY_DESCRIPTION_MAX || strpbrk(value, "\n\r\t"))
        return err_set(r->err, ERR_INPUT, "description: one line of at most %d bytes",
                       POLICY_DESCRIPTION_MAX);
    g_free(r->policy->description);
    r->policy->description = g_strdup(value);
    return 0;
}

static int set_class(struct policy_reader *r, const char *key, char *value)
{
    enum field_class cls = policy_class(key);

    return cls == CLASS_MAX ? policy_unknown_key(r, key)
                            : set_rule(r, key, value, policy_allowed(cls), &r->policy->rules[cls]);
}

static int set_message(struct policy_reader *r, const char *key, char *value)
{
    for (int i = 0; i < EXTRA_MAX; i++)
        if (strcmp(policy_extra_words[i].name, key) == 0)
            return set_rule(r, key, value, policy_extra_words[i].value, &r->policy->extras[i]);
    if (strcmp(key, "unread") != 0)
        return policy_unknown_key(r, key);
    for (int i = UNREAD_HEADER; i <= UNREAD_DROP; i++)
        if (strcmp(policy_unread_words[i], value) == 0) {
            r->policy->unread = (uint8_t)i;
            return 0;
        }
    return err_set(r->err, ERR_INPUT, "unread = \"%.64s\": allowed is %s, %s", value,
                   policy_unread_words[0], policy_unread_words[1]);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted and each once, so that the same list in another order is the same policy. */
static void make_set(char **list)
{
    guint n = g_strv_length(list), kept = 0;

    if (!n)
        return;
    qsort(list, n, sizeof(*list), compare_text);
    for (guint i = 1; i < n; i++) {
        if (strcmp(list[kept], list[i]) == 0)
            g_free(list[i]);
        else
            list[++kept] = list[i];
    }
    list[kept + 1] = NULL;
}

static int set_names(struct policy_reader *r, const char *key, char *value)
{
    bool suffix = strcmp(key, "keep-suffixes") == 0;
    char **parts, ***to = suffix ? &r->policy->suffixes : &r->policy->prefixes;

    if (!suffix && strcmp(key, "keep-prefixes") != 0)
        return policy_unknown_key(r, key);
    parts = split(r, key, value);
    if (!parts)
        return -ERR_INPUT;
    for (char **part = parts; *part; part++)
        if (strlen(*part) > POLICY_AFFIX_MAX || strpbrk(*part, "/\\ \t\n\r") ||
            (suffix && ((*part)[0] != '.' || !(*part)[1]))) {
            err_set(r->err, ERR_INPUT,
                    suffix
                        ? "%s: \"%.32s\": a suffix is a '.' and more, of at most %d bytes without "
                          "blanks, '/' and '\\'"
                        : "%s: \"%.32s\": a prefix has at most %d bytes, without blanks, '/' and "
                          "'\\'",
                    key, *part, POLICY_AFFIX_MAX);
            g_strfreev(parts);
            return -ERR_INPUT;
        }
    make_set(parts);
    g_strfreev(*to);
    *to = parts;
    return 0;
}

static int set_addresses(struct policy_reader *r, const char *key, char *value)
{
    const struct policy_word *word = policy_range_words;
    char **parts;

    if (strcmp(key, "keep-ranges") != 0)
        return policy_unknown_key(r, key);
    parts = split(r, key, value);
    for (char **part = parts; part && *part; part++) {
        for (word = policy_range_words; word->name && strcmp(word->name, *part) != 0;)
            word++;
        if (!word->name) {
            err_set(r->err, ERR_INPUT,
                    "%s: \"%.32s\": allowed is loopback, link-local, multicast, private", key,
                    *part);
            break;
        }
        r->policy->ranges |= word->value;
    }
    g_strfreev(parts);
    return parts && word->name ? 0 : -ERR_INPUT;
}

/* Decimal, or hexadecimal after 0x; nothing else that strtoull would take. */
static bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    char *end;

    if (!g_ascii_isxdigit(digits[0]))
        return false;
    errno = 0;
    *value = strtoull(digits, &end, hex ? 16 : 10);
    return !errno && end != digits && !*end && *value <= max;
}

static int set_time(struct policy_reader *r, const char *key, char *value)
{
    uint64_t days;

    if (strcmp(key, "shift-days") != 0)
        return policy_unknown_key(r, key);
    if (!parse_number(value, POLICY_SHIFT_MAX, &days) || !days)
        return err_set(r->err, ERR_INPUT, "%s = \"%.32s\": allowed is 1 to %d", key, value,
                       POLICY_SHIFT_MAX);
    r->policy->shift_days = (uint32_t)days;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static int set_keep(struct policy_reader *r, const char *key, char *value)
{
    enum field_class cls = policy_class(key);
    unsigned bits = cls == CLASS_MAX ? 0 : policy_kept_bits(cls);
    struct policy_kept *kept;
    uint32_t count = 0;
    char **parts;

    if (!bits)
        return policy_unknown_key(r, key);
    parts = split(r, key, value);
    if (!parts)
        return -ERR_INPUT;
    kept = &r->policy->kept[cls];
    kept->values = g_new(uint64_t, g_strv_length(parts) + 1);
    for (; parts[count]; count++)
        if (!parse_number(parts[count], UINT64_MAX >> (64 - bits), &kept->values[count])) {
            err_set(r->err, ERR_INPUT, "%s: \"%.32s\" is not a number of %u bits", key,
                    parts[count], bits);
            g_strfreev(parts);
            return -ERR_INPUT;
        }
    g_strfreev(parts);
    qsort(kept->values, count, sizeof(*kept->values), compare_numbers);
    for (uint32_t i = 0; i < count; i++)
        if (!kept->count || kept->values[kept->count - 1] != kept->values[i])
            kept->values[kept->count++] = kept->values[i];
    return 0;
}

/* --- rules for fields */

struct field_search {
    struct policy_reader *r;
    const char *path, *value;
    guint first; /* of this path's rows */
};

static int match_field(void *ctx, const struct field_place *place)
{
    struct field_search *search = ctx;
    struct policy_override row = { .field = place->field };
    GArray *rows = search->r->overrides;

    if (strcmp(place->path, search->path) != 0)
        return 0;
    for (guint i = search->first; i < rows->len; i++)
        if (g_array_index(rows, struct policy_override, i).field == place->field)
            return 0;
    if (set_rule(search->r, search->path, search->value,
                 policy_allowed((enum field_class)place->field->cls), &row.rule) < 0)
        return -ERR_INPUT;
    row.path = g_strdup(search->path);
    g_array_append_val(rows, row);
    return 0;
}

static int set_field(struct policy_reader *r, const char *key, char *value)
{
    struct field_search search = { r, key, value, r->overrides->len };

    if (wire_each_field(match_field, &search) < 0)
        return -ERR_INPUT;
    return r->overrides->len > search.first
               ? 0
               : err_set(r->err, ERR_INPUT, "no field has the path \"%.100s\"", key);
}

const struct policy_group policy_groups[] = {
    { "policy", set_policy, true },
    { "classes", set_class, true },
    { "messages", set_message, true },
    { "names", set_names, false },
    { "addresses", set_addresses, false },
    { "time", set_time, false },
    { "keep", set_keep, false },
    { "fields", set_field, false },
    { NULL, NULL, false },
};
