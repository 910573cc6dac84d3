/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/allow.c
 *
 * Reads the built-in list, then the user's file, if there is one: a kind and a value in each line.
 * The lists are short and are searched from end to end.  A bit for each length that a text has
 * saves most comparisons.  audit.c and survive.c load it; all that gathers, compares or searches
 * asks it.  The contract is in allow.h.
 */
#include "audit/allow.h"
#include "base/embed.h"
#include "base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBED(audit_allow, EMBED_ROOT "/schemas/audit-allow.conf");

enum { LINE_MAX_BYTES = 512 };

static uint64_t length_bit(size_t len)
{
    return UINT64_C(1) << (len < 63 ? len : 63);
}

static int add_text(struct allow_list *list, const char *text)
{
    if (GROW(list->texts, list->count, list->cap) < 0)
        return -1;
    list->texts[list->count] = (struct allow_text){ strdup(text), strlen(text) };
    list->lengths |= length_bit(list->texts[list->count].len);
    return list->texts[list->count++].text ? 0 : -1;
}

static int add_number(struct allow *allow, unsigned domain, const char *text, const char **why)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-') {
        *why = "that is not a number";
        return -1;
    }
    if (GROW(allow->numbers, allow->number_count, allow->number_cap) < 0)
        return -1;
    allow->numbers[allow->number_count].domain = (uint8_t)domain;
    allow->numbers[allow->number_count++].value = value;
    return 0;
}

/* One line: 0, or -1 with |why| set, or not for lack of memory. */
static int take_line(struct allow *allow, char *line, const char **why)
{
    char *value = strchr(line, ' ');

    *why = NULL;
    if (!*line || *line == '#')
        return 0;
    if (!value || !value[1]) {
        *why = "a kind and a value were expected";
        return -1;
    }
    *value++ = '\0';
    if (strcmp(line, "text") == 0)
        return add_text(&allow->texts, value);
    if (strcmp(line, "suffix") == 0)
        return add_text(&allow->suffixes, value);
    if (strcmp(line, "prefix") == 0)
        return add_text(&allow->prefixes, value);
    for (unsigned i = 0; i < DOMAIN_MAX; i++)
        if (strcmp(line, domain_name((enum domain)i)) == 0)
            return add_number(allow, i, value, why);
    *why = "no such kind";
    return -1;
}

/* |number|: that of the first line. */
static int take_all(struct allow *allow, const char *name, unsigned number, const char *text,
                    struct err *err)
{
    char line[LINE_MAX_BYTES];
    const char *why = NULL;

    for (; *text; number++) {
        size_t len = strcspn(text, "\n");

        if (len >= sizeof(line))
            return err_set(err, ERR_USAGE, "%s:%u: too long", name, number);
        memcpy(line, text, len);
        line[len] = '\0';
        text += len + (text[len] == '\n');
        if (take_line(allow, line, &why) == 0)
            continue;
        if (!why)
            return err_memory(err, "the allow-list");
        return err_set(err, ERR_USAGE, "%s:%u: %s", name, number, why);
    }
    return 0;
}

static int take_file(struct allow *allow, const char *path, struct err *err)
{
    char line[LINE_MAX_BYTES + 1];
    FILE *file = fopen(path, "re");
    int rc = 0;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    for (unsigned number = 1; rc == 0 && fgets(line, sizeof(line), file); number++) {
        char one[LINE_MAX_BYTES + 1];

        memcpy(one, line, sizeof(one));
        rc = take_all(allow, path, number, one, err);
    }
    if (rc == 0 && ferror(file))
        rc = err_set(err, ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    return rc;
}

int allow_load(struct allow *allow, const char *path, struct err *err)
{
    int rc;

    memset(allow, 0, sizeof(*allow));
    rc = take_all(allow, "audit-allow.conf", 1, audit_allow, err);
    return rc < 0 || !path ? rc : take_file(allow, path, err);
}

static void list_free(struct allow_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->texts[i].text);
    free(list->texts);
}

void allow_free(struct allow *allow)
{
    list_free(&allow->texts);
    list_free(&allow->suffixes);
    list_free(&allow->prefixes);
    free(allow->numbers);
    memset(allow, 0, sizeof(*allow));
}

bool allow_number(const struct allow *allow, enum domain domain, uint64_t value)
{
    if (!value)
        return true;
    for (uint32_t i = 0; i < allow->number_count; i++)
        if (allow->numbers[i].domain == domain && allow->numbers[i].value == value)
            return true;
    return false;
}

bool allow_text(const struct allow *allow, const uint8_t *data, size_t len)
{
    if (!(allow->texts.lengths & length_bit(len)))
        return false;
    for (uint32_t i = 0; i < allow->texts.count; i++)
        if (allow->texts.texts[i].len == len && memcmp(allow->texts.texts[i].text, data, len) == 0)
            return true;
    return false;
}

bool allow_covers(const struct allow *allow, const uint8_t *data, size_t len, size_t at, size_t n)
{
    for (uint32_t i = 0; i < allow->texts.count; i++) {
        const char *text = allow->texts.texts[i].text;
        size_t text_len = allow->texts.texts[i].len;

        for (size_t before = 0; before + n <= text_len; before++)
            if (memcmp(text + before, data + at, n) == 0 && before <= at &&
                len - (at - before) >= text_len && memcmp(data + at - before, text, text_len) == 0)
                return true;
    }
    return false;
}

size_t allow_suffix(const struct allow *allow, const uint8_t *name, size_t len)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < allow->suffixes.count; i++) {
        size_t n = allow->suffixes.texts[i].len;

        if (n > longest && n < len && memcmp(name + len - n, allow->suffixes.texts[i].text, n) == 0)
            longest = n;
    }
    return longest;
}

size_t allow_prefix(const struct allow *allow, const uint8_t *name, size_t len)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < allow->prefixes.count; i++) {
        size_t n = allow->prefixes.texts[i].len;

        if (n > longest && n < len && memcmp(name, allow->prefixes.texts[i].text, n) == 0)
            longest = n;
    }
    return longest;
}
