/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_parts.h
 *
 * Shared by the files of the pairing (pair*.c) only.
 */
#ifndef NFSDIGEST_FLOW_PAIR_PARTS_H
#define NFSDIGEST_FLOW_PAIR_PARTS_H

#include "flow/pair.h"
#include "wire/body.h"

/* The key of a message with |xid|. */
static inline struct call_key message_key(const struct flow *flow, uint8_t server, uint32_t xid)
{
    return call_key(flow->host[server], flow->host[!server], xid);
}

static inline struct captured message_text(const struct message *m)
{
    return (struct captured){ m->data, m->cap_len, m->wire_len };
}

/* Whether a message on |flow| may belong to a call: it went over this flow, or over one that this
 * one may have come after. */
static inline bool flow_fits(const struct call *call, const struct flow *flow)
{
    return call->flow == flow->id || call->last_flow == flow->id || flow->birth > call->frame;
}

static inline bool flow_same(const struct call *call, const struct flow *flow)
{
    return call->flow == flow->id || call->last_flow == flow->id;
}

/* Whether a connection has ended, by the number of its record; of older ones nobody knows. */
bool pair_is_over(const struct pair *p, uint32_t flow);
struct sighting pair_sighting(const struct message *m);
int pair_put(struct pair *p, const struct record_operation *op, struct err *err);
int pair_observe(struct pair *p, const struct engine_message *message, struct err *err);
int pair_tap(struct pair *p, const struct engine_tapped *tapped, struct err *err);
/* |what|: operation, repeat, differs, and as flags of the sighting those that reading the message
 * gave. */
int pair_repeat(struct pair *p, const struct message *m, const struct record_repeat *what,
                struct err *err);
/* |at|: where the violation stands; 0: in the header, so that not even the XID is known. */
int pair_malformed(struct pair *p, const struct message *m, uint32_t at, const char *text,
                   struct err *err);

/* Arguments or results that are to be scanned. */
struct pair_body {
    const struct type *type;
    const struct message *m;
    const struct rpc_header *h;
    struct sighting *sighting; /* gets what is found */
};

/* A scan of a body, with contents digested into |op|. Puts a problem if it is malformed, unless |p|
 * is NULL, and marks the sighting. */
int pair_scan(struct pair *p, const struct pair_body *body, struct scan *scan,
              struct record_operation *op, struct err *err);

/* What makes a call the same as an earlier one. */
uint64_t pair_call_digest(const struct message *m, const struct rpc_header *h,
                          const struct scan *scan, const struct record_operation *op);

/* The same call seen before, or CALL_NONE.  |crowded| gets the oldest of this XID if there are as
 * many as may be. */
uint32_t pair_original(const struct pair *p, const struct call *new, const struct flow *flow,
                       uint32_t *crowded);

/* What a message is that says the same as an earlier one: sent again, or a copy.  Notes the
 * sending. */
struct sending pair_sending(const struct message *m);
enum repeat_kind pair_call_again(struct call *call, const struct message *m);
enum repeat_kind pair_reply_again(struct sending *before, const struct message *m);

/* Completes a call by its reply. */
int pair_answer(struct pair *p, uint32_t call, const struct message *m, struct err *err);
/* The same by a held reply that was taken out of the list, which is freed. */
int pair_answer_held(struct pair *p, uint32_t call, struct held *held, struct err *err);

/* What a reply is to a call that was answered before. */
struct answered {
    uint32_t call;  /* CALL_NONE: to none */
    bool same;      /* as the first reply */
    uint32_t flags; /* SIGHTING_ bits of what it is then */
    uint32_t rank;  /* how well it fits */
};

/* A further reply of an answered call; |ticket|: of a held one, else 0. */
int pair_further(struct pair *p, const struct answered *as, uint64_t ticket,
                 const struct message *m, struct err *err);

/* Whether the reply reads as a result of this call. */
bool pair_reads_well(const struct call *call, const struct message *m);
/* Whether an answered call's reply was these bytes. |flags|: SIGHTING_ bits of what they are. */
bool pair_same_reply(const struct call *call, const struct message *m, uint32_t *flags);

/* The answered call of which this may be a further reply, rather one whose reply was the same. */
struct answered pair_answered(const struct pair *p, const struct message *m);
/* The call over UDP to another address of the server that this reply answers, or CALL_NONE. */
uint32_t pair_stray(const struct pair *p, const struct message *m);

int pair_reply(struct pair *p, const struct message *m, struct err *err);

/* Keeps a copy of a reply whose call was not seen. */
int pair_hold(struct pair *p, const struct message *m, const struct call_key *key, struct err *err);

/* Whether a reply that was captured before its call may belong to one in |frame| at |time|. */
bool pair_fits_before(const struct pair *p, const struct message *m, uint64_t frame, int64_t time);
/* A held reply that belongs to this new call, sent at |time|, taken out of the list; NULL: none. */
struct held *pair_held_take(struct pair *p, const struct call *call, int64_t time);
/* Those that say the same as the one that was taken. */
int pair_held_repeats(struct pair *p, uint32_t call, int64_t time, struct err *err);

/* The operation of a reply without a call. */
struct record_operation pair_orphan(const struct message *m, uint64_t id, enum pairing label);

/* Takes the oldest held reply out: it answers a call after all, or is a further reply, or an
 * operation without a call. */
int pair_held_give_up(struct pair *p, struct err *err);

#endif
