/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/ask_server.h
 *
 * One question at a time to a server, before anything else runs on the loop.
 */
#ifndef NFSDIGEST_TEE_ASK_SERVER_H
#define NFSDIGEST_TEE_ASK_SERVER_H

#include "net/bound_call.h"
#include "player/target.h"
#include "wire/nfs3_structs.h"

struct asking {
    struct loop *loop;
    const struct target *target;
    struct rpc_client *client;
    struct bound_call call;
    bool answered;
    char problem[BOUND_CALL_TEXT];
    uint32_t status;
    struct buf body; /* of the last answer */
};

int asking_open(struct asking *a, struct loop *loop, const struct target *target, struct err *err);
void asking_close(struct asking *a);

/* Asks, and runs the loop until it is answered: |a|->status, and |a|->body for asking_read. */
int asking_ask(struct asking *a, uint32_t procedure, const void *arguments, struct err *err);
/* Reads the body into |result|, a struct of the procedure, whose bytes live until the next
 * question. */
void asking_read(const struct asking *a, void *result);

struct asked_file {
    uint8_t handle[64];
    uint32_t handle_len;
    struct fattr3 attributes;
};

static inline struct bytes asked_handle(const struct asked_file *file)
{
    return (struct bytes){ file->handle, file->handle_len };
}

/* Return 1, or 0 if the server refuses. */
int asking_attributes(struct asking *a, struct asked_file *file, struct err *err);
int asking_find(struct asking *a, struct bytes directory, struct bytes name,
                struct asked_file *found, struct err *err);

#endif
