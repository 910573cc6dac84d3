/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/contents.h
 *
 * What the files of a tree are filled with: the function of docs/contents.md, which READs can be
 * checked against; or something else, for servers that compress or find duplicates.
 */
#ifndef NFSDIGEST_REPLAY_CONTENTS_H
#define NFSDIGEST_REPLAY_CONTENTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONTENTS_RUN = 1 << 20, CONTENTS_BLOCK = 4096, CONTENTS_TEXT = 32 };

enum contents_kind {
    CONTENTS_FILL,   /* fill.h */
    CONTENTS_SPARSE, /* nothing is written: the size is set */
    CONTENTS_ZERO,
    CONTENTS_RANDOM,       /* no two blocks are alike */
    CONTENTS_COMPRESSIBLE, /* random, then zeros, in each CONTENTS_BLOCK */
};

struct contents {
    enum contents_kind kind;
    uint32_t random; /* COMPRESSIBLE: random bytes of each block */
    char text[CONTENTS_TEXT];
};

/* Parses "fill", "sparse", "zero", "random" or "compressible=R", where a compressor can make R
 * bytes of one. */
int contents_parse(const char *text, struct contents *to, struct err *err);

/* |len| bytes, at most CONTENTS_RUN, of |object| at |offset|: in |room|, of CONTENTS_RUN bytes, or
 * elsewhere, where they stay.  Not for CONTENTS_SPARSE. */
const uint8_t *contents_at(const struct contents *contents, uint64_t object, uint64_t offset,
                           uint32_t len, uint8_t *room);

#endif
