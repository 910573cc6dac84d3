/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t");
    for (len = strlen(text); len && strchr(" \t\r", text[len - 1]); len--)
        text[len - 1] = '\0';
    return text;
}

/* One line of text; |group| keeps the name of the group. */
static int read_line(char *text, unsigned number, char group[CONF_LINE_MAX],
                     int (*take)(void *ctx, const struct conf_line *line, struct err *err),
                     void *ctx, struct err *err)
{
    struct conf_line line = { number, group, NULL, NULL };
    size_t len;
    char *equals;

    text = trim(text);
    len = strlen(text);
    if (!len || *text == '#')
        return 0;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\t')
            return err_set(err, ERR_USAGE, "a control character");
    if (*text == '[') {
        if (text[len - 1] != ']')
            return err_set(err, ERR_USAGE, "a section's name ends with ']'");
        text[len - 1] = '\0';
        snprintf(group, CONF_LINE_MAX, "%s", text + 1);
        return take(ctx, &line, err);
    }
    equals = strchr(text, '=');
    if (!equals)
        return err_set(err, ERR_USAGE, "expected a comment, a [section] or key = value");
    *equals = '\0';
    line.key = trim(text);
    line.value = trim(equals + 1);
    if (!*group)
        return err_set(err, ERR_USAGE, "\"%.64s\" comes before the first [section]", line.key);
    if (!*line.key || !*line.value)
        return err_set(err, ERR_USAGE, "key or value is missing");
    return take(ctx, &line, err);
}

int conf_read(const char *where, const char *text,
              int (*take)(void *ctx, const struct conf_line *line, struct err *err), void *ctx,
              struct err *err)
{
    char line[CONF_LINE_MAX], group[CONF_LINE_MAX] = "";
    unsigned number = 1;

    for (; *text; number++) {
        size_t len = strcspn(text, "\n");
        int result;

        if (len >= sizeof(line)) {
            result = err_set(err, ERR_USAGE, "a line of more than %d bytes", CONF_LINE_MAX - 1);
        } else {
            memcpy(line, text, len);
            line[len] = '\0';
            result = read_line(line, number, group, take, ctx, err);
        }
        if (result < 0)
            return err_prefix(err, "%s:%u", where, number);
        text += len + (text[len] == '\n');
    }
    return 0;
}

char *conf_load(const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(CONF_FILE_MAX + 1) : NULL;
    size_t len;

    if (!file) {
        err_set(err, ERR_USAGE, "%s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    if (!text) {
        fclose(file);
        err_memory(err, "a file");
        return NULL;
    }
    len = fread(text, 1, CONF_FILE_MAX + 1, file);
    if (ferror(file) || len > CONF_FILE_MAX || memchr(text, '\0', len)) {
        err_set(err, ERR_USAGE, "%s: %s", path,
                ferror(file)          ? "cannot be read"
                : len > CONF_FILE_MAX ? "too large for such a file"
                                      : "not a text");
        free(text);
        text = NULL;
    } else {
        text[len] = '\0';
    }
    fclose(file);
    return text;
}
