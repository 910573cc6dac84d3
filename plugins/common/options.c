/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <ctype.h>
#include <stdlib.h>

enum { STREAM_WINDOW_MIN = 1 << 16 };

#define AT(member) offsetof(struct options, member)

static const struct option common[] = {
    { "decap", OPTION_CHOICE, "engine",
      "take the frames apart with nfsdigest's own code (the default, fast)", AT(decap_wireshark),
      false },
    { "decap", OPTION_CHOICE, "wireshark",
      "let Wireshark remove the headers in front of TCP and UDP", AT(decap_wireshark), true },
    { "port", OPTION_PORT, "N", "a further port that carries RPC; may be given several times" },
    { "stream-window", OPTION_SIZE, "BYTES",
      "out-of-order data kept for a direction of a connection (8M)", AT(engine.stream_window),
      STREAM_WINDOW_MIN },
    { "total-window", OPTION_SIZE, "BYTES", "out-of-order data kept for all connections (48M)",
      AT(engine.total_window), STREAM_WINDOW_MIN },
    { "connections", OPTION_NUMBER, "N", "connections followed at once (16384)",
      AT(engine.connections), 1 },
    { "pending", OPTION_NUMBER, "N", "calls that wait for replies at once (65536)",
      AT(engine.pending), 1 },
    { "retransmit-span", OPTION_SECONDS, "S",
      "seconds in which equal calls are one operation (900)", AT(engine.retransmit_span) },
    { "reorder-span", OPTION_SECONDS, "S", "seconds by which a reply may precede its call (0.05)",
      AT(engine.reorder_span) },
    { "help", OPTION_FLAG, NULL, "show this", AT(help) },
    { NULL }
};

static const struct option no_words[] = { { NULL } };

static const struct option out = {
    "out", OPTION_TEXT, "FILE", NULL, AT(out), 0, "a file name, or - for standard output", true
};

/* A number from |min| to |max|; with |scaled| K, M and G may follow it. */
static int parse_number(const char *word, const char *text, bool scaled, uint64_t min, uint64_t max,
                        uint64_t *to, struct err *err)
{
    const char *p = text;
    uint64_t value = 0;
    unsigned shift = 0;
    for (; isdigit((unsigned char)*p); p++) {
        if (value > (UINT64_MAX - 9) / 10)
            return err_set(err, ERR_USAGE, "%s=%s: too large", word, text);
        value = value * 10 + (uint64_t)(*p - '0');
    }
    bool digits = p > text;
    if (scaled && *p) {
        static const char units[] = "KMG";
        const char *unit = strchr(units, toupper((unsigned char)*p));
        if (unit) {
            shift = 10 * (unsigned)(unit - units + 1);
            p++;
        }
    }
    if (!digits || *p)
        return err_set(err, ERR_USAGE, "%s=%s: not a number%s", word, text,
                       scaled ? " with or without K, M or G" : "");
    if (value > max >> shift || value << shift < min)
        return err_set(err, ERR_USAGE, "%s=%s: must be from %llu to %llu", word, text,
                       (unsigned long long)min, (unsigned long long)max);
    *to = value << shift;
    return 0;
}

static int parse_u32(const struct option *option, const char *text, uint32_t *to, struct err *err)
{
    uint64_t value;
    int result = parse_number(option->word, text, option->type == OPTION_SIZE, option->min,
                              UINT32_MAX, &value, err);
    if (!result)
        *to = (uint32_t)value;
    return result;
}

/* Seconds with at most nine decimals, to nanoseconds. */
static int parse_seconds(const char *word, const char *text, int64_t *to, struct err *err)
{
    static const uint64_t SECONDS_MAX = UINT64_C(100) * 366 * 86400;
    uint64_t seconds = 0, fraction = 0, unit = 1000000000;
    const char *p = text;
    for (; isdigit((unsigned char)*p) && seconds <= SECONDS_MAX; p++)
        seconds = seconds * 10 + (uint64_t)(*p - '0');
    bool digits = p > text;
    if (digits && *p == '.') {
        for (p++; isdigit((unsigned char)*p) && unit > 1; p++) {
            unit /= 10;
            fraction += unit * (uint64_t)(*p - '0');
        }
    }
    if (!digits || *p || seconds > SECONDS_MAX)
        return err_set(err, ERR_USAGE, "%s=%s: not a number of seconds up to 100 years", word,
                       text);
    uint64_t ns = seconds * 1000000000 + fraction;
    if (!ns)
        return err_set(err, ERR_USAGE, "%s=%s: must be above 0", word, text);
    *to = (int64_t)ns;
    return 0;
}

static int parse_port(struct options *options, const char *text, struct err *err)
{
    uint64_t port;
    int result = parse_number("port", text, false, 1, UINT16_MAX, &port, err);
    if (result)
        return result;
    if (options->engine.port_count == OPTIONS_PORTS_MAX)
        return err_set(err, ERR_USAGE, "port=%s: at most %d ports can be given", text,
                       OPTIONS_PORTS_MAX);
    options->ports[options->engine.port_count++] = (uint16_t)port;
    return 0;
}

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
            *to = option[i].min;
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
    case OPTION_NUMBER:
    case OPTION_SIZE:
        return parse_u32(option, text, value, err);
    case OPTION_SECONDS:
        return parse_seconds(option->word, text, value, err);
    case OPTION_PORT:
        return parse_port(options, text, err);
    case OPTION_SAME:
        return same_servers_add(&options->same, text, err);
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
    const struct option *option = find(own_words(set), word, value);
    if (!option)
        option = find(common, word, value);
    if (!option && value && !strcmp(word, out.word))
        option = &out;
    if (!option)
        return err_set(err, ERR_USAGE, "\"%s%s\" is no option of %s", word, value ? "=" : "",
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
    char *text = strdup(argument);
    if (!text)
        return err_memory(err, "options");
    int result = parse_words(set, options, text, err);
    free(text);
    options->engine.ports = options->engine.port_count ? options->ports : NULL;
    options->engine.same = &options->same;
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

static void show(const struct option *option, const char *help, FILE *to)
{
    char word[32];
    snprintf(word, sizeof word, "%s%s%s", option->word, option->text ? "=" : "",
             option->text ? option->text : "");
    fprintf(to, "  %-19s  %s\n", word, help);
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
    show(&out, help, to);
    for (const struct option *option = own_words(set); option->word; option++)
        show(option, option->help, to);
    for (const struct option *option = common; option->word; option++)
        show(option, option->help, to);
    fputs("BYTES may end in K, M or G; S may have a fraction.\n", to);
}
