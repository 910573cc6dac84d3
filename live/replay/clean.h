/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/clean.h
 *
 * Removes directories and all that is in them through NFS, whatever a play made of them.
 *
 * Memory: about 400 bytes for each directory that was found and not yet removed, and a few hundred
 * KiB.
 */
#ifndef NFSDIGEST_REPLAY_CLEAN_H
#define NFSDIGEST_REPLAY_CLEAN_H

#include "replay/pipeline.h"

struct clean_counts {
    uint64_t files, directories;
    bool interrupted;
};

struct clean_setup {
    struct loop *loop;
    const struct target *target;
    uint32_t connections;                                                           /* 0: 4 */
    int (*progress)(void *ctx, const struct clean_counts *counts, struct err *err); /* or NULL */
    void *ctx;
};

struct clean_names {
    struct bytes parent; /* handle */
    const struct bytes *names;
    uint32_t count;
    const char *last; /* a name in these directories that goes when all others are gone; or NULL */
};

/* Removes the names from their directory, with everything below them.  0 also if there
 * is no such name, or a signal interrupted it.  -ERR_INPUT: something cannot be removed. */
int clean(const struct clean_setup *setup, const struct clean_names *names,
          struct clean_counts *counts, struct err *err);

#endif
