/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server.h
 *
 * A server of RPC version 2 (RFC 5531) over TCP and UDP, in one thread, on a loop.
 *
 *     rpc_server_new, rpc_server_add ..., rpc_server_listen ..., loop_run, rpc_server_free
 *
 * It takes calls and refuses invalid ones as in RFC 5531 s9.  It answers procedure 0 of every
 * program by itself, and gives all other calls to their program.  The program answers at once:
 *
 *     struct xdr_put *to = rpc_reply_begin(call);
 *     ... the results behind the reply's header ...
 *     return rpc_reply_end(call, NULL, err);
 *
 * or refuses (rpc_reply_status), or keeps the call (rpc_call_detach) and answers it later, never,
 * or several times.  All replies of a round to one connection leave in one system call.
 *
 * Bytes that are not an RPC call end a TCP connection.  Over UDP they are dropped.  Both are
 * counted.
 *
 * Memory: struct rpc_server_limits names each part; the worst case is about
 *     memory + call_bytes + record_max + reply_max
 * and the memory of datagram.h for each UDP socket.  Answers to detached calls are not within
 * |memory|, nor are connections that rpc_server_adopt adds to those of |listen|.  Without |memory|,
 * each connection can take 2 * record_max + output_stop + reply_max (a buffer of input doubles as
 * it grows).  An idle connection has no buffers.
 */
#ifndef NFSDIGEST_NET_RPC_SERVER_H
#define NFSDIGEST_NET_RPC_SERVER_H

#include "net/datagram.h"
#include "net/listen.h"
#include "net/record_stream.h"
#include "wire/rpc.h"
#include "wire/xdr_put.h"

struct rpc_server;
struct rpc_connection;

enum { RPC_SERVER_PROGRAMS = 16, RPC_SERVER_SOCKETS = 16 };

/* RFC 5531 s9 */
enum rpc_auth_stat {
    RPC_AUTH_OK = 0,
    RPC_AUTH_BADCRED = 1,
    RPC_AUTH_REJECTEDCRED = 2,
    RPC_AUTH_BADVERF = 3,
    RPC_AUTH_REJECTEDVERF = 4,
    RPC_AUTH_TOOWEAK = 5,
};

struct rpc_server_limits {
    struct listen_limits listen;
    struct datagram_limits datagram;
    uint32_t record_max;  /* bytes of a call over TCP */
    uint32_t reply_max;   /* bytes of a reply; a longer one becomes SYSTEM_ERR */
    uint32_t output_stop; /* bytes waiting for a client at which its connection is no longer read */
    uint64_t memory;      /* of all connections' buffers (record_stream.h); 0: no bound over all */
    uint32_t connection_calls; /* detached calls at which a connection is not read */
    uint32_t calls;            /* detached calls in all at which nothing is read */
    uint64_t call_bytes; /* bytes of all detached calls at which nothing is read; one more call may
                          * pass */
    /* A connection is closed when it has not sent a whole record for |slow| ns after its beginning
     * or the beginning of the record; or when for |idle| ns nothing came, nothing went and nothing
     * was in progress.  Both within a quarter of the smaller one; 0: never. */
    int64_t slow, idle;
    /* A connection is also closed when it holds memory that others wait for, and nothing came or
     * went for |hoard| ns, or down to a fifth of that if many wait.  Within a quarter of that; 0:
     * never. */
    int64_t hoard;
};

#define RPC_SERVER_LIMITS                                                                          \
    ((struct rpc_server_limits){ .listen = LISTEN_LIMITS,                                          \
                                 .datagram = DATAGRAM_LIMITS,                                      \
                                 .record_max = (1 << 20) + (64 << 10),                             \
                                 .reply_max = (1 << 20) + (64 << 10),                              \
                                 .output_stop = 2 << 20,                                           \
                                 .memory = 256 << 20,                                              \
                                 .connection_calls = 1024,                                         \
                                 .calls = 16384,                                                   \
                                 .call_bytes = 64 << 20,                                           \
                                 .slow = INT64_C(60000000000),                                     \
                                 .idle = INT64_C(360000000000),                                    \
                                 .hoard = INT64_C(5000000000) })

struct rpc_server_counts {
    uint64_t calls, replies;         /* all calls that came; all replies that were sent */
    uint64_t null_calls;             /* answered here */
    uint64_t refused[18];            /* by enum rpc_status: refusals that were sent */
    uint64_t detached;               /* calls */
    uint64_t unanswered;             /* calls that their program neither answered nor detached */
    uint64_t late;                   /* replies whose connection was gone */
    uint64_t failed_replies;         /* too long, or a value that cannot be written: SYSTEM_ERR */
    uint64_t connections;            /* that began */
    uint64_t not_rpc;                /* messages: no RPC header */
    uint64_t not_a_call;             /* messages: a reply */
    uint64_t too_long, cut;          /* connections: a record above record_max; ended within one */
    uint64_t slow, idle, hoards;     /* connections that were closed because of these limits */
    uint64_t dropped;                /* connections that rpc_call_drop closed */
    uint64_t broken;                 /* connections: an error of the system */
    uint64_t holds;                  /* times that all reading stopped for |calls|, |call_bytes| */
    uint64_t udp_calls, udp_replies; /* parts of |calls| and |replies| */
};

/* --- calls */

enum rpc_transport { RPC_TCP, RPC_UDP };

/* Read-only for programs.  Its pointers are valid as long as the call.  A call that is not detached
 * is valid until its program returns. */
struct rpc_call {
    struct rpc_header header;
    struct bytes message; /* the whole message, without record marks */
    struct bytes body;    /* arguments */
    struct datagram_ends ends;
    enum rpc_transport transport;
    int64_t arrived;     /* loop_now of the round that read it */
    uint64_t connection; /* its number, from 1; 0 over UDP */
    struct rpc_server *server;
    void *owner; /* for the owner of a detached call; NULL before */
    struct rpc_call_parts {
        struct rpc_connection *connection; /* NULL: gone, or UDP */
        struct datagram_socket *socket;    /* of UDP */
        struct rpc_call *next, **self;     /* of the detached calls of one connection */
        bool detached, answered;
    } parts;
};

/* --- replies.  None is lost silently: see |late| and |failed_replies|.  A reply that cannot be
 * sent for lack of memory ends its connection.  A negative result ends loop_run. */

/* Begins the results of a successful call.  Returns an xdr_put after the reply's header.  Until
 * rpc_reply_end, call no other function of this file.  To give up, call rpc_reply_status instead of
 * rpc_reply_end. */
struct xdr_put *rpc_reply_begin(struct rpc_call *call);
/* Sends the reply.  |sent| (may be NULL): the message's bytes, valid until the next reply begins.
 */
int rpc_reply_end(struct rpc_call *call, struct bytes *sent, struct err *err);

/* Refuses with RPC_PROC_UNAVAIL, RPC_GARBAGE_ARGS or RPC_SYSTEM_ERR.  RPC_SUCCESS: sends empty
 * results.  For faults, any other status: a mismatch names the call's own version, AUTH_ERROR is
 * RPC_AUTH_TOOWEAK. */
int rpc_reply_status(struct rpc_call *call, enum rpc_status status, struct bytes *sent,
                     struct err *err);
/* Refuses with AUTH_ERROR. */
int rpc_reply_auth_error(struct rpc_call *call, enum rpc_auth_stat why, struct err *err);

/* Sends a reply again, with the bytes that rpc_reply_end gave for the same XID.  -ERR_USAGE:
 * another XID. */
int rpc_reply_again(struct rpc_call *call, struct bytes sent, struct err *err);

/* Returns a copy of the call that lives until rpc_call_free or rpc_server_free, even if its
 * connection ends.  It can be answered any number of times.  NULL: no memory, and the call is
 * unchanged.  The call must not be detached already. */
struct rpc_call *rpc_call_detach(struct rpc_call *call);
void rpc_call_free(struct rpc_call *call);

/* Returns true if a reply can still reach its client.  Always true over UDP. */
bool rpc_call_reachable(const struct rpc_call *call);

/* Closes the call's connection.  Waiting output is lost.  Does nothing over UDP. */
void rpc_call_drop(struct rpc_call *call);

/* --- programs */

struct rpc_program {
    uint32_t program, low, high; /* versions, both included */
    uint32_t procedures;         /* of each version, procedure 0 among them */
    /* Takes a call of one of these procedures except 0.  A negative result ends loop_run; it is for
     * errors after which the server cannot continue. */
    int (*call)(void *ctx, struct rpc_call *call, struct err *err);
    void *ctx;
};

/* Sees raw messages: calls after their header was read and before they are refused or dispatched
 * (those of another RPC version not), replies before they are sent (again, too). */
struct rpc_tap {
    void (*call)(void *ctx, const struct rpc_call *call);
    void (*reply)(void *ctx, const struct rpc_call *call, struct bytes reply, int64_t now);
    void *ctx;
};

/* --- the server */

/* |tap| may be NULL. */
struct rpc_server *rpc_server_new(struct loop *loop, const struct rpc_server_limits *limits,
                                  const struct rpc_tap *tap, struct err *err);
/* Closes everything and frees detached calls. */
void rpc_server_free(struct rpc_server *server);

/* Adds a program.  Add each range of versions of a program as a program of its own. */
int rpc_server_add(struct rpc_server *server, const struct rpc_program *program, struct err *err);

/* Listens at |address| over TCP or UDP.  Sets |bound| (may be NULL) to the address in use. */
int rpc_server_listen(struct rpc_server *server, enum rpc_transport transport,
                      const struct net_address *address, struct net_address *bound,
                      struct err *err);
/* Listens over both at the same port, also if the port is 0 (a free one). */
int rpc_server_listen_both(struct rpc_server *server, const struct net_address *address,
                           struct net_address *bound, struct err *err);
/* Serves |fd|, a connected stream socket.  The server owns |fd|, also after an error. */
int rpc_server_adopt(struct rpc_server *server, int fd, struct err *err);

/* Calls |each| with the number and ends of every connection.  It must not close connections. */
void rpc_server_each(const struct rpc_server *server,
                     void (*each)(void *ctx, uint64_t number, const struct datagram_ends *ends),
                     void *ctx);

const struct rpc_server_counts *rpc_server_counts(const struct rpc_server *server);
const struct listen_counts *rpc_server_listen_counts(const struct rpc_server *server);
/* The buffers of all connections. */
struct rpc_server_memory {
    uint64_t limit;   /* bytes; 0: there is none, and nothing else here is counted */
    uint64_t held;    /* bytes, now */
    uint64_t most;    /* bytes of input and bytes of output, each when they were most */
    uint64_t waits;   /* times that a connection had to wait for memory */
    uint32_t waiting; /* connections that wait now */
};

void rpc_server_memory(const struct rpc_server *server, struct rpc_server_memory *sum);
void rpc_server_datagram_counts(const struct rpc_server *server, struct datagram_counts *sum);

#endif
