/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/control_line.c
 *
 * A line of a control socket: its words or members become the arguments of a command (control.h),
 * and what the command says becomes the answer.
 */
#include "net/control_parts.h"
#include "net/flat_json.h"

#include <string.h>

enum { NAME_MAX_BYTES = 32 };

struct line {
    const char *command;
    /* of arguments: a name, or its place from "1" */
    struct flat_member given[CONTROL_ARGUMENTS];
    uint32_t count;
};

static const char *const places[CONTROL_ARGUMENTS] = {
    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"
};

const char *control_argument(const struct control_request *request, const char *name)
{
    for (uint32_t i = 0; i < request->count; i++)
        if (strcmp(request->arguments[i].name, name) == 0)
            return request->arguments[i].value;
    return NULL;
}

/* --- what was given */

static int read_words(char *text, struct line *line, struct err *err)
{
    char *save = NULL;

    for (char *word = strtok_r(text, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save)) {
        if (!line->command) {
            line->command = word;
            continue;
        }
        if (line->count == CONTROL_ARGUMENTS)
            return err_set(err, ERR_INPUT, "more than %d arguments", CONTROL_ARGUMENTS);
        line->given[line->count] = (struct flat_member){ places[line->count], word };
        line->count++;
    }
    return 0;
}

static int read_object(char *text, size_t len, struct line *line, struct err *err)
{
    struct flat_member members[CONTROL_ARGUMENTS + 1];
    int count = flat_json_read(text, len, members, CONTROL_ARGUMENTS + 1, err);

    if (count < 0)
        return count;
    for (int i = 0; i < count; i++) {
        if (strcmp(members[i].name, "command") == 0) {
            line->command = members[i].value;
        } else if (members[i].value) {
            if (line->count == CONTROL_ARGUMENTS)
                return err_set(err, ERR_INPUT, "more than %d arguments", CONTROL_ARGUMENTS);
            line->given[line->count++] = members[i];
        }
    }
    return 0;
}

/* --- what the command takes */

static const struct control_command *find(const struct control_commands *all, const char *name,
                                          void **ctx)
{
    for (uint32_t t = 0; t < all->count; t++)
        for (uint32_t i = 0; i < all->tables[t].count; i++)
            if (strcmp(all->tables[t].commands[i].name, name) == 0) {
                *ctx = all->tables[t].ctx;
                return &all->tables[t].commands[i];
            }
    return NULL;
}

/* The next name of "rule [count]"; false: there is none. */
static bool next_name(const char **at, char name[NAME_MAX_BYTES], bool *may_lack)
{
    size_t len;

    *at += strspn(*at, " ");
    *may_lack = **at == '[';
    *at += *may_lack;
    len = strcspn(*at, " ]");
    if (!len || len >= NAME_MAX_BYTES)
        return false;
    memcpy(name, *at, len);
    name[len] = '\0';
    *at += len + ((*at)[len] == ']');
    return true;
}

/* Names what was given by place, and checks that all is there and nothing else. */
static int match(const struct control_command *command, const struct line *line,
                 char names[CONTROL_ARGUMENTS][NAME_MAX_BYTES], struct control_request *request,
                 struct err *err)
{
    const char *at = command->arguments ? command->arguments : "";
    bool used[CONTROL_ARGUMENTS] = { false }, may_lack;

    for (uint32_t place = 0; place < CONTROL_ARGUMENTS && next_name(&at, names[place], &may_lack);
         place++) {
        uint32_t before = request->count;

        for (uint32_t i = 0; i < line->count; i++) {
            if (strcmp(line->given[i].name, names[place]) != 0 &&
                strcmp(line->given[i].name, places[place]) != 0)
                continue;
            if (request->count > before)
                return err_set(err, ERR_USAGE, "%s: %s is given twice", command->name,
                               names[place]);
            used[i] = true;
            request->arguments[request->count].name = names[place];
            request->arguments[request->count++].value = line->given[i].value;
        }
        if (request->count == before && !may_lack)
            return err_set(err, ERR_USAGE, "%s: %s is missing", command->name, names[place]);
    }
    for (uint32_t i = 0; i < line->count; i++)
        if (!used[i])
            return err_set(err, ERR_USAGE, "%s takes %s, not \"%.60s\"", command->name,
                           command->arguments ? command->arguments : "no arguments",
                           line->given[i].value);
    return 0;
}

/* --- answers */

static void help(const struct control_commands *all, struct json *answer)
{
    json_array(answer, "commands");
    for (uint32_t t = 0; t < all->count; t++)
        for (uint32_t i = 0; i < all->tables[t].count; i++) {
            const struct control_command *command = &all->tables[t].commands[i];

            json_object(answer, NULL);
            json_text(answer, "name", command->name);
            json_text(answer, "arguments", command->arguments ? command->arguments : "");
            json_text(answer, "help", command->help);
            json_object_end(answer);
        }
    json_array_end(answer);
}

static int run(const struct control_commands *all, const struct line *line, struct json *answer,
               struct err *err)
{
    char names[CONTROL_ARGUMENTS][NAME_MAX_BYTES];
    struct control_request request = { .count = 0 };
    const struct control_command *command;
    void *ctx = NULL;

    if (!line->command)
        return err_set(err, ERR_USAGE, "a command is missing; \"help\" lists them");
    if (strcmp(line->command, "help") == 0) {
        help(all, answer);
        return 0;
    }
    command = find(all, line->command, &ctx);
    if (!command)
        return err_set(err, ERR_USAGE, "there is no command \"%.60s\"; \"help\" lists them",
                       line->command);
    if (match(command, line, names, &request, err) < 0)
        return -ERR_USAGE;
    return command->run(ctx, &request, answer, err);
}

int control_line(const struct control_commands *all, char *text, size_t len, struct buf *out)
{
    struct line line = { .command = NULL };
    struct json answer = { .to = out };
    struct err err = { .code = ERR_NONE };
    size_t begun = out->len;
    int result;

    if (memchr(text, 0, len))
        result = err_set(&err, ERR_INPUT, "a NUL byte in the line");
    else if (text[strspn(text, " \t\r")] == '{')
        result = read_object(text, len, &line, &err);
    else
        result = read_words(text, &line, &err);
    json_object(&answer, NULL);
    json_bool(&answer, "ok", true);
    if (result == 0)
        result = run(all, &line, &answer, &err);
    if (result < 0) {
        out->len = begun; /* whatever the command has said before */
        answer = (struct json){ .to = out };
        json_object(&answer, NULL);
        json_text(&answer, "error", err.text);
    }
    json_object_end(&answer);
    json_end(&answer);
    return answer.failed ? -ERR_SYSTEM : 0;
}
