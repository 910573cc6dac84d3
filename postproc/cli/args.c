/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "base/values.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 48, LONG_BASE = 256, HELP_COLUMN = 28 };

static void print_options(const struct arg *table)
{
    for (const struct arg *arg = table; arg && arg->name; arg++) {
        char left[64];
        const char *help = arg->help;
        int len = snprintf(left, sizeof(left), "  %c%c%s--%s%s%s", arg->letter ? '-' : ' ',
                           arg->letter ? arg->letter : ' ', arg->letter ? ", " : "  ", arg->name,
                           arg->value ? " " : "", arg->value ? arg->value : "");

        printf("%-*s%s", HELP_COLUMN, left, len >= HELP_COLUMN ? "\n" : "");
        for (bool first = len < HELP_COLUMN; *help; first = false) {
            size_t line = strcspn(help, "\n");

            printf("%*s%.*s\n", first ? 0 : HELP_COLUMN, "", (int)line, help);
            help += line + (help[line] == '\n');
        }
    }
}

static void print_help(const struct args *args)
{
    static const struct arg help[] = { { 'h', "help", NULL, "show this", NULL, NULL }, { 0 } };

    printf("usage: %s\n\n%s\nOptions:\n", args->usage, args->about);
    print_options(args->own);
    print_options(help);
    if (args->more) {
        printf("\n%s:\n", args->more_title);
        print_options(args->more);
    }
}

struct getopt_table {
    struct option options[OPTIONS_MAX];
    const struct arg *args[OPTIONS_MAX];
    char letters[OPTIONS_MAX * 2 + 3];
    int count;
};

static void add_options(struct getopt_table *table, const struct arg *args)
{
    size_t len = strlen(table->letters);

    for (; args && args->name && table->count < OPTIONS_MAX - 2; args++) {
        table->args[table->count] = args;
        table->options[table->count] =
            (struct option){ args->name, args->value ? required_argument : no_argument, NULL,
                             LONG_BASE + table->count };
        table->count++;
        if (!args->letter)
            continue;
        table->letters[len++] = args->letter;
        if (args->value)
            table->letters[len++] = ':';
        table->letters[len] = '\0';
    }
}

static const struct arg *find(const struct getopt_table *table, int c)
{
    if (c >= LONG_BASE)
        return table->args[c - LONG_BASE];
    for (int i = 0; i < table->count; i++)
        if (table->args[i]->letter == c)
            return table->args[i];
    return NULL;
}

int args_parse(const struct args *args, int argc, char **argv, int *first, struct err *err)
{
    struct getopt_table table = { .letters = ":h" };
    int c;

    add_options(&table, args->own);
    add_options(&table, args->more);
    table.options[table.count] = (struct option){ "help", no_argument, NULL, 'h' };
    optind = 0; /* begin anew: main has used getopt's state */
    opterr = 0;
    while ((c = getopt_long(argc, argv, table.letters, table.options, NULL)) != -1) {
        const struct arg *arg;

        if (c == 'h') {
            print_help(args);
            return 0;
        }
        if (c == '?' || c == ':')
            return err_set(err, ERR_USAGE, "%s %s: see \"nfsdigest %s --help\"", argv[optind - 1],
                           c == ':' ? "needs a value" : "is not an option, or ambiguous", argv[0]);
        arg = find(&table, c);
        if (arg && arg->set(arg->to, optarg, err) < 0)
            return err_prefix(err, "--%s", arg->name);
    }
    *first = optind;
    return 1;
}

int set_flag(void *to, const char *value, struct err *err)
{
    (void)value, (void)err;
    *(bool *)to = true;
    return 0;
}

int set_text(void *to, const char *value, struct err *err)
{
    (void)err;
    *(const char **)to = value;
    return 0;
}

int set_count(void *to, const char *value, struct err *err)
{
    return parse_number(value, to) ? 0 : err_set(err, ERR_USAGE, "\"%s\" is no number", value);
}

int set_duration(void *to, const char *value, struct err *err)
{
    return parse_duration(value, to)
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\" is no duration such as 1.5ms or 2s", value);
}

int set_time(void *to, const char *value, struct err *err)
{
    return parse_time(value, to)
               ? 0
               : err_set(
                     err, ERR_USAGE,
                     "\"%s\" is no time such as \"2026-11-21 05:48:01.5\" (UTC) or 1763704081.5",
                     value);
}

bool parse_granularity(const char *text, enum granularity *granularity)
{
    for (int g = ACCESS_FINE; g <= ACCESS_OBJECT; g++)
        if (strcmp(text, granularity_name((enum granularity)g)) == 0) {
            *granularity = (enum granularity)g;
            return true;
        }
    return false;
}

static int set_size32(void *to, const char *value, struct err *err)
{
    uint64_t size;

    if (!parse_size(value, &size) || !size || size > UINT32_MAX / 2)
        return err_set(err, ERR_USAGE, "\"%s\" is no size such as 64k or 4M", value);
    *(uint32_t *)to = (uint32_t)size;
    return 0;
}

static int set_count32(void *to, const char *value, struct err *err)
{
    uint64_t count;

    if (!parse_number(value, &count) || !count || count > UINT32_MAX / 2)
        return err_set(err, ERR_USAGE, "\"%s\" is no number above 0", value);
    *(uint32_t *)to = (uint32_t)count;
    return 0;
}

static int set_span(void *to, const char *value, struct err *err)
{
    if (set_duration(to, value, err) < 0)
        return -ERR_USAGE;
    if (*(int64_t *)to == 0)
        *(int64_t *)to = 1; /* 0 would ask for the default */
    return 0;
}

static int set_ports(void *to, const char *value, struct err *err)
{
    struct engine_args *engine = to;

    while (*value) {
        size_t len = strcspn(value, ",");
        char text[8] = "";
        uint64_t port;

        if (len < sizeof(text))
            memcpy(text, value, len);
        if (!parse_number(text, &port) || !port || port > UINT16_MAX)
            return err_set(err, ERR_USAGE, "\"%.*s\" is no port", (int)len, value);
        if (engine->options.port_count == sizeof(engine->ports) / sizeof(*engine->ports))
            return err_set(err, ERR_USAGE, "more than %u ports", engine->options.port_count);
        engine->ports[engine->options.port_count++] = (uint16_t)port;
        value += len + (value[len] == ',');
    }
    return 0;
}

static int set_same_server(void *to, const char *value, struct err *err)
{
    struct engine_args *engine = to;

    return same_servers_add(&engine->same, value, err);
}

void engine_arg_table(struct engine_args *to, bool objects, struct arg table[ENGINE_ARG_COUNT])
{
    struct engine_options *o = &to->options;
    const struct arg filled[ENGINE_ARG_COUNT] = {
        { 0, "rpc-port", "PORT[,...]",
          "further ports that carry RPC; known are 111, 2049, 20048 and those\n"
          "learned from PORTMAP and RPCBIND",
          set_ports, to },
        { 0, "window", "SIZE",
          "TCP data kept out of order in one direction of a\n"
          "connection (8M)",
          set_size32, &o->stream_window },
        { 0, "total-window", "SIZE", "the same of all connections (48M)", set_size32,
          &o->total_window },
        { 0, "connections", "N", "connections followed at once (16384)", set_count32,
          &o->connections },
        { 0, "pending", "N", "calls that may wait for replies (65536)", set_count32, &o->pending },
        { 0, "retransmit-span", "TIME",
          "how long after its last sighting an equal call is a\n"
          "retransmission (900s)",
          set_span, &o->retransmit_span },
        { 0, "reorder-span", "TIME", "by how much a reply's time may be before its call's (50ms)",
          set_span, &o->reorder_span },
        { 0, "same-server", "A=B",
          "the server at address A is reached at address B, too: its\n"
          "handles and paths are the same; may be given several times",
          set_same_server, to },
        { 0 },
    };

    memset(to, 0, sizeof(*to));
    o->ports = to->ports;
    o->same = &to->same;
    memcpy(table, filled, sizeof(filled));
    if (!objects)
        table[ENGINE_ARG_COUNT - 2] = (struct arg){ 0 };
}
