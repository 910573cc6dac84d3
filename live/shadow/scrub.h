/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/scrub.h
 *
 * Compares synchronized objects on both servers while clients are quiet: attributes, contents,
 * names of directories, texts of symbolic links.  So it finds what no client's request shows.
 *
 *     scrub.c       which object is next, and when; what becomes of a comparison
 *     scrub_ask.c   the same question to both servers, and their answers
 *
 * Objects are taken in the order of their ids, SCRUB_LANES at a time, and again from the first one
 * on when all were compared.  The questions to the reference go through the relay.  What was
 * answered counts only if the object was synchronized from before the question until the ring was
 * read past the reference's reply, and no client had it in hand meanwhile.  Both answers go to the
 * log as a pair (tee_pair.scrubs): the same rules decide what is a difference.
 *
 * An object that differs is copied again.  If it differs again, and no client has changed it since,
 * copying does not help: it is left out from then on.
 *
 * Memory: for each lane one answer of both servers, or a listing of at most SCRUB_LISTING bytes.
 */
#ifndef NFSDIGEST_SHADOW_SCRUB_H
#define NFSDIGEST_SHADOW_SCRUB_H

#include "net/bound_call.h"
#include "shadow/shadow_parts.h"
#include "wire/nfs3_structs.h"

enum {
    SCRUB_LANES = 4,
    SCRUB_CALLS = SCRUB_LANES,   /* to each of the copy's servers */
    SCRUB_PIECE = 32 << 10,      /* of a READ */
    SCRUB_LIST_BYTES = 32 << 10, /* of a READDIR */
    SCRUB_LISTING = 8 << 20, /* of a directory, both servers' replies; longer ones are left out */
    SCRUB_CALL_COST = 1024,  /* bytes: what a call counts for the rate at least */
};

/* One question and both answers. */
struct scrub_part {
    struct record_operation *operation; /* the reference's; NULL: its listing has ended already */
    struct buf contents;                /* of its READ */
    struct buf call, reply;             /* the SUT's; no bytes: its listing has ended already */
    int64_t called, arrived;            /* ns since 1970 */
};

struct scrub_side {
    struct bound_call call; /* first */
    struct scrub_lane *lane;
    uint64_t cookie;
    uint8_t verifier[NFS3_COOKIEVERFSIZE];
    bool has_ended; /* a listing, a file */
    uint32_t status;
};

struct scrub_lane {
    struct shadow *shadow;
    struct scrub_side sides[SIDES];
    uint32_t object, epoch; /* |object| 0: the lane is free */
    uint32_t procedure;
    uint64_t begin;  /* entry up to which the ring was read, */
    int64_t started; /* and ns since 1970: when the first question was asked */
    int64_t asked;   /* ns of the loop's clock: the latest one */
    uint32_t calls;  /* outstanding */
    bool wants_operation, is_lost, is_ready;
    uint64_t offset;          /* of a file */
    struct scrub_part *parts; /* of a listing; else one */
    uint32_t count, cap;
    uint64_t bytes; /* of all parts */
};

struct scrub {
    uint64_t rate; /* bytes a second; 0: no limit */
    struct idle idle;
    struct timer timer;
    int64_t next;       /* when the rate allows a question */
    int64_t pass_began; /* 0: the pass is over */
    uint32_t cursor;    /* the object that was taken last */
    uint64_t listings;  /* numbers for the log */
    struct scrub_lane lanes[SCRUB_LANES];
};

/* --- scrub_ask.c */

/* Asks both servers: the first question about the lane's object, or the next one.  1: there is no
 * room for calls. */
int scrub_ask(struct scrub_lane *lane, struct err *err);
void scrub_clear_parts(struct scrub_lane *lane);

/* --- scrub.c, called by scrub_ask.c */

/* So many bytes were read from the reference. */
void scrub_pay(struct scrub *scrub, int64_t now, uint64_t bytes);

/* Something has come. */
int scrub_settle(struct scrub_lane *lane, struct err *err);

#endif
