/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/pipeline.h
 *
 * Calls of NFSv3 to one target, by uid 0, over several connections: many at a time (pipeline_send),
 * or one question with its answer (pipeline_ask).  They are not operations of the trace: the tree
 * is made, found and removed with them.
 *
 * Memory: what rpc_client.h says, for each connection; one answer.
 */
#ifndef NFSDIGEST_REPLAY_PIPELINE_H
#define NFSDIGEST_REPLAY_PIPELINE_H

#include "net/bound_call.h"
#include "player/target.h"
#include "wire/nfs3_structs.h"

/* RFC 1813 s3.3 */
enum nfs3_procedure {
    NFS3_GETATTR = 1,
    NFS3_SETATTR = 2,
    NFS3_LOOKUP = 3,
    NFS3_ACCESS = 4,
    NFS3_READLINK = 5,
    NFS3_READ = 6,
    NFS3_WRITE = 7,
    NFS3_CREATE = 8,
    NFS3_MKDIR = 9,
    NFS3_SYMLINK = 10,
    NFS3_MKNOD = 11,
    NFS3_REMOVE = 12,
    NFS3_RMDIR = 13,
    NFS3_LINK = 15,
    NFS3_READDIR = 16,
    NFS3_READDIRPLUS = 17,
    NFS3_FSSTAT = 18,
    NFS3_COMMIT = 21,
};

/* ns until a server that was busy (JUKEBOX) is asked again. */
#define PIPELINE_AGAIN INT64_C(200000000)

struct pipeline;

struct pipeline_setup {
    struct loop *loop;
    const struct target *target; /* must stay */
    uint32_t connections;        /* at least 1 */
    int64_t timeout;             /* ns for a call; 0: 60 s */
    /* There is room for calls again; or NULL. */
    int (*room)(void *ctx, struct err *err);
    void *ctx;
};

struct pipeline *pipeline_new(const struct pipeline_setup *setup, struct err *err);
void pipeline_free(struct pipeline *pipeline);

/* Starts |call|, a part of the owner's struct whose |done| is set.  |arguments|: the procedure's
 * struct.  Returns as bound_call does: RPC_CLIENT_FULL if no connection has room. */
int pipeline_send(struct pipeline *pipeline, struct bound_call *call, uint32_t procedure,
                  const void *arguments, struct err *err);

/* Asks, and runs the loop until the answer is there.  Returns the status of the result (0:
 * success), and reads it into |result|, the procedure's struct: what it points to lives until the
 * next question.  -ERR_SYSTEM: no answer, or a signal stopped the loop; -ERR_INPUT: an answer that
 * is none.  Nothing else may be under way. */
int pipeline_ask(struct pipeline *pipeline, uint32_t procedure, const void *arguments, void *result,
                 struct err *err);

/* "NFS3ERR_NOSPC", or "status 12345".  Returns |text|. */
const char *pipeline_status(uint32_t status, char text[32]);

#endif
