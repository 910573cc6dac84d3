/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/rules_text.c
 *
 * Reads policies, nfsdigest-policy(5), without the anonymizer's reader.  What is written wrongly is
 * for "nfsdigest policy check" to say: here it is not known.  Only a path of the options is opened,
 * never one that the anonymized file states.  For audit.c.  The contract is in rules.h.
 */
#include "audit/rules.h"
#include "base/embed.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>

/* schemas/policies */
#define EMBEDDED(symbol, stem, name, path) EMBED(symbol, path);
#include EMBED_LIST
#undef EMBEDDED

#define EMBEDDED(symbol, stem, name, path) { stem, symbol },
static const struct {
    const char *name, *text;
} built_in[] = {
#include EMBED_LIST
    { NULL, NULL },
};

enum { FILE_BYTES_MAX = 1 << 20 };

static enum rule_word word_of(const char *text)
{
    static const char *const words[] = { "?",    "keep",  "keyed", "token", "same",
                                         "zero", "noise", "shift", "owner" };

    for (unsigned i = 1; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i], text) == 0)
            return (enum rule_word)i;
    return WORD_NONE;
}

static unsigned class_of(const char *name)
{
    static const char *const more[] = { [ITEM_XID - CLASS_MAX] = "xid",
                                        [ITEM_STAMP - CLASS_MAX] = "stamp",
                                        [ITEM_CREDENTIAL - CLASS_MAX] = "credential" };

    for (unsigned i = 0; i < CLASS_MAX; i++)
        if (strcmp(class_name((enum field_class)i), name) == 0)
            return i;
    for (unsigned i = 0; i < sizeof(more) / sizeof(*more); i++)
        if (more[i] && strcmp(more[i], name) == 0)
            return CLASS_MAX + i;
    return ITEM_CLASSES;
}

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && strchr(" \t\r", end[-1]))
        *--end = '\0';
    return text + strspn(text, " \t");
}

/* Parts between semicolons, which the text holds: ended by NULL. */
static char **split(char *text)
{
    size_t count = 2, n = 0;
    char **all, *rest = NULL;

    for (const char *p = text; *p; p++)
        count += *p == ';';
    all = calloc(count, sizeof(*all));
    for (char *part = strtok_r(text, ";", &rest); all && part; part = strtok_r(NULL, ";", &rest))
        all[n++] = trim(part);
    return all;
}

static bool take(struct policy_rules *r, const char *group, char *key, char *value)
{
    char ***list = NULL;
    unsigned cls = class_of(key);

    if (strcmp(group, "policy") == 0 && strcmp(key, "name") == 0)
        snprintf(r->name, sizeof(r->name), "%s", value);
    if ((strcmp(group, "classes") == 0 || strcmp(group, "messages") == 0) && cls < ITEM_CLASSES)
        r->words[cls] = (uint8_t)word_of(value);
    if (strcmp(group, "names") == 0)
        list = strcmp(key, "keep-suffixes") == 0   ? &r->suffixes
               : strcmp(key, "keep-prefixes") == 0 ? &r->prefixes
                                                   : NULL;
    if (strcmp(group, "keep") == 0 && cls < ITEM_CLASSES)
        list = &r->kept[cls];
    if (list && !*list)
        return (*list = split(value));
    if (strcmp(group, "fields") != 0)
        return true;
    if (GROW(r->fields, r->field_count, r->field_cap) < 0)
        return false;
    r->fields[r->field_count].path = key;
    r->fields[r->field_count++].word = (uint8_t)word_of(value);
    return true;
}

static int read_text(struct policy_rules *r, struct err *err)
{
    char *rest = NULL;
    const char *group = "";

    for (char *line = strtok_r(r->text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *key = trim(line), *value = strchr(key, '=');

        if (*key == '[') {
            key[strcspn(key, "]")] = '\0';
            group = key + 1;
        } else if (*key != '#' && value) {
            *value++ = '\0';
            if (!take(r, group, trim(key), trim(value)))
                return err_memory(err, "a policy");
        }
    }
    return 0;
}

static int read_file(const char *path, char **out, struct err *err)
{
    FILE *file = fopen(path, "re");
    size_t len;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    *out = calloc(1, FILE_BYTES_MAX + 2);
    len = *out ? fread(*out, 1, FILE_BYTES_MAX + 1, file) : 0;
    fclose(file);
    if (!*out)
        return err_memory(err, "a policy");
    return len > FILE_BYTES_MAX || !len ? err_set(err, ERR_INPUT, "%s: not a policy", path) : 0;
}

int policy_rules_open(struct audit *a, struct err *err)
{
    const char *asked = a->options->policy_file;
    struct policy_rules *r = calloc(1, sizeof(*r));
    int rc = 0;

    a->rules = r;
    if (!r)
        return err_memory(err, "a policy");
    if (asked)
        rc = read_file(asked, &r->text, err);
    /* a name that the file states is looked up, and opens nothing */
    for (unsigned i = 0; rc == 0 && !r->text && built_in[i].name; i++)
        if (strcmp(built_in[i].name, a->policy) == 0 && !(r->text = strdup(built_in[i].text)))
            return err_memory(err, "a policy");
    if (rc == 0 && r->text)
        rc = read_text(r, err);
    if (rc == 0 && r->text && (!r->name[0] || !r->words[CLASS_NAME]))
        rc = err_set(err, ERR_INPUT, "%s: not a policy", asked ? asked : a->policy);
    if (rc == 0 && r->text)
        snprintf(a->policy, sizeof(a->policy), "%s", r->name);
    return rc;
}

void policy_rules_free(struct policy_rules *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < ITEM_CLASSES; i++)
        free(r->kept[i]);
    free(r->suffixes);
    free(r->prefixes);
    free(r->fields);
    free(r->text);
    free(r);
}
