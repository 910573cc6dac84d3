/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/hang.h
 *
 * What hangs at a point in time: the calls that wait, by connection, what happened to each
 * connection since its oldest one, and who that speaks against.  A trace of the server's side tells
 * which calls arrived there, and which replies were sent.
 *
 * Memory: 300 bytes for each connection with a call that waits; the database's temporary storage
 * for the calls that both sides have.
 */
#ifndef NFSDIGEST_CLI_HANG_H
#define NFSDIGEST_CLI_HANG_H

#include "cli/traffic.h"
#include "record/record.h"

/* Who is to blame, as far as the trace tells. */
enum hang_verdict {
    HANG_UNKNOWN,
    HANG_REFUSED,    /* nothing listens on the port */
    HANG_REUSE,      /* an attempt from the ports of an earlier connection is not answered */
    HANG_CONNECT,    /* attempts to connect are not answered */
    HANG_CLIENT,     /* the client's window is closed */
    HANG_WINDOW,     /* the server's window is closed: it does not read */
    HANG_LOST,       /* what the client sends is not acknowledged: it sends it again */
    HANG_REPLY_LOST, /* the server sends again what it has sent: the client does not get it */
    HANG_ENDED,      /* the connection ended, and the client began no other one */
    HANG_SERVER,     /* the call was taken, and is not answered */
    HANG_VERDICTS
};

/* Where the calls of a connection are, by the server's trace. */
struct hang_far {
    uint64_t lost;     /* calls that did not arrive */
    uint64_t held;     /* calls that arrived and were not answered */
    uint64_t answered; /* calls whose reply was sent, and did not arrive at the client */
};

struct hang_connection {
    int64_t flow;
    int transport;
    char client[ADDRESS_TEXT_MAX], server[ADDRESS_TEXT_MAX];
    int client_port, server_port;
    uint64_t calls;                        /* that wait */
    int64_t oldest, called, source, frame; /* the oldest one: id, time, ...; 0: no frame */
    int64_t last_reply;                    /* time, before |at|; INT64_MIN: none */
    uint64_t resent_calls;                 /* since |called|, as all of these: */
    uint64_t resent, resent_back;          /* segments of the client, of the server */
    uint64_t attempts, syns, accepted, refused, resets, closed, keep_alives;
    uint64_t reused; /* attempts from the ports of the connection itself */
    bool shut[2];    /* the window of the client, of the server is closed at |at| */
    uint64_t ports;  /* reserved ports of this client that its attempts used in 60 s */
    enum hang_verdict verdict;
    struct hang_far far;
};

struct hang_match { /* of the two sides */
    uint64_t calls; /* that both have */
    int64_t offset; /* ns by which the server's clock is ahead */
    int64_t path;   /* ns: the mean of the shortest way there and the shortest way back; below 0 if
                       the clocks drift apart by more than that */
    bool known;     /* there are such calls with replies and times */
    uint64_t shorter, longer; /* calls whose latency is shorter, longer on the client's side, where
                                 it must be longer, whatever the clocks say */
};

struct hang_request {
    struct traffic traffic;
    const char *at_text; /* as the user gave it; NULL: the end, or if nothing waits there, shortly
                            before the reply that somebody waited for longest */
    int64_t at;          /* ns */
    int64_t age;         /* ns: younger calls do not count */
    uint64_t top;
};

struct hang {
    struct hang_connection *list; /* those with the oldest calls first */
    uint32_t count, cap;
    uint64_t calls; /* that wait, on all connections */
    uint64_t holes; /* gaps in the captures before |at|, which may hide replies */
    bool far;       /* there is a trace of the server's side */
    bool chosen;    /* nothing waits at the end: |at| is before the reply waited for longest */
    int64_t longest, longest_called; /* ns: the longest wait for a reply, and since when; -1: none;
                                        only read if nothing waits at the end */
    uint64_t others; /* answered calls that waited for |age| or longer at other times; only read if
                        the user gave no point in time */
    int64_t others_at; /* ns: shortly before the reply to the one that waited longest */
    struct hang_match match;
};

/* Finds them.  |far|: the name of a database, or NULL.  Free |hang| also after a failure. */
int hang_find(sqlite3 *db, const char *far, struct hang_request *request, struct hang *hang,
              struct err *err);
void hang_free(struct hang *hang);

/* hang_events.c: what happened to the connection, and the verdict without the other side. */
int hang_events(sqlite3 *db, const struct hang_request *request, struct hang_connection *c,
                struct err *err);

/* hang_far.c: matches the calls of both sides; counts where those that wait are. */
int hang_match(sqlite3 *db, const char *far, const struct hang_request *request, struct hang *hang,
               struct err *err);

/* A word for JSON, and a sentence. */
const char *hang_verdict_name(enum hang_verdict verdict);
const char *hang_verdict_text(enum hang_verdict verdict);

int hang_text(sqlite3 *db, const struct hang_request *request, const struct hang *hang,
              struct err *err);
int hang_json(sqlite3 *db, const char *name, const struct hang_request *request,
              const struct hang *hang, struct err *err);

#endif
