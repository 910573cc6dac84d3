/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/rpc.h
 *
 * The RPC header of a call or reply (RFC 5531 s9), with AUTH_NONE, AUTH_SYS, AUTH_SHORT and
 * RPCSEC_GSS (RFC 2203) credentials.  All pointers lead into the message.
 */
#ifndef NFSDIGEST_WIRE_RPC_H
#define NFSDIGEST_WIRE_RPC_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdbool.h>

#define RPC_LAST_FRAGMENT UINT32_C(0x80000000) /* in a record's last mark, RFC 5531 s11 */

enum { RPC_CALL = 0, RPC_REPLY = 1 };
enum { RPC_AUTH_NONE = 0, RPC_AUTH_SYS = 1, RPC_AUTH_SHORT = 2, RPC_AUTH_DH = 3, RPC_GSS = 6 };
enum { RPC_GIDS_MAX = 16, RPC_AUTH_BODY_MAX = 400 };

/* Combines reply_stat with accept_stat or reject_stat.  The record stream calls it rpc_status. */
enum rpc_status {
    RPC_SUCCESS = 0,
    RPC_PROG_UNAVAIL = 1,
    RPC_PROG_MISMATCH = 2,
    RPC_PROC_UNAVAIL = 3,
    RPC_GARBAGE_ARGS = 4,
    RPC_SYSTEM_ERR = 5,
    RPC_MISMATCH = 16,   /* rejected: RPC version */
    RPC_AUTH_ERROR = 17, /* rejected: credentials */
};

struct rpc_auth {
    uint32_t flavor;
    struct bytes body; /* at most RPC_AUTH_BODY_MAX */
    uint32_t offset;   /* of the body in the message */
    bool valid; /* the body has the form that its flavor asks for, to its last byte; false for
                 * flavors not named above. What follows is 0 unless it is set. */
    /* AUTH_SYS: */
    uint32_t stamp;
    struct bytes machine;
    uint32_t uid, gid, gid_count;
    /* RPCSEC_GSS, in credentials: */
    uint32_t gss_version, gss_procedure, gss_sequence, gss_service;
    struct bytes gss_context;
    uint32_t gids[RPC_GIDS_MAX]; /* AUTH_SYS; set up to |gid_count| only */
};

struct rpc_header {
    uint32_t xid;
    uint32_t direction; /* RPC_CALL or RPC_REPLY */
    /* call: */
    uint32_t rpc_version, program, version, procedure;
    struct rpc_auth credential;
    struct rpc_auth verifier; /* both directions */
    /* reply: */
    uint32_t status;     /* enum rpc_status */
    uint32_t detail[2];  /* mismatch: low and high; auth error: auth_stat */
    uint32_t body;       /* offset of arguments or results in the message */
    uint32_t body_len;   /* their wire length: to the message's end, or of the wrapped body */
    bool body_protected; /* RPCSEC_GSS: the body is not in clear, or is not the procedure's */
};

enum rpc_result {
    RPC_OK = 0,
    RPC_NOT = 1,       /* not an RPC message: the first violation is at |body| */
    RPC_TRUNCATED = 2, /* so far it is one; |xid| and |direction| are valid if 8 bytes were there,
                        * program, version and procedure if |body| >= 24 says that they were */
};

/* Reads the header of the |cap_len| captured bytes of a message |wire_len| long; |out| is
 * overwritten.  Returns RPC_NOT for a message type, reply state or accept state that does not
 * exist, another RPC version than 2 in a call, an authenticator above 400 bytes, or a message that
 * ends within its header.  Does not judge programs and procedures.  If the result is not RPC_OK,
 * |out->body| is the offset where the reading stopped.
 *
 * RPCSEC_GSS: the call decides if the body of its reply is in clear; see rpc_reply_in_clear.  For
 * calls with gss_service integrity the body is the databody inside its wrapping, still in clear:
 * |body| points behind the wrapping's length and sequence number (RFC 2203 s5.3.2.2).
 * |body_protected| is set for privacy, for the calls that set up and destroy contexts (their
 * procedure is NULL, but their body is RPCSEC_GSS's), for a credential that could not be read, and
 * if less than the first 8 bytes of a wrapping were captured. */
enum rpc_result rpc_parse(const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
                          struct rpc_header *out);

/* Moves the body of |reply| behind the integrity wrapping, or marks it protected, according to
 * the credential of its call.  Call it once.  It changes nothing for other flavors than RPCSEC_GSS
 * and for replies without results. */
void rpc_reply_in_clear(const uint8_t *data, uint32_t cap_len, const struct rpc_auth *call,
                        struct rpc_header *reply);

/* Returns "PROG_MISMATCH", "AUTH_ERROR", ..., or NULL if there is no such status. */
const char *rpc_status_name(uint32_t status);

#endif
