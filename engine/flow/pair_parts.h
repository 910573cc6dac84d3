/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_parts.h
 *
 * Shared by the files of the pairing (pair*.c) only.
 */
#ifndef NFSDIGEST_FLOW_PAIR_PARTS_H
#define NFSDIGEST_FLOW_PAIR_PARTS_H

#include "flow/pair.h"
#include "wire/body.h"

#include <netinet/in.h>

/* Returns the key of a message with |xid|. */
static inline struct call_key message_key(const struct flow *flow, uint8_t server, uint32_t xid)
{
    return call_key(flow->host[server], flow->host[!server], xid);
}

static inline struct captured message_text(const struct message *m)
{
    return (struct captured){ m->data, m->cap_len, m->wire_len };
}

static inline bool flow_same(const struct call *call, const struct flow *flow)
{
    return call->flow == flow->id || call->last_flow == flow->id;
}

/* Returns true if the connection with this record id has ended.  Only the latest PAIR_ENDS ids are
 * remembered; returns false for older ones. */
bool pair_is_over(const struct pair *p, uint32_t flow);

/* ns after which a waiting call may come again on another connection, though nothing says that its
 * own one has ended: that may have happened out of sight, and clients wait for a minute. */
#define PAIR_PATIENCE INT64_C(5000000000)

/* Returns true if |a| came after |b|.  The table of calls has no order that lasts; calls of one
 * frame have that of their operations. */
static inline bool call_after(const struct call *a, const struct call *b)
{
    return a->frame != b->frame ? a->frame > b->frame : a->operation > b->operation;
}

/* Returns true if nobody waits for |call| on its connection any more, as far as can be seen. */
static inline bool pair_was_left(const struct pair *p, const struct call *call)
{
    return pair_is_over(p, call->last_flow) ||
           (call->waiting && *p->clock - call->seen >= PAIR_PATIENCE);
}

/* Returns true if a message on |flow| may belong to |call|: the call went over this flow, or this
 * flow began after the call, and may have replaced the call's. */
static inline bool flow_fits(const struct pair *p, const struct call *call, const struct flow *flow)
{
    if (flow_same(call, flow))
        return true;
    if (flow->transport == IPPROTO_TCP && !pair_was_left(p, call))
        return false;
    if (flow->unsure && p->past)
        p->past->order_asked = true;
    return flow->birth > call->frame;
}

/* Writes down that something was taken for the first thing on a connection. */
static inline void pair_ask_flow(const struct pair *p, const struct flow *flow)
{
    if (!flow->id && flow->unsure && p->past && p->past->assumed)
        p->past->flow_asked = true;
}

/* Writes down that a call or reply with this XID was taken for one that no earlier call knows. */
int pair_ask(struct pair *p, const struct flow *flow, uint8_t server, uint32_t xid,
             struct err *err);

struct sighting pair_sighting(const struct message *m);
int pair_put(struct pair *p, const struct record_operation *op, struct err *err);
int pair_observe(struct pair *p, const struct engine_message *message, struct err *err);
int pair_tap(struct pair *p, const struct engine_tapped *tapped, struct err *err);
/* Puts the record of a repeated message.  |what| has operation, repeat, differs, and in the flags
 * of its sighting those found by reading the message. */
int pair_repeat(struct pair *p, const struct message *m, const struct record_repeat *what,
                struct err *err);
/* Reports a malformed message.  |at| is the place of the violation.  0 means that it is in the
 * header, so that not even the XID is known. */
int pair_malformed(struct pair *p, const struct message *m, uint32_t at, const char *text,
                   struct err *err);

/* Arguments or results to scan. */
struct pair_body {
    const struct type *type;
    const struct message *m;
    const struct rpc_header *h;
    struct sighting *sighting; /* receives the flags that the scan finds */
};

/* Scans a body into |scan|, and digests its file contents into |op|.  If the body is malformed,
 * marks the sighting and, unless |p| is NULL, puts a problem. */
int pair_scan(struct pair *p, const struct pair_body *body, struct scan *scan,
              struct record_operation *op, struct err *err);

/* Returns a digest of a call.  Calls with the same key and digest are the same call. */
uint64_t pair_call_digest(const struct message *m, const struct rpc_header *h,
                          const struct scan *scan, const struct record_operation *op);

/* Finds the earlier call that |new| repeats.  Returns CALL_NONE if there is none.  |crowded|
 * becomes the oldest call with this XID if there are SAME_XID_MAX of them. */
uint32_t pair_original(const struct pair *p, const struct call *new, const struct flow *flow,
                       uint32_t *crowded);

struct sending pair_sending(const struct message *m);
/* Decide if a message that equals an earlier one was sent again or is a copy, and note its
 * sending. */
enum repeat_kind pair_call_again(struct call *call, const struct message *m);
enum repeat_kind pair_reply_again(struct sending *before, const struct message *m);

/* Completes a call by its reply. */
int pair_answer(struct pair *p, uint32_t call, const struct message *m, struct err *err);
/* Completes a call by a held reply that was taken out of the list.  Frees the held reply. */
int pair_answer_held(struct pair *p, uint32_t call, struct held *held, struct err *err);

/* The relation of a reply to a call that was answered before. */
struct answered {
    uint32_t call;  /* CALL_NONE: there is no such call */
    bool same;      /* the reply equals the first one */
    uint32_t flags; /* SIGHTING_ bits of the reply, read as one of this call */
    uint32_t rank;  /* how well it fits */
};

/* Takes a further reply of an answered call.  |ticket| is that of a held reply, or 0. */
int pair_further(struct pair *p, const struct answered *as, uint64_t ticket,
                 const struct message *m, struct err *err);

/* Returns true if the reply reads as a result of this call. */
bool pair_reads_well(const struct call *call, const struct message *m);
/* Returns true if the reply of an answered call had the same bytes as |m|.  |flags| becomes the
 * SIGHTING_ bits of |m|. */
bool pair_same_reply(const struct call *call, const struct message *m, uint32_t *flags);

/* Finds the answered call that |m| may be a further reply of.  Prefers a call whose first reply was
 * the same. */
struct answered pair_answered(const struct pair *p, const struct message *m);
/* Finds the call over UDP that this reply answers from another address of the server.  Returns
 * CALL_NONE if there is none, or more than one. */
uint32_t pair_stray(const struct pair *p, const struct message *m);

int pair_reply(struct pair *p, const struct message *m, struct err *err);

/* Holds a copy of a reply whose call was not seen. */
int pair_hold(struct pair *p, const struct message *m, const struct call_key *key, struct err *err);

/* Returns true if |m|, a reply captured before its call, may belong to a call in |frame| at
 * |time|. */
bool pair_fits_before(const struct pair *p, const struct message *m, uint64_t frame, int64_t time);
/* Takes the held reply that belongs to this new call, sent at |time|, out of the list.  Returns
 * NULL if there is none. */
struct held *pair_held_take(struct pair *p, const struct call *call, int64_t time);
/* Takes the held replies that equal the one that was taken, as further replies of |call|. */
int pair_held_repeats(struct pair *p, uint32_t call, int64_t time, struct err *err);

/* Returns the operation of a reply without a call. */
struct record_operation pair_orphan(const struct message *m, uint64_t id, enum pairing label);

/* Drops the oldest held reply. */
void pair_held_drop(struct pair *p);

/* Takes the oldest held reply out of the list.  It becomes the answer of a waiting call, a further
 * reply, or an operation without a call. */
int pair_held_give_up(struct pair *p, struct err *err);

#endif
