/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/pairs.h
 *
 * Data for the packet tree: the messages of each frame, their operations, and the texts of paths.
 * Frames are added once, in order.  After that they can be looked up in any order, as often as
 * needed.  This file does not use Wireshark.
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
    uint32_t next; /* next message of the same frame, plus one; 0: none */
    uint32_t object, object2, new_object, path, path2;
    int64_t status; /* STATUS_NONE in calls */
    int32_t rpc_status;
    uint16_t sighting; /* SIGHTING_ bits */
    uint8_t object_type;
    uint8_t repeat; /* enum repeat_kind, or 0 */
    bool is_reply;
    bool differs; /* a copy whose bytes differ from the first; its result is not known */
};

struct pairs;

/* |judge|: also find what breaks RFC 1813 (judged.h). */
struct pairs *pairs_new(const struct engine_options *options, bool judge, struct err *err);
void pairs_free(struct pairs *pairs);

/* Adds a frame.  Numbers grow, with one exception: with a read filter, Wireshark gives the number
 * of a dropped frame to the next one.  The dropped frame still counts, but is not shown. */
int pairs_frame(struct pairs *pairs, const struct frame *frame, struct err *err);
/* Returns the number of frames. */
uint32_t pairs_count(const struct pairs *pairs);
/* Ends the capture: calls that still wait will get no reply.  Further frames are ignored. */
int pairs_end(struct pairs *pairs, struct err *err);

/* Return the first and the next message that is complete with this frame, or NULL. */
const struct pair_message *pairs_first(const struct pairs *pairs, uint32_t frame);
const struct pair_message *pairs_next(const struct pairs *pairs, const struct pair_message *m);

/* Returns what breaks RFC 1813, or NULL. */
const struct judged *pairs_judged(const struct pairs *pairs);

/* Returns the number that Wireshark shows for a frame of an operation; 0: it is not shown. */
uint32_t pairs_shown(const struct pairs *pairs, uint32_t frame);

/* Returns the frame of the capture that is shown as |number|, counted with the dropped ones; 0:
 * none. */
uint32_t pairs_fed(const struct pairs *pairs, uint32_t number);

/* Returns an operation, or NULL if there is none with this id. */
const struct pair_operation *pairs_operation(const struct pairs *pairs, uint32_t id);

/* Returns the path's text as in the database (base/escape.h); the caller frees it.  NULL: no
 * memory.  |*partial|: true if the path begins at an object whose own path is not known. */
char *pairs_path(const struct pairs *pairs, uint32_t path, bool *partial);

#endif
