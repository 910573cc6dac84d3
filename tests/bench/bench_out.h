/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_out.h
 *
 * Messages to segments to a pcap file, for gen_bench.
 */
#ifndef NFSDIGEST_BENCH_OUT_H
#define NFSDIGEST_BENCH_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bench_out {
    FILE *file;
    bool failed;
    uint64_t packets, random;
    uint64_t now; /* microseconds since the epoch */
    uint16_t ident;
};

struct bench_conn {
    uint32_t client, server;
    uint16_t client_port, server_port;
    uint32_t seq[2];     /* next of the client, of the server */
    uint32_t unacked[2]; /* segments since the last ACK of the other side */
};

/* One RPC message with its record mark. */
struct bench_message {
    uint32_t len;
    uint8_t data[128 << 10];
};

bool bench_out_open(struct bench_out *out, const char *path, uint64_t seed);
bool bench_out_close(struct bench_out *out); /* false: not everything was written */
uint64_t bench_next(uint64_t *state);
uint64_t bench_random(struct bench_out *out); /* the next of |out|'s own, which times are made of */

void bench_begin(struct bench_message *m);
void bench_u32(struct bench_message *m, uint32_t value);
void bench_u64(struct bench_message *m, uint64_t value);
/* opaque<>; with |data| NULL the bytes are the caller's to fill. Returns where they are. */
uint8_t *bench_opaque(struct bench_message *m, const void *data, uint32_t len);

void bench_open(struct bench_out *out, struct bench_conn *conn);
/* |side| 0: from the client. */
void bench_send(struct bench_out *out, struct bench_conn *conn, int side, struct bench_message *m);

#endif
