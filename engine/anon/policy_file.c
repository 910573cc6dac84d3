/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_file.c
 *
 * The text of a policy file to a struct policy.  GLib reads values and escapes; lines are found
 * here before, since GLib tells no line numbers and takes the last of two equal keys.
 */
#include "anon/policy_parts.h"

#include "wire/walk.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const struct group *group;
    char *key;
    unsigned number;
};

struct reader {
    struct policy *policy;
    GArray *lines;     /* struct line: those with a key */
    GHashTable *seen;  /* "group" or "group\nkey" to its line's number */
    GArray *overrides; /* struct policy_override */
    struct err *err;
};

/* Takes a value; the message needs neither file nor line. */
typedef int setter(struct reader *r, const char *key, char *value);

struct group {
    const char *name;
    setter *set;
    bool needed;
};

/* --- values */

static int unknown_key(struct reader *r, const char *key)
{
    return err_set(r->err, ERR_INPUT, "unknown key \"%.64s\"", key);
}

static int set_rule(struct reader *r, const char *key, const char *value, uint32_t allowed,
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
static char **split(struct reader *r, const char *key, const char *value)
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

static int set_policy(struct reader *r, const char *key, char *value)
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
        return unknown_key(r, key);
    if (len > POLICY_DESCRIPTION_MAX || strpbrk(value, "\n\r\t"))
        return err_set(r->err, ERR_INPUT, "description: one line of at most %d bytes",
                       POLICY_DESCRIPTION_MAX);
    g_free(r->policy->description);
    r->policy->description = g_strdup(value);
    return 0;
}

static int set_class(struct reader *r, const char *key, char *value)
{
    enum field_class cls = policy_class(key);

    return cls == CLASS_MAX ? unknown_key(r, key)
                            : set_rule(r, key, value, policy_allowed(cls), &r->policy->rules[cls]);
}

static int set_message(struct reader *r, const char *key, char *value)
{
    for (int i = 0; i < EXTRA_MAX; i++)
        if (strcmp(policy_extra_words[i].name, key) == 0)
            return set_rule(r, key, value, policy_extra_words[i].value, &r->policy->extras[i]);
    if (strcmp(key, "unread") != 0)
        return unknown_key(r, key);
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

static int set_names(struct reader *r, const char *key, char *value)
{
    bool suffix = strcmp(key, "keep-suffixes") == 0;
    char **parts, ***to = suffix ? &r->policy->suffixes : &r->policy->prefixes;

    if (!suffix && strcmp(key, "keep-prefixes") != 0)
        return unknown_key(r, key);
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

static int set_addresses(struct reader *r, const char *key, char *value)
{
    const struct policy_word *word = policy_range_words;
    char **parts;

    if (strcmp(key, "keep-ranges") != 0)
        return unknown_key(r, key);
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

static int set_time(struct reader *r, const char *key, char *value)
{
    uint64_t days;

    if (strcmp(key, "shift-days") != 0)
        return unknown_key(r, key);
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

static int set_keep(struct reader *r, const char *key, char *value)
{
    enum field_class cls = policy_class(key);
    unsigned bits = cls == CLASS_MAX ? 0 : policy_kept_bits(cls);
    struct policy_kept *kept;
    uint32_t count = 0;
    char **parts;

    if (!bits)
        return unknown_key(r, key);
    parts = split(r, key, value);
    if (!parts)
        return -ERR_INPUT;
    kept = &r->policy->kept[cls];
    kept->values = g_new(uint64_t, g_strv_length(parts) + 1);
    for (; parts[count]; count++)
        if (!parse_number(parts[count], UINT64_MAX >> (64 - bits), &kept->values[count])) {
            err_set(r->err, ERR_INPUT, "%s: \"%.32s\" is no number of %u bits", key, parts[count],
                    bits);
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
    struct reader *r;
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

static int set_field(struct reader *r, const char *key, char *value)
{
    struct field_search search = { r, key, value, r->overrides->len };

    if (wire_each_field(match_field, &search) < 0)
        return -ERR_INPUT;
    return r->overrides->len > search.first
               ? 0
               : err_set(r->err, ERR_INPUT, "no field has the path \"%.100s\"", key);
}

static int compare_overrides(const void *a, const void *b)
{
    const struct policy_override *x = a, *y = b;

    if (x->field != y->field)
        return (uintptr_t)x->field < (uintptr_t)y->field ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* --- lines */

static const struct group groups[] = {
    { "policy", set_policy, true },        { "classes", set_class, true },
    { "messages", set_message, true },     { "names", set_names, false },
    { "addresses", set_addresses, false }, { "time", set_time, false },
    { "keep", set_keep, false },           { "fields", set_field, false },
};

enum { GROUPS = sizeof(groups) / sizeof(*groups) };

static unsigned line_of(const struct reader *r, const char *group, const char *key)
{
    char *name = key ? g_strconcat(group, "\n", key, NULL) : g_strdup(group);
    unsigned line = GPOINTER_TO_UINT(g_hash_table_lookup(r->seen, name));

    g_free(name);
    return line;
}

/* Notes that |group| or its |key| stands in line |number|, unless it stood in another before. */
static int note(struct reader *r, const char *group, const char *key, unsigned number)
{
    unsigned before = line_of(r, group, key);

    if (before)
        return err_set(r->err, ERR_INPUT, "%s%.64s%s again, after line %u", key ? "" : "[",
                       key ? key : group, key ? "" : "]", before);
    g_hash_table_insert(r->seen, key ? g_strconcat(group, "\n", key, NULL) : g_strdup(group),
                        GUINT_TO_POINTER(number));
    return 0;
}

/* One line without its end; |*group| is where it stands. */
static int scan_line(struct reader *r, char *line, unsigned number, const struct group **group)
{
    size_t len;
    char *equals;

    g_strstrip(line);
    len = strlen(line);
    if (!len || line[0] == '#')
        return 0;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ' && line[i] != '\t')
            return err_set(r->err, ERR_INPUT, "a control character");
    if (line[0] == '[') {
        if (line[len - 1] == ']')
            line[len - 1] = '\0';
        for (*group = groups; *group < groups + GROUPS; ++*group)
            if (strcmp((*group)->name, line + 1) == 0)
                return note(r, (*group)->name, NULL, number);
        return err_set(r->err, ERR_INPUT, "unknown group \"%.64s\"", line + 1);
    }
    equals = strchr(line, '=');
    if (!equals)
        return err_set(r->err, ERR_INPUT, "neither a comment, nor a [group], nor key = value");
    *equals = '\0';
    g_strchomp(line);
    if (!*group)
        return err_set(r->err, ERR_INPUT, "\"%.64s\" stands before the first [group]", line);
    if (note(r, (*group)->name, line, number) < 0)
        return -ERR_INPUT;
    g_array_append_val(r->lines, ((struct line){ *group, g_strdup(line), number }));
    return 0;
}

static int scan(struct reader *r, const char *where, const char *text, size_t len)
{
    const char *end = text + len, *bad, *next;
    const struct group *group = NULL;
    unsigned number = 1;

    if (!g_utf8_validate(text, (gssize)len, &bad)) {
        for (const char *c = text; c < bad; c++)
            number += *c == '\n';
        return err_set(r->err, ERR_INPUT, "%s:%u: not UTF-8 text", where, number);
    }
    for (; text < end; text = next, number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        char *line = g_strndup(text, (size_t)((stop ? stop : end) - text));
        int result = scan_line(r, line, number, &group);

        next = stop ? stop + 1 : end;
        g_free(line);
        if (result < 0)
            return err_prefix(r->err, "%s:%u", where, number);
    }
    return 0;
}

/* --- the whole */

static int read_values(struct reader *r, const char *where, const char *text, size_t len)
{
    GKeyFile *keys = g_key_file_new();
    GError *error = NULL;
    int result = 0;

    if (!g_key_file_load_from_data(keys, text, len, G_KEY_FILE_NONE, &error))
        result = err_set(r->err, ERR_INPUT, "%s: %s", where, error->message);
    for (guint i = 0; result == 0 && i < r->lines->len; i++) {
        const struct line *line = &g_array_index(r->lines, struct line, i);
        char *value = g_key_file_get_string(keys, line->group->name, line->key, NULL);

        if (value)
            result = line->group->set(r, line->key, g_strstrip(value));
        else
            result = err_set(r->err, ERR_INPUT, "%.64s: an escape that key files do not know",
                             line->key);
        if (result < 0)
            err_prefix(r->err, "%s:%u", where, line->number);
        g_free(value);
    }
    g_clear_error(&error);
    g_key_file_free(keys);
    return result;
}

static int missing(struct reader *r, const char *where, const char *group, const char *key)
{
    return err_set(r->err, ERR_INPUT, "%s:%u: [%s] does not set \"%s\"", where,
                   line_of(r, group, NULL), group, key);
}

/* What is there must be complete, and nothing may be there that has no effect. */
static int check_whole(struct reader *r, const char *where)
{
    const struct policy *policy = r->policy;
    bool shifts = policy->rules[CLASS_TIME] == RULE_SHIFT;

    for (int i = 0; i < GROUPS; i++)
        if (groups[i].needed && !line_of(r, groups[i].name, NULL))
            return err_set(r->err, ERR_INPUT, "%s: there is no [%s]", where, groups[i].name);
    if (!policy->name)
        return missing(r, where, "policy", "name");
    for (int cls = 0; cls < CLASS_MAX; cls++)
        if (policy->rules[cls] == RULE_UNSET)
            return missing(r, where, "classes", class_name((enum field_class)cls));
    for (int i = 0; i < EXTRA_MAX; i++)
        if (policy->extras[i] == RULE_UNSET)
            return missing(r, where, "messages", policy_extra_words[i].name);
    if (!line_of(r, "messages", "unread"))
        return missing(r, where, "messages", "unread");
    if (shifts && !policy->shift_days)
        return err_set(r->err, ERR_INPUT, "%s:%u: time = shift needs shift-days in [time]", where,
                       line_of(r, "classes", "time"));
    if (!shifts && policy->shift_days)
        return err_set(r->err, ERR_INPUT, "%s:%u: shift-days without time = shift in [classes]",
                       where, line_of(r, "time", "shift-days"));
    for (int cls = 0; cls < CLASS_MAX; cls++)
        if (policy->kept[cls].count && policy->rules[cls] != RULE_KEYED)
            return err_set(r->err, ERR_INPUT,
                           "%s:%u: values to keep without %s = keyed in [classes]", where,
                           line_of(r, "keep", class_name((enum field_class)cls)),
                           class_name((enum field_class)cls));
    for (uint32_t i = 0; i < policy->override_count; i++)
        if (policy->overrides[i].rule == RULE_SHIFT && !shifts)
            return err_set(r->err, ERR_INPUT, "%s:%u: shift without time = shift in [classes]",
                           where, line_of(r, "fields", policy->overrides[i].path));
    return 0;
}

static int set_digest(struct policy *policy, struct err *err)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    gsize len = sizeof(policy->digest);
    struct buf text = { 0 };
    int result = policy_print(policy, &text, err);

    if (result == 0) {
        g_checksum_update(sum, text.data, (gssize)text.len);
        g_checksum_get_digest(sum, policy->digest, &len);
    }
    g_checksum_free(sum);
    buf_free(&text);
    return result;
}

static void clear_line(gpointer line)
{
    g_free(((struct line *)line)->key);
}

int policy_read(const char *where, const char *text, size_t len, struct policy **out,
                struct err *err)
{
    struct policy *policy = g_new0(struct policy, 1);
    struct reader r = { policy, g_array_new(FALSE, FALSE, sizeof(struct line)),
                        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        g_array_new(FALSE, FALSE, sizeof(struct policy_override)), err };
    int result;

    g_array_set_clear_func(r.lines, clear_line);
    policy->description = g_strdup("");
    policy->suffixes = g_new0(char *, 1);
    policy->prefixes = g_new0(char *, 1);
    result = scan(&r, where, text, len);
    if (result == 0)
        result = read_values(&r, where, text, len);
    policy->override_count = r.overrides->len;
    policy->overrides = (struct policy_override *)(void *)g_array_free(r.overrides, FALSE);
    if (policy->override_count)
        qsort(policy->overrides, policy->override_count, sizeof(*policy->overrides),
              compare_overrides);
    if (result == 0)
        result = check_whole(&r, where);
    if (result == 0)
        result = set_digest(policy, err);
    g_array_free(r.lines, TRUE);
    g_hash_table_destroy(r.seen);
    if (result < 0) {
        policy_free(policy);
        policy = NULL;
    }
    *out = policy;
    return result;
}
