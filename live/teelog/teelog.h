/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/teelog.h
 *
 * Compares what the reference and the SUT (system under test) answered to the same request, by
 * model/judge, and keeps what differs in a directory (schemas/teelog.md): two record streams whose
 * operations carry the number of their pair, so that "nfsdigest compare DIR" can compare them again
 * under other rules, and a summary.
 *
 *     teelog_open
 *     teelog_reference_record    for each record of the tap's engine
 *     teelog_pair                for each duplicated request, when the SUT answered or did not
 *     teelog_end
 *
 * Order.  Pairs that concern one object come in the order of the reference's replies.
 *
 * Objects have the ids of live/mirror.  Their states in the judge are kept for the |objects| that
 * were compared last; the least recently compared one is forgotten, and counted.
 *
 * A stream is written in whole blocks, at least once a second: all that is older can be read while
 * the program runs, and after it was killed.
 *
 * Listings in several parts wait for their ends, at most TEELOG_LISTINGS of them with
 * TEELOG_LISTING_BYTES in all; above that, the oldest one is given up and counted.
 *
 * Memory: about 1.1 KiB for each of |objects| (judge/judge.h, with its handles and file numbers),
 * 74 MB with the default; 100 bytes for each object of a logged pair; the listings; 250 KiB for the
 * samples of clocks; two blocks of .nfsr; an engine without objects (engine.h).  Nothing for
 * objects that were not compared.
 *
 * Functions return 0 or a negative code; an error of the disk ends the logging (teelog_counts says
 * so) but not the comparing: then functions still return 0.
 */
#ifndef NFSDIGEST_TEELOG_TEELOG_H
#define NFSDIGEST_TEELOG_TEELOG_H

#include "align/codes.h"
#include "base/json.h"
#include "judge/difference.h"
#include "net/address.h"
#include "net/loop.h"
#include "record/record.h"

struct effect;
struct teelog;

enum {
    TEELOG_OBJECTS = 65536,
    TEELOG_CONTENTS = 1 << 20,
    TEELOG_LISTINGS = 64,
    TEELOG_LISTING_BYTES = 16 << 20,
    TEELOG_GROUPS = 256, /* of differences, at most */
};

struct teelog_options {
    const char *const *rules; /* built-in names and files that follow "default" */
    uint32_t rule_count;
    bool record_all;   /* record pairs that agree, too */
    uint32_t objects;  /* states of so many objects; 0: TEELOG_OBJECTS */
    uint32_t contents; /* logged bytes of a READ or WRITE that differs; 0: TEELOG_CONTENTS */
    uint64_t log_max;  /* bytes of both streams; above it pairs are only counted; 0: no bound */
    const char *on_mismatch; /* a shell command for the first difference of each kind; or NULL */
};

/* Copied.  The first two callbacks may be called from teelog_pair only. */
struct teelog_host {
    /* Returns the id of the object with this handle of |side|; 0: it is not known. */
    uint32_t (*object_of)(void *ctx, int side, struct bytes handle);
    /* Appends the path of an object, for people; nothing: it is not known. */
    int (*path_of)(void *ctx, uint32_t object, struct buf *to);
    void *ctx;
    /* An error of the disk has ended the logging, and |why| says which.  Comes once, from the loop.
     * May be NULL. */
    void (*failed)(void *ctx, const char *why);
};

/* Looks whether |path| is free for a log: it is empty, or missing.  Changes nothing.  -ERR_USAGE:
 * it is not empty. */
int teelog_check(const char *path, struct err *err);
/* Makes the directory.  -ERR_USAGE: a rule file that cannot be used, or a directory that is not
 * empty. */
struct teelog *teelog_open(struct loop *loop, const char *dir, const struct teelog_options *options,
                           const struct teelog_host *host, struct err *err);

/* Takes a record of the tap's engine.  Operations and repeats are passed over: pairs bring what is
 * needed of them.  So are the counters and the end. */
int teelog_reference_record(struct teelog *log, const struct record *record, struct err *err);

/* --- pairs */

/* A message of the SUT's side. */
struct tee_sut {
    const struct net_address *own, *server; /* |own|: of family 0 if it is not known */
    bool udp;
    struct bytes call, tail; /* as they were sent; |tail| without its padding */
    struct bytes reply;      /* the whole message; no bytes: it did not answer in time */
    int64_t called, arrived; /* ns since the epoch */
};

enum { TEE_OBJECT, TEE_PARENT2, TEE_NEW, TEE_OBJECTS };

struct tee_pair {
    /* The tap's, with the bodies as records have them (without contents of files): a copy that the
     * caller kept (tee_operation_keep). */
    const struct record_operation *reference;
    struct bytes
        contents; /* of the reference's READ or WRITE, whole; no bytes: they were not kept */
    struct tee_sut sut;

    /* By roles: the object (or directory of the name), RENAME's and LINK's second directory, the
     * object that was found or made.  0: there is none. */
    uint32_t object[TEE_OBJECTS];
    bool known[TEE_OBJECTS]; /* it was synchronized before the request: attributes are compared */
    uint32_t overlap;        /* OVERLAP_ and CONFLICT_ bits (align/overlap.h) */
    bool made; /* the request made the object TEE_NEW, on both servers, where nothing was before */
    /* Of a listing: names that other requests under way changed, each with a NUL byte behind it. */
    struct bytes changing;
    bool names_left; /* there are more of them: names that only one side has are withheld */
    bool scrubs;     /* no client's request: the caller asked both servers by itself */

    /* Of a READDIR or READDIRPLUS that is not a whole listing: the caller's number, below 2^63, for
     * the listing that this reply is a part of; 0: it is a whole one, or no listing, or the parts
     * are to be put together by the reference's cookies, to the end of its listing.  The parts are
     * kept and compared when |listing_ends|: that pair's verdict is about all of them; until then
     * the verdict is TEE_WITHHELD.  Servers cut listings differently: the SUT may need further
     * calls, which are pairs for which |reference| is NULL, or |further| ones of this pair. */
    uint64_t listing;
    bool listing_ends;             /* on both sides; or the client, or the caller, gave it up */
    const struct tee_sut *further; /* the SUT's listing goes on with these */
    uint32_t further_count;
};

enum tee_what { TEE_AGREES, TEE_DIFFERS, TEE_WITHHELD };

struct tee_verdict {
    enum tee_what what;
    uint64_t number;      /* of the pair in the log; 0: it was not logged */
    uint32_t differences; /* how many */
    uint32_t kinds;       /* 1 << enum difference_kind */
    /* A status, contents, a size or an outcome shows that the objects are not equal any more. */
    bool state_differs;
    /* An object whose mode, owner, group, size or type differs; 0: none. */
    uint32_t differs;
    char text[240]; /* the first difference, for people; "" if there is none */
};

/* Compares, and logs what differs. */
int teelog_pair(struct teelog *log, const struct tee_pair *pair, struct tee_verdict *verdict,
                struct err *err);

/* The object is synchronized now, for the first time or again: nothing that was noted of it holds
 * any more, and it is the same on both sides. */
void teelog_remade(struct teelog *log, uint32_t object);
/* Somebody read the object's contents, and no pair says so: its access time may have changed.
 * |until|: end of the read on each server, ns since the epoch; 0: it did not read it there. */
void teelog_accessed(struct teelog *log, uint32_t object, const int64_t until[SIDES]);
/* The same of a read on the reference alone, by a reader that is no client.  |waits|: pairs of the
 * object come later, and must find it noted. */
int teelog_read(struct teelog *log, uint32_t object, const int64_t until[SIDES], bool waits,
                struct err *err);
/* Names of objects were not the same until |time| (ns since the epoch): until then, the
 * synchronizer made and removed some on the SUT, which changes change times. */
void teelog_unsettled(struct teelog *log, int64_t time);
/* Both servers changed the object by a request whose pair came just before, and is not about it
 * (RENAME changes what has the name).  |times|: call and reply, ns since the epoch. */
void teelog_changed(struct teelog *log, uint32_t object, const int64_t times[SIDES][2]);
/* Two requests under way at the same time set times of the object: nobody knows them, until another
 * one alone sets them, or teelog_remade. */
int teelog_open_times(struct teelog *log, uint32_t object, struct err *err);
bool teelog_has_open_times(const struct teelog *log, uint32_t object);
/* A request of which no pair comes, but which the SUT was asked, too, changed names of |object|s
 * (see tee_pair): listings whose ends are awaited may have these or not. */
int teelog_names(struct teelog *log, const uint32_t object[TEE_OBJECTS],
                 const struct effect *effect, struct err *err);
/* The object is gone; its id may be given to another one. */
void teelog_forget(struct teelog *log, uint32_t object);

/* Copies an operation with its bodies into one piece of memory, for free().  NULL: no memory. */
struct record_operation *tee_operation_keep(const struct record_operation *operation);

/* --- the end, and counts */

struct teelog_counts {
    uint64_t pairs, agree, differ, withheld; /* |pairs|: the sum of the others */
    uint64_t differences[KIND_MAX];          /* by enum difference_kind */
    uint64_t withheld_values[WITHHELD_MAX];  /* by enum withheld_reason */
    uint64_t unanswered;                     /* pairs in which only one server answered */
    uint64_t scrubbed, scrubs_differ; /* |scrubs|: not in |agree|, |differ|, |differences| ... */
    uint64_t logged, log_bytes;       /* pairs; bytes of both streams */
    uint64_t not_logged;              /* pairs that differ, above |log_max| or after an error */
    uint64_t objects, forgotten;      /* with a state now; forgotten for lack of room */
    uint64_t listings_left;           /* given up before they ended */
    uint64_t commands, commands_left; /* of on_mismatch: run; not run, as too many waited */
    bool failed;                      /* an error of the disk: nothing is logged any more */
};

const char *teelog_kind_name(int kind);     /* enum difference_kind */
const char *teelog_reason_name(int reason); /* enum withheld_reason */

/* Differences of one kind, in one field of a procedure. */
struct teelog_group {
    uint8_t kind; /* enum difference_kind */
    const struct procedure *procedure;
    char field[96], what[96];
    uint64_t count;
    int64_t time;                    /* of the first one */
    uint64_t pair;                   /* its number in the log; 0: it was not logged */
    char text[SIDES][64], path[192]; /* values; any bytes */
    bool scrubs;                     /* found by the caller's own questions */
};

/* In the order in which they came first; valid until the log ends.  |further|: how many differences
 * are of none of them, because there are too many kinds. */
const struct teelog_group *teelog_groups(const struct teelog *log, uint32_t *count,
                                         uint64_t *further);
const struct teelog_counts *teelog_counts(const struct teelog *log);
uint64_t teelog_memory(const struct teelog *log); /* bytes, about */

/* Adds an element to an array. */
void teelog_group_json(const struct teelog_group *group, struct json *json);

/* Appends one JSON object: counts, and the differences in groups with examples. */
int teelog_json(const struct teelog *log, struct buf *to);

/* What DIR/summary.json has in addition: |append| appends ", name: value" members to the object,
 * each time that it is written (about every second). */
void teelog_set_summary(struct teelog *log, int (*append)(void *ctx, struct buf *to), void *ctx);

/* Ends both streams, writes the last summary, waits for no command, and frees the log.  NULL is
 * allowed. */
int teelog_end(struct teelog *log, struct err *err);
/* Frees the log without an end. */
void teelog_free(struct teelog *log);

#endif
