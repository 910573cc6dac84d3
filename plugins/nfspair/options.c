/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <ctype.h>
#include <stdlib.h>

const char options_usage[] =
    "usage: tshark -r CAPTURE|-i INTERFACE -q -z nfspair,out=FILE|-[,OPTION...]\n"
    "Writes the NFS operations of a capture as an .nfsr record stream.\n"
    "  out=FILE             the stream; \"-\" is standard output; a comma in FILE is written \\,\n"
    "  decap=engine         take the frames apart with nfsdigest's own code (the default, fast)\n"
    "  decap=wireshark      let Wireshark remove the headers in front of TCP and UDP\n"
    "  port=N               a further port that carries RPC; may be given several times\n"
    "  stream-window=BYTES  out-of-order data kept for a direction of a connection (4M)\n"
    "  total-window=BYTES   out-of-order data kept for all connections (64M)\n"
    "  connections=N        connections followed at once (16384)\n"
    "  pending=N            calls that wait for replies at once (131072)\n"
    "  retransmit-span=S    seconds in which equal calls are one operation (900)\n"
    "  reorder-span=S       seconds by which a reply may precede its call (2)\n"
    "  help                 show this\n"
    "BYTES may end in K, M or G; S may have a fraction.\n";

/* A number from |min| to |max|; with |scaled| K, M and G may follow it. */
static int parse_number(const char *word, const char *text, bool scaled, uint64_t min, uint64_t max,
                        uint64_t *out, struct err *err)
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
    *out = value << shift;
    return 0;
}

static int parse_u32(const char *word, const char *text, bool scaled, uint64_t min, uint32_t *out,
                     struct err *err)
{
    uint64_t value;
    int result = parse_number(word, text, scaled, min, UINT32_MAX, &value, err);
    if (!result)
        *out = (uint32_t)value;
    return result;
}

/* Seconds with at most nine decimals, to nanoseconds. */
static int parse_seconds(const char *word, const char *text, int64_t *out, struct err *err)
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
    *out = (int64_t)ns;
    return 0;
}

static int parse_port(struct record_options *options, const char *text, struct err *err)
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

static int parse_decap(struct record_options *options, const char *text, struct err *err)
{
    if (strcmp(text, "engine") && strcmp(text, "wireshark"))
        return err_set(err, ERR_USAGE, "decap=%s: there are decap=engine and decap=wireshark",
                       text);
    options->decap_wireshark = !strcmp(text, "wireshark");
    return 0;
}

static int parse_word(struct record_options *options, char *word, struct err *err)
{
    char *value = strchr(word, '=');
    if (!value)
        return err_set(err, ERR_USAGE, "\"%s\" is no option of nfspair", word);
    *value++ = 0;
    struct engine_options *engine = &options->engine;
    if (!strcmp(word, "out")) {
        if (options->out)
            return err_set(err, ERR_USAGE, "out= is given twice");
        if (!*value)
            return err_set(err, ERR_USAGE, "out= needs a file name, or - for standard output");
        options->out = strdup(value);
        return options->out ? 0 : err_set(err, ERR_SYSTEM, "no memory");
    }
    if (!strcmp(word, "decap"))
        return parse_decap(options, value, err);
    if (!strcmp(word, "port"))
        return parse_port(options, value, err);
    if (!strcmp(word, "stream-window"))
        return parse_u32(word, value, true, 1 << 16, &engine->stream_window, err);
    if (!strcmp(word, "total-window"))
        return parse_u32(word, value, true, 1 << 16, &engine->total_window, err);
    if (!strcmp(word, "connections"))
        return parse_u32(word, value, false, 1, &engine->connections, err);
    if (!strcmp(word, "pending"))
        return parse_u32(word, value, false, 1, &engine->pending, err);
    if (!strcmp(word, "retransmit-span"))
        return parse_seconds(word, value, &engine->retransmit_span, err);
    if (!strcmp(word, "reorder-span"))
        return parse_seconds(word, value, &engine->reorder_span, err);
    return err_set(err, ERR_USAGE, "\"%s=\" is no option of nfspair", word);
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

static int parse_words(struct record_options *options, char *text, struct err *err)
{
    char *rest = text;
    if (strcmp(next_word(&rest), "nfspair"))
        return err_set(err, ERR_USAGE, "\"%s\": the statistic is called nfspair", text);
    for (char *word; (word = next_word(&rest));) {
        if (!strcmp(word, "help")) {
            options->help = true;
            return 0;
        }
        int result = parse_word(options, word, err);
        if (result)
            return result;
    }
    if (!options->out)
        return err_set(err, ERR_USAGE, "out=FILE is missing");
    return 0;
}

int options_parse(struct record_options *options, const char *argument, struct err *err)
{
    *options = (struct record_options){ 0 };
    char *text = strdup(argument);
    if (!text)
        return err_set(err, ERR_SYSTEM, "no memory");
    int result = parse_words(options, text, err);
    free(text);
    options->engine.ports = options->engine.port_count ? options->ports : NULL;
    if (result)
        options_free(options);
    return result;
}

void options_free(struct record_options *options)
{
    free(options->out);
    *options = (struct record_options){ 0 };
}
