/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/options.h
 *
 * The argument of -z nfspair: "nfspair,out=FILE[,word=value...]".  Knows nothing of Wireshark.
 */
#ifndef NFSDIGEST_NFSPAIR_OPTIONS_H
#define NFSDIGEST_NFSPAIR_OPTIONS_H

#include "engine.h"

enum { OPTIONS_PORTS_MAX = 64 };

struct record_options {
    char *out;                    /* FILE, or "-" */
    bool help;                    /* only the usage is wanted; nothing else is set */
    bool decap_wireshark;         /* feed what libwireshark finds behind IP headers */
    struct engine_options engine; /* its |ports| points to |ports| below */
    uint16_t ports[OPTIONS_PORTS_MAX];
};

/* Reads |argument| whole ("nfspair" included).  Returns 0 or -ERR_USAGE; after 0,
 * options_free must be called, and the struct must not be copied. */
int options_parse(struct record_options *options, const char *argument, struct err *err);
void options_free(struct record_options *options);

/* Several lines, ended by a newline. */
extern const char options_usage[];

#endif
