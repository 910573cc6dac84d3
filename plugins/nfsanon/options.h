/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfsanon/options.h
 *
 * The options of -z nfsanon, besides those of all recorders.
 */
#ifndef NFSDIGEST_NFSANON_OPTIONS_H
#define NFSDIGEST_NFSANON_OPTIONS_H

#include "../common/options.h"

struct anon_options {
    struct options common; /* must be first */
    char *key;             /* a file */
    char *policy;          /* a name or a file; NULL: "public" */
    bool force;            /* replace the output */
    bool stats;
};

extern const struct option_set nfsanon_options;

#endif
