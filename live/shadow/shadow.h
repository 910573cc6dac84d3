/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/shadow.h
 *
 * The shadow of a relay: keeps a second server, the system under test (SUT), equal to the reference
 * behind the relay, sends it the clients' requests, too, and compares what both answer.
 *
 * It reads the relay's ring (tap/tap.h), so clients wait for nothing that it does.  live/copy
 * copies objects, live/teelog judges and logs pairs of answers.  What remains is done here: it
 * finds what each request touches, learns names, notes what clients change in objects that are
 * being copied, sends requests whose objects are synchronized to the SUT, and says of every request
 * what became of it.
 *
 * Order.  A request goes to the SUT when the reference has answered it.  Requests that were under
 * way at the same time on the reference may be so on the SUT; others that share an object which one
 * of them changes keep their order.  If two that were under way at the same time change the same
 * thing, the order on the reference is not known, and the object is copied again.
 *
 * If only the object's times depend on that order, these are left open (open_times.c), and all else
 * is compared as before.
 *
 * When half of |queue| or |queue_bytes| is reached, what comes waits in the ring (tap_ring.h).
 *
 * A successful change of an object that is synchronized reaches the SUT, or the object is copied
 * again.
 *
 * Memory: that of the mirror, of the tap's engine and of the copy, and 40 bytes, for each object,
 * and 75 more if it was changed or not synchronized for a while; that of the log; 1 MiB of
 * histograms; |queue_bytes| for requests on their way to the SUT (request_parts.h), and those that
 * it has answered and that wait for their turn in the log, with the messages of both servers (less
 * if many wait, and at most half as much again while some of those are opened: packed.c, which
 * takes 1 MiB itself); beyond that come only the SUT's answers to requests that were there before
 * it was reached (of a listing up to 16 MiB); and the calls that the reference has not answered: at
 * most as many as the engine keeps (flow/options.h), with all their bytes.
 * tests/bench/tee_memory.py measures it.
 */
#ifndef NFSDIGEST_SHADOW_SHADOW_H
#define NFSDIGEST_SHADOW_SHADOW_H

#include "base/json.h"
#include "copy/copy.h"
#include "measure/histogram.h"
#include "net/loop.h"
#include "net/rpc_client.h"
#include "teelog/teelog.h"

/* A server and the directory in it. */
struct shadow_place {
    struct net_address nfs;
    uint8_t root[64];
    uint32_t root_len;
    uint32_t wtmax; /* bytes that a WRITE can have, of FSINFO; 0: not known */
    struct source_port from;
};

/* All zeros: the defaults. */
struct shadow_limits {
    uint32_t in_flight;       /* requests at the SUT at once; 0: 128 */
    uint32_t queue;           /* requests that wait for the SUT, or for others; 0: 8192 */
    uint64_t queue_bytes;     /* theirs, and of those that are not judged yet; 0: 64 MiB */
    int64_t timeout;          /* of the SUT for a request, ns; 0: 10 s */
    uint64_t contents, notes; /* of changes while objects are copied; 0: 64 MiB, 32 MiB */
    uint64_t sync_bytes;      /* a second, read from the reference by the copy; 0: no limit */
    uint64_t sync_objects;    /* a second; 0: no limit */
    int64_t sync_burst;       /* ns: what may be read at once; 0: what 100 ms allow */
    uint32_t sync_at_once;    /* objects; 0: 16 */
    int64_t half_life;        /* of an access in popularity, ns; 0: 60 s */
    bool tree_order;          /* objects are copied as they are found, not by popularity */
};

/* Names and paths, from "/" at the root, as of fnmatch(3) with FNM_PATHNAME; a pattern without a
 * slash is one of names.  A directory stands for all that is below it. */
struct shadow_paths {
    const char *const *patterns;
    uint32_t count;
};

struct shadow_setup {
    struct loop *loop;
    const char *attach;            /* the relay's socket */
    const uint8_t *mark;           /* of this shadow's calls (relay/relay_entry.h) */
    struct shadow_place reference; /* at the relay's address: so the ring shows the copy's calls */
    struct shadow_place sut;
    const struct rpc_auth *credential; /* of the copy; stays */
    struct shadow_limits limits;
    struct shadow_paths exclude, only;
    const char *log; /* a directory: teelog_open */
    struct teelog_options logging;
    bool scrubs;          /* compare objects while clients are quiet */
    uint64_t scrub_bytes; /* a second, of each server; 0: no limit */
    /* Says, for people, what happens to the SUT's connection and the like.  May be NULL. */
    void (*tell)(void *ctx, const char *text);
    /* The log cannot be written, for the reason |why|: from now on answers are compared, and what
     * differs is counted only.  May be NULL. */
    void (*log_failed)(void *ctx, const char *why);
    /* The relay is gone, and its ring is read.  Returns 0 or a negative code. */
    int (*ended)(void *ctx, struct err *err);
    /* The SUT does not know its root any more: it has begun anew.  The owner mounts it again and
     * calls shadow_sut_root.  NULL: that is an error. */
    int (*lost_root)(void *ctx, struct err *err);
    void *ctx;
};

/* What became of a client's request: one of these. */
enum shadow_fate {
    FATE_COMPARED,         /* both servers have answered it */
    FATE_UNANSWERED,       /* the SUT has not */
    FATE_NOT_SYNCHRONIZED, /* an object was not, or not yet */
    FATE_EXCLUDED,         /* by the user, or the SUT cannot have such an object */
    FATE_OVERLAPPING,      /* it changed what another one changed at the same time */
    FATE_GAP,              /* its call or reply was not seen whole */
    FATE_SUT_SLOW,         /* too many waited for the SUT */
    FATE_SUT_GONE,         /* there was no connection to the SUT */
    FATE_LISTING,          /* a listing continued at a place that the SUT's was not known for */
    FATE_SECURED,          /* its credentials are not for another server: RPCSEC_GSS */
    FATE_WITHOUT_OBJECT,   /* NULL, and what is malformed, such as names that are paths */
    FATE_NOT_NFS,          /* MOUNT and others */
    FATE_TOO_LONG,         /* it writes more than the SUT takes at once */
    FATES
};
const char *shadow_fate_name(enum shadow_fate fate); /* "compared", "not_synchronized" */

/* Comparisons while clients were quiet. */
struct scrub_counts {
    uint64_t passes;     /* over all objects */
    uint64_t objects;    /* compared */
    uint64_t bytes;      /* of files, read from the reference */
    uint64_t differ;     /* objects */
    uint64_t disturbed;  /* clients came in between */
    uint64_t unanswered; /* by one of the servers */
    uint64_t too_long;   /* directories that were left out */
    uint64_t incurable; /* objects that differed again after they were copied: left out from then */
};

struct shadow_counts {
    uint64_t requests; /* of clients, that ended */
    uint64_t fates[FATES];
    uint64_t own;                /* of the copy */
    uint64_t others;             /* calls of other shadows: not of clients (others.c) */
    uint64_t gaps, lost_entries; /* of the ring */
    uint64_t overlaps;           /* objects copied again because of requests at the same time */
    uint64_t diverged;           /* objects copied again because the SUT answered otherwise */
    uint64_t behind;             /* objects copied again because others than clients changed them */
    uint64_t mended;             /* copied again because a change could not be sent to the SUT */
    uint64_t sut_lost, sut_anew; /* connections; how often it had begun anew */
    uint64_t waiting, in_flight; /* now */
    uint64_t waiting_bytes;      /* now; also of those that wait for their turn in the log */
    struct scrub_counts scrub;
};

/* From a call to its reply, ns: on the reference as the relay saw it, on the SUT as the shadow did.
 * All requests of clients that a server has answered.  [0] is all of them, [1 + n] procedure n of
 * NFSv3, the last one other programs. */
enum { SHADOW_LATENCIES = 24 };
struct shadow_latency {
    const char *name; /* "all", "READ", "other programs" */
    struct histogram side[SIDES];
};

struct shadow;

/* Attaches to the relay and begins.  -ERR_USAGE: what is set makes no sense. */
struct shadow *shadow_new(const struct shadow_setup *setup, struct err *err);
void shadow_free(struct shadow *shadow); /* NULL is allowed */

/* The SUT's root after |lost_root|: everything is copied again. */
int shadow_sut_root(struct shadow *shadow, struct bytes root, struct err *err);

/* Reads what the ring has now, and gives what waits to the log.  Nothing is sent any more.  Counts
 * are right even if it fails, such as for a log that could not be written. */
int shadow_end(struct shadow *shadow, struct err *err);

const struct shadow_counts *shadow_counts(struct shadow *shadow);
const struct teelog_counts *shadow_verdicts(const struct shadow *shadow);
/* As teelog_groups; valid until shadow_free, or until shadow_end. */
const struct teelog_group *shadow_differences(const struct shadow *shadow, uint32_t *count,
                                              uint64_t *further);
uint64_t shadow_objects(const struct shadow *shadow, enum mirror_state state);
const char *shadow_state_name(enum mirror_state state);
struct copy_counts shadow_copied(const struct shadow *shadow);

/* Objects that are not synchronized, but could be. */
struct shadow_object {
    uint32_t id;
    enum mirror_state state;
    double accesses; /* popularity.h */
    char path[192];  /* cut; any bytes */
};
enum { SHADOW_LOOKED_AT = 65536 };
/* Gives the most popular ones, in this order.  Looks at the first SHADOW_LOOKED_AT objects only.
 * Returns how many. */
uint32_t shadow_unsynchronized(const struct shadow *shadow, struct shadow_object *to,
                               uint32_t most);

/* True if all objects that were found are synchronized or excluded. */
bool shadow_is_synchronized(const struct shadow *shadow);
const struct shadow_latency *shadow_latencies(const struct shadow *shadow);
/* Adds members to an object: requests by fate, objects by state, the copy, the log,
 * latencies. */
void shadow_json(struct shadow *shadow, struct json *json);

#endif
