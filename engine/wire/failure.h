/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/failure.h
 *
 * Which operations count as errors, for all programs that count them: those with an error of RPC,
 * or with a status of their procedure that is not OK.  One status is neither: a lock that is
 * BLOCKED was not refused; the server grants it later (X/Open NLM, LCK_BLOCKED, NLM4_BLOCKED).  SQL
 * has the same in postproc/store/failure.h, Python in nfsdigest/summary.py.
 */
#ifndef NFSDIGEST_WIRE_FAILURE_H
#define NFSDIGEST_WIRE_FAILURE_H

#include "wire/nfs3_numbers.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers, not an enum: they become a part of SQL. */
#define FAILURE_EXCEPT_PROGRAM 100021
#define FAILURE_EXCEPT_STATUS 3

/* Statuses below 0: none, or no reply. */
static inline bool failure_is(int64_t program, int64_t rpc_status, int64_t status)
{
    return rpc_status > 0 ||
           (status > 0 && !(program == FAILURE_EXCEPT_PROGRAM && status == FAILURE_EXCEPT_STATUS));
}

/* The server could not do what it was asked, whatever that was: an error of RPC, NFS3ERR_IO,
 * NFS3ERR_NXIO or NFS3ERR_SERVERFAULT (RFC 1813 s2.6; MOUNT has the same numbers, NLM has not). */
static inline bool failure_of_server(int64_t program, int64_t rpc_status, int64_t status)
{
    return rpc_status > 0 ||
           (program != NLM_PROGRAM &&
            (status == NFS3ERR_IO || status == NFS3ERR_NXIO || status == NFS3ERR_SERVERFAULT));
}

#endif
