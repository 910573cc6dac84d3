/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/rpc_put.h
 *
 * Writes RPC headers (RFC 5531 s9) and record marks (s11).  rpc_parse reads what rpc_put_header
 * writes to the same values.  For memory and problems see xdr_put.h.
 */
#ifndef NFSDIGEST_WIRE_RPC_PUT_H
#define NFSDIGEST_WIRE_RPC_PUT_H

#include "wire/xdr_put.h"
#include "wire/rpc.h"

enum { RPC_RECORD_MAX = 0x7fffffff }; /* bytes of a fragment, RFC 5531 s11 */

/* Writes an authenticator.  AUTH_SYS and RPCSEC_GSS credentials that are |valid| are made of their
 * parts.  All others are |body| as it is.  Fails with XDR_PUT_BAD for a body above 400 bytes, a
 * machine name above 255 bytes, or more than 16 groups. */
void rpc_put_auth(struct xdr_put *p, const struct rpc_auth *auth);

/* Writes the whole header before arguments or results.  For a call it uses |xid|, |rpc_version|,
 * |program|, |version|, |procedure|, |credential| and |verifier|.  For a reply it uses |xid|,
 * |status|, |verifier| if it is accepted, and |detail|.  Fails with XDR_PUT_BAD if there is no such
 * direction or status. */
void rpc_put_header(struct xdr_put *p, const struct rpc_header *h);

/* Write parts of the header, for callers that write their own authenticators.  rpc_put_target
 * writes the four numbers of a call that follow XID and direction.  rpc_put_reply_state writes
 * everything that follows them in a reply, including |verifier|. */
void rpc_put_target(struct xdr_put *p, const struct rpc_header *h);
void rpc_put_reply_state(struct xdr_put *p, const struct rpc_header *h,
                         const struct rpc_auth *verifier);

/* Write a message over TCP as one fragment.  begin leaves room for the mark, end writes it.  Fails
 * with XDR_PUT_TOO_LONG above RPC_RECORD_MAX. */
size_t rpc_put_record_begin(struct xdr_put *p);
void rpc_put_record_end(struct xdr_put *p, size_t begun);

#endif
