/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/pairs.h
 *
 * What the packet tree shows: the messages of each frame, their operations, and the texts of paths.
 * Frames are added once, in order.  After that they can be looked up in any order, as often as
 * needed.  Knows nothing of Wireshark.
 *
 * A message shows what was known when it was complete, so it is the same in the first pass and
 * later.  Only |reply_frame|, |latency| and |pairing| of an operation are set later, with its reply
 * or its loss.
 *
 * Memory: about 70 bytes for each operation and 48 for each message, besides the engine's own.
 */
#ifndef NFSDIGEST_NFSPAIR_PAIRS_H
#define NFSDIGEST_NFSPAIR_PAIRS_H

#include "engine.h"
#include "wire/field.h"

#define PAIRS_NO_LATENCY INT64_MIN
#define PAIRS_WAITING UINT8_MAX

struct pair_operation {
    uint32_t xid, program, version, procedure;
    uint64_t offset, count; /* byte range, with |has_offset| and |has_count| */
    int64_t call_time;      /* ns; only with |call_frame| */
    int64_t latency;        /* ns, or PAIRS_NO_LATENCY */
    uint32_t call_frame;    /* 0: not captured */
    uint32_t reply_frame;   /* 0: not captured, or not yet */
    uint32_t depends_on;    /* operation, or 0 */
    uint8_t pairing;        /* enum pairing, or PAIRS_WAITING */
    bool has_offset, has_count;
};

struct pair_message {
    uint32_t operation;
    uint32_t next; /* of the same frame, plus one; 0: none */
    uint32_t object, object2, new_object, path, path2;
    int64_t status; /* STATUS_NONE in calls */
    int32_t rpc_status;
    uint16_t sighting; /* SIGHTING_ bits */
    uint8_t object_type;
    uint8_t repeat; /* enum repeat_kind, or 0 */
    bool is_reply;
    bool differs; /* a copy that is not the same bytes as the first; its result is not known */
};

struct pairs;

struct pairs *pairs_new(const struct engine_options *options, struct err *err);
void pairs_free(struct pairs *pairs);

/* Numbers grow, with one exception: with a read filter, Wireshark gives the number of a frame that
 * it drops to the next one.  Such a frame still counts, but is not shown. */
int pairs_frame(struct pairs *pairs, const struct frame *frame, struct err *err);
/* How many there were. */
uint32_t pairs_count(const struct pairs *pairs);
/* The capture is over: calls that still wait will get no reply. Further frames are ignored. */
int pairs_end(struct pairs *pairs, struct err *err);

/* The messages that are complete with this frame; NULL: no (further) one. */
const struct pair_message *pairs_first(const struct pairs *pairs, uint32_t frame);
const struct pair_message *pairs_next(const struct pairs *pairs, const struct pair_message *m);

/* The number under which Wireshark shows a frame of an operation; 0: not at all. */
uint32_t pairs_shown(const struct pairs *pairs, uint32_t frame);

/* The other way round: which frame of the capture, counted with those that were thrown away, is
 * shown under |number|; 0: none. */
uint32_t pairs_fed(const struct pairs *pairs, uint32_t number);

/* NULL: no such operation. */
const struct pair_operation *pairs_operation(const struct pairs *pairs, uint32_t id);

/* The path's text, the same as in the database (base/escape.h), to be freed; NULL: out of memory.
 * |*partial|: the path begins at an object whose own path is not known. */
char *pairs_path(const struct pairs *pairs, uint32_t path, bool *partial);

#endif
