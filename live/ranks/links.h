/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ranks/links.h
 *
 * The connections between the ranks of a replay: each rank with each other one, over TCP.
 *
 *     links_new, links_listen, links_connect     before the run: each rank knows all addresses
 *     links_outcome, links_round, links_full     while it plays
 *     links_stop, links_send_tally, links_end    at its end
 *     links_free
 *
 * A message is a record (RFC 5531 s11): a byte that says its kind, and what that has.  Nobody gets
 * in who does not know |token|, which the ranks have from MPI.
 *
 * Outcomes of a round are one message.  A rank that does not read gets no more of them than
 * LINKS_OUTPUT bytes before its peer takes no further operations (links_full); what is under way
 * then may still end.  A rank that reads what comes too early for its player (player_outcome: 1)
 * stops reading that link until there is room.
 *
 * A link that ends before its rank has said that the run is over, or whose peer answers nothing for
 * LINKS_SILENCE (TCP's own questions, so a rank may be busy), is a lost rank.
 *
 * Memory: for each link LINKS_OUTPUT, outcomes of a horizon of operations (outcomes.h), and the
 * tally of its rank at the end.
 */
#ifndef NFSDIGEST_RANKS_LINKS_H
#define NFSDIGEST_RANKS_LINKS_H

#include "net/listen.h"
#include "ranks/outcomes.h"

enum {
    LINKS_TOKEN = 16,
    LINKS_RANKS_MAX = 1024,
    LINKS_OUTPUT = 4 << 20,    /* bytes that wait for a rank, above which others take a rest */
    LINKS_BATCH = 64 << 10,    /* bytes of outcomes that are sent at once, also within a round */
    LINKS_MESSAGE = 256 << 20, /* bytes of the longest message */
    LINKS_SILENCE = 10         /* s */
};

struct links;

struct links_host {
    /* An operation of another rank has ended; as player_outcome. */
    int (*outcome)(void *ctx, const struct player_outcome *outcome, struct err *err);
    /* Another rank has ended its run before all was played, because of |text|.  |code|: the exit
     * code of a failure, or 0. */
    int (*stop)(void *ctx, uint32_t rank, int code, const char *text, struct err *err);
    /* A rank is gone: there will be nothing more of it.  |text| says why. */
    int (*lost)(void *ctx, uint32_t rank, const char *text, struct err *err);
    /* The tally of a rank came, or the run is over in all ranks with this exit code (-1: tally). */
    int (*end)(void *ctx, uint32_t rank, int code, struct err *err);
    void *ctx;
};

struct links_setup {
    struct loop *loop;
    uint32_t rank, count;
    uint8_t token[LINKS_TOKEN];
    struct links_host host;
};

struct links *links_new(const struct links_setup *setup, struct err *err);
void links_free(struct links *links);

/* Listens at |address|, with any port; |bound|: where. */
int links_listen(struct links *links, const struct net_address *address, struct net_address *bound,
                 struct err *err);
/* Connects all ranks, whose |addresses| are by rank: runs the loop until they are.  -ERR_SYSTEM: a
 * rank cannot be reached, or is not there within LINKS_SILENCE. */
int links_connect(struct links *links, const struct net_address *addresses, struct err *err);

/* Tells all others. */
int links_outcome(struct links *links, const struct player_outcome *outcome, struct err *err);
/* Sends what was collected, and delivers what had come too early. */
int links_round(struct links *links, struct err *err);
bool links_full(const struct links *links);
/* The run has ended early here. */
int links_stop(struct links *links, int code, const char *text, struct err *err);
/* Further outcomes are not delivered: the player has ended. */
void links_deaf(struct links *links);

int links_send_tally(struct links *links, uint32_t to, const struct buf *tally, struct err *err);
/* The tally that a rank has sent; no bytes: it has not. */
struct bytes links_tally(const struct links *links, uint32_t rank);
/* The run is over for all.  From then on no rank is lost. */
int links_end(struct links *links, int code, struct err *err);
/* Whether something waits to be sent. */
bool links_sending(const struct links *links);
bool links_is_lost(const struct links *links, uint32_t rank);

#endif
