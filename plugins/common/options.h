/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/options.h
 *
 * Parses the argument of a -z statistic: "NAME,out=FILE[,word=value...]".  All recorders know the
 * options here and the engine's options (flow/options.h).  A recorder has a table of its own for
 * further options.  Knows nothing of Wireshark.
 */
#ifndef NFSDIGEST_PLUGINS_OPTIONS_H
#define NFSDIGEST_PLUGINS_OPTIONS_H

#include "engine.h"

#include <stdio.h>

/* The beginning of a plugin's own options, if it has any. */
struct options {
    char *out;            /* FILE, or "-" */
    bool help;            /* only the usage is wanted; nothing else is set */
    bool decap_wireshark; /* feed what libwireshark finds behind IP headers */
    struct engine_settings engine;
};

enum option_type {
    OPTION_TEXT,   /* char *, ours; once and not empty */
    OPTION_FLAG,   /* bool; the word stands alone */
    OPTION_CHOICE, /* bool: whether it is |text|; a row for each of two values */
};

struct option {
    const char *word;
    enum option_type type;
    const char
        *text; /* what stands behind "=": the value of a choice, else its name in the usage */
    const char *help;
    size_t offset;     /* of the value, in the plugin's options */
    bool choice;       /* what a choice sets */
    const char *wants; /* of a text: what it must be, for who gives none */
    bool needed;       /* of a text */
};

struct option_set {
    const char *name;           /* of the statistic */
    const char *purpose;        /* one line for the usage */
    const char *out;            /* what out=FILE is */
    size_t size;                /* of the plugin's options, which begin with struct options */
    const struct option *words; /* its own, ended by one without a word; or NULL */
    bool objects;               /* it keeps objects and paths: options about these count */
};

/* Reads |argument| whole (the name included) into |options|, |set->size| bytes.  Returns 0,
 * -ERR_USAGE or -ERR_SYSTEM; after 0, options_free must be called, and the struct must not be
 * copied. */
int options_parse(const struct option_set *set, struct options *options, const char *argument,
                  struct err *err);
void options_free(const struct option_set *set, struct options *options);

/* Several lines. */
void options_usage(const struct option_set *set, FILE *to);

#endif
