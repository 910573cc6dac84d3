/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/options_values.c
 *
 * Reads the values of options: numbers within bounds, words, lists of words.  See options_values.h.
 */
#include "replay/options_values.h"
#include "base/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int options_fill(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;

    o->contents_said = true;
    return contents_parse(value, &o->contents, err);
}

static int set_up_to(void *to, const char *value, uint64_t most, struct err *err)
{
    char text[VALUE_TEXT_MAX];
    int result = set_count(to, value, err);

    if (result == 0 && (*(uint64_t *)to < 1 || *(uint64_t *)to > most))
        return err_set(err, ERR_USAGE, "\"%s\" is not a number from 1 to %s", value,
                       count_text(most, text));
    return result;
}

int options_number(void *to, const char *value, struct err *err)
{
    return set_up_to(to, value, 65536, err);
}

int options_copies(void *to, const char *value, struct err *err)
{
    return set_up_to(to, value, REPLAY_DUMPS_MAX, err);
}

int options_points(void *to, const char *value, struct err *err)
{
    return set_up_to(to, value, REPLAY_POINTS_MAX, err);
}

/* 0 stands for all operations, and would be taken for none. */
int options_stop_after(void *to, const char *value, struct err *err)
{
    int result = set_count(to, value, err);

    if (result == 0 && *(uint64_t *)to < 1)
        return err_set(err, ERR_USAGE, "\"%s\" is not a number from 1 on", value);
    return result;
}

int options_end(void *to, const char *value, struct err *err)
{
    int result = set_duration(to, value, err);

    if (result == 0 && *(int64_t *)to < 1)
        return err_set(err, ERR_USAGE, "\"%s\" is not a duration above 0", value);
    return result;
}

/* --- words */

struct word {
    const char *name;
    uint32_t value;
};

static const struct word orders[] = {
    { "dependencies", ORDER_DEPENDENCIES }, { "trace", ORDER_TRACE }, { "none", ORDER_NONE }, { 0 }
};
static const struct word picks[] = {
    { "oldest", PICK_OLDEST }, { "newest", PICK_NEWEST }, { "random", PICK_RANDOM }, { 0 }
};
/* Of schemas/rdump.md section 5. */
static const struct word groups[] = { { "type", RDUMP_EXPECT_TYPE },
                                      { "mode", RDUMP_EXPECT_MODE },
                                      { "owner", RDUMP_EXPECT_OWNER },
                                      { "nlink", RDUMP_EXPECT_NLINK },
                                      { "size", RDUMP_EXPECT_SIZE },
                                      { "links", RDUMP_EXPECT_LINKS },
                                      { "identity", RDUMP_EXPECT_IDENTITY },
                                      { "access", RDUMP_EXPECT_ACCESS },
                                      { "text", RDUMP_EXPECT_TEXT },
                                      { "read", RDUMP_EXPECT_READ },
                                      { "names", RDUMP_EXPECT_NAMES },
                                      { "behind", RDUMP_EXPECT_BEHIND },
                                      { "some-names", RDUMP_EXPECT_SOME_NAMES },
                                      { 0 } };

static int set_word(uint32_t *to, const char *value, const struct word *words, struct err *err)
{
    char all[256] = "";
    size_t len = 0;

    for (const struct word *w = words; w->name; w++) {
        if (strcmp(w->name, value) == 0) {
            *to = w->value;
            return 0;
        }
        if (len < sizeof(all))
            len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "", w->name);
    }
    return err_set(err, ERR_USAGE, "\"%s\" is not one of %s", value, all);
}

int options_pace(void *to, const char *value, struct err *err)
{
    static const struct word words[] = { { "trace", PACE_TRACE }, { "asap", PACE_ASAP }, { 0 } };
    struct replay_options *o = to;
    uint32_t pace = o->pace;
    int result = set_word(&pace, value, words, err);

    o->pace = (enum player_pace)pace;
    o->pace_said = true;
    return result;
}

int options_order(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;
    uint32_t order = o->order;
    int result = set_word(&order, value, orders, err);

    o->order = (enum player_order)order;
    return result;
}

int options_pick(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;
    uint32_t pick = o->pick;
    int result = set_word(&pick, value, picks, err);

    o->pick = (enum player_pick)pick;
    return result;
}

int options_ignore(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;
    char one[32];
    int result = 0;

    while (*value && result == 0) {
        size_t len = strcspn(value, ",");
        uint32_t bits = 0;

        snprintf(one, sizeof(one), "%.*s", (int)len, value);
        result = set_word(&bits, one, groups, err);
        o->ignore |= bits;
        value += len + (value[len] == ',');
    }
    return result;
}

int options_rules(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;

    if (o->rule_count == REPLAY_RULES_MAX)
        return err_set(err, ERR_USAGE, "more than %d of them", REPLAY_RULES_MAX);
    o->rule_names[o->rule_count++] = value;
    return 0;
}

static int set_factor(void *to, const char *value, struct err *err)
{
    char *end;
    double factor = strtod(value, &end);

    if (*end || end == value || !(factor > 0 && factor < 1e9))
        return err_set(err, ERR_USAGE, "\"%s\" is not a number above 0 and below 1,000,000,000",
                       value);
    *(double *)to = factor;
    return 0;
}

int options_scale(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;

    o->scale_said = true;
    return set_factor(&o->scale, value, err);
}

int options_rate(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;

    return set_factor(&o->rate, value, err);
}

/* A time with a unit, or a number of operations. */
int options_warm_up(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;

    if (value[0] && value[strspn(value, "0123456789")] == 0) {
        o->warm_up = -1;
        return set_count(&o->warm_up_operations, value, err);
    }
    return set_duration(&o->warm_up, value, err);
}

/* --- in words */

static void add_option(char text[REPLAY_OPTIONS_TEXT], const char *name, const char *value)
{
    size_t len = strlen(text);

    snprintf(text + len, REPLAY_OPTIONS_TEXT - len, "%s--%s%s%s", len ? " " : "", name,
             value[0] ? " " : "", value);
}

static void add_number(char text[REPLAY_OPTIONS_TEXT], const char *name, uint64_t value)
{
    char number[24];

    snprintf(number, sizeof(number), "%" PRIu64, value);
    if (value)
        add_option(text, name, number);
}

static void add_time(char text[REPLAY_OPTIONS_TEXT], const char *name, int64_t ns)
{
    char time[VALUE_TEXT_MAX];

    if (ns > 0)
        add_option(text, name, duration_text(ns, time));
}

/* All of |bits|, or, without |several|, the word whose value they are. */
static void add_words(char text[REPLAY_OPTIONS_TEXT], const char *name, const struct word *words,
                      uint32_t bits, bool several)
{
    char all[128] = "";

    for (const struct word *w = words; w->name && bits; w++) {
        size_t len = strlen(all);

        if (several ? bits & w->value : bits == w->value)
            snprintf(all + len, sizeof(all) - len, "%s%s", len ? "," : "", w->name);
    }
    if (all[0])
        add_option(text, name, all);
}

const char *replay_options_text(const struct replay_options *o, char text[REPLAY_OPTIONS_TEXT])
{
    text[0] = 0;
    add_words(text, "order", orders, o->order, false);
    add_words(text, "pick", picks, o->pick, false);
    add_number(text, "connections", o->connections);
    add_number(text, "outstanding", o->outstanding);
    if (o->udp)
        add_option(text, "udp", "");
    add_time(text, "start-delay", o->start_delay);
    add_time(text, "warm-up", o->warm_up);
    add_number(text, "warm-up", o->warm_up < 0 ? o->warm_up_operations : 0);
    add_number(text, "stop-after", o->stop_after);
    add_time(text, "duration", o->duration);
    add_words(text, "ignore", groups, o->ignore, true);
    return text;
}
