/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/values.h"
#include "server/options.h"

#include <stdlib.h>
#include <string.h>

struct word {
    const char *name;
    enum word_kind { WORD_READ_ONLY, WORD_READ_WRITE, WORD_SQUASH, WORD_UID, WORD_GID } kind;
    enum squash squash;
};

static const struct word words[] = {
    { "ro", WORD_READ_ONLY, 0 },
    { "rw", WORD_READ_WRITE, 0 },
    { "root_squash", WORD_SQUASH, SQUASH_ROOT },
    { "no_root_squash", WORD_SQUASH, SQUASH_NONE },
    { "all_squash", WORD_SQUASH, SQUASH_ALL },
    { "anonuid=", WORD_UID, 0 },
    { "anongid=", WORD_GID, 0 },
    { NULL },
};

static int set_id(const char *text, uint32_t *to, struct err *err)
{
    uint64_t value;

    if (!parse_number(text, &value) || value > UINT32_MAX)
        return err_set(err, ERR_USAGE, "\"%s\" is not a user's or group's number", text);
    *to = (uint32_t)value;
    return 0;
}

static int set_word(const char *text, struct export_wanted *to, struct err *err)
{
    for (const struct word *w = words; w->name; w++) {
        size_t len = strlen(w->name);

        if (w->name[len - 1] == '=' ? strncmp(text, w->name, len) : strcmp(text, w->name))
            continue;
        switch (w->kind) {
        case WORD_READ_ONLY:
        case WORD_READ_WRITE:
            to->read_only = w->kind == WORD_READ_ONLY;
            return 0;
        case WORD_SQUASH:
            to->squash = w->squash;
            to->squash_said = true;
            return 0;
        case WORD_UID:
            return set_id(text + len, &to->anonymous_uid, err);
        default:
            return set_id(text + len, &to->anonymous_gid, err);
        }
    }
    return err_set(err, ERR_USAGE,
                   "\"%s\" is not an option of an export: these are ro, rw, root_squash, "
                   "no_root_squash, all_squash, anonuid=N and anongid=N",
                   text);
}

/* |text| is taken apart. */
static int parse_words(char *text, struct export_wanted *to, struct err *err)
{
    char *next;
    int result = 0;

    for (char *word = text; word && result == 0; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = '\0';
        result = set_word(word, to, err);
    }
    return result;
}

int export_wanted_parse(const char *text, struct export_wanted *to, struct err *err)
{
    const char *end = text + strcspn(text, "(=");
    int result = 0;

    to->name = strndup(text, (size_t)(end - text));
    if (!to->name)
        return err_memory(err, "an export");
    if (*end == '(') {
        size_t len = strcspn(end, ")");
        char *inside = end[len] ? strndup(end + 1, len - 1) : NULL;

        if (!end[len])
            return err_set(err, ERR_USAGE, "\"%s\": \")\" is missing", text);
        if (!inside)
            return err_memory(err, "an export");
        result = parse_words(inside, to, err);
        free(inside);
        end += len + 1;
    }
    if (result < 0)
        return result;
    if (*end && *end != '=')
        return err_set(err, ERR_USAGE, "\"%s\": after \")\" only =DIR can follow", text);
    if (*end && !end[1])
        return err_set(err, ERR_USAGE, "\"%s\": there is no directory behind \"=\"", text);
    if (*end)
        to->directory = strdup(end + 1);
    return *end && !to->directory ? err_memory(err, "an export") : 0;
}
