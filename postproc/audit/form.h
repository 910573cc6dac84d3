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
    bool shared; /* pushed another one out, which may come again without its SYN */
};

/* What differs: a class and words for it, both static. */
struct form_fault {
    const char *what, *text;
};

/* All zeros at first; |connections| is the caller's to free. */
struct form {
    unsigned stage; /* how many of section header, interface, statistics were there */
    bool ended;
    bool differs; /* a block was otherwise */
    char version[32];
    int64_t last_time;                  /* 0 before the first packet that has one */
    uint32_t begun;                     /* connections */
    uint16_t last_id;                   /* of datagrams */
    uint32_t id_heads[65536];           /* hash of whose a number was; 0: none */
    uint32_t id_whole[65536];           /* and of all that was said; 0: it was cut */
    uint8_t left_out[8192];             /* bits of numbers that were passed over */
    uint64_t left_count, without_count; /* of these; datagrams that show none */
    struct form_connection *connections;
};

/* The next block: true, or what is the first thing in it that is otherwise. */
bool form_block(struct form *f, const struct block *block, struct form_fault *fault);
/* When all were seen.  |dropped|: messages that the file says were dropped. */
bool form_end(const struct form *f, uint64_t dropped, struct form_fault *fault);

/* form_frame.c: the |cap_len| captured bytes of a frame of |wire_len| ones. */
bool form_frame(struct form *f, const uint8_t *frame, uint32_t cap_len, uint32_t wire_len,
                struct form_fault *fault);

/* How many of |len| bytes at |at| of a packet's block could be otherwise in a file of which no
 * block was: the others stand in headers and follow from the rest of the file. */
uint32_t form_free(const struct block *block, uint32_t at, uint32_t len);

/* Whether what ends before |end| of a packet's block stands before its TCP or UDP header: then
 * where its addresses stand in the block. */
bool form_addresses(const struct block *block, uint32_t end, uint32_t *at, uint32_t *len);

static inline bool form_fails(struct form_fault *fault, const char *what, const char *text)
{
    *fault = (struct form_fault){ what, text };
    return false;
}

#endif
