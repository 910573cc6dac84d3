/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/options.h
 *
 * The engine's options: one table of their names, units, defaults, ranges and texts, and one
 * parser.  The command line, the options and preferences of the plugins, and the manual pages use
 * it.
 */
#ifndef NFSDIGEST_FLOW_OPTIONS_H
#define NFSDIGEST_FLOW_OPTIONS_H

#include "base/err.h"
#include "flow/host.h"

#include <stdbool.h>
#include <stddef.h>

enum { ENGINE_OPTIONS = 8, ENGINE_PORTS_MAX = 64, ENGINE_DEFAULT_TEXT = 24 };

/* The defaults. */
enum {
    ENGINE_STREAM_WINDOW = 8 << 20, /* bytes */
    ENGINE_TOTAL_WINDOW = 48 << 20,
    ENGINE_CONNECTIONS = 16384,
    ENGINE_PENDING = 65536,
};
#define ENGINE_RETRANSMIT_SPAN INT64_C(900000000000) /* ns */
#define ENGINE_REORDER_SPAN INT64_C(50000000)        /* ns */
/* ns for which a reply waits for its call over TCP (pair.h), unless |reorder_span| is given */
#define ENGINE_HOLD_SPAN INT64_C(2000000000)

/* What each is, the table says.  All zeros: the defaults. */
struct engine_options {
    uint32_t stream_window, total_window; /* bytes */
    uint32_t connections, pending;
    int64_t retransmit_span, reorder_span; /* ns */
    const uint16_t *ports;                 /* or NULL */
    uint32_t port_count;
    const struct same_servers *same; /* or NULL */
    bool messages_only;              /* for a tap alone: no objects, names and paths are kept, and
                                      * operations know nothing of them; not in the table */
};

enum engine_unit {
    ENGINE_SIZE,   /* uint32_t, bytes */
    ENGINE_COUNT,  /* uint32_t */
    ENGINE_TIME,   /* int64_t, ns */
    ENGINE_PORT,   /* further |ports| */
    ENGINE_SERVER, /* a further one of |same| */
};

struct engine_option {
    const char *name;
    const char *text;       /* for help: a phrase, without the default */
    const char *value;      /* what it takes, as help shows it */
    const char *old_option; /* a former name on the command line, still understood, or NULL */
    const char *old_word;   /* the same of the plugins */
    enum engine_unit unit;
    size_t offset;        /* in struct engine_options, of the first three units */
    uint64_t initial;     /* the default; 0: there is none */
    uint64_t least, most; /* of sizes and numbers */
    bool of_objects;      /* means nothing to a tap */
};

/* All of them, ended by one without a name. */
extern const struct engine_option engine_option_table[ENGINE_OPTIONS + 1];

const struct engine_option *engine_option_named(const char *name); /* or NULL */

/* The default as it can be given, such as "8M" or "50ms"; empty: there is none.  Returns |text|. */
const char *engine_option_default(const struct engine_option *option,
                                  char text[ENGINE_DEFAULT_TEXT]);

/* Options with what they point to.  All zeros are the defaults, but engine_settings_init makes it
 * ready for engine_option_set; it must stay where it is then. */
struct engine_settings {
    struct engine_options options;
    uint16_t ports[ENGINE_PORTS_MAX];
    struct same_servers same;
};

void engine_settings_init(struct engine_settings *settings);

/* Takes what a user gave for |option|.  Sizes may end in k, M or G; times have a unit (ns, us, ms,
 * s, m, h) or are seconds; ports may be several, with commas between them.  0 or -ERR_USAGE, with a
 * text that does not name the option. */
int engine_option_set(const struct engine_option *option, struct engine_settings *settings,
                      const char *text, struct err *err);

#endif
