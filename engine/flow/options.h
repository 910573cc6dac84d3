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

/* engine_option_table describes each member.  All zeros: the defaults. */
struct engine_options {
    uint32_t stream_window, total_window; /* bytes */
    uint32_t connections, pending;
    int64_t retransmit_span, reorder_span; /* ns */
    const uint16_t *ports;                 /* or NULL */
    uint32_t port_count;
    const struct same_servers *same; /* or NULL */
    bool block_digests;              /* of file contents (base/blocks.h); not in the table */
    bool middle;                     /* the first frame is in the middle of a capture: see
                                      * engine_border; not in the table */
    bool small_objects; /* keep handles in less memory, which costs time (object.h); not
                         * in the table */
    bool messages_only; /* only for a tap: keep no objects, names and paths, and leave
                         * them out of operations; not in the table */
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
    const char *value;      /* the form of its value, for help */
    const char *old_option; /* a former name on the command line, still accepted; or NULL */
    const char *old_word;   /* a former name in the plugins, still accepted; or NULL */
    enum engine_unit unit;
    size_t offset;        /* in struct engine_options, of the first three units */
    uint64_t initial;     /* the default; 0: there is none */
    uint64_t least, most; /* the range of a size or number */
    bool of_objects;      /* has no effect on a tap */
};

/* All options.  An entry without a name ends the table. */
extern const struct engine_option engine_option_table[ENGINE_OPTIONS + 1];

/* Returns the option called |name|, or NULL. */
const struct engine_option *engine_option_named(const char *name);

/* Writes the default as a user would give it, such as "8M" or "50ms", into |text|.  It is empty if
 * there is no default.  Returns |text|. */
const char *engine_option_default(const struct engine_option *option,
                                  char text[ENGINE_DEFAULT_TEXT]);

/* Options, with the arrays that they point to.  All zeros are the defaults.  engine_settings_init
 * prepares it for engine_option_set; after that it must not be moved. */
struct engine_settings {
    struct engine_options options;
    uint16_t ports[ENGINE_PORTS_MAX];
    struct same_servers same;
};

void engine_settings_init(struct engine_settings *settings);

/* Sets |option| to the value that a user gave as |text|.  Sizes may end in k, M or G.  Times have a
 * unit (ns, us, ms, s, m, h) or are seconds.  Several ports are separated by commas.  Returns 0 or
 * -ERR_USAGE; the text of |err| does not name the option. */
int engine_option_set(const struct engine_option *option, struct engine_settings *settings,
                      const char *text, struct err *err);

#endif
