/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/names.h
 *
 * Makes one record stream of pieces (pieces/piece.h) in their order, as one run over the whole
 * capture would have made it: frames counted over the whole capture, ids of one row, and the
 * objects, paths, names and dependencies that only the whole past of a server gives.  Calls that
 * wait at the end of a piece get the reply that a later one has.
 *
 * The pieces must be exact (pieces/join.h).  Servers do not depend on each other: of one alone, its
 * operations have the same ids and dependencies, and the same paths as text; ids of objects and
 * paths are those of the stream.
 *
 * Memory: objects, names and paths (flow/object.h); 40 bytes for each operation of a piece and of
 * the lead-in behind it; operations from the one that waits longest for its record to the present
 * one, 500 bytes for each, with its arguments and result.  These are few if each call has its
 * reply; a call without one keeps those of the next 15 minutes (the engine's retransmit_span), or
 * of the rest of its piece.  For |canonical|: the whole stream.
 */
#ifndef NFSDIGEST_NAMES_NAMES_H
#define NFSDIGEST_NAMES_NAMES_H

#include "base/err.h"
#include "link/frame.h"

#include <stdbool.h>

enum { NAMES_SERVERS_MAX = 64 };

struct names_options {
    const char *output; /* .nfsr */
    const char *state;  /* goes on from this file if it is there, and writes it anew; or NULL */
    struct address servers[NAMES_SERVERS_MAX]; /* only these; none: all */
    uint32_t server_count;
    bool canonical; /* records and ids in an order that follows from what the wire says */
};

struct names_result {
    uint64_t frames, operations, objects, paths;
    uint64_t waiting; /* calls that are in the state, and not in the stream */
    uint64_t strays;  /* repeated messages whose operation no piece knows any more */
    uint64_t stopped; /* connections of which something may be missing: join_stopped */
};

/* Reads the pieces |names|, without suffixes. */
int names_make(const struct names_options *options, char **names, int count,
               struct names_result *result, struct err *err);

/* Writes the stream of one run, |path|, in the canonical order. */
int names_order(const char *path, const char *output, struct names_result *result, struct err *err);

#endif
