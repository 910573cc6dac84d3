/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine.h
 *
 * Takes frames and gives records: link -> TCP and UDP -> RPC messages -> paired operations,
 * objects, paths.  Both doors (libwireshark and libpcap) feed only this.  The same frames give the
 * same records.
 *
 * Memory: bounded by the options, except for objects, names and paths.  These are kept.
 */
#ifndef NFSDIGEST_ENGINE_H
#define NFSDIGEST_ENGINE_H

#include "flow/options.h"
#include "flow/outline.h"
#include "flow/tap.h"
#include "link/unopened.h"

struct engine;

/* Makes an engine.  Copies |sink|.  |observer| may be NULL. */
struct engine *engine_new(const struct engine_options *options, const struct sink *sink,
                          const struct engine_observer *observer, struct err *err);

/* Sets the tap.  Call it before the first frame. */
void engine_set_tap(struct engine *engine, engine_tap *tap, void *ctx);

void engine_free(struct engine *engine);

/* Takes a frame.  Times may go backwards by any amount; frame numbers must grow. */
int engine_frame(struct engine *engine, const struct frame *frame, struct err *err);

/* The second way of feeding, for payloads that another decoder found behind IP headers.  Give every
 * frame to engine_frame_seen, which counts and finds datagrams with lost fragments.  Give the
 * payloads to engine_payload, in the order of frames. */
int engine_frame_seen(struct engine *engine, const struct frame *frame, struct err *err);
int engine_payload(struct engine *engine, const struct frame *frame,
                   const struct ip_payload *payload, struct err *err);

/* The third way of feeding, for programs that are one end of the connection: takes a whole message.
 * Do not mix it with the other ways. */
int engine_message(struct engine *engine, const struct whole_message *message, struct err *err);

/* The fourth way of feeding, for programs that sit between the ends: takes the next bytes of one
 * direction of a connection, in pieces of any size, or a datagram.  All are taken for RPC.  Do not
 * mix it with the other ways. */
int engine_sent(struct engine *engine, const struct sent *sent, struct err *err);

/* Lists the encapsulations that were met so far and that the engine does not open.  The list is
 * empty with engine_frame_seen, because there another decoder opens them. */
void engine_unopened(const struct engine *engine, struct unopened *unopened);

/* Ends the capture: gives up and labels everything that still waits, and puts the counters and the
 * end record.  |input_cut|: the capture ended in the middle of a packet. */
int engine_end(struct engine *engine, bool input_cut, struct err *err);

/* Ends one file of a capture in several files: puts the counters and the end record for this file,
 * but keeps what waits.  Frame numbers must go on growing in the next file: the caller adds the
 * number of frames of earlier files, and subtracts it again in its sink. */
int engine_pause(struct engine *engine, bool input_cut, struct err *err);

/* Saves what waits, as bytes for engine_restore in another process (same options and sink).  The
 * bytes do not contain objects, paths and names: give these back with engine_learn first
 * (RECORD_OBJECT, RECORD_PATH, RECORD_NAME, RECORD_FLOW and RECORD_CREDENTIAL, in the order in
 * which they came). */
int engine_save(const struct engine *engine, struct buf *out, struct err *err);
int engine_restore(struct engine *engine, const uint8_t *data, size_t len, struct err *err);
int engine_learn(struct engine *engine, const struct record *record, struct err *err);

/* Returns the object that |name| in the directory is known to stand for after the last record, by
 * the ids of records; 0: it is not known. */
uint64_t engine_named(const struct engine *engine, uint64_t directory, struct bytes name);

/* The handle of an object, by the id of records; empty: there is none with this id.  Valid until
 * the next record of an object. */
struct bytes engine_handle(const struct engine *engine, uint64_t object);

/* Where handles and names in the engine's records lie, some of them: with |small_objects|, all of
 * handles of more than 4 bytes, and of names.  They stay as long as the engine. */
struct texts;
const struct texts *engine_texts(const struct engine *engine);

/* The largest ids given so far. */
struct engine_ids {
    uint64_t operation;
    uint32_t flow;
};
struct engine_ids engine_ids(const struct engine *engine);

/* Pieces of a capture.  An engine with options.middle begins a little before its piece; the caller
 * drops the records up to the border, but for those that engine_learn takes.  engine_border is
 * called when the last frame before the piece was taken.  It gives the outline of what is known
 * there, and begins the totals anew.  Events of connections begin anew, too. */
int engine_border(struct engine *engine, struct outline *outline, struct err *err);

/* Instead of a lead-in: everything from before the border was restored. */
void engine_continue(struct engine *engine);

/* Gives the outline of what is known after the last frame.  |outline| is all zeros. */
int engine_outline(const struct engine *engine, struct outline *outline, struct err *err);

/* What the engine has asked since engine_border. */
const struct past *engine_past(const struct engine *engine);
struct outline_limits engine_limits(const struct engine *engine);

#endif
