/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_parts.h
 *
 * What the files of the pairing (pair.c, pair_reply.c, pair_state.c) share, and nobody else.
 */
#ifndef NFSDIGEST_FLOW_PAIR_PARTS_H
#define NFSDIGEST_FLOW_PAIR_PARTS_H

#include "flow/pair.h"

/* The two hosts of a message, as server and client. */
struct ends {
    uint32_t server, client;
    uint64_t hash;
};

static inline struct ends message_ends(const struct flow *flow, uint8_t server, uint32_t xid)
{
    struct ends e = { .server = flow->host[server], .client = flow->host[!server] };

    e.hash = call_hash(e.server, e.client, xid);
    return e;
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

struct sighting pair_sighting(const struct message *m);
int pair_put(struct pair *p, const struct record_operation *op, struct err *err);
int pair_observe(struct pair *p, const struct record_operation *op, const struct sighting *sighting,
                 bool is_reply, uint8_t repeat, struct err *err);
int pair_tap(struct pair *p, enum tap_event event, uint64_t ticket, const struct message *m,
             const struct procedure *procedure, const struct rpc_auth *credential, struct err *err);
/* |flags|: SIGHTING_ bits that reading the message gave. */
int pair_repeat(struct pair *p, uint64_t operation, const struct message *m, uint32_t flags,
                uint8_t repeat, bool differs, struct err *err);
int pair_malformed(struct pair *p, const struct message *m, uint32_t xid, uint32_t at,
                   const char *text, struct err *err);

/* A scan of a body, with contents digested into |op|. Puts a problem if it is malformed, unless |p|
 * is NULL, and marks |sighting|. */
int pair_scan(struct pair *p, struct scan *scan, const struct type *type, const struct message *m,
              uint32_t body, uint32_t body_len, const struct scan_host *host,
              struct record_operation *op, struct sighting *sighting, struct err *err);

/* A held reply that belongs to this new call, taken out of the list (the caller frees it); NULL:
 * none. */
struct held *pair_held_take(struct pair *p, const struct call *call);

/* Completes a call by its reply. */
int pair_answer(struct pair *p, uint32_t call, const struct message *m, struct err *err);

int pair_reply(struct pair *p, const struct message *m, struct err *err);

/* The operation of a reply without a call. */
struct record_operation pair_orphan(const struct message *m, uint64_t id, enum pairing label);

/* Takes the oldest held reply out: a further reply, or an operation without a call. */
int pair_held_give_up(struct pair *p, struct err *err);

#endif
