/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/record.h
 *
 * What the engine reports about a capture, one record at a time.  A record comes before all records
 * that refer to it by id.  Operations are the exception: an operation comes when it is complete, so
 * names, repeats and later operations may refer to it before.  The .nfsr stream, the database and
 * the packet tree are sinks for records.  Ids count from 1 in each stream; 0 means none.
 *
 * Times are TIME_NONE if the packet has no time, or if there is no packet.
 *
 * Ownership: all pointers in a record are valid until the sink returns.
 */
#ifndef NFSDIGEST_RECORD_RECORD_H
#define NFSDIGEST_RECORD_RECORD_H

#include "base/bytes.h"
#include "base/err.h"
#include "link/frame.h"

#include <stdbool.h>
#include <stdint.h>

enum record_kind {
    RECORD_FLOW = 1,
    RECORD_CREDENTIAL = 2,
    RECORD_OBJECT = 3,
    RECORD_PATH = 4,
    RECORD_NAME = 5,
    RECORD_OPERATION = 6,
    RECORD_REPEAT = 7,
    RECORD_PROBLEM = 8,
    RECORD_COUNTER = 9,
    RECORD_END = 10, /* comes last, also if there are kinds with higher numbers */
    RECORD_CONTENTS = 11,
    RECORD_CONNECTION_EVENT = 12,
    RECORD_KIND_MAX
};

/* A TCP connection, or the datagrams between two UDP ports. */
struct record_flow {
    uint32_t id;
    uint8_t transport; /* 6 or 17 */
    struct address client, server;
    uint16_t client_port, server_port;
    uint64_t frame; /* first one seen */
    int64_t time;
};

/* A caller.  Equal ones are recorded once, unless very many others come between them. */
struct record_credential {
    uint32_t id;
    uint32_t flavor;
    bool valid;        /* the fields below could be read */
    uint32_t uid, gid; /* AUTH_SYS */
    uint32_t stamp;
    struct bytes gids;    /* AUTH_SYS: big-endian u32 each */
    struct bytes machine; /* AUTH_SYS */
    uint32_t gss_service; /* RPCSEC_GSS */
    struct bytes body;    /* as captured; for RPCSEC_GSS the context handle only */
};

enum object_type { /* ftype3, RFC 1813 s2.3.5; 0: not known */
                   OBJECT_UNKNOWN = 0,
                   OBJECT_REG = 1,
                   OBJECT_DIR = 2,
                   OBJECT_BLK = 3,
                   OBJECT_CHR = 4,
                   OBJECT_LNK = 5,
                   OBJECT_SOCK = 6,
                   OBJECT_FIFO = 7,
};

/* The object of a handle of one server.  Comes again with the same id when more is known. */
struct record_object {
    uint64_t id;
    struct address server;
    struct bytes handle;
    uint8_t type;          /* enum object_type */
    uint64_t fsid, fileid; /* 0 while unknown */
    uint64_t frame;        /* of its first sighting */
    int64_t time;
};

/* A path, as a chain: the text of |parent|, "/", |name|.  With parent 0 and object != 0, the path
 * begins at an object whose own path is not known, and is partial.  If both are 0, |name| is a
 * MOUNT path. */
struct record_path {
    uint32_t id, parent;
    uint64_t object;
    struct bytes name; /* may be empty when |object| is set: the object itself */
};

enum name_event {
    NAME_SEEN = 1,    /* in a reply */
    NAME_BOUND = 2,   /* made */
    NAME_REMOVED = 3, /* by REMOVE, RMDIR or RENAME */
    NAME_MOVED = 4,   /* by RENAME: a REMOVED of the old name precedes it, with its operation */
    NAME_GONE = 5,    /* a later reply showed that it no longer stands for its object */
};

/* A directory entry was seen, made or removed. */
struct record_name {
    uint8_t event;      /* enum name_event */
    uint64_t parent;    /* object; 0 for a MOUNT root */
    struct bytes name;  /* for a MOUNT root its path */
    uint64_t object;    /* 0: not known (a removed name that was never looked up) */
    uint64_t operation; /* that showed it */
    int64_t time;
};

/* One direction of an operation. */
struct sighting {
    uint64_t frame;       /* that completed the message; 0: not captured */
    uint64_t first_frame; /* in which it began */
    int64_t time;         /* of |frame|, ns since the epoch */
    uint32_t wire_len;    /* of the RPC message, without record marks */
    uint32_t flags;       /* SIGHTING_ bits */
};

enum {
    SIGHTING_PARTIAL = 1 << 0,   /* bytes are missing: lost or cut, or more than are kept */
    SIGHTING_CUT = 1 << 1,       /* by the snap length */
    SIGHTING_HOLE = 1 << 2,      /* by segments that were not captured */
    SIGHTING_MALFORMED = 1 << 3, /* violates its table; the body is kept up to there */
    SIGHTING_OPAQUE = 1 << 4,    /* no table, or protected by RPCSEC_GSS: the body is not kept */
    SIGHTING_RESYNC = 1 << 5,    /* first message found after a hole */
    SIGHTING_DATA = 1 << 6,      /* has file contents: data_length and data_digest are set */
    SIGHTING_OFFSET = 1 << 7,    /* a call whose byte range begins at |offset| */
    SIGHTING_COUNT = 1 << 8,     /* a call whose byte range is |count| long */
    SIGHTING_HEADER = 1 << 9,    /* ends within the RPC header: the length of the body is unknown,
                                  * and so is the credential of a call */
    SIGHTING_ADDRESS = 1 << 10,  /* a reply from another address than the call went to */
};

enum pairing { /* what became of a call or reply */
               PAIRED = 0,
               REPLY_LOST = 1,    /* no reply within the window, though the capture went on, or the
                                   * connection ended */
               CALL_LOST = 2,     /* a reply without a call */
               OUT_OF_WINDOW = 3, /* given up because too many were waiting */
               CAPTURE_ENDED = 4, /* the capture ended before the reply */
};

#define PROGRAM_UNKNOWN 0 /* of a reply whose call was not captured */
#define STATUS_NONE (-1)  /* no result, or not one with a status */

/* The operation of another trace that this one repeats: the original of a played operation, or the
 * other half of a call that went to two servers. */
struct counterpart {
    uint64_t number; /* id of that operation, as its own trace has it; 0: none */
    uint32_t copy;   /* which one, if the other trace was played several times at once; from 0 */
    uint32_t conditions; /* COUNTERPART_ bits, of the reference's half */
};

/* What the program that sent the call to two servers knew about both halves.  The lower 16 bits are
 * those of align/overlap.h. */
enum {
    COUNTERPART_OVERLAPS = 0x1ff,
    /* What the program did not compare, or found the same by what it knew of earlier requests, and
     * what does not look the same in this pair: */
    COUNTERPART_OPEN_RESULT = 1 << 9, /* the status, or if that is the same, the contents */
    COUNTERPART_OPEN_DOTS = 1 << 10,  /* entries "." and ".." of a listing */
    COUNTERPART_OPEN_ATIME = 1 << 11, /* times, of any of the objects */
    COUNTERPART_OPEN_MTIME = 1 << 12,
    COUNTERPART_OPEN_CTIME = 1 << 13,
    COUNTERPART_OPEN_BEFORE_MTIME = 1 << 14, /* from before the operation (wcc_attr) */
    COUNTERPART_OPEN_BEFORE_CTIME = 1 << 15,
    COUNTERPART_LIVE = 1 << 16,        /* the objects were made the same before it, whatever other
                                        * operations of the stream say */
    COUNTERPART_NOT_OBJECT = 1 << 17,  /* except the object or directory, */
    COUNTERPART_NOT_PARENT2 = 1 << 18, /* the second directory, */
    COUNTERPART_NOT_NEW = 1 << 19,     /* the object that was found or made */
    COUNTERPART_READ_OBJECT =
        1 << 20, /* access times can be others: nobody set them since a read */
    /* since they were made the same, both servers were asked to change them: */
    COUNTERPART_CHANGED_OBJECT = 1 << 21,
    COUNTERPART_CHANGED_PARENT2 = 1 << 22,
    COUNTERPART_CHANGED_NEW = 1 << 23,
    /* they were made the same since the last pair on them that the stream has: */
    COUNTERPART_MADE_OBJECT = 1 << 24,
    COUNTERPART_MADE_PARENT2 = 1 << 25,
    COUNTERPART_MADE_NEW = 1 << 26,
    COUNTERPART_SCRUBS = 1 << 27,       /* no client's request: the program compared the objects */
    COUNTERPART_READ_PARENT2 = 1 << 28, /* as READ_OBJECT */
    COUNTERPART_READ_NEW = 1 << 29,
    COUNTERPART_BEFORE_OWN = 1 << 30, /* times from before the operation that are those from after
                                       * it, on one side only, are the operation's own */
};

/* Handles and file numbers were found to go together: what objects had them, the program knows
 * better than the stream.  (Constants of an enum are ints.) */
#define COUNTERPART_OPEN_CHOSEN (UINT32_C(1) << 31)

/* A call with its reply.  Emitted when it is complete or given up: ids are in the order of calls
 * (or of replies without one), records in the order of completion. */
struct record_operation {
    uint64_t id;
    uint32_t flow;
    uint32_t xid, program, version, procedure;
    uint8_t pairing; /* enum pairing */
    struct sighting call, reply;
    int32_t rpc_status; /* enum rpc_status, or STATUS_NONE without a reply */
    int64_t status;     /* of the result (nfsstat3, ...), or STATUS_NONE */
    uint32_t credential;
    uint64_t object;      /* operated on: the file, or the directory of a name */
    uint64_t object2;     /* RENAME's second directory, LINK's directory */
    uint64_t new_object;  /* found or made by the operation */
    uint32_t path, path2; /* of what the operation is about: with the name, where it has one */
    uint64_t depends_on;  /* latest earlier operation that is meant to change what this one uses */
    uint64_t offset, count;               /* byte range, with SIGHTING_OFFSET and _COUNT */
    struct bytes arguments, result;       /* XDR, without file contents (walk.h: elided) */
    uint32_t arguments_wire, result_wire; /* lengths of the bodies on the wire; 0 with
                                           * SIGHTING_HEADER */
    uint64_t data_length;                 /* of file contents, as the message says */
    uint8_t data_digest[16];              /* XXH3-128, canonical form, of the captured contents */
    struct counterpart counterpart;       /* of programs that know it; a capture does not tell */
    struct bytes block_digests; /* of the contents, if they were asked for (base/blocks.h) */
};

enum repeat_kind {
    REPEAT_CALL = 1,  /* sent again */
    REPEAT_REPLY = 2, /* a further one */
    COPY_CALL = 3,  /* the same datagram, captured again but sent once: from captures on several */
    COPY_REPLY = 4, /* interfaces, mirror ports and some networks */
};

static inline bool repeat_is_reply(uint8_t repeat)
{
    return repeat == REPEAT_REPLY || repeat == COPY_REPLY;
}

static inline bool repeat_is_copy(uint8_t repeat)
{
    return repeat == COPY_CALL || repeat == COPY_REPLY;
}

/* A retransmitted call, a further reply, or a copy of one of the messages. */
struct record_repeat {
    uint64_t operation;
    uint8_t repeat;  /* enum repeat_kind */
    uint8_t differs; /* a further reply that is not the same bytes as the first */
    uint32_t flow;
    struct sighting sighting;
};

enum problem_kind {
    PROBLEM_HOLE = 1,      /* bytes of a stream that were never captured; |length| of them */
    PROBLEM_SKIPPED = 2,   /* captured bytes that belong to no known message */
    PROBLEM_MALFORMED = 3, /* a message that violates its table; |text| says where */
    PROBLEM_NOT_RPC = 4,   /* a datagram on an RPC port that is not RPC */
    PROBLEM_EVICTED = 5,   /* state given up for lack of room */
    PROBLEM_UNDECIDED = 6, /* captured bytes behind a hole that may be messages or file contents */
};

/* Something that could not be used. */
struct record_problem {
    uint8_t problem; /* enum problem_kind */
    uint64_t frame;  /* where it was noticed */
    int64_t time;
    uint32_t flow;     /* or 0 */
    uint8_t direction; /* 0: client to server, 1: back */
    uint32_t xid;      /* or 0 */
    uint64_t length;   /* bytes concerned */
    struct bytes text;
};

enum connection_event {
    EVENT_SYN = 1,         /* asks for a connection; |value|: how many times, with another number */
    EVENT_SYN_ACK = 2,     /* accepts it */
    EVENT_REFUSED = 3,     /* a RST that answers a SYN */
    EVENT_FIN = 4,         /* sends no more */
    EVENT_RST = 5,         /* any other RST */
    EVENT_RESENT = 6,      /* bytes that were sent before; |value|: how many */
    EVENT_LATE = 7,        /* bytes that come after later ones, so they were sent again or overtaken
                            * before they were captured; |value|: how many */
    EVENT_ZERO_WINDOW = 8, /* receives no more for now; |value|: ns until it did again */
    EVENT_KEEP_ALIVE = 9,  /* asks whether the peer is there, or whether its window is open */
};

static inline bool connection_event_has_value(uint8_t event)
{
    return event == EVENT_SYN || event == EVENT_RESENT || event == EVENT_LATE ||
           event == EVENT_ZERO_WINDOW;
}

/* Something that happened to a TCP connection, once or |count| times.  Comes some time after it
 * happened: in the order of neither frames nor times. */
struct record_connection_event {
    uint32_t flow; /* 0: no message was seen on the connection */
    struct address client, server;
    uint16_t client_port, server_port;
    uint8_t direction; /* 0: the client's segment, 1: the server's */
    uint8_t event;     /* enum connection_event */
    uint64_t frame, last_frame;
    int64_t time, last_time; /* of these frames */
    uint64_t count, value;
};

struct record_counter {
    struct bytes name; /* "link.frames", "tcp.holes", "rpc.calls", ... */
    uint64_t value;
};

/* The last record. Its absence means that the stream was cut off. */
struct record_end {
    uint64_t frames, operations, calls, replies, repeats, problems;
    int64_t first_time, last_time; /* of frames */
    bool input_cut;                /* the capture itself ended in the middle of a packet */
};

/* A piece of the file contents of an operation, which operations themselves do not have.  The
 * pieces of one operation follow it in the order of their offsets. */
struct record_contents {
    uint64_t operation;
    bool is_reply;     /* of READ; else of WRITE */
    uint64_t position; /* of the piece in the message's contents */
    struct bytes data;
};

struct record {
    uint8_t kind; /* enum record_kind */
    union {
        struct record_flow flow;
        struct record_credential credential;
        struct record_object object;
        struct record_path path;
        struct record_name name;
        struct record_operation operation;
        struct record_repeat repeat;
        struct record_problem problem;
        struct record_counter counter;
        struct record_end end;
        struct record_contents contents;
        struct record_connection_event connection_event;
    };
};

/* Receives records.  A negative return (with |err| filled) stops the source. */
struct sink {
    int (*put)(void *ctx, const struct record *record, struct err *err);
    void *ctx;
};

#endif
