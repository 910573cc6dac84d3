/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_client.h
 *
 * One connection to an NFSv3 server, for programs that load one.  What goes wrong ends the program.
 */
#ifndef NFSDIGEST_BENCH_CLIENT_H
#define NFSDIGEST_BENCH_CLIENT_H

#include "wire/mount_structs.h"
#include "wire/nfs3_structs.h"
#include "wire/rpc_put.h"

enum { BENCH_MESSAGE_MAX = 2 << 20, BENCH_HANDLE_MAX = 64 };

struct bench_client {
    int fd;
    uint32_t xid;
    struct buf out, in;
    size_t in_done;
};

struct bench_fh {
    uint8_t data[BENCH_HANDLE_MAX];
    uint32_t len;
};

_Noreturn void bench_die(const char *what); /* with errno */
/* Connects.  XIDs begin at a place of this process's own, as those of real clients do: equal calls
 * with equal XIDs from one host are one call that was sent again. */
void bench_connect(struct bench_client *c, const char *address, const char *port);
/* The root's handle. */
void bench_mount(const char *address, const char *port, const char *export, struct bench_fh *root);

/* Puts a call into |out|; bench_flush sends what is there. */
void bench_put(struct bench_client *c, uint32_t procedure, const void *args);
void bench_flush(struct bench_client *c);
/* The next reply's results; waits for it if |wait|.  false: none is there. */
bool bench_next_reply(struct bench_client *c, bool wait, uint32_t *xid, struct bytes *results);
/* A call with its reply. */
void bench_call(struct bench_client *c, uint32_t procedure, const void *args, void *res);

void bench_keep(struct bench_fh *to, struct bytes handle);
struct bytes bench_of(const struct bench_fh *fh);
struct bytes bench_text(const char *from);

#endif
