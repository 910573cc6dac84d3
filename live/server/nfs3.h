/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3.h
 *
 * Answers to NFSv3's procedures (RFC 1813 s3.3): from arguments to results, by the tables.
 */
#ifndef NFSDIGEST_SERVER_NFS3_H
#define NFSDIGEST_SERVER_NFS3_H

#include "net/fault.h"
#include "server/service.h"
#include "wire/xdr_put.h"

struct nfs3_call {
    uint32_t procedure;
    const struct rpc_auth *credential;
    struct bytes arguments;
    uint32_t transfer_max; /* bytes of data that the transport carries in one message */
    const struct fault_effects *effects; /* faults to put into the answer; NULL: none */
};

/* Executes a call and appends its results to |to|.  Returns RPC_SUCCESS, or without results
 * RPC_PROC_UNAVAIL, RPC_GARBAGE_ARGS, or RPC_SYSTEM_ERR (no memory for the reply). */
enum rpc_status nfs3_answer(struct service *service, const struct nfs3_call *call,
                            struct xdr_put *to, struct outcome *outcome);

#endif
