/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lab/client.h
 *
 * What the lab's NFS clients share: a connection through libnfs's raw interface, and waiting for
 * one answer at a time.  These are programs for the lab: what goes wrong ends them with a message.
 */
#ifndef NFSDIGEST_LAB_CLIENT_H
#define NFSDIGEST_LAB_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

/* A handle with its own memory. */
struct handle {
    char bytes[NFS3_FHSIZE];
    nfs_fh3 fh;
};

enum { STATUS_UNKNOWN = -1 }; /* no result: an error of the RPC layer, or the NULL procedure */

struct client {
    struct rpc_context *rpc;
    bool done;
    int rpc_status;      /* of the last call: RPC_STATUS_ */
    int status;          /* of its result: nfsstat3, or STATUS_UNKNOWN */
    struct handle found; /* by the last LOOKUP */
    nfstime3 ctime;      /* of the last GETATTR */
    char verifier[8];    /* of the last READDIR or READDIRPLUS, */
    uint64_t cookie;     /* its last entry */
    bool end_of_listing; /* and whether it was the end */
};

/* Ports, where the server's PORTMAP shall not be asked; 0: ask. */
struct ports {
    int nfs, mount;
};

void handle_set(struct handle *handle, const char *bytes, unsigned len);

/* Asks for |export|'s root handle with MOUNT v3. */
void client_mount(const char *server, char *export, const struct ports *ports, struct handle *root);

/* Connects to the server's NFSv3 over TCP. */
void client_connect(struct client *client, const char *server, const struct ports *ports);

/* Serves the connection until |done| is set, a minute at most. */
void client_wait(struct client *client);

/* Replies: for every procedure whose result begins with a status, and those which are kept. */
void on_null(struct rpc_context *rpc, int rpc_status, void *data, void *client);
void on_status(struct rpc_context *rpc, int rpc_status, void *data, void *client);
void on_lookup(struct rpc_context *rpc, int rpc_status, void *data, void *client);
void on_getattr(struct rpc_context *rpc, int rpc_status, void *data, void *client);
void on_readdir(struct rpc_context *rpc, int rpc_status, void *data, void *client);
void on_readdirplus(struct rpc_context *rpc, int rpc_status, void *data, void *client);

void lab_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
