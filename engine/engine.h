/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine.h
 *
 * Frames in, records out: link -> TCP and UDP -> RPC messages -> paired operations, objects, paths.
 * Both doors (libwireshark and libpcap) feed this and nothing else.  The same frames give the
 * same records.
 *
 * Memory: bounded by the options, except for objects, names and paths, which stay.
 */
#ifndef NFSDIGEST_ENGINE_H
#define NFSDIGEST_ENGINE_H

#include "base/bytes.h"
#include "link/frame.h"
#include "link/unopened.h"
#include "record/record.h"

struct engine;
struct flow_over;
struct message;
struct procedure;
struct rpc_auth;
struct same_servers;

/* All zeros: the defaults. */
struct engine_options {
    uint32_t stream_window;  /* out-of-order bytes a direction; default 8 MiB */
    uint32_t total_window;   /* of all streams; default 48 MiB */
    uint32_t connections;    /* at once; default 16384, least recently used evicted */
    uint32_t pending;        /* calls waiting for replies; default 65536 */
    int64_t retransmit_span; /* ns since the last sighting in which equal calls are one operation;
                              * default 900 s */
    int64_t reorder_span;    /* ns by which a reply may precede its call; default: see pair.h */
    const uint16_t *ports;   /* further ports that carry RPC, or NULL */
    uint32_t port_count;
    const struct same_servers *same; /* further addresses of servers (flow/host.h), or NULL */
    bool messages_only; /* for a tap alone: no objects, names and paths are kept, and operations
                         * know nothing of them */
};

/* One message, at the moment it is known, for who shows packets. |operation| is filled as far as is
 * known now: the call's part at a call, all of it at a reply. */
struct engine_message {
    const struct record_operation *operation;
    const struct sighting *sighting; /* of this message */
    bool is_reply;
    uint8_t repeat; /* enum repeat_kind, or 0 */
};

struct engine_observer {
    int (*message)(void *ctx, const struct engine_message *message, struct err *err);
    void *ctx;
};

enum tap_event {
    TAP_MESSAGE,
    TAP_HELD,   /* a reply whose call is not known yet: it comes again, with the same |ticket| */
    TAP_UNREAD, /* bytes in the place of a message that are none; nothing else is set */
    TAP_OVER,   /* a TCP connection has ended, as |over| says; nothing else is set */
};

/* A message as it was captured, for who makes it anew.  In the order of the capture, but for
 * replies that were held. */
struct engine_tapped {
    uint8_t event;   /* enum tap_event */
    uint64_t ticket; /* of a reply that was held; else 0 */
    const struct message *message;
    const struct procedure *procedure; /* of the call; NULL: the body cannot be read */
    const struct rpc_auth *credential; /* of a reply's call, for rpc_reply_in_clear; or NULL */
    const struct flow_over *over;      /* of TAP_OVER */
};

/* |sink| is copied; |observer| may be NULL. */
struct engine *engine_new(const struct engine_options *options, const struct sink *sink,
                          const struct engine_observer *observer, struct err *err);

/* To be called before the first frame. */
typedef int engine_tap(void *ctx, const struct engine_tapped *tapped, struct err *err);
void engine_set_tap(struct engine *engine, engine_tap *tap, void *ctx);

void engine_free(struct engine *engine);

/* Times may go backwards by any amount; frame numbers must grow. */
int engine_frame(struct engine *engine, const struct frame *frame, struct err *err);

/* The second way of feeding: every frame to engine_frame_seen (counts, and finds datagrams with
 * lost fragments), and what another decoder found behind IP headers to engine_payload, in the order
 * of frames. */
int engine_frame_seen(struct engine *engine, const struct frame *frame, struct err *err);
int engine_payload(struct engine *engine, const struct frame *frame,
                   const struct ip_payload *payload, struct err *err);

/* The encapsulations that were met so far and are not opened here.  With engine_frame_seen another
 * decoder opens what it can, so there are none to report. */
void engine_unopened(const struct engine *engine, struct unopened *unopened);

/* End of the capture: everything that still waits is given up and labelled, counters and the end
 * record are put.  |input_cut|: the capture ended in the middle of a packet. */
int engine_end(struct engine *engine, bool input_cut, struct err *err);

/* A capture in several files: instead of engine_end, engine_pause puts counters and the end record
 * for this file, but keeps what waits.  Frame numbers go on growing over the next file: the caller
 * adds the frames of the files before, and takes them off again in its sink. */
int engine_pause(struct engine *engine, bool input_cut, struct err *err);

/* What waits, as bytes for engine_restore in another process (same options and sink); objects,
 * paths and names are not in it: give them back with engine_learn first (RECORD_OBJECT,
 * RECORD_PATH, RECORD_NAME, RECORD_FLOW and RECORD_CREDENTIAL, in the order in which they came). */
int engine_save(const struct engine *engine, struct buf *out, struct err *err);
int engine_restore(struct engine *engine, const uint8_t *data, size_t len, struct err *err);
int engine_learn(struct engine *engine, const struct record *record, struct err *err);

#endif
