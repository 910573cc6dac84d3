/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_file.c
 *
 * Reads the text of a policy file into a struct policy.  GLib reads values and escapes.  The lines
 * are found here first, because GLib gives no line numbers, and takes the last of two equal keys.
 */
#include "anon/policy_values.h"

#include <stdlib.h>
#include <string.h>

struct line {
    const struct policy_group *group;
    char *key;
    unsigned number;
};

struct reader {
    struct policy_reader values;
    struct policy *policy;
    GArray *lines;    /* struct line: those with a key */
    GHashTable *seen; /* "group" or "group\nkey" to its line's number */
    struct err *err;
};

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
static int scan_line(struct reader *r, char *line, unsigned number,
                     const struct policy_group **group)
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
        if (line[len - 1] != ']')
            return err_set(r->err, ERR_INPUT, "a section's name ends with ']'");
        line[len - 1] = '\0';
        for (*group = policy_groups; (*group)->name; ++*group)
            if (strcmp((*group)->name, line + 1) == 0)
                return note(r, (*group)->name, NULL, number);
        return err_set(r->err, ERR_INPUT, "unknown section \"%.64s\"", line + 1);
    }
    equals = strchr(line, '=');
    if (!equals)
        return err_set(r->err, ERR_INPUT, "expected a comment, a [section] or key = value");
    *equals = '\0';
    g_strchomp(line);
    if (!*group)
        return err_set(r->err, ERR_INPUT, "\"%.64s\" comes before the first [section]", line);
    if (!*line || strpbrk(line, "[]")) /* what GLib refuses, or takes for a translation */
        return policy_unknown_key(&r->values, line);
    if (note(r, (*group)->name, line, number) < 0)
        return -ERR_INPUT;
    g_array_append_val(r->lines, ((struct line){ *group, g_strdup(line), number }));
    return 0;
}

static int scan(struct reader *r, const char *where, const char *text, size_t len)
{
    const char *end = text + len, *bad, *next;
    const struct policy_group *group = NULL;
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

static int read_values(struct reader *r, const char *where, const char *text, size_t len)
{
    GKeyFile *keys = g_key_file_new();
    GError *error = NULL;
    int result = 0;

    if (!g_key_file_load_from_data(keys, text, len, G_KEY_FILE_NONE, &error))
        result = err_set(r->err, ERR_INPUT, "%s: %s", where, error->message);
    for (guint i = 0; result == 0 && i < r->lines->len; i++) {
        const struct line *line = &g_array_index(r->lines, struct line, i);
        char *value = g_key_file_get_string(keys, line->group->name, line->key, &error);

        if (error) /* there may be a value as well */
            result = err_set(r->err, ERR_INPUT, "%.64s: an escape that key files do not know",
                             line->key);
        else
            result = line->group->set(&r->values, line->key, g_strstrip(value));
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

    for (const struct policy_group *group = policy_groups; group->name; group++)
        if (group->needed && !line_of(r, group->name, NULL))
            return err_set(r->err, ERR_INPUT, "%s: section [%s] is missing", where, group->name);
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

static int compare_overrides(const void *a, const void *b)
{
    const struct policy_override *x = a, *y = b;

    if (x->field != y->field)
        return (uintptr_t)x->field < (uintptr_t)y->field ? -1 : 1;
    return strcmp(x->path, y->path);
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
    GArray *overrides = g_array_new(FALSE, FALSE, sizeof(struct policy_override));
    struct reader r = { { policy, overrides, err },
                        policy,
                        g_array_new(FALSE, FALSE, sizeof(struct line)),
                        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        err };
    int result;

    g_array_set_clear_func(r.lines, clear_line);
    policy->description = g_strdup("");
    policy->suffixes = g_new0(char *, 1);
    policy->prefixes = g_new0(char *, 1);
    result = scan(&r, where, text, len);
    if (result == 0)
        result = read_values(&r, where, text, len);
    policy->override_count = overrides->len;
    policy->overrides = (struct policy_override *)(void *)g_array_free(overrides, FALSE);
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
