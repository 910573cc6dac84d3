/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/form.h
 *
 * Checks whether a file has the form of those that nfsdigest writes, byte by byte except the
 * messages: its blocks and their options, hardware addresses, IP, TCP and UDP headers, sequence
 * numbers, checksums and padding.  These bytes have no freedom, so they can hide nothing.  The code
 * was written from the documents of the formats, without the writer's code.
 *
 * Memory: FORM_CONNECTIONS of 36 bytes, 520 KiB for identifications.  If a connection is forgotten
 * because there are too many, its sequence numbers begin again.
 */
#ifndef NFSDIGEST_AUDIT_FORM_H
#define NFSDIGEST_AUDIT_FORM_H

#include "audit/blocks.h"
#include "base/bytes.h"

enum { FORM_CONNECTIONS = 1 << 16 };

struct form_connection {
    uint64_t key; /* hash of both ends; 0: none */
    uint32_t next[2];
    uint32_t acked[2]; /* what each side acknowledged last */
    bool known[2], finished[2];
    bool shared; /* replaced another connection, which may come again without its SYN */
};

/* A difference: its class and a text, both static. */
struct form_fault {
    const char *what, *text;
};

/* The state of the check; all zeros at first.  The caller frees |connections|. */
struct form {
    unsigned stage; /* how many of section header, interface, statistics were there */
    bool ended;
    bool differs; /* a block differed */
    char version[32];
    int64_t last_time;        /* 0 before the first packet that has one */
    uint32_t begun;           /* connections */
    uint16_t last_id;         /* of datagrams */
    uint32_t id_heads[65536]; /* hash of the ends and XID of the datagram with a number; 0: none */
    uint32_t id_whole[65536]; /* hash of the whole datagram; 0: it was cut */
    uint8_t left_out[8192];   /* bits of numbers that were skipped */
    uint64_t left_count, without_count; /* numbers that were skipped; datagrams without a number */
    struct form_connection *connections;
};

/* Checks the next block.  Returns true, or false and the first difference in |fault|. */
bool form_block(struct form *f, const struct block *block, struct form_fault *fault);
/* Checks the file after its last block.  |dropped| is the number of dropped messages that the file
 * states. */
bool form_end(const struct form *f, uint64_t dropped, struct form_fault *fault);

/* form_frame.c: checks the |cap_len| captured bytes of a frame with |wire_len| bytes. */
bool form_frame(struct form *f, const uint8_t *frame, uint32_t cap_len, uint32_t wire_len,
                struct form_fault *fault);

/* Counts those of the |len| bytes at |at| of a packet's block that are free.  The others are in
 * headers: if the file has the right form, they follow from the rest of the file. */
uint32_t form_free(const struct block *block, uint32_t at, uint32_t len);

/* Finds the IP addresses in a packet's block.  Returns true if |end| is not behind them, and sets
 * |*at| and |*len| to their place in the block. */
bool form_addresses(const struct block *block, uint32_t end, uint32_t *at, uint32_t *len);

static inline bool form_fails(struct form_fault *fault, const char *what, const char *text)
{
    *fault = (struct form_fault){ what, text };
    return false;
}

#endif
