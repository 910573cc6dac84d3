/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_libnfs.c
 *
 * What the asynchronous loop of libnfs needs for the calls that nfsreplay makes:
 *
 *     bench_libnfs FILE PORT CONNECTIONS OUTSTANDING
 *
 * Makes the NFS calls of FILE (bench/prepared.h) again, on CONNECTIONS to 127.0.0.1:PORT with
 * OUTSTANDING calls on each, and looks at nothing in the answers beside their number.  Arguments
 * are read into libnfs's structs before the measurement begins.  Prints the number of calls, CPU in
 * ns for each (user, system), calls a second, and how many failed.
 */
#include "bench/prepared.h"

#include <nfsc/libnfs-zdr.h>

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw.h>

#include <nfsc/libnfs-raw-nfs.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef int make_call(struct rpc_context *rpc, rpc_cb done, void *arguments, void *ctx);
typedef uint32_t read_arguments(ZDR *zdr, void *arguments);

struct kind {
    make_call *make;
    read_arguments *read;
    size_t size;
};

/* Functions of libnfs take a struct of their own each. */
#define KIND(name, lower)                                                                          \
    [NFS3_##name] = { (make_call *)(void *)rpc_nfs3_##lower##_async,                               \
                      (read_arguments *)(void *)zdr_##name##3args, sizeof(name##3args) }
static const struct kind kinds[] = {
    KIND(GETATTR, getattr),
    KIND(SETATTR, setattr),
    KIND(LOOKUP, lookup),
    KIND(ACCESS, access),
    KIND(READLINK, readlink),
    KIND(READ, read),
    KIND(WRITE, write),
    KIND(CREATE, create),
    KIND(MKDIR, mkdir),
    KIND(SYMLINK, symlink),
    KIND(MKNOD, mknod),
    KIND(REMOVE, remove),
    KIND(RMDIR, rmdir),
    KIND(RENAME, rename),
    KIND(LINK, link),
    KIND(READDIR, readdir),
    KIND(READDIRPLUS, readdirplus),
    KIND(FSSTAT, fsstat),
    KIND(FSINFO, fsinfo),
    KIND(PATHCONF, pathconf),
    KIND(COMMIT, commit),
};

struct call {
    const struct kind *kind;
    void *arguments;
};

static struct call *calls;
static uint32_t call_count, made, ended, failed, connected;

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "bench_libnfs: %s\n", what);
    exit(4);
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void read_call(const struct prepared_entry *e)
{
    uint32_t program = word(e->call + PREPARED_CALL), number = word(e->call + PREPARED_CALL + 8);
    uint32_t at = prepared_arguments(e->call, e->call_len);
    ZDR *zdr = calloc(1, sizeof(*zdr)); /* has the memory of the arguments */
    struct call call;
    char *copy; /* libnfs ends strings with a 0 where they are */

    if (program != NFS_PROGRAM || !number || number >= sizeof(kinds) / sizeof(kinds[0])) {
        free(zdr);
        return;
    }
    call = (struct call){ &kinds[number], calloc(1, kinds[number].size) };
    copy = at ? malloc(e->call_len - at + 1) : NULL;
    if (!zdr || !call.arguments || !copy)
        die("the calls cannot be read");
    memcpy(copy, e->call + at, e->call_len - at);
    zdrmem_create(zdr, copy, e->call_len - at, ZDR_DECODE);
    if (!call.kind->read(zdr, call.arguments))
        die("libnfs cannot read the arguments of a call");
    calls[call_count++] = call;
}

static void make_next(struct rpc_context *rpc);

static void on_reply(struct rpc_context *rpc, int status, void *data, void *ctx)
{
    (void)data;
    (void)ctx;
    ended++;
    failed += status != RPC_STATUS_SUCCESS;
    make_next(rpc);
}

static void make_next(struct rpc_context *rpc)
{
    const struct call *call = &calls[made];

    if (made == call_count)
        return;
    made++;
    if (call->kind->make(rpc, on_reply, call->arguments, NULL) != 0)
        die(rpc_get_error(rpc));
}

static void on_connected(struct rpc_context *rpc, int status, void *data, void *ctx)
{
    (void)data;
    (void)ctx;
    if (status != RPC_STATUS_SUCCESS)
        die(rpc_get_error(rpc));
    connected++;
}

static void go_round(struct rpc_context **all, struct pollfd *polls, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        polls[i] = (struct pollfd){ rpc_get_fd(all[i]), (short)rpc_which_events(all[i]), 0 };
    if (poll(polls, count, -1) < 0)
        die("poll");
    for (uint32_t i = 0; i < count; i++)
        if (polls[i].revents && rpc_service(all[i], polls[i].revents) < 0)
            die(rpc_get_error(all[i]));
}

static double ns(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static void measure(struct rpc_context **all, struct pollfd *polls, uint32_t count,
                    uint32_t outstanding)
{
    struct rusage from, to;
    struct timespec begun, over;

    getrusage(RUSAGE_SELF, &from);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (uint32_t n = 0; n < outstanding; n++)
        for (uint32_t i = 0; i < count; i++)
            make_next(all[i]);
    while (ended < call_count)
        go_round(all, polls, count);
    clock_gettime(CLOCK_MONOTONIC, &over);
    getrusage(RUSAGE_SELF, &to);
    printf("%u %.1f %.1f %.0f %u\n", ended, (ns(to.ru_utime) - ns(from.ru_utime)) / ended,
           (ns(to.ru_stime) - ns(from.ru_stime)) / ended,
           ended / ((double)(over.tv_sec - begun.tv_sec) +
                    (double)(over.tv_nsec - begun.tv_nsec) / 1e9),
           failed);
}

int main(int argc, char **argv)
{
    struct prepared prepared;
    struct rpc_context **all;
    struct pollfd *polls;
    uint32_t count = argc == 5 ? (uint32_t)atoi(argv[3]) : 0;

    if (!count) {
        fprintf(stderr, "usage: bench_libnfs FILE PORT CONNECTIONS OUTSTANDING\n");
        return 2;
    }
    prepared_open(&prepared, argv[1], true);
    calls = calloc(prepared.count + 1, sizeof(*calls));
    all = calloc(count, sizeof(struct rpc_context *));
    polls = calloc(count, sizeof(*polls));
    if (!calls || !all || !polls)
        die("no memory");
    for (uint32_t i = 0; i < prepared.count; i++)
        read_call(&prepared.entries[i]);
    for (uint32_t i = 0; i < count; i++) {
        all[i] = rpc_init_context();
        if (!all[i] || rpc_connect_async(all[i], "127.0.0.1", atoi(argv[2]), on_connected, NULL))
            die("cannot connect");
    }
    while (connected < count)
        go_round(all, polls, count);
    measure(all, polls, count, (uint32_t)atoi(argv[4]));
    return 0;
}
