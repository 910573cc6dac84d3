/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump.h
 *
 * The replay dump: records in checksummed blocks, in the container of .nfsr streams
 * (schemas/rdump.md is the specification).
 *
 *     header, hosts, credentials, objects, entries, operations, end
 *
 * Objects and entries are the tree before the first operation.  Hosts, credentials and objects are
 * each numbered from 1; 0: none.  Texts are bytes without a final 0.
 *
 * Memory: one block on either side.
 */
#ifndef NFSDIGEST_RDUMP_RDUMP_H
#define NFSDIGEST_RDUMP_RDUMP_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/output.h"
#include "wire/field.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
    RDUMP_VERSION_MAJOR = 2,
    RDUMP_VERSION_MINOR = 0,
};

struct rdump_trace {
    int64_t time;      /* of the first operation, ns since the epoch */
    uint32_t horizon;  /* operation n begins when n - horizon is done */
    uint8_t fine;      /* granularity: 1 fine, 0 object */
    uint32_t copies;   /* copies of the tree and its operations; usually 1 */
    uint8_t results;   /* 1: operations have |results| and |names| */
    struct bytes tool; /* program and version that wrote it */
    struct bytes
        selection; /* the selected part of the trace, as command line options; may be empty */
};

struct rdump_host { /* a client or a server */
    uint32_t number;
    struct bytes address; /* RFC 5952, as in the database */
};

struct rdump_credential {
    uint32_t number;
    uint32_t flavor; /* RFC 5531 s8.2 */
    uint32_t uid, gid;
    struct bytes gids; /* u32 each, big-endian */
    struct bytes machine;
};

enum {
    RDUMP_KNOWS_MODE = 1 << 0,
    RDUMP_KNOWS_UID = 1 << 1,
    RDUMP_KNOWS_GID = 1 << 2,
    RDUMP_KNOWS_SIZE = 1 << 3,
    RDUMP_KNOWS_ATIME = 1 << 4,
    RDUMP_KNOWS_MTIME = 1 << 5,
    RDUMP_KNOWS_CTIME = 1 << 6,
    RDUMP_KNOWS_NLINK = 1 << 7,
    RDUMP_KNOWS_RDEV = 1 << 8,
    RDUMP_KNOWS_LINK = 1 << 9,
    RDUMP_KNOWS_ALL = (1 << 10) - 1,
};

struct rdump_object {
    uint32_t number;
    uint32_t server; /* host */
    uint8_t type;    /* ftype3; 0: not known */
    uint16_t knows; /* RDUMP_KNOWS_: attributes that the trace shows; the others are guesses or 0 */
    uint32_t mode, uid, gid, nlink, rdev[2];
    uint64_t size;
    int64_t atime, mtime, ctime; /* ns since the epoch */
    struct bytes link;           /* text of a symbolic link */
    struct bytes root;           /* its MOUNT path */
    int64_t source;              /* id in the database; below 0 if only a name of it was seen */
    uint32_t copy;               /* 0, 1, ... */
    uint8_t used;                /* 1: an operation uses it, by its handle or in its result */
};

struct rdump_entry { /* |name| in |parent| is |object| */
    uint32_t parent, object;
    struct bytes name;
};

/* Why an operation that was not captured must have happened (tree/repair.h). */
enum {
    RDUMP_INFERRED_GONE = 1,
    RDUMP_INFERRED_MADE_AGAIN = 2,
    RDUMP_INFERRED_OTHER = 3,
    RDUMP_INFERRED_APPEARED = 4,
    RDUMP_INFERRED_REMOVED_ABSENT = 5,
    RDUMP_INFERRED_EXISTS = 6,
    RDUMP_INFERRED_NOT_EMPTY = 7,
    RDUMP_INFERRED_STALE = 8,
    RDUMP_INFERRED_CHANGED = 9,
    RDUMP_INFERRED_CUT = 10,
    RDUMP_INFERRED_MAX
};

/* Why an operation cannot be replayed (tree/repair.h). */
enum {
    RDUMP_UNPLAYABLE_NO_CALL = 1,
    RDUMP_UNPLAYABLE_NO_REPLY = 2,
    RDUMP_UNPLAYABLE_PROTECTED = 3,
    RDUMP_UNPLAYABLE_PARTIAL = 4,
    RDUMP_UNPLAYABLE_MALFORMED = 5,
    RDUMP_UNPLAYABLE_REFUSED = 6,
    RDUMP_UNPLAYABLE_STALE = 7,
    RDUMP_UNPLAYABLE_SERVER = 8,
    RDUMP_UNPLAYABLE_ORDER = 9,
    RDUMP_UNPLAYABLE_COOKIE = 10,
    RDUMP_UNPLAYABLE_MAX
};

/* Values that an operation must show again (effect/expect.h).  Bits of attributes come four times,
 * RDUMP_EXPECT_GROUPS apart. */
enum {
    RDUMP_EXPECT_TYPE = 1 << 0,
    RDUMP_EXPECT_MODE = 1 << 1,
    RDUMP_EXPECT_OWNER = 1 << 2,
    RDUMP_EXPECT_NLINK = 1 << 3,
    RDUMP_EXPECT_SIZE = 1 << 4,
    RDUMP_EXPECT_LINKS = 1 << 5,
    RDUMP_EXPECT_GROUPS = 6,
    RDUMP_EXPECT_IDENTITY = 1 << 24,
    RDUMP_EXPECT_ACCESS = 1 << 25,
    RDUMP_EXPECT_TEXT = 1 << 26,
    RDUMP_EXPECT_READ = 1 << 27,
    RDUMP_EXPECT_NAMES = 1 << 28,
    RDUMP_EXPECT_BEHIND = 1 << 29,
    RDUMP_EXPECT_SOME_NAMES = 1 << 30,
    RDUMP_EXPECT_BITS = 31,
    /* bits that |digest| does not cover: link counts of directories, and some names */
    RDUMP_EXPECT_ALL_LINKS = RDUMP_EXPECT_LINKS * (1 | 1 << 6 | 1 << 12 | 1 << 18),
    RDUMP_EXPECT_BESIDE = RDUMP_EXPECT_ALL_LINKS | RDUMP_EXPECT_SOME_NAMES,
};

struct rdump_operation {
    /* Operations are numbered from 0, in their order. */
    int64_t source;     /* id in the database; 0: inferred */
    uint8_t inferred;   /* RDUMP_INFERRED_: it was not captured, but must have happened; or 0 */
    uint8_t unplayable; /* RDUMP_UNPLAYABLE_: it cannot be replayed; dependencies are kept; or 0 */
    int64_t time;       /* ns after |trace.time| */
    int64_t latency;    /* ns; -1: no reply */
    uint32_t client;    /* host */
    uint32_t server;    /* host */
    uint32_t credential;
    uint8_t procedure; /* rdump_procedure() */
    uint32_t status;   /* the expected nfsstat3 */
    uint32_t made;     /* number of the object that it makes */
    /* XDR as in RFC 1813, with two exceptions.  A handle is an opaque<> of 4 bytes: the object's
     * number, big-endian (0: unknown object).  WRITE's data is left out after its length.  An
     * unplayable operation may have no arguments. */
    struct bytes arguments;
    uint32_t mask;   /* RDUMP_EXPECT_: what |digest| covers */
    uint64_t digest; /* valid if |mask| has bits that it covers */
    /* expect.h: link counts of directories, u32 each, big-endian.  With |trace.results| also the
     * values that |digest| covers, and the names of a listing: */
    struct bytes links, results, names;
    /* Each is the distance back to an operation that this one depends on; growing: */
    const uint32_t *dependencies;
    uint32_t dependency_count; /* must follow |dependencies| */
    uint32_t copy;
    /* For a listing that continues: the distance back to the operation that gave the cookie, and
     * how many entries of that operation come before the cookie. */
    uint32_t cookie_from, cookie_entries;
    /* For a listing: how many of its entries come before each cookie that later operations use. */
    const uint32_t *cookies;
    uint32_t cookie_count;  /* must follow |cookies| */
    const uint32_t *forget; /* objects that no later operation uses */
    uint32_t forget_count;  /* must follow |forget| */
};

struct rdump_end {
    uint64_t hosts, credentials, objects, entries, operations, inferred, unplayable, dependencies;
    int64_t last_time; /* end of the last operation, ns after |trace.time| */
};

enum rdump_kind {
    RDUMP_TRACE = 1,
    RDUMP_HOST,
    RDUMP_CREDENTIAL,
    RDUMP_OBJECT,
    RDUMP_ENTRY,
    RDUMP_OPERATION,
    RDUMP_END,
    RDUMP_KIND_MAX
};

union rdump_record {
    struct rdump_trace trace;
    struct rdump_host host;
    struct rdump_credential credential;
    struct rdump_object object;
    struct rdump_entry entry;
    struct rdump_operation operation;
    struct rdump_end end;
};

enum {
    RDUMP_ACL = 100, /* procedures of NFSACL version 3 begin here; those below are NFSv3's */
    RDUMP_NO_PROCEDURE = 255, /* the call was not captured */
};

/* Returns the procedure with this number, or NULL if there is none.  Call wire_init first. */
const struct procedure *rdump_procedure(uint8_t number);
/* Returns the number of a procedure of NFSv3 or NFSACL version 3. */
uint8_t rdump_procedure_number(uint32_t program, uint32_t procedure);

/* Adds a record to the totals of the end record. */
void rdump_count(struct rdump_end *totals, enum rdump_kind kind, const void *record);

struct rdump_writer;

/* Allocates a writer and writes the header. */
struct rdump_writer *rdump_writer_new(output_writer *write, void *ctx, struct err *err);
/* Writes |record|, the struct of that kind.  RDUMP_END writes the last block; its totals may be 0,
 * and are then filled in.  -ERR_USAGE: dependencies that do not grow, a record longer than
 * 16,515,072 bytes, or a record after the end. */
int rdump_put(struct rdump_writer *writer, enum rdump_kind kind, const void *record,
              struct err *err);
void rdump_writer_free(struct rdump_writer *writer);

struct rdump_reader;

/* Reads from |fd|, which the caller still owns.  NULL: not an rdump, a later version, or no memory.
 * |name| is for messages. */
struct rdump_reader *rdump_reader_new(int fd, const char *name, struct err *err);
/* The same from a function.  It returns how many bytes it read (0: the end), or a negative code. */
typedef ssize_t rdump_read(void *ctx, void *data, size_t len, struct err *err);
struct rdump_reader *rdump_reader_from(rdump_read *read, void *ctx, const char *name,
                                       struct err *err);
/* Returns 1 and a record that is valid until the next call; 0 after the end record; or negative if
 * the dump is damaged: the records before are good. */
int rdump_next(struct rdump_reader *reader, enum rdump_kind *kind, const void **record,
               struct err *err);
void rdump_reader_free(struct rdump_reader *reader);

#endif
