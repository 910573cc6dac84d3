/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lab/nfs3load.c
 *
 *     nfs3load SERVER EXPORT CONNECTIONS WORKERS CALLS small|bulk [NFS-PORT MOUNT-PORT]
 *
 * A pipelined load of NFSv3 calls: on each connection WORKERS workers, each with one call in
 * flight, until CALLS calls were answered.  "small" goes through the life of small files with
 * nearly every procedure, "bulk" writes and reads 8 MiB in calls of 1 MiB.  Prints how many calls
 * were answered, and how many of them with an error of the RPC layer.
 */
#include "client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, BULK_FILE = 8 * MIB };

struct connection {
    struct client client;
    struct handle dir;
};

struct worker {
    struct connection *connection;
    int id, step, file_number;
    unsigned seed;
    bool looking_up, stopped;
    uint64_t offset;
    struct handle file;
    char name[64], other_name[64];
};

static struct handle root;
static char data[MIB];
static long answered, wanted, errors;
static bool bulk;

static void next_call(struct worker *worker);

static void on_answer(struct rpc_context *rpc, int rpc_status, void *result, void *private)
{
    struct worker *worker = private;

    (void)rpc;
    answered++;
    if (rpc_status != RPC_STATUS_SUCCESS) {
        errors++;
    } else if (worker->looking_up && *(const int *)result == NFS3_OK) {
        const nfs_fh3 *found = &((const LOOKUP3res *)result)->LOOKUP3res_u.resok.object;
        handle_set(&worker->file, found->data.data_val, found->data.data_len);
    }
    worker->looking_up = false;
    if (answered >= wanted)
        worker->stopped = true;
    else
        next_call(worker);
}

static diropargs3 entry(const struct worker *worker, const char *name)
{
    return (diropargs3){ worker->connection->dir.fh, (char *)name };
}

static int look_up(struct worker *worker, struct rpc_context *rpc)
{
    LOOKUP3args arguments = { entry(worker, worker->name) };

    worker->looking_up = true;
    return rpc_nfs3_lookup_async(rpc, on_answer, &arguments, worker);
}

static int create_file(struct worker *worker, struct rpc_context *rpc)
{
    CREATE3args arguments = { .where = entry(worker, worker->name) };
    static const createmode3 modes[] = { UNCHECKED, GUARDED, EXCLUSIVE };

    arguments.how.mode = modes[worker->file_number % 3];
    if (arguments.how.mode == EXCLUSIVE) {
        memcpy(arguments.how.createhow3_u.verf, &worker->file_number, sizeof(int));
    } else {
        arguments.how.createhow3_u.obj_attributes.mode.set_it = 1;
        arguments.how.createhow3_u.obj_attributes.mode.set_mode3_u.mode = 0644;
    }
    return rpc_nfs3_create_async(rpc, on_answer, &arguments, worker);
}

static int remove_file(struct worker *worker, struct rpc_context *rpc, const char *name)
{
    REMOVE3args arguments = { entry(worker, name) };

    return rpc_nfs3_remove_async(rpc, on_answer, &arguments, worker);
}

static int write_file(struct worker *worker, struct rpc_context *rpc, unsigned count,
                      stable_how stable)
{
    WRITE3args arguments = {
        .file = worker->file.fh, .offset = worker->offset, .count = count, .stable = stable
    };

    arguments.data.data_len = count;
    arguments.data.data_val = data;
    return rpc_nfs3_write_async(rpc, on_answer, &arguments, worker);
}

static int read_file(struct worker *worker, struct rpc_context *rpc, unsigned count)
{
    READ3args arguments = { worker->file.fh, worker->offset, count };

    return rpc_nfs3_read_async(rpc, on_answer, &arguments, worker);
}

static int commit_file(struct worker *worker, struct rpc_context *rpc)
{
    COMMIT3args arguments = { worker->file.fh, 0, 0 };

    return rpc_nfs3_commit_async(rpc, on_answer, &arguments, worker);
}

static int get_attributes(struct worker *worker, struct rpc_context *rpc)
{
    GETATTR3args arguments = { worker->file.fh };

    return rpc_nfs3_getattr_async(rpc, on_answer, &arguments, worker);
}

static int set_mode(struct worker *worker, struct rpc_context *rpc)
{
    SETATTR3args arguments = { .object = worker->file.fh };

    arguments.new_attributes.mode.set_it = 1;
    arguments.new_attributes.mode.set_mode3_u.mode = 0600;
    return rpc_nfs3_setattr_async(rpc, on_answer, &arguments, worker);
}

/* A listing now and then; they are long. */
static int about_directory(struct worker *worker, struct rpc_context *rpc)
{
    nfs_fh3 dir = worker->connection->dir.fh;
    READDIRPLUS3args list = { .dir = dir, .dircount = 1024, .maxcount = 4096 };
    FSSTAT3args stat = { dir };

    if (worker->file_number % 20 == 0)
        return rpc_nfs3_readdirplus_async(rpc, on_answer, &list, worker);
    return rpc_nfs3_fsstat_async(rpc, on_answer, &stat, worker);
}

static int small_call(struct worker *worker, struct rpc_context *rpc)
{
    ACCESS3args access = { worker->file.fh, 0x3f };
    RENAME3args rename = { entry(worker, worker->name), entry(worker, worker->other_name) };
    LINK3args link = { worker->file.fh, entry(worker, worker->name) };

    switch (worker->step++) {
    case 0:
        worker->file_number++;
        snprintf(worker->name, sizeof(worker->name), "file-%d-%d", worker->id, worker->file_number);
        snprintf(worker->other_name, sizeof(worker->other_name), "other-%d-%d", worker->id,
                 worker->file_number);
        return look_up(worker, rpc);
    case 1:
        return create_file(worker, rpc);
    case 2:
        return look_up(worker, rpc);
    case 3:
        return set_mode(worker, rpc);
    case 4:
        return write_file(worker, rpc, (unsigned)(rand_r(&worker->seed) % 700 + 1),
                          (stable_how)(rand_r(&worker->seed) % 3));
    case 5:
        return rpc_nfs3_access_async(rpc, on_answer, &access, worker);
    case 6:
        return get_attributes(worker, rpc);
    case 7:
        return read_file(worker, rpc, 512);
    case 8:
        return get_attributes(worker, rpc);
    case 9:
        return commit_file(worker, rpc);
    case 10:
        return rpc_nfs3_rename_async(rpc, on_answer, &rename, worker);
    case 11:
        return rpc_nfs3_link_async(rpc, on_answer, &link, worker);
    case 12:
        return about_directory(worker, rpc);
    case 13:
        return remove_file(worker, rpc, worker->name);
    default:
        worker->step = 0;
        return remove_file(worker, rpc, worker->other_name);
    }
}

static int bulk_call(struct worker *worker, struct rpc_context *rpc)
{
    int result;

    switch (worker->step) {
    case 0:
        snprintf(worker->name, sizeof(worker->name), "bulk-%d-%d", worker->id,
                 worker->file_number++);
        worker->step = 1;
        return create_file(worker, rpc);
    case 1:
        worker->offset = 0;
        worker->step = 2;
        return look_up(worker, rpc);
    case 2:
    case 4:
        result = worker->step == 2 ? write_file(worker, rpc, MIB, UNSTABLE)
                                   : read_file(worker, rpc, MIB);
        worker->offset += MIB;
        if (worker->offset >= BULK_FILE)
            worker->step++;
        return result;
    case 3:
        worker->offset = 0;
        worker->step = 4;
        return commit_file(worker, rpc);
    default:
        worker->step = 0;
        return remove_file(worker, rpc, worker->name);
    }
}

static void next_call(struct worker *worker)
{
    struct rpc_context *rpc = worker->connection->client.rpc;

    if ((bulk ? bulk_call(worker, rpc) : small_call(worker, rpc)) < 0)
        lab_die("step %d could not be sent: %s", worker->step, rpc_get_error(rpc));
}

/* A connection with a directory of its own. */
static void open_connection(struct connection *connection, const char *server,
                            const struct ports *ports, int number)
{
    struct client *client = &connection->client;
    char name[32];

    client_connect(client, server, ports);
    snprintf(name, sizeof(name), "client%d", number);
    MKDIR3args make = { .where = { root.fh, name } };
    make.attributes.mode.set_it = 1;
    make.attributes.mode.set_mode3_u.mode = 0755;
    LOOKUP3args look_up_it = { { root.fh, name } };
    if (rpc_nfs3_mkdir_async(client->rpc, on_status, &make, client) < 0)
        lab_die("MKDIR could not be sent");
    client_wait(client);
    if (rpc_nfs3_lookup_async(client->rpc, on_lookup, &look_up_it, client) < 0)
        lab_die("LOOKUP could not be sent");
    client_wait(client);
    if (client->status != NFS3_OK)
        lab_die("%s: status %d", name, client->status);
    handle_set(&connection->dir, client->found.bytes, client->found.fh.data.data_len);
}

static bool all_stopped(const struct worker *workers, int count)
{
    for (int i = 0; i < count; i++)
        if (!workers[i].stopped)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct ports ports = { 2049, 20048 };

    if ((argc != 7 && argc != 9) || atoi(argv[3]) <= 0 || atoi(argv[4]) <= 0)
        lab_die("usage: %s SERVER EXPORT CONNECTIONS WORKERS CALLS small|bulk "
                "[NFS-PORT MOUNT-PORT]",
                argv[0]);
    int connections = atoi(argv[3]), workers = connections * atoi(argv[4]);
    wanted = atol(argv[5]);
    bulk = !strcmp(argv[6], "bulk");
    if (argc == 9)
        ports = (struct ports){ atoi(argv[7]), atoi(argv[8]) };
    for (int i = 0; i < MIB; i++)
        data[i] = (char)(i * 31 >> 3);

    struct connection *connection = calloc((size_t)connections, sizeof(*connection));
    struct worker *worker = calloc((size_t)workers, sizeof(*worker));
    struct pollfd *fds = calloc((size_t)connections, sizeof(*fds));
    if (!connection || !worker || !fds)
        lab_die("out of memory");
    client_mount(argv[1], argv[2], &ports, &root);
    for (int i = 0; i < connections; i++)
        open_connection(&connection[i], argv[1], &ports, i);
    for (int i = 0; i < workers; i++) {
        worker[i].connection = &connection[i % connections];
        worker[i].id = i;
        worker[i].seed = (unsigned)i + 1;
        next_call(&worker[i]);
    }

    while (!all_stopped(worker, workers)) {
        for (int i = 0; i < connections; i++) {
            fds[i].fd = rpc_get_fd(connection[i].client.rpc);
            fds[i].events = (short)rpc_which_events(connection[i].client.rpc);
        }
        if (poll(fds, (nfds_t)connections, 60000) <= 0)
            lab_die("no answer for a minute");
        for (int i = 0; i < connections; i++)
            if (fds[i].revents && rpc_service(connection[i].client.rpc, fds[i].revents) < 0)
                lab_die("the connection failed: %s", rpc_get_error(connection[i].client.rpc));
    }
    printf("%ld calls answered, %ld errors\n", answered, errors);
    free(fds);
    free(worker);
    free(connection);
    return 0;
}
