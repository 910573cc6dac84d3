/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/options.c
 *
 * The words of a -z argument.  For both plugins; knows nothing of Wireshark.  The contract is in
 * options.h, the engine's options in flow/options.h.
 */
#include "options.h"

#include <stdlib.h>

#define AT(member) offsetof(struct options, member)

static const struct option common[] = {
    { "decap", OPTION_CHOICE, "engine",
      "decode the frames with nfsdigest's own code (the default, fast)", AT(decap_wireshark),
      false },
    { "decap", OPTION_CHOICE, "wireshark",
      "let Wireshark remove the headers in front of TCP and UDP", AT(decap_wireshark), true },
    { "help", OPTION_FLAG, NULL, "show this", AT(help) },
    { NULL }
};

static const struct option no_words[] = { { NULL } };

static const struct option out = {
    "out", OPTION_TEXT, "FILE", NULL, AT(out), false, "a file name, or - for standard output", true
};

static int parse_text(const struct option *option, const char *text, char **to, struct err *err)
{
    if (*to)
        return err_set(err, ERR_USAGE, "%s= is given twice", option->word);
    if (!*text)
        return err_set(err, ERR_USAGE, "%s= needs %s", option->word, option->wants);
    *to = strdup(text);
    return *to ? 0 : err_memory(err, "options");
}

/* |option| is the first of the two rows with its word. */
static int parse_choice(const struct option *option, const char *text, bool *to, struct err *err)
{
    for (int i = 0; i < 2; i++)
        if (!strcmp(option[i].text, text)) {
            *to = option[i].choice;
            return 0;
        }
    return err_set(err, ERR_USAGE, "%s=%s: there are %s=%s and %s=%s", option->word, text,
                   option->word, option[0].text, option->word, option[1].text);
}

static int parse_value(const struct option *option, struct options *options, const char *text,
                       struct err *err)
{
    void *value = (char *)options + option->offset;
    switch (option->type) {
    case OPTION_TEXT:
        return parse_text(option, text, value, err);
    case OPTION_FLAG:
        *(bool *)value = true;
        return 0;
    case OPTION_CHOICE:
        return parse_choice(option, text, value, err);
    }
    return err_set(err, ERR_USAGE, "%s", option->word);
}

/* The option called |word|, with a value or without. */
static const struct option *find(const struct option *options, const char *word, bool valued)
{
    for (; options->word; options++)
        if (!strcmp(options->word, word) && valued == (options->type != OPTION_FLAG))
            return options;
    return NULL;
}

/* The engine's option called |word|, also by its old name; NULL: there is none for this plugin. */
static const struct engine_option *find_engine(const struct option_set *set, const char *word)
{
    for (const struct engine_option *o = engine_option_table; o->name; o++)
        if ((!strcmp(o->name, word) || (o->old_word && !strcmp(o->old_word, word))) &&
            (set->objects || !o->of_objects))
            return o;
    return NULL;
}

static char **text_of(const struct option *option, struct options *options)
{
    return (char **)((char *)options + option->offset);
}

static const struct option *own_words(const struct option_set *set)
{
    return set->words ? set->words : no_words;
}

static int parse_word(const struct option_set *set, struct options *options, char *word,
                      struct err *err)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = 0;
    const struct engine_option *engine = value ? find_engine(set, word) : NULL;
    if (engine)
        return engine_option_set(engine, &options->engine, value, err) < 0
                   ? err_prefix(err, "%s", word)
                   : 0;
    const struct option *option = find(own_words(set), word, value);
    if (!option)
        option = find(common, word, value);
    if (!option && value && !strcmp(word, out.word))
        option = &out;
    if (!option)
        return err_set(err, ERR_USAGE, "\"%s%s\" is not an option of %s", word, value ? "=" : "",
                       set->name);
    return parse_value(option, options, value, err);
}

/* Takes the next word off |*rest|, in place; "\," becomes a comma. NULL: there is none. */
static char *next_word(char **rest)
{
    char *word = *rest, *from = word, *to = word;
    if (!word)
        return NULL;
    while (*from && *from != ',') {
        if (from[0] == '\\' && from[1] == ',')
            from++;
        *to++ = *from++;
    }
    *rest = *from ? from + 1 : NULL;
    *to = 0;
    return word;
}

static int parse_words(const struct option_set *set, struct options *options, char *text,
                       struct err *err)
{
    char *rest = text;
    if (strcmp(next_word(&rest), set->name))
        return err_set(err, ERR_USAGE, "\"%s\": the statistic is called %s", text, set->name);
    for (char *word; (word = next_word(&rest));) {
        int result = parse_word(set, options, word, err);
        if (result || options->help)
            return result;
    }
    const struct option *missing = options->out ? own_words(set) : &out;
    while (missing->word && !(missing->needed && !*text_of(missing, options)))
        missing++;
    if (missing->word)
        return err_set(err, ERR_USAGE, "%s=%s is missing", missing->word, missing->text);
    return 0;
}

int options_parse(const struct option_set *set, struct options *options, const char *argument,
                  struct err *err)
{
    memset(options, 0, set->size);
    engine_settings_init(&options->engine);
    char *text = strdup(argument);
    if (!text)
        return err_memory(err, "options");
    int result = parse_words(set, options, text, err);
    free(text);
    if (result)
        options_free(set, options);
    return result;
}

void options_free(const struct option_set *set, struct options *options)
{
    for (const struct option *option = own_words(set); option->word; option++)
        if (option->type == OPTION_TEXT)
            free(*text_of(option, options));
    free(options->out);
    memset(options, 0, set->size);
}

static void show(const char *word, const char *value, const char *help, FILE *to)
{
    char left[32];
    snprintf(left, sizeof left, "%s%s%s", word, value ? "=" : "", value ? value : "");
    fprintf(to, "  %-20s  %s\n", left, help);
}

static void show_engine(const struct option_set *set, FILE *to)
{
    for (const struct engine_option *o = engine_option_table; o->name; o++) {
        char initial[ENGINE_DEFAULT_TEXT], help[256];
        size_t len;
        if (o->of_objects && !set->objects)
            continue;
        len = (size_t)snprintf(help, sizeof help, "%s", o->text);
        if (*engine_option_default(o, initial))
            len += (size_t)snprintf(help + len, sizeof help - len, " (%s)", initial);
        if (o->old_word)
            snprintf(help + len, sizeof help - len, "; formerly %s=", o->old_word);
        show(o->name, o->value, help, to);
    }
}

void options_usage(const struct option_set *set, FILE *to)
{
    char help[256];
    snprintf(help, sizeof help, "%s; \"-\" is standard output; a comma in FILE is written \\,",
             set->out);
    fprintf(to, "usage: tshark -r CAPTURE|-i INTERFACE -q -z %s,%s=%s|-", set->name, out.word,
            out.text);
    for (const struct option *option = own_words(set); option->word; option++)
        if (option->needed)
            fprintf(to, ",%s=%s", option->word, option->text);
    fprintf(to, "[,OPTION...]\n%s\n", set->purpose);
    show(out.word, out.text, help, to);
    for (const struct option *option = own_words(set); option->word; option++)
        show(option->word, option->text, option->help, to);
    for (const struct option *option = common; option->word; option++)
        show(option->word, option->text, option->help, to);
    show_engine(set, to);
    fputs(
        "A SIZE is in bytes, or ends in k, M or G; a TIME ends in ns, us, ms, s, m or h, or is in "
        "seconds.\n",
        to);
}
