/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/engine_args.h"

#include <stdio.h>
#include <string.h>

enum { HELP_WIDTH = 50 };

static int set_engine_option(void *to, const char *value, struct err *err)
{
    const struct engine_arg *arg = to;

    return engine_option_set(arg->option, &arg->args->settings, value, err);
}

/* Breaks |text| at blanks into lines as wide as those of other options. */
static void wrap(char *text)
{
    size_t line = 0, blank = 0;

    for (size_t i = 0; text[i]; i++) {
        if (text[i] == ' ')
            blank = i;
        if (i - line >= HELP_WIDTH && blank > line) {
            text[blank] = '\n';
            line = blank + 1;
        }
    }
}

static void engine_help(const struct engine_option *option, char help[ENGINE_HELP_MAX])
{
    char initial[ENGINE_DEFAULT_TEXT];
    size_t len = (size_t)snprintf(help, ENGINE_HELP_MAX, "%s", option->text);

    if (*engine_option_default(option, initial))
        len += (size_t)snprintf(help + len, ENGINE_HELP_MAX - len, " (%s)", initial);
    if (option->old_option)
        snprintf(help + len, ENGINE_HELP_MAX - len, "; formerly --%s", option->old_option);
    wrap(help);
}

void engine_arg_table(struct engine_args *to, bool objects, struct arg table[ENGINE_ARG_COUNT])
{
    struct engine_arg *each = to->each;

    memset(to, 0, sizeof(*to));
    memset(table, 0, ENGINE_ARG_COUNT * sizeof(*table));
    engine_settings_init(&to->settings);
    for (const struct engine_option *o = engine_option_table; o->name; o++) {
        bool ports = o->unit == ENGINE_PORT;

        if (o->of_objects && !objects)
            continue;
        *each = (struct engine_arg){ .args = to, .option = o };
        engine_help(o, each->help);
        *table++ = (struct arg){ 0,          o->name,           ports ? "PORT[,...]" : o->value,
                                 each->help, set_engine_option, each };
        if (o->old_option)
            *table++ = (struct arg){ 0, o->old_option, o->value, NULL, set_engine_option, each };
        each++;
    }
}
