/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/package_text.h"
#include "base/escape.h"

#include <errno.h>
#include <stdlib.h>

#define NAME_START "abcdefghijklmnopqrstuvwxyz0123456789"
#define LICENSE "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.+-"

/* What names escape is what is not plain, but for backslashes; those and lines are passed over. */
bool text_is_plain(const char *text, size_t len, bool lines)
{
    struct buf escaped = { 0 };
    bool plain = true;
    size_t at = 0, end;

    while (plain && at < len) {
        for (end = at; end < len && text[end] != '\\' && text[end] != '\n' && text[end] != '\t';)
            end++;
        struct bytes piece = { (const uint8_t *)text + at, (uint32_t)(end - at) };

        escaped.len = 0;
        plain = escape_name(piece, true, &escaped) == 0 && escaped.len == piece.len &&
                (end == len || text[end] == '\\' || lines);
        at = end + 1;
    }
    buf_free(&escaped);
    return plain;
}

bool package_name_is_good(const char *name)
{
    size_t len = strlen(name);

    return len && len <= PACKAGE_NAME_MAX && strspn(name, NAME_START) > 0 &&
           strspn(name, NAME_START "._-") == len;
}

static int make_name(const char *output, char name[PACKAGE_NAME_MAX + 1], struct err *err)
{
    static const char *const ends[] = { ".tar.zst", ".tzst", ".zst" };
    const char *base = strrchr(output, '/') ? strrchr(output, '/') + 1 : output;
    size_t len = strlen(base), i = 0;

    for (size_t e = 0; e < sizeof(ends) / sizeof(*ends); e++)
        if (len > strlen(ends[e]) && strcmp(base + len - strlen(ends[e]), ends[e]) == 0) {
            len -= strlen(ends[e]);
            break;
        }
    for (; i < len && i < PACKAGE_NAME_MAX; i++) {
        char c = (char)(base[i] >= 'A' && base[i] <= 'Z' ? base[i] - 'A' + 'a' : base[i]);

        name[i] = strchr(NAME_START "._-", c) ? c : '-';
    }
    name[i] = '\0';
    if (package_name_is_good(name))
        return 0;
    return err_set(err, ERR_USAGE, "%s: cannot make a package name from it: use --name", output);
}

bool package_description_is_good(const char *text, size_t len)
{
    return len && len <= PACKAGE_DESCRIPTION_MAX && text[len - 1] != '\n' &&
           text_is_plain(text, len, true);
}

static int read_description(const char *path, char **out, struct err *err)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, PACKAGE_DESCRIPTION_MAX + 2);
    size_t len = file && text ? fread(text, 1, PACKAGE_DESCRIPTION_MAX + 1, file) : 0;
    int result = 0;

    if (!file || !text || ferror(file))
        result = err_set(err, ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    else if (!len || len > PACKAGE_DESCRIPTION_MAX)
        result = err_set(err, ERR_INPUT, "%s: 1 to %d bytes of text are a description", path,
                         PACKAGE_DESCRIPTION_MAX);
    else if (!text_is_plain(text, len, true))
        result = err_set(err, ERR_INPUT, "%s: not UTF-8 text, or it has control characters", path);
    if (file)
        fclose(file);
    while (result == 0 && len && text[len - 1] == '\n')
        text[--len] = '\0';
    if (result < 0)
        free(text);
    else
        *out = text;
    return result;
}

int package_texts_check(const struct package_options *o, struct err *err)
{
    if (o->name && !package_name_is_good(o->name))
        return err_set(err, ERR_USAGE,
                       "--name takes up to %d lower-case letters, digits and \".\", \"_\", \"-\", "
                       "a letter or digit first",
                       PACKAGE_NAME_MAX);
    if (o->title && (!*o->title || strlen(o->title) > PACKAGE_TITLE_MAX ||
                     !text_is_plain(o->title, strlen(o->title), false)))
        return err_set(err, ERR_USAGE, "--title takes one line of UTF-8 text, up to %d bytes",
                       PACKAGE_TITLE_MAX);
    if (o->license && (!*o->license || strlen(o->license) > PACKAGE_NAME_MAX ||
                       o->license[strspn(o->license, LICENSE)]))
        return err_set(err, ERR_USAGE, "--license takes an SPDX identifier, as CC-BY-4.0");
    return 0;
}

int package_texts(const struct package_options *o, char name[PACKAGE_NAME_MAX + 1],
                  char **description, struct err *err)
{
    if (!o->name && make_name(o->output, name, err) < 0)
        return -err->code;
    if (package_texts_check(o, err) < 0)
        return -err->code;
    if (o->name)
        snprintf(name, PACKAGE_NAME_MAX + 1, "%s", o->name);
    return o->description ? read_description(o->description, description, err) : 0;
}
