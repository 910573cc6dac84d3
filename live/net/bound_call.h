/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/bound_call.h
 *
 * A call with a C struct as arguments (wire/bind.h).  Its answer is checked first: the caller gets
 * a body that the procedure's table accepts, or a sentence that says why there is none.
 */
#ifndef NFSDIGEST_NET_BOUND_CALL_H
#define NFSDIGEST_NET_BOUND_CALL_H

#include "net/rpc_client.h"
#include "wire/bindings.h"
#include "wire/field.h"

enum { BOUND_CALL_TEXT = 256 };

struct bound_answer {
    const struct rpc_answer *rpc;
    struct bytes body;   /* a complete result according to the table; */
    const char *problem; /* or why not: "MOUNT MNT: no answer" */
};

/* Part of the owner's struct; from bound_call until |done| is called. */
struct bound_call {
    int (*done)(struct bound_call *call, const struct bound_answer *answer, struct err *err);
    uint32_t program, version, procedure;
    const struct rpc_auth *credential; /* NULL: AUTH_NONE; lives until bound_call returns */
    struct bytes tail; /* of the arguments' last opaque<>, which is empty in their struct: contents
                        * that are too long to be copied (rpc_client_end_with); or nothing */
    const struct procedure *table; /* set by bound_call, */
    uint32_t xid;                  /* too */
};

/* Starts a call.  |binding| is the procedure's, |arguments| its struct, or NULL for void.  Returns
 * 0, RPC_CLIENT_FULL, -ERR_USAGE for arguments that cannot be sent, or an error of rpc_client_end.
 * |done| is called only after 0. */
int bound_call(struct rpc_client *client, struct bound_call *call,
               const struct wire_binding *binding, const void *arguments, struct err *err);

/* Writes the sentence for a status of the result, "MOUNT MNT: MNT3ERR_ACCES". */
void bound_call_status(const struct bound_call *call, uint32_t status, char text[BOUND_CALL_TEXT]);

#endif
