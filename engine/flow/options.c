/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/options.c
 *
 * The table of the engine's options and the parser of their values.  The contract is in options.h.
 */
#include "flow/options.h"
#include "base/values.h"

#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct engine_options, member)
#define WINDOW_LEAST 1024
#define WINDOW_MOST (1u << 30) /* the largest window of TCP, RFC 7323 s2.3 */
#define TABLE_MOST (1u << 24)
#define TIME_MOST (UINT64_C(100) * 366 * 86400 * 1000000000)

const struct engine_option engine_option_table[ENGINE_OPTIONS + 1] = {
    { .name = "rpc-port",
      .old_word = "port",
      .value = "PORT",
      .text = "more ports that carry RPC, besides 111, 2049, 20048 and the ports that PORTMAP and "
              "RPCBIND announce; can be given several times",
      .unit = ENGINE_PORT },
    { .name = "stream-window",
      .old_option = "window",
      .value = "SIZE",
      .text = "limit of out-of-order TCP data that is kept for one direction of a connection",
      .unit = ENGINE_SIZE,
      .offset = AT(stream_window),
      .initial = ENGINE_STREAM_WINDOW,
      .least = WINDOW_LEAST,
      .most = WINDOW_MOST },
    { .name = "total-window",
      .value = "SIZE",
      .text = "the same limit for all connections together",
      .unit = ENGINE_SIZE,
      .offset = AT(total_window),
      .initial = ENGINE_TOTAL_WINDOW,
      .least = WINDOW_LEAST,
      .most = UINT32_MAX },
    { .name = "connections",
      .value = "N",
      .text = "how many connections are followed at the same time",
      .unit = ENGINE_COUNT,
      .offset = AT(connections),
      .initial = ENGINE_CONNECTIONS,
      .least = 1,
      .most = TABLE_MOST },
    { .name = "pending",
      .value = "N",
      .text = "how many calls can wait for a reply at the same time",
      .unit = ENGINE_COUNT,
      .offset = AT(pending),
      .initial = ENGINE_PENDING,
      .least = 1,
      .most = TABLE_MOST },
    { .name = "retransmit-span",
      .value = "TIME",
      .text = "an equal call is a retransmission if it comes at most this long after the last one",
      .unit = ENGINE_TIME,
      .offset = AT(retransmit_span),
      .initial = ENGINE_RETRANSMIT_SPAN },
    { .name = "reorder-span",
      .value = "TIME",
      .text = "how much earlier than its call a reply can be captured",
      .unit = ENGINE_TIME,
      .offset = AT(reorder_span),
      .initial = ENGINE_REORDER_SPAN },
    { .name = "same-server",
      .value = "A=B",
      .text = "addresses A and B belong to the same server, so its handles and paths are the same "
              "at both; can be given several times",
      .unit = ENGINE_SERVER,
      .of_objects = true },
    { .name = NULL },
};

const struct engine_option *engine_option_named(const char *name)
{
    for (const struct engine_option *option = engine_option_table; option->name; option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

/* In the largest unit that makes it a whole number. */
static const char *size_word(uint64_t size, char text[ENGINE_DEFAULT_TEXT])
{
    static const char units[] = { '\0', 'k', 'M', 'G' };
    unsigned unit = 0;

    for (; unit < 3 && size && size % 1024 == 0; unit++)
        size /= 1024;
    snprintf(text, ENGINE_DEFAULT_TEXT, "%llu%.1s", (unsigned long long)size, &units[unit]);
    return text;
}

static const char *time_word(uint64_t ns, char text[ENGINE_DEFAULT_TEXT])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    unsigned unit = 0;

    for (; unit < 3 && ns && ns % 1000 == 0; unit++)
        ns /= 1000;
    snprintf(text, ENGINE_DEFAULT_TEXT, "%llu%s", (unsigned long long)ns, units[unit]);
    return text;
}

const char *engine_option_default(const struct engine_option *option,
                                  char text[ENGINE_DEFAULT_TEXT])
{
    text[0] = '\0';
    if (option->unit == ENGINE_SIZE)
        size_word(option->initial, text);
    else if (option->unit == ENGINE_COUNT)
        snprintf(text, ENGINE_DEFAULT_TEXT, "%llu", (unsigned long long)option->initial);
    else if (option->unit == ENGINE_TIME)
        time_word(option->initial, text);
    return text;
}

void engine_settings_init(struct engine_settings *settings)
{
    memset(settings, 0, sizeof(*settings));
    settings->options.ports = settings->ports;
    settings->options.same = &settings->same;
}

static int set_size(const struct engine_option *option, uint32_t *to, const char *text,
                    struct err *err)
{
    char least[ENGINE_DEFAULT_TEXT], most[ENGINE_DEFAULT_TEXT];
    uint64_t size;

    if (!parse_size(text, &size) || size < option->least || size > option->most)
        return err_set(err, ERR_USAGE, "\"%s\" is not a size from %s to %s", text,
                       size_word(option->least, least), size_word(option->most, most));
    *to = (uint32_t)size;
    return 0;
}

static int set_count(const struct engine_option *option, uint32_t *to, const char *text,
                     struct err *err)
{
    uint64_t count;

    if (!parse_number(text, &count) || count < option->least || count > option->most)
        return err_set(err, ERR_USAGE, "\"%s\" is not a number from %llu to %llu", text,
                       (unsigned long long)option->least, (unsigned long long)option->most);
    *to = (uint32_t)count;
    return 0;
}

static int set_time(int64_t *to, const char *text, struct err *err)
{
    int64_t ns;

    if (!parse_duration(text, &ns) || (uint64_t)ns > TIME_MOST)
        return err_set(err, ERR_USAGE, "\"%s\" is not a time such as 50ms or 2s, up to 100 years",
                       text);
    *to = ns ? ns : 1; /* 0 would ask for the default */
    return 0;
}

static int add_ports(struct engine_settings *to, const char *text, struct err *err)
{
    do {
        size_t len = strcspn(text, ",");
        char word[8] = "";
        uint64_t port;

        if (len < sizeof(word))
            memcpy(word, text, len);
        if (!parse_number(word, &port) || !port || port > UINT16_MAX)
            return err_set(err, ERR_USAGE, "\"%.*s\" is not a port from 1 to 65535", (int)len,
                           text);
        if (to->options.port_count == ENGINE_PORTS_MAX)
            return err_set(err, ERR_USAGE, "more than %d ports", ENGINE_PORTS_MAX);
        to->ports[to->options.port_count++] = (uint16_t)port;
        text += len + (text[len] == ',');
    } while (*text);
    return 0;
}

int engine_option_set(const struct engine_option *option, struct engine_settings *settings,
                      const char *text, struct err *err)
{
    void *to = (char *)&settings->options + option->offset;

    switch (option->unit) {
    case ENGINE_SIZE:
        return set_size(option, to, text, err);
    case ENGINE_COUNT:
        return set_count(option, to, text, err);
    case ENGINE_TIME:
        return set_time(to, text, err);
    case ENGINE_PORT:
        return add_ports(settings, text, err);
    case ENGINE_SERVER:
        return same_servers_add(&settings->same, text, err);
    }
    return err_set(err, ERR_USAGE, "\"%s\"", text);
}
