/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/options.h */
#ifndef NFSDIGEST_NFSPAIR_OPTIONS_H
#define NFSDIGEST_NFSPAIR_OPTIONS_H

#include "../common/options.h"

/* The options of -z nfspair, for a struct options. */
extern const struct option_set nfspair_options;

#endif
