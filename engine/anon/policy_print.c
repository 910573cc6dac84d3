/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_print.c
 *
 * Prints a policy as a key file with all its rules, always in the same words.  The digest of a
 * policy is the digest of this text.
 */
#include "anon/policy_parts.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static void print_list(GString *out, const char *key, char *const *list)
{
    g_string_append_printf(out, "%s =", key);
    for (guint i = 0; list[i]; i++)
        g_string_append_printf(out, "%s%s", i ? ";" : " ", list[i]);
    g_string_append_c(out, '\n');
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp((*(const struct policy_override *const *)a)->path,
                  (*(const struct policy_override *const *)b)->path);
}

int policy_overrides_by_path(const struct policy *policy, const struct policy_override ***out,
                             uint32_t *count, struct err *err)
{
    const struct policy_override **rows =
        malloc((policy->override_count + (size_t)1) * sizeof(*rows));
    uint32_t kept = 0;

    if (!rows)
        return err_memory(err, "a policy's text");
    for (uint32_t i = 0; i < policy->override_count; i++)
        rows[i] = &policy->overrides[i];
    qsort(rows, policy->override_count, sizeof(*rows), compare_paths);
    for (uint32_t i = 0; i < policy->override_count; i++)
        if (!kept || strcmp(rows[i]->path, rows[kept - 1]->path) != 0)
            rows[kept++] = rows[i];
    *out = rows;
    *count = kept;
    return 0;
}

static int print_fields(GString *out, const struct policy *policy, struct err *err)
{
    const struct policy_override **rows;
    uint32_t count;

    if (!policy->override_count)
        return 0;
    if (policy_overrides_by_path(policy, &rows, &count, err) < 0)
        return -err->code;
    g_string_append(out, "\n[fields]\n");
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(out, "%s = %s\n", rows[i]->path,
                               rule_name((enum rule)rows[i]->rule));
    free(rows);
    return 0;
}

static void print_keep(GString *out, const struct policy *policy)
{
    const char *title = "\n[keep]\n";

    for (int cls = 0; cls < CLASS_MAX; cls++) {
        const struct policy_kept *kept = &policy->kept[cls];

        if (!kept->count)
            continue;
        g_string_append_printf(out, "%s%s =", title, class_name((enum field_class)cls));
        for (uint32_t i = 0; i < kept->count; i++)
            g_string_append_printf(out, "%s%" G_GUINT64_FORMAT, i ? ";" : " ", kept->values[i]);
        g_string_append_c(out, '\n');
        title = "";
    }
}

int policy_print(const struct policy *policy, struct buf *out, struct err *err)
{
    char **description = g_strsplit(policy->description, "\\", -1);
    char *escaped = g_strjoinv("\\\\", description);
    GString *text = g_string_new(NULL);
    const char *separator = " ";
    int result;

    g_string_append_printf(text, "[policy]\nname = %s\ndescription =%s%s\n\n[classes]\n",
                           policy->name, *escaped ? " " : "", escaped);
    for (int i = 1; i <= CLASS_MAX; i++) { /* CLASS_NONE last */
        enum field_class cls = (enum field_class)(i % CLASS_MAX);

        g_string_append_printf(text, "%s = %s\n", class_name(cls),
                               rule_name((enum rule)policy->rules[cls]));
    }
    g_string_append(text, "\n[messages]\n");
    for (int i = 0; i < EXTRA_MAX; i++)
        g_string_append_printf(text, "%s = %s\n", policy_extra_words[i].name,
                               rule_name((enum rule)policy->extras[i]));
    g_string_append_printf(text, "unread = %s\n\n[names]\n", policy_unread_words[policy->unread]);
    print_list(text, "keep-suffixes", policy->suffixes);
    print_list(text, "keep-prefixes", policy->prefixes);
    g_string_append(text, "\n[addresses]\nkeep-ranges =");
    for (const struct policy_word *word = policy_range_words; word->name; word++)
        if (policy->ranges & word->value) {
            g_string_append_printf(text, "%s%s", separator, word->name);
            separator = ";";
        }
    g_string_append_c(text, '\n');
    if (policy->shift_days)
        g_string_append_printf(text, "\n[time]\nshift-days = %u\n", policy->shift_days);
    print_keep(text, policy);
    result = print_fields(text, policy, err);
    if (result == 0 && buf_append(out, text->str, text->len) < 0)
        result = err_memory(err, "a policy's text");
    g_string_free(text, TRUE);
    g_strfreev(description);
    g_free(escaped);
    return result;
}
