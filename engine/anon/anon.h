/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/anon.h
 *
 * Takes frames and writes an anonymized capture.  An engine finds the messages, rewrite.h writes
 * each one again under the policy, and frames.h puts it into new frames of a pcapng file.  Nothing
 * else of the input gets into the output.
 *
 * The doors feed its engine (anon_engine) like any other, but call anon_end instead of engine_end.
 * The same frames, key and policy give the same bytes.
 *
 * Memory: that of an engine, of a mapping (mapping.h), of frames.h and of output_queue.h.
 */
#ifndef NFSDIGEST_ANON_ANON_H
#define NFSDIGEST_ANON_ANON_H

#include "anon/mapping.h"
#include "base/output.h"
#include "engine.h"

struct anon;

/* |policy| must outlive it; the key is not needed any more.  The file's head is written at once. */
struct anon *anon_new(const struct engine_options *options, const struct policy *policy,
                      const struct key *key, output_writer *write, void *ctx, struct err *err);
void anon_free(struct anon *anon);

struct engine *anon_engine(struct anon *anon);

/* Writes all complete messages, because a live capture pauses. */
int anon_flush(struct anon *anon, struct err *err);

/* A message whose frames were just written, for callers that compare them with others.  The
 * pointers are valid during the call; do not follow those in the credential. */
struct anon_written {
    uint64_t frame; /* of the input: where its original was complete */
    uint8_t transport;
    const struct procedure *procedure; /* of its call; NULL: the body cannot be read */
    const struct rpc_auth *credential; /* of a reply's call, or NULL */
};
typedef int anon_watch(void *ctx, const struct anon_written *written, struct err *err);
/* Sets |watch|.  Call it before the first frame. */
void anon_set_watch(struct anon *anon, anon_watch *watch, void *ctx);

/* Ends the engine and the file. */
int anon_end(struct anon *anon, bool input_cut, struct err *err);

/* Shows how much was written and left out, after anon_end: "messages", "messages.partial",
 * "unread.program.100003.4", "uid", "name", ... in a fixed order, only values above 0. */
typedef int anon_counter(void *ctx, const char *name, uint64_t value, struct err *err);
int anon_counters(const struct anon *anon, anon_counter *show, void *ctx, struct err *err);

#endif
