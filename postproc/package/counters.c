/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/counters.h"
#include "wire/field.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* In their order; |counted|: again by who has the result alone. */
static const struct {
    const char *name;
    bool counted;
} fixed[] = {
    { "messages.whole", false },     { "messages.partial", false },
    { "messages.malformed", false }, { "messages.unread", false },
    { "messages.dropped", false },   { "written.frames", true },
    { "written.connections", true }, { "written.message_bytes", true },
    { "written.too_long", false },   { "held.overflows", false },
    { "path.overflows", false },     { "lost.hole_bytes", false },
    { "lost.skipped_bytes", false }, { "lost.not_rpc_bytes", false },
    { "lost.evicted_bytes", false }, { "lost.undecided_bytes", false },
};

enum {
    DROPPED = 4,    /* the last outcome of a message */
    CUT_VALUES = 4, /* of one message */
    FIXED = sizeof(fixed) / sizeof(*fixed),
    COUNTERS = FIXED + 2 * CLASS_MAX
};

/* The place of a name in the order; COUNTERS: there is no such one. */
static unsigned place(const char *name)
{
    char text[64];

    for (unsigned i = 0; i < FIXED; i++)
        if (strcmp(name, fixed[i].name) == 0)
            return i;
    for (unsigned i = 0; i < 2 * CLASS_MAX; i++) {
        snprintf(text, sizeof(text), "%s.%s", i % 2 ? "kept" : "changed", class_name(i / 2));
        if (strcmp(name, text) == 0)
            return FIXED + i;
    }
    return COUNTERS;
}

/* False: there is something else. */
static bool read_all(const char *text, uint64_t values[COUNTERS])
{
    unsigned next = 0, at;
    char name[64], line[128];
    unsigned long long value;

    memset(values, 0, COUNTERS * sizeof(*values));
    while (*text) {
        size_t len = strcspn(text, "\n");

        if (text[len] != '\n' || sscanf(text, "%63[a-z._] %20llu", name, &value) != 2)
            return false;
        at = place(name);
        snprintf(line, sizeof(line), "%s %llu", name, value);
        if (at < next || at == COUNTERS || !value || strlen(line) != len ||
            strncmp(line, text, len) != 0)
            return false;
        values[at] = value;
        next = at + 1;
        text += len + 1;
    }
    return true;
}

bool counters_agree(const char *text, const char *again)
{
    uint64_t values[COUNTERS], others[COUNTERS], messages = 0, written = 0;

    if (!read_all(text, values) || !read_all(again, others))
        return false;
    for (unsigned i = 0; i < FIXED; i++)
        if (fixed[i].counted && values[i] != others[i])
            return false;
    for (unsigned i = 0; i < DROPPED; i++) { /* what is not whole may be read otherwise */
        messages += values[i];
        written += others[i];
    }
    if (messages != written)
        return false;
    messages += values[DROPPED];
    /* the last values of a message that was not whole in the original were counted, and are gone */
    for (unsigned i = FIXED; i < COUNTERS; i += 2) {
        uint64_t sum = values[i] + values[i + 1], other = others[i] + others[i + 1];

        if (sum < other || sum - other > CUT_VALUES * messages)
            return false;
    }
    return true;
}
