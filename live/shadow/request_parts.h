/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/request_parts.h
 *
 * A client's request, from its call on.  For the files of the shadow alone.
 *
 * Memory of a request: struct request and 32 bytes for each thing that it touches, and 16 more if
 * of that it touches bytes or a name; struct request_rest; and its messages, and about 10 bytes of
 * its operation, in two blocks of malloc.  With its answer it has 136 more, and the messages of the
 * SUT.  When many wait for the SUT, all but the first two is packed (packed.c).
 */
#ifndef NFSDIGEST_SHADOW_REQUEST_PARTS_H
#define NFSDIGEST_SHADOW_REQUEST_PARTS_H

#include "align/overlap.h"
#include "shadow/shadow.h"
#include "wire/rpc.h"

/* --- what a request touches, in the list of all that touch the object.  Requests and touches are
 * elements of pools, by whose numbers they lead to each other; 0: none. */

struct touch {
    uint32_t request;
    uint32_t next, previous;  /* of the object */
    uint32_t further;         /* the next one of the request */
    uint32_t object;          /* an id of the mirror */
    uint32_t where;           /* struct touch_where, or 0 */
    uint32_t epoch : 20;      /* the object's, when the reference had answered, */
    uint32_t was_same : 1;    /* and whether it was the same on both sides then */
    uint32_t is_held : 1;     /* the request waits until the object's changes are played */
    uint32_t opens_times : 1; /* nobody knows the object's times after the request */
    uint32_t bit : 9;         /* of struct overlap_touch, */
    uint8_t flags;            /* likewise */
    uint8_t would;            /* |flags| of the request if it had succeeded */
};
_Static_assert(sizeof(struct touch) == 32, "the memory of a request");
_Static_assert(TOUCH_GOES == 1 << 7 && OVERLAP_RIGHTS == 1 << 8, "the last bits that fit");

/* Of struct overlap_touch. */
struct touch_where {
    uint64_t start_or_name, end;
};

/* --- requests */

enum stage {
    STAGE_CALLED,   /* the reference has not answered it */
    STAGE_ENDED,    /* it is not sent to the SUT */
    STAGE_WAITING,  /* for requests before it, for held objects, or for room */
    STAGE_ASKING,   /* the SUT for the ctime of a guard */
    STAGE_SENT,     /* to the SUT */
    STAGE_ANSWERED, /* by the SUT, or given up; waits for its turn in the log */
};

enum { REQUEST_CHAINS = 4096, CHANGING_BYTES = 16384 };

/* When a listing began, of which a request gets a further part; zeros: nobody knows. */
struct list_begin {
    uint64_t begin; /* entry of its first call */
    int64_t called; /* when the SUT was asked, ns since 1970 */
};

struct request_list {
    uint32_t first, last;
};

struct listing {
    uint32_t object; /* 0: free */
    uint64_t cookie, sut_cookie;
    uint8_t sut_verifier[8];
    struct list_begin begin;
    uint32_t flow, form;
};

struct list_part {
    struct list_part *next;
    struct buf call, reply;
    int64_t called, arrived; /* ns since 1970 */
};

enum list_stage {
    MORE_BYTES, /* the same call again, for more bytes */
    MORE_PARTS, /* what comes after the last reply */
};

enum { MORE_COUNT = 32768 /* bytes that such calls ask for */ };

struct list_more {
    enum list_stage stage;
    struct listing at;
    struct list_part *first, *last; /* after the exchange's */
    uint32_t count;
    uint64_t bytes;
};

/* What a request and the SUT have to do with each other.  Most requests have it from the first call
 * to the SUT on. */
struct exchange {
    int64_t called, arrived; /* ns since 1970 */
    struct buf call, reply;  /* messages */
    int64_t status;
    bool has_reply, succeeded;
    bool has_ctime;
    struct nfstime3 ctime;  /* of a guard */
    uint32_t guards;        /* times that the SUT's ctime was asked for */
    struct list_begin list; /* of a listing that was not begun by it */
    struct list_more *more; /* of the SUT's listing; or NULL */
    struct buf changing;    /* of a listing: names that others changed, each with a NUL byte */
};

/* What is asked for only when a request ends, is sent or judged.  Its messages are kept as they
 * came: what they say is read when somebody asks (effect_of). */
struct request_rest {
    uint8_t *call;        /* the message */
    uint8_t *answer;      /* the reply, and the operation as operation_pack writes it */
    struct exchange *sut; /* sut_of; or NULL */
    int64_t time;         /* of the call, ns since 1970 */
    int64_t ended;        /* ns of the loop's clock */
    uint32_t call_len;    /* bytes that were seen, */
    uint32_t call_wire;   /* and all of them */
    uint32_t reply_len;   /* in |answer|, */
    uint32_t packed_len;  /* and behind it */
    uint32_t flow;
    uint32_t counted; /* bytes, in |waiting_bytes| */
    uint32_t objects[TEE_OBJECTS], epochs[TEE_OBJECTS];
    bool known[TEE_OBJECTS];
    uint8_t fate;
    uint16_t call_flags; /* SIGHTING_ bits */
    bool is_partial;     /* not all bytes of its messages were seen */
    bool is_left_out;    /* it has no whole messages any more */
    bool took_unknown;   /* a name of what is not known */
    bool names_left;     /* a listing: not all names that others changed are in |sut| */
};

/* An element of |shadow->requests|.  Thousands may wait for a slow SUT. */
struct request {
    struct shadow *shadow;
    union {
        struct request_rest *rest;
        struct packed *packed; /* |is_packed|: it is number |place| in there */
    };
    uint32_t id;
    uint32_t next; /* in the list of its stage */
    union {
        struct { /* STAGE_CALLED: */
            uint32_t previous;
            uint32_t chain; /* in the table of calls */
        };
        struct {            /* later: */
            uint32_t ready; /* the next one that can be sent */
            uint32_t waits; /* for so many others, and held objects */
        };
    };
    uint32_t number;      /* in the order of the queue, modulo 2^32 */
    uint32_t touches;     /* the first one */
    uint64_t begin : 48;  /* entries of the ring (struct known) */
    uint64_t overlap : 9; /* bits */
    uint64_t stage : 3;
    uint64_t is_packed : 1;
    uint64_t is_void : 1;     /* the SUT has begun anew since it was sent */
    uint64_t is_unlearnt : 1; /* the SUT's answer, until it is known that it is the same server */
    uint64_t is_awaited : 1;  /* others wait for it */
    uint64_t end : 48;
    uint64_t action : 5; /* enum action */
    uint64_t place : 6;
    uint64_t has_made : 1;      /* something that was nowhere before */
    uint64_t changes_names : 1; /* effect_changes_names */
    uint64_t goes_on : 1;       /* a listing that was not begun by it */
};
_Static_assert(sizeof(struct request) <= 56, "the memory of a request");

/* --- what a request says, while somebody asks */

enum { READINGS = 16 };

struct reading {
    const struct request *of; /* NULL: free */
    uint64_t used;            /* the larger, the later */
    struct rpc_header header; /* of the call */
    struct effect effect;     /* leads into the messages; its times: ns since 1970 */
};

/* --- reading.c: what requests say */

/* Valid until READINGS - 1 other requests were asked for, and as long as |r| has its messages. */
const struct reading *reading_of(const struct request *r);
/* |objects| of |r| have changed. */
void reading_identify(struct request *r);
/* |r| goes, or its messages. */
void reading_drop(struct shadow *s, const struct request *r);
/* A place for what |r| says, all zeros. */
struct reading *reading_begin(struct shadow *s, const struct request *r);

static inline const struct effect *effect_of(const struct request *r)
{
    return &reading_of(r)->effect;
}

/* The tap's operation; it leads into the messages.  False: it never came. */
bool reading_operation(const struct request *r, struct record_operation *to);
/* Keeps the operation in |r|, and if it has a reply, that from |shadow->reply|. */
int reading_keep(struct request *r, const struct record_operation *operation, struct err *err);

/* --- operation_pack.c */

/* Write what is different in |operation| from what one could |expect|, and read it again.  Bytes
 * of bodies that begin as the expected ones do are not written: the ones read lead there, or into
 * |packed|. */
enum { PACKED_MAX = 400 /* without bodies */ };
int operation_pack(const struct record_operation *operation, const struct record_operation *expect,
                   struct buf *to, struct err *err);
struct record_operation operation_unpack(struct bytes packed,
                                         const struct record_operation *expect);

/* --- packed.c: requests that wait for the SUT, when these are many */

struct packing {
    uint32_t next;               /* request of the queue that was not looked at so far; 0: none */
    const struct packed *opened; /* its bytes, unpacked, are |bytes|; or NULL */
    struct buf bytes;
    void *compressor, *decompressor; /* of zstd */
    struct request_rest none;        /* for what could not be unpacked, */
    bool failed;                     /* as there was no memory */
};

/* Packs those that have waited longest, if there are many.  Without memory for it, they stay. */
void packed_pack(struct shadow *s);
/* Unpacks |r|, which stays the same for all who look at it.  Without memory it returns zeros, and
 * the shadow fails when it is asked next. */
struct request_rest *packed_open(const struct request *r);
/* |r| goes. */
void packed_drop(struct request *r);
void packed_free(struct shadow *s);

static inline struct request_rest *rest_of(const struct request *r)
{
    return r->is_packed ? packed_open(r) : r->rest;
}

/* --- what others look at */

/* All zeros if the SUT was not asked. */
static inline const struct exchange *sut_of(const struct request *r)
{
    static const struct exchange none;
    const struct exchange *sut = rest_of(r)->sut;

    return sut ? sut : &none;
}

static inline bool touch_changes(const struct touch *t)
{
    return t->flags & TOUCH_CHANGES;
}

/* On the SUT, a request that failed on the reference may succeed, and the other way around. */
static inline bool touch_may_change(const struct touch *t)
{
    return (t->flags | t->would) & TOUCH_CHANGES;
}

/* As effect_reads_contents. */
static inline bool request_reads(const struct request *r)
{
    return r->action == ACTION_READ || r->action == ACTION_READ_LINK || r->action == ACTION_LIST;
}

/* Under way to the SUT. */
static inline bool request_is_queued(const struct request *r)
{
    return r->stage == STAGE_WAITING || r->stage == STAGE_ASKING || r->stage == STAGE_SENT;
}

#endif
