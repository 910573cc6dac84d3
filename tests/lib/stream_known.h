/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/stream_known.h
 *
 * The known messages of one connection: both streams' bytes, and where each message stands.
 */
#ifndef NFSDIGEST_STREAM_KNOWN_H
#define NFSDIGEST_STREAM_KNOWN_H

#include "stream_plan.h"

#include "record/record.h"

enum { KNOWN_MAX = 64, KNOWN_BYTES = 256 << 10 };

struct known_message {
    uint32_t xid, start, end; /* in its stream, record marks included */
    uint32_t length;          /* without marks */
    uint32_t found;           /* how often */
    struct sighting sighting;
};

struct known {
    uint8_t *data[2];   /* KNOWN_BYTES */
    uint64_t *frame[2]; /* in which each byte came first; 0: never */
    uint32_t len[2], count;
    struct known_message messages[2][KNOWN_MAX];
    uint64_t undecided; /* bytes that were counted so */
    char problem[200];  /* noticed while records came */
};

/* |fragments|: records may have several. */
int known_make(struct known *k, struct chooser *c, bool fragments);
void known_free(struct known *k);

void known_arrived(struct known *k, int side, uint32_t start, uint32_t len, uint64_t frame);

/* A sink's put. */
int known_put(void *ctx, const struct record *record, struct err *err);

/* After the last record. */
int known_check(struct known *k, char *why, size_t why_size);

#endif
