/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/mount_client.h
 *
 * Calls of MOUNT version 3 (RFC 1813 s5) and version 1 (RFC 1094 appendix A) over an RPC client
 * that is connected to the server's mountd.  Many servers answer MNT and UMNT only to privileged
 * ports (source_port.h).
 *
 * Memory: about 100 bytes for each outstanding call; while an answer is passed on, less than 8
 * times its length.
 */
#ifndef NFSDIGEST_NET_MOUNT_CLIENT_H
#define NFSDIGEST_NET_MOUNT_CLIENT_H

#include "net/rpc_client.h"

/* Their numbers are the procedures'. */
enum mount_procedure {
    MOUNT_NULL = 0,
    MOUNT_MNT = 1,
    MOUNT_DUMP = 2,
    MOUNT_UMNT = 3,
    MOUNT_UMNTALL = 4,
    MOUNT_EXPORT = 5,
};

struct mount_question {
    uint32_t version; /* 1 or 3 */
    enum mount_procedure procedure;
    struct bytes path; /* of MNT and UMNT */
    const struct rpc_auth *credential;
};

struct mount_export {
    struct bytes path;
    const struct bytes *groups; /* who may mount it, in the server's words; none: everyone */
    uint32_t group_count;
};

struct mount_entry {
    struct bytes host, path;
};

enum { MOUNT_FLAVORS_MAX = 64 };

struct mount_answer {
    const char *problem; /* NULL: success; else only |status| below may be set */
    uint32_t status;     /* status of MNT, if it was answered */
    struct bytes handle; /* MNT */
    const uint32_t *flavors;
    uint32_t flavor_count; /* version 1 has none */
    const struct mount_export *exports;
    uint32_t export_count;
    const struct mount_entry *entries; /* DUMP */
    uint32_t entry_count;
};

/* Takes the answer.  Its pointers are valid until the function returns. */
typedef int mount_done(void *ctx, const struct mount_answer *answer, struct err *err);

/* Starts a call.  Returns 0, and later calls |done| once; RPC_CLIENT_FULL; or a negative code:
 * -ERR_USAGE for an invalid version or path. */
int mount_call(struct rpc_client *client, const struct mount_question *question, mount_done *done,
               void *ctx, struct err *err);

#endif
