/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/options.h
 *
 * Parses the argument of a -z statistic: "NAME,out=FILE[,word=value...]".  All recorders know the
 * options here and the engine's options (flow/options.h).  A recorder has a table of its own for
 * further options.  This file does not use Wireshark.
 */
#ifndef NFSDIGEST_PLUGINS_OPTIONS_H
#define NFSDIGEST_PLUGINS_OPTIONS_H

#include "engine.h"

#include <stdio.h>

/* The beginning of a plugin's own options, if it has any. */
struct options {
    char *out;            /* FILE, or "-" */
    bool help;            /* only the usage is wanted; nothing else is set */
    bool decap_wireshark; /* feed the payloads that libwireshark finds behind IP headers */
    struct engine_settings engine;
};

enum option_type {
    OPTION_TEXT,   /* char *, owned by the options; at most once, not empty */
    OPTION_FLAG,   /* bool; the word stands alone */
    OPTION_CHOICE, /* bool: true if the value is |text|; each of the two values has a row */
};

struct option {
    const char *word;
    enum option_type type;
    const char *text; /* the part after "=": the value of a choice, else its name in the usage */
    const char *help;
    size_t offset;     /* of the value, in the plugin's options */
    bool choice;       /* what a choice sets */
    const char *wants; /* for a text: what it must be, for the message if it is missing */
    bool needed;       /* for a text: it must be given */
};

struct option_set {
    const char *name;           /* of the statistic */
    const char *purpose;        /* one line for the usage */
    const char *out;            /* what out=FILE is */
    size_t size;                /* of the plugin's options, which begin with struct options */
    const struct option *words; /* its own options, ended by one without a word; or NULL */
    bool objects; /* it keeps objects and paths, so options about these have a meaning */
};

/* Parses the whole |argument|, with the name, into |options|, which has |set->size| bytes.  Returns
 * 0, -ERR_USAGE or -ERR_SYSTEM.  After 0, options_free must be called, and the struct must not be
 * copied. */
int options_parse(const struct option_set *set, struct options *options, const char *argument,
                  struct err *err);
void options_free(const struct option_set *set, struct options *options);

/* Prints the usage, in several lines. */
void options_usage(const struct option_set *set, FILE *to);

#endif
