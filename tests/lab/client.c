/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_SECONDS = 60 };

void lab_die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void handle_set(struct handle *handle, const char *bytes, unsigned len)
{
    if (len > sizeof(handle->bytes))
        lab_die("a handle of %u bytes: longer than NFSv3 allows", len);
    memcpy(handle->bytes, bytes, len);
    handle->fh.data.data_len = len;
    handle->fh.data.data_val = handle->bytes;
}

void client_wait(struct client *client)
{
    time_t end = time(NULL) + WAIT_SECONDS;

    while (!client->done) {
        struct pollfd fd = { .fd = rpc_get_fd(client->rpc),
                             .events = (short)rpc_which_events(client->rpc) };
        if (poll(&fd, 1, 100) < 0)
            lab_die("poll failed");
        if (rpc_service(client->rpc, fd.revents) < 0)
            lab_die("the connection failed: %s", rpc_get_error(client->rpc));
        if (time(NULL) > end)
            lab_die("no answer within %d seconds", WAIT_SECONDS);
    }
    client->done = false;
}

static void on_connect(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;

    (void)rpc;
    if (rpc_status != RPC_STATUS_SUCCESS)
        lab_die("cannot connect: %s", data ? (const char *)data : "refused");
    client->done = true;
}

static void connect_to(struct client *client, const char *server, int port, int program,
                       int version)
{
    int result;

    memset(client, 0, sizeof(*client));
    client->rpc = rpc_init_context();
    if (!client->rpc)
        lab_die("out of memory");
    if (port)
        result =
            rpc_connect_port_async(client->rpc, server, port, program, version, on_connect, client);
    else
        result =
            rpc_connect_program_async(client->rpc, server, program, version, on_connect, client);
    if (result < 0)
        lab_die("cannot connect to %s: %s", server, rpc_get_error(client->rpc));
    client_wait(client);
}

struct mounting {
    struct client client;
    struct handle *root;
};

static void on_mount(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct mounting *mounting = private;
    const mountres3 *result = data;

    (void)rpc;
    if (rpc_status != RPC_STATUS_SUCCESS)
        lab_die("MOUNT failed: %s", data ? (const char *)data : "error of the RPC layer");
    if (result->fhs_status != MNT3_OK)
        lab_die("MOUNT failed: status %d", (int)result->fhs_status);
    handle_set(mounting->root, result->mountres3_u.mountinfo.fhandle.fhandle3_val,
               result->mountres3_u.mountinfo.fhandle.fhandle3_len);
    mounting->client.done = true;
}

void client_mount(const char *server, char *export, const struct ports *ports, struct handle *root)
{
    struct mounting mounting = { .root = root };

    connect_to(&mounting.client, server, ports->mount, MOUNT_PROGRAM, MOUNT_V3);
    if (rpc_mount3_mnt_async(mounting.client.rpc, on_mount, export, &mounting) < 0)
        lab_die("MOUNT could not be sent: %s", rpc_get_error(mounting.client.rpc));
    client_wait(&mounting.client);
    rpc_destroy_context(mounting.client.rpc);
}

void client_connect(struct client *client, const char *server, const struct ports *ports)
{
    connect_to(client, server, ports->nfs, NFS_PROGRAM, NFS_V3);
}

void on_null(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;

    (void)rpc;
    (void)data;
    client->done = true;
    client->rpc_status = rpc_status;
    client->status = STATUS_UNKNOWN;
}

void on_status(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;

    on_null(rpc, rpc_status, data, private);
    if (rpc_status == RPC_STATUS_SUCCESS && data)
        client->status = *(const int *)data; /* nfsstat3 begins every result */
}

void on_lookup(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;
    const LOOKUP3res *result = data;

    on_status(rpc, rpc_status, data, private);
    if (client->status == NFS3_OK)
        handle_set(&client->found, result->LOOKUP3res_u.resok.object.data.data_val,
                   result->LOOKUP3res_u.resok.object.data.data_len);
}

void on_getattr(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;
    const GETATTR3res *result = data;

    on_status(rpc, rpc_status, data, private);
    if (client->status == NFS3_OK)
        client->ctime = result->GETATTR3res_u.resok.obj_attributes.ctime;
}

void on_readdir(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;
    const READDIR3res *result = data;

    on_status(rpc, rpc_status, data, private);
    if (client->status != NFS3_OK)
        return;
    const READDIR3resok *ok = &result->READDIR3res_u.resok;
    memcpy(client->verifier, ok->cookieverf, sizeof(client->verifier));
    for (const entry3 *entry = ok->reply.entries; entry; entry = entry->nextentry)
        client->cookie = entry->cookie;
    client->end_of_listing = ok->reply.eof;
}

void on_readdirplus(struct rpc_context *rpc, int rpc_status, void *data, void *private)
{
    struct client *client = private;
    const READDIRPLUS3res *result = data;

    on_status(rpc, rpc_status, data, private);
    if (client->status != NFS3_OK)
        return;
    const READDIRPLUS3resok *ok = &result->READDIRPLUS3res_u.resok;
    memcpy(client->verifier, ok->cookieverf, sizeof(client->verifier));
    for (const entryplus3 *entry = ok->reply.entries; entry; entry = entry->nextentry)
        client->cookie = entry->cookie;
    client->end_of_listing = ok->reply.eof;
}
